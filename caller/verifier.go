package caller

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/armature-io/armature/internal/text"
	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
)

const (
	// DefaultSkew is the difference between the clocks of issuer and verifier that is
	// accepted unless Options set another.
	DefaultSkew = time.Minute
	// maxSkew is the largest difference that Options may set.
	maxSkew = 5 * time.Minute
	// minDiscoveryInterval is the time between two attempts to read what an issuer publishes.
	minDiscoveryInterval = 5 * time.Second
	// keysInterval is the time between two readings of keys that KeepKeys makes: a key that the
	// issuer withdrew is accepted as long.
	keysInterval = 10 * time.Minute
	// retryKeysInterval is the same after a failure.
	retryKeysInterval = 30 * time.Second
	// maxTokenSize is the largest token in bytes. Entra ID moves groups out of its tokens at
	// 200, which are some 8 KB.
	maxTokenSize = 24 << 10
)

// Options state which tokens are accepted.
type Options struct {
	// Issuer is the value of iss and the address below which the issuer publishes its keys
	// (/.well-known/openid-configuration): https, or http on loopback.
	Issuer string
	// Audiences are the values of aud of which a token needs one. A token for another
	// program must not be accepted here, so there is no default.
	Audiences []string
	// Allow are the claims of which a token needs one; none accepts every subject of the
	// issuer that has a token for an audience.
	Allow []Claim
	// Skew is the accepted difference of clocks; 0 means DefaultSkew.
	Skew time.Duration
	// Client sends the requests to the issuer; nil means one that trusts the system's roots.
	Client *http.Client
	// Now is the clock; nil means time.Now.
	Now func() time.Time
}

// Verifier verifies tokens of one issuer. It is safe for concurrent use.
type Verifier struct {
	options Options
	client  *http.Client

	mu       sync.Mutex
	provider *oidc.IDTokenVerifier // nil before the issuer was reached
	endpoint oauth2.Endpoint       // set with provider
	reading  chan struct{}         // closed at the end of a reading of the issuer's documents, nil unless one runs
	tried    time.Time
	failure  error
	keys     Keys
}

// Keys says whether the keys of an issuer are in memory.
type Keys struct {
	Issuer string
	// ReadAt is when KeepKeys read them the last time, zero for never.
	ReadAt time.Time
	// Err is why the last try failed, nil if it did not.
	Err error
}

// Errors of Verify.
type (
	// RefusedError means that the token does not prove who sent the request.
	RefusedError struct{ Reason string }
	// NotAllowedError means that the caller is known and none of the allowed.
	NotAllowedError struct {
		Caller Caller
		Allow  []Claim
	}
	// UnavailableError means that the keys of the issuer could not be read.
	UnavailableError struct{ Err error }
)

func (e *RefusedError) Error() string { return "token refused: " + e.Reason }

func (e *NotAllowedError) Error() string {
	text := fmt.Sprintf("subject %q is not allowed: its token has none of %s", e.Caller.Subject, joinClaims(e.Allow))
	if i := slices.IndexFunc(e.Allow, e.Caller.omits); i >= 0 {
		text += fmt.Sprintf(", and the issuer left %s out because there are too many: let it send those of the application only, or use roles", e.Allow[i].Name)
	}
	return text
}

func (e *UnavailableError) Error() string {
	return fmt.Sprintf("cannot verify tokens now: %v; try again later", e.Err)
}
func (e *UnavailableError) Unwrap() error { return e.Err }

// IsRefusal reports whether an error of Verify is final: the issuer was in reach, and ctx had not
// ended.
func IsRefusal(err error) bool {
	_, refused := errors.AsType[*RefusedError](err)
	_, denied := errors.AsType[*NotAllowedError](err)
	return refused || denied
}

// New returns a verifier, or every problem of the options. It sends no request: an issuer
// that is out of reach does not keep a program from starting.
func New(options Options) (*Verifier, error) {
	options.Skew = cmp.Or(options.Skew, DefaultSkew)
	if options.Now == nil {
		options.Now = time.Now
	}
	var problems []error
	if err := checkAddress(options.Issuer); err != nil {
		problems = append(problems, fmt.Errorf("issuer %q: %w", options.Issuer, err))
	}
	if len(options.Audiences) == 0 || slices.Contains(options.Audiences, "") {
		problems = append(problems, errors.New("set the audience: the value of aud in tokens that are made for this program"))
	}
	if options.Skew < 0 || options.Skew > maxSkew {
		problems = append(problems, fmt.Errorf("skew %s: it must be positive and at most %s", options.Skew, maxSkew))
	}
	if err := errors.Join(problems...); err != nil {
		return nil, err
	}
	return &Verifier{options: options, client: newClient(options)}, nil
}

