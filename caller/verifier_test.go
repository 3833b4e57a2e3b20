package caller_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/caller"
	"github.com/armature-io/armature/internal/testonly/issuer"
	"github.com/google/go-cmp/cmp"
)

const audience = "api://codec"

func newVerifier(t *testing.T, options caller.Options) *caller.Verifier {
	t.Helper()
	if options.Audiences == nil {
		options.Audiences = []string{audience}
	}
	verifier, err := caller.New(options)
	if err != nil {
		t.Fatal(err)
	}
	return verifier
}

// TestGuardTokens sends each kind of token to a verifier that wants the group ops.
//
//guard:callers-of-the-codec-server
func TestGuardTokens(t *testing.T) {
	t.Parallel()
	honest, other := issuer.Start(t), issuer.Start(t)
	verifier := newVerifier(t, caller.Options{
		Issuer: honest.URL, Audiences: []string{audience, "codec"}, Allow: []caller.Claim{{Name: "groups", Value: "ops"}, {Name: "sub", Value: "bot"}},
	})
	in := func(d time.Duration) int64 { return time.Now().Add(d).Unix() }
	ops := map[string]any{"groups": []string{"dev", "ops"}}
	with := func(name string, value any) map[string]any {
		return map[string]any{"groups": []string{"ops"}, name: value}
	}
	cases := map[string]struct{ reason, token, want string }{
		"member":               {"a group of the list", honest.Token(audience, "ann", ops), ""},
		"subject":              {"a subject of the list", honest.Token("codec", "bot", nil), ""},
		"audience among more":  {"a token may have several", honest.Token(audience, "ann", with("aud", []string{"other", audience})), ""},
		"clock behind":         {"a minute of difference is accepted", honest.Token(audience, "ann", with("exp", in(-30*time.Second))), ""},
		"clock ahead":          {"the same at the beginning", honest.Token(audience, "ann", with("nbf", in(30*time.Second))), ""},
		"none":                 {"a request without a token", "", "there is none"},
		"no member":            {"another group", honest.Token(audience, "eve", map[string]any{"groups": []string{"opsx"}}), `subject "eve" is not allowed`},
		"too many groups":      {"the issuer left them out", honest.Token(audience, "eve", map[string]any{"_claim_names": map[string]string{"groups": "src1"}, "_claim_sources": map[string]any{"src1": map[string]string{"endpoint": "https://graph.example.com/"}}}), "the issuer left groups out"},
		"group as text":        {"a list in a text is no list", honest.Token(audience, "eve", map[string]any{"groups": "dev ops"}), "is not allowed"},
		"expired":              {"beyond the difference of clocks", honest.Token(audience, "ann", with("exp", in(-2*time.Minute))), "it expired at"},
		"no end":               {"a token without exp would never end", honest.Token(audience, "ann", with("exp", nil)), "expired"},
		"not yet":              {"beyond the difference of clocks", honest.Token(audience, "ann", with("nbf", in(2*time.Minute))), "not valid yet (nbf"},
		"issued later":         {"a wrong clock, or a forgery for later", honest.Token(audience, "ann", with("iat", in(time.Hour))), "not valid yet (iat"},
		"time as text":         {"it cannot be compared", honest.Token(audience, "ann", with("nbf", "soon")), "token refused"},
		"no subject":           {"nothing to record or allow", honest.Token(audience, "", ops), "it has no subject"},
		"other audience":       {"a token that another program received", honest.Token("https://graph.example.com", "ann", ops), "its audience is"},
		"no audience":          {"a token for all programs", honest.Token(audience, "ann", with("aud", nil)), "its audience is"},
		"other issuer":         {"anyone can run one", other.Token(audience, "ann", ops), "failed to verify"},
		"claims this issuer":   {"the key of another", other.Sign(map[string]any{"alg": "RS256", "kid": honest.KeyID()}, honest.Claims(audience, "ann", ops)), "failed to verify"},
		"brings its key":       {"the header of a token is no source of keys", other.Sign(map[string]any{"alg": "RS256", "jwk": other.JWK(), "jku": other.URL + "/keys"}, honest.Claims(audience, "ann", ops)), "failed to verify"},
		"same issuer's no iss": {"another tenant of the same keys", honest.Token(audience, "ann", with("iss", honest.URL+"/other")), "issued by a different provider"},
		"algorithm none":       {"no signature at all", honest.Unsigned(honest.Claims(audience, "ann", ops)), "token refused"},
		"key confusion":        {"the public key as a shared secret", honest.SignWithPublicKey(honest.Claims(audience, "ann", ops)), "token refused"},
		"changed":              {"claims of another token", swapClaims(honest.Token(audience, "eve", nil), honest.Unsigned(honest.Claims(audience, "bot", nil))), "failed to verify"},
		"two tokens":           {"no token", honest.Token(audience, "ann", ops) + "," + honest.Token(audience, "ann", ops), "token refused"},
		"huge":                 {"it is not parsed", strings.Repeat("a", 25<<10), "at most"},
		"no JSON":              {"no token", "e30.e30.e30", "token refused"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			// A verifier of its own, because each unknown key is a request for keys.
			verifier := newVerifier(t, caller.Options{Issuer: honest.URL, Audiences: []string{audience, "codec"}, Allow: []caller.Claim{{Name: "groups", Value: "ops"}, {Name: "sub", Value: "bot"}}})
			got, err := verifier.Verify(t.Context(), c.token)
			switch {
			case c.want == "" && err != nil:
				t.Errorf("%s: %v", c.reason, err)
			case c.want == "" && (got.Issuer != honest.URL || got.Subject == "" || got.Expiry.IsZero()):
				t.Errorf("%s: the caller is %+v", c.reason, got)
			case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
				t.Errorf("%s: got %v, want %q", c.reason, err, c.want)
			case err != nil && c.token != "" && strings.Contains(err.Error(), c.token):
				t.Errorf("%s: the error contains the token", c.reason)
			}
		})
	}
	if _, err := verifier.Verify(t.Context(), honest.Token(audience, "ann", ops)); err != nil {
		t.Error(err)
	}
}