// Verify returns the caller that a token names. The error is a *RefusedError,
// *NotAllowedError or *UnavailableError, or that of ctx. It never contains the token.
//
// If ctx has ended already, Verify uses the keys in memory alone. If they do not suffice, it
// returns the error of ctx, and the keys are read in the background.
func (v *Verifier) Verify(ctx context.Context, token string) (Caller, error) {
	if token == "" {
		return Caller{}, &RefusedError{"there is none"}
	}
	if len(token) > maxTokenSize {
		return Caller{}, tooLarge(token)
	}
	provider, err := v.discover(ctx)
	if err != nil {
		return Caller{}, err
	}
	var unread error
	verified, err := provider.Verify(context.WithValue(ctx, unreadKey{}, &unread), token)
	switch {
	case unread != nil && ctx.Err() != nil:
		return Caller{}, ctx.Err()
	case unread != nil:
		return Caller{}, &UnavailableError{unread}
	case err != nil:
		return Caller{}, explain(err)
	}
	caller := Caller{Issuer: verified.Issuer, Subject: verified.Subject, Expiry: verified.Expiry}
	if err := verified.Claims(&caller.claims); err != nil {
		return Caller{}, &RefusedError{"its claims are not a JSON object"}
	}
	if err := v.checkClaims(verified, caller); err != nil {
		return Caller{}, err
	}
	if len(v.options.Allow) > 0 && !slices.ContainsFunc(v.options.Allow, caller.Has) {
		return Caller{}, &NotAllowedError{Caller: caller, Allow: v.options.Allow}
	}
	return caller, nil
}

func tooLarge(token string) error {
	return &RefusedError{fmt.Sprintf("it has %d bytes, at most %d are accepted", len(token), maxTokenSize)}
}

// checkClaims checks what the library leaves to its users.
func (v *Verifier) checkClaims(token *oidc.IDToken, caller Caller) error {
	if caller.Subject == "" {
		return &RefusedError{"it has no subject"}
	}
	if !slices.ContainsFunc(token.Audience, func(audience string) bool { return slices.Contains(v.options.Audiences, audience) }) {
		return &RefusedError{fmt.Sprintf("its audience is %q, want %s", token.Audience, strings.Join(v.options.Audiences, " or "))}
	}
	latest := v.options.Now().Add(v.options.Skew)
	for _, name := range []string{"nbf", "iat"} {
		raw, found := caller.claims[name]
		if !found {
			continue
		}
		var seconds float64
		if err := json.Unmarshal(raw, &seconds); err != nil {
			return &RefusedError{name + " is not a time"}
		}
		if seconds > float64(latest.Unix()) {
			return &RefusedError{fmt.Sprintf("it is not valid yet (%s is later than the time here); compare the clocks", name)}
		}
	}
	return nil
}

// KeepKeys reads the keys of the issuer at once and each keysInterval until ctx ends, so that
// tokens can be verified from memory, and drops keys that the issuer withdrew. While the
// issuer is out of reach, the keys stay as they are.
func (v *Verifier) KeepKeys(ctx context.Context, failed func(error)) {
	for ctx.Err() == nil {
		// No key has this ID, so the library reads the keys, and refuses the token.
		_, err := v.Verify(ctx, v.unknownToken())
		wait := keysInterval
		v.mu.Lock()
		if unavailable, ok := errors.AsType[*UnavailableError](err); ok {
			wait, v.keys.Err = retryKeysInterval, errors.New(plain(unavailable.Err))
		} else if ctx.Err() == nil {
			v.keys = Keys{ReadAt: v.options.Now()}
		}
		failure := v.keys.Err
		v.mu.Unlock()
		if failure != nil && ctx.Err() == nil {
			failed(failure)
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
		}
	}
}

// Keys returns whether KeepKeys has the keys of the issuer.
func (v *Verifier) Keys() Keys {
	v.mu.Lock()
	defer v.mu.Unlock()
	keys := v.keys
	keys.Issuer = v.options.Issuer
	return keys
}

// unknownToken returns a token whose signature only a key could verify that no issuer has.
func (v *Verifier) unknownToken() string {
	part := func(value map[string]any) string {
		encoded, _ := json.Marshal(value) //nolint:errchkjson // texts and a number
		return base64.RawURLEncoding.EncodeToString(encoded)
	}
	return part(map[string]any{"alg": oidc.RS256, "kid": "armature: read the keys again"}) + "." +
		part(map[string]any{"iss": v.options.Issuer, "exp": v.options.Now().Add(time.Hour).Unix()}) + ".AAAA"
}

// discover returns the verifier of the issuer. What the issuer publishes is read at the
// first token, and after a failure not before minDiscoveryInterval.
func (v *Verifier) discover(ctx context.Context) (*oidc.IDTokenVerifier, error) {
	v.mu.Lock()
	provider, failure := v.provider, v.failure
	if v.options.Now().Sub(v.tried) >= minDiscoveryInterval {
		failure = nil
	}
	if provider == nil && failure == nil && v.reading == nil {
		v.reading = make(chan struct{})
		// A caller that gives up must not leave its end behind as a failure of the issuer.
		go v.read(context.WithoutCancel(ctx), v.reading)
	}
	reading := v.reading
	v.mu.Unlock()
	if provider == nil && failure == nil {
		select {
		case <-reading:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		v.mu.Lock()
		provider, failure = v.provider, v.failure
		v.mu.Unlock()
	}
	if provider == nil {
		return nil, &UnavailableError{failure}
	}
	return provider, nil
}

// read reads the documents of the issuer, and closes done.
func (v *Verifier) read(ctx context.Context, done chan struct{}) {
	ctx = oidc.ClientContext(ctx, v.client)
	address, endpoint, err := published(ctx, v.options.Issuer)
	v.mu.Lock()
	defer v.mu.Unlock()
	defer close(done)
	v.reading, v.tried = nil, v.options.Now()
	if err != nil {
		v.failure = fmt.Errorf("read what %s publishes: %s", v.options.Issuer, plain(err))
		return
	}
	v.failure, v.endpoint = nil, endpoint
	v.provider = oidc.NewVerifier(v.options.Issuer, keySet{oidc.NewRemoteKeySet(ctx, address)}, &oidc.Config{
		SkipClientIDCheck:    true, // there may be several, see checkClaims
		SupportedSigningAlgs: algorithms,
		Now:                  func() time.Time { return v.options.Now().Add(-v.options.Skew) },
	})
}

// algorithms are those whose keys an issuer can publish. One with a shared secret, or none,
// would accept tokens that anyone can make.
var algorithms = []string{
	oidc.RS256, oidc.RS384, oidc.RS512, oidc.ES256, oidc.ES384, oidc.ES512, oidc.PS256, oidc.PS384, oidc.PS512, oidc.EdDSA,
}

// published returns the address of the keys of an issuer, and those of a login. Keys must come
// over a connection that no other machine can change.
func published(ctx context.Context, issuer string) (keys string, login oauth2.Endpoint, err error) {
	provider, err := oidc.NewProvider(ctx, issuer)
	if err != nil {
		return "", login, err
	}
	var document struct {
		Keys string `json:"jwks_uri"`
	}
	if err := provider.Claims(&document); err != nil {
		return "", login, err
	}
	if err := checkAddress(document.Keys); err != nil {
		return "", login, fmt.Errorf("jwks_uri %q: %w", document.Keys, err)
	}
	return document.Keys, provider.Endpoint(), nil
}

// Endpoint returns the addresses at which a user logs in (RFC 6749, section 3), as the issuer
// publishes them. The error is an *UnavailableError, or that of ctx.
func (v *Verifier) Endpoint(ctx context.Context) (oauth2.Endpoint, error) {
	if _, err := v.discover(ctx); err != nil {
		return oauth2.Endpoint{}, err
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	for name, address := range map[string]string{"authorization_endpoint": v.endpoint.AuthURL, "token_endpoint": v.endpoint.TokenURL} {
		if err := checkAddress(address); err != nil {
			return oauth2.Endpoint{}, &UnavailableError{fmt.Errorf("%s %q of %s: %w", name, address, v.options.Issuer, err)}
		}
	}
	return v.endpoint, nil
}

// keySet keeps why keys could not be read: the library drops it.
type keySet struct{ remote *oidc.RemoteKeySet }

// unreadKey is the key of the context for the address of the error.
type unreadKey struct{}

// VerifySignature returns the payload of a token that a key of the issuer signed.
func (k keySet) VerifySignature(ctx context.Context, token string) ([]byte, error) {
	payload, err := k.remote.VerifySignature(ctx, token)
	if unread, ok := errors.AsType[*keysError](err); ok {
		*ctx.Value(unreadKey{}).(*error) = unread
	} else if err != nil && errors.Is(err, ctx.Err()) {
		*ctx.Value(unreadKey{}).(*error) = err
	}
	return payload, err
}

// explain returns why the library refused a token.
func explain(err error) error {
	if expired, ok := errors.AsType[*oidc.TokenExpiredError](err); ok {
		return &RefusedError{fmt.Sprintf("it expired at %s", expired.Expiry.UTC().Format(time.RFC3339))}
	}
	return &RefusedError{plain(err)}
}

// maxErrorLength bounds the text of an error, which may contain what a server sent.
const maxErrorLength = 300

// plain returns the text of an error on one line, without the name of the library.
func plain(err error) string {
	return plainText(strings.NewReplacer("oidc: ", "", "id token", "token").Replace(err.Error()))
}

// plainText returns a text of another machine on one line, bounded.
func plainText(stated string) string { return text.Cut(text.OneLine(stated), maxErrorLength) }

func joinClaims(claims []Claim) string {
	texts := make([]string, len(claims))
	for i, claim := range claims {
		texts[i] = claim.String()
	}
	return strings.Join(texts, ", ")
}