// swapClaims returns the first token with the claims of the second.
func swapClaims(token, from string) string {
	parts, other := strings.Split(token, "."), strings.Split(from, ".")
	return parts[0] + "." + other[1] + "." + parts[2]
}

// TestKeys checks that a new key of the issuer is found, and that tokens with unknown keys
// do not become requests to the issuer without bound.
func TestKeys(t *testing.T) {
	t.Parallel()
	honest := issuer.Start(t)
	now := time.Now()
	verifier := newVerifier(t, caller.Options{Issuer: honest.URL, Now: func() time.Time { return now }})
	if _, err := verifier.Verify(t.Context(), honest.Token(audience, "ann", nil)); err != nil {
		t.Fatal(err)
	}
	honest.Rotate()
	if _, err := verifier.Verify(t.Context(), honest.Token(audience, "ann", nil)); err != nil {
		t.Errorf("a new key of the issuer: %v", err)
	}
	for range 20 {
		_, err := verifier.Verify(t.Context(), honest.Sign(map[string]any{"alg": "RS256", "kid": "unknown"}, honest.Claims(audience, "ann", nil)))
		if err == nil {
			t.Fatal("a token of an unknown key was accepted")
		}
	}
	if got := honest.KeyRequests.Load(); got != 3 {
		t.Errorf("the issuer got %d requests for keys, want 3 in 30 s", got)
	}
	if _, err := verifier.Verify(t.Context(), honest.Token(audience, "ann", nil)); err != nil {
		t.Errorf("a known key while the bound is reached: %v", err)
	}
	now = now.Add(time.Minute)
	honest.Rotate()
	if _, err := verifier.Verify(t.Context(), honest.Token(audience, "ann", nil)); err != nil {
		t.Errorf("a new key, a minute later: %v", err)
	}
}

// TestIssuerDown checks that an issuer out of reach refuses no token for good, and that it is
// not asked at each.
func TestIssuerDown(t *testing.T) {
	t.Parallel()
	honest := issuer.Start(t)
	honest.Down.Store(true)
	now := time.Now()
	verifier := newVerifier(t, caller.Options{Issuer: honest.URL, Now: func() time.Time { return now }})
	token := honest.Token(audience, "ann", nil)
	for range 2 {
		if _, err := verifier.Verify(t.Context(), token); !isUnavailable(err) || !strings.Contains(err.Error(), "503") {
			t.Errorf("got %v, want that the issuer is unavailable", err)
		}
		honest.Down.Store(false) // the second try comes too early to notice
	}
	now = now.Add(10 * time.Second)
	if _, err := verifier.Verify(t.Context(), token); err != nil {
		t.Errorf("when the issuer is back: %v", err)
	}
	honest.Down.Store(true)
	if _, err := verifier.Verify(t.Context(), token); err != nil {
		t.Errorf("with keys that were read: %v", err)
	}
	honest.Rotate()
	if _, err := verifier.Verify(t.Context(), honest.Token(audience, "ann", nil)); !isUnavailable(err) {
		t.Errorf("with a new key that cannot be read: got %v, want that the issuer is unavailable", err)
	}
}

// TestEndpoint checks that a browser is sent, and a code is posted, to an address that no other
// machine can change.
func TestEndpoint(t *testing.T) {
	t.Parallel()
	honest := issuer.Start(t)
	verifier := newVerifier(t, caller.Options{Issuer: honest.URL})
	if got, err := verifier.Endpoint(t.Context()); err != nil || got.AuthURL != honest.URL+"/authorize" || got.TokenURL != honest.URL+"/token" {
		t.Errorf("got %+v, %v", got, err)
	}
	down := issuer.Start(t)
	down.Down.Store(true)
	if _, err := newVerifier(t, caller.Options{Issuer: down.URL}).Endpoint(t.Context()); !isUnavailable(err) {
		t.Errorf("an issuer out of reach: %v", err)
	}
	plain := issuer.Start(t)
	plain.TokenEndpoint = "http://login.example.com/token"
	if _, err := newVerifier(t, caller.Options{Issuer: plain.URL}).Endpoint(t.Context()); !isUnavailable(err) || !strings.Contains(err.Error(), "token_endpoint") {
		t.Errorf("a token endpoint without TLS: %v", err)
	}
}

func isUnavailable(err error) bool {
	_, ok := errors.AsType[*caller.UnavailableError](err)
	return ok
}

func TestOptions(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason  string
		options caller.Options
		want    string
	}{
		"https":         {"the normal case", caller.Options{Issuer: "https://login.example.com/t/v2.0", Audiences: []string{"a"}}, ""},
		"http":          {"a proxy could publish keys of its own", caller.Options{Issuer: "http://login.example.com", Audiences: []string{"a"}}, "use https"},
		"no issuer":     {"anyone's token", caller.Options{Audiences: []string{"a"}}, "issuer"},
		"no audience":   {"tokens of all programs", caller.Options{Issuer: "https://login.example.com"}, "set the audience"},
		"empty":         {"the same", caller.Options{Issuer: "https://login.example.com", Audiences: []string{""}}, "set the audience"},
		"endless skew":  {"expired tokens", caller.Options{Issuer: "https://login.example.com", Audiences: []string{"a"}, Skew: time.Hour}, "at most 5m"},
		"negative skew": {"a mistake", caller.Options{Issuer: "https://login.example.com", Audiences: []string{"a"}, Skew: -1}, "must be positive"},
	}
	for name, c := range cases {
		_, err := caller.New(c.options)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %s: got %v, want %q", name, c.reason, err, c.want)
		}
	}
}

func TestClaims(t *testing.T) {
	t.Parallel()
	honest := issuer.Start(t)
	got, err := newVerifier(t, caller.Options{Issuer: honest.URL}).Verify(t.Context(), honest.Token(audience, "ann", map[string]any{
		"scp": "Codec.Read Codec.Write", "roles": []any{"reader", 7}, "email": "ann@example.com", "level": 3,
	}))
	if err != nil {
		t.Fatal(err)
	}
	has := map[string]bool{}
	for _, text := range []string{"scp=Codec.Read", "scp=Codec", "roles=reader", "roles=7", "email=ann@example.com", "email=ann", "level=3", "sub=ann", "missing="} {
		name, value, _ := strings.Cut(text, "=")
		has[text] = got.Has(caller.Claim{Name: name, Value: value})
	}
	want := map[string]bool{
		"scp=Codec.Read": true, "scp=Codec": false, "roles=reader": true, "roles=7": false, "email=ann@example.com": true,
		"email=ann": false, "level=3": false, "sub=ann": true, "missing=": false,
	}
	if diff := cmp.Diff(want, has); diff != "" {
		t.Errorf("claims (-want +got):\n%s", diff)
	}
	if got.Text("email") != "ann@example.com" || got.Text("roles") != "" {
		t.Errorf("texts: %q, %q", got.Text("email"), got.Text("roles"))
	}
	for text, valid := range map[string]bool{"groups=a=b": true, "groups": false, "=a": false, "groups=": false} {
		if _, err := caller.ParseClaim(text); (err == nil) != valid {
			t.Errorf("%q: got %v, want valid %t", text, err, valid)
		}
	}
}
