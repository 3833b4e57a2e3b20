package service

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/armature-io/armature/caller"
)

// Headers with which the Web UI forwards the tokens of its user ("pass access token"). The
// Temporal CLI sends the first (--codec-auth).
const (
	accessTokenHeader = "Authorization"
	idTokenHeader     = "Authorization-Extras"
)

// codecCallers are the flags that state who may use the codec server.
type codecCallers struct {
	issuer, audiences, allow, keys string
	skew                           time.Duration
	open                           bool
	certificate, key               string
}

func (c *codecCallers) register(flags *flag.FlagSet) {
	flags.StringVar(&c.issuer, "oidc-issuer", "", "issuer of the tokens that callers must send (URL); \"\" checks no callers")
	flags.StringVar(&c.audiences, "oidc-audience", "", "audiences of which a token needs one, separated by commas")
	flags.StringVar(&c.allow, "oidc-allow", "", "claims of which a token needs one: NAME=VALUE, separated by commas, for example groups=platform,sub=ci; \"\" allows all with a token for the audience")
	flags.StringVar(&c.keys, "oidc-keys", "", "claims of which a token needs one to decrypt payloads of a key: KEY:NAME=VALUE, separated by commas; keys without an entry are for all callers")
	flags.DurationVar(&c.skew, "oidc-skew", caller.DefaultSkew, "accepted difference between the clocks of the issuer and this machine, at most 5m")
	flags.BoolVar(&c.open, "open", false, "serve all who reach --listen, without a token; only needed where that is not loopback")
	flags.StringVar(&c.certificate, "tls-cert", "", "file of a TLS certificate and its chain (PEM); the Web UI sends tokens to https only")
	flags.StringVar(&c.key, "tls-key", "", "file of the private key of --tls-cert (PEM)")
}

// verifier returns the verifier of the flags, nil where they state none.
func (c *codecCallers) verifier(now func() time.Time) (*caller.Verifier, error) {
	if c.issuer == "" {
		if c.audiences != "" || c.allow != "" || c.keys != "" {
			return nil, errors.New("read flags: --oidc-audience, --oidc-allow and --oidc-keys need --oidc-issuer")
		}
		return nil, nil //nolint:nilnil // no issuer, no verifier
	}
	options := caller.Options{Issuer: c.issuer, Skew: c.skew, Now: now}
	for audience := range strings.FieldsFuncSeq(c.audiences, isComma) {
		options.Audiences = append(options.Audiences, audience)
	}
	for text := range strings.SplitSeq(c.allow, ",") {
		if c.allow == "" {
			break
		}
		claim, err := caller.ParseClaim(strings.TrimSpace(text))
		if err != nil {
			return nil, fmt.Errorf("read flags: --oidc-allow: %w", err)
		}
		options.Allow = append(options.Allow, claim)
	}
	verifier, err := caller.New(options)
	if err != nil {
		return nil, fmt.Errorf("read flags: --oidc-*: %w", err)
	}
	return verifier, nil
}

// mayDecrypt returns the check of callers for single keys, nil without one.
func (c *codecCallers) mayDecrypt() (func(*http.Request, string) bool, error) {
	if c.keys == "" {
		return nil, nil
	}
	claims := map[string][]caller.Claim{}
	for text := range strings.SplitSeq(c.keys, ",") {
		key, rest, found := strings.Cut(strings.TrimSpace(text), ":")
		claim, err := caller.ParseClaim(rest)
		if !found || key == "" || err != nil {
			return nil, fmt.Errorf("read flags: --oidc-keys %q is not KEY:NAME=VALUE, for example prod:groups=oncall", text)
		}
		claims[key] = append(claims[key], claim)
	}
	return func(r *http.Request, key string) bool {
		sender, _ := r.Context().Value(callerKey{}).(caller.Caller)
		return len(claims[key]) == 0 || slices.ContainsFunc(claims[key], sender.Has)
	}, nil
}

// check returns an error for flags with which all who reach a network could decode
// payloads without having been asked to.
func (c *codecCallers) check(listen string) error {
	switch {
	case (c.certificate == "") != (c.key == ""):
		return errors.New("read flags: set both --tls-cert and --tls-key, or neither")
	case c.open && c.issuer != "":
		return errors.New("read flags: --open serves callers without a token, and --oidc-issuer demands one: use one of them")
	case c.open || c.issuer != "" || isLoopback(listen):
		return nil
	}
	return fmt.Errorf("serve codec: other machines reach %s, and callers would need no identity: "+
		"set --oidc-issuer and --oidc-audience, listen on loopback, or add --open where a proxy or the network decides about callers (docs/encryption.md)", listen)
}

// warning returns what is unsafe in flags that are allowed, "" for nothing.
func (c *codecCallers) warning(listen string) string {
	switch {
	case isLoopback(listen):
		return ""
	case c.open:
		return "callers are not identified (--open): all who reach the server decode what they send"
	case c.certificate == "":
		return "no --tls-cert: tokens cross the network in clear unless a proxy in front of this server has TLS, and the Web UI sends tokens to https only"
	}
	return ""
}

// isLoopback reports whether only this machine reaches an address (host:port).
func isLoopback(listen string) bool {
	host, _, err := net.SplitHostPort(listen)
	if err != nil {
		return false
	}
	ip, err := netip.ParseAddr(host)
	return strings.EqualFold(host, "localhost") || err == nil && ip.Unmap().IsLoopback()
}

// callerKey is the key of the context for the verified caller of a request.
type callerKey struct{}

// protect returns a handler that serves verified callers only, and logs each request with
// its caller. Neither tokens nor payloads are logged.
func protect(verifier *caller.Verifier, log *slog.Logger) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			sender, err := verifyRequest(r, verifier)
			attributes := []any{"path", r.URL.Path, "namespace", r.Header.Get("X-Namespace"), "origin", r.Header.Get("Origin"), "from", r.RemoteAddr}
			if err != nil {
				status := refuse(w, err)
				if denied, ok := errors.AsType[*caller.NotAllowedError](err); ok {
					attributes = append(attributes, "issuer", denied.Caller.Issuer, "subject", denied.Caller.Subject)
				}
				log.Warn("request refused", append(attributes, "status", status, "error", err)...)
				return
			}
			recorder := &statusRecorder{ResponseWriter: w, status: http.StatusOK}
			next.ServeHTTP(recorder, r.WithContext(context.WithValue(r.Context(), callerKey{}, sender)))
			log.Info("request served", append(attributes, "status", recorder.status, "issuer", sender.Issuer, "subject", sender.Subject)...)
		})
	}
}

// verifyRequest returns the caller that the access token of a request names, or its ID
// token: some issuers sign the latter only.
func verifyRequest(r *http.Request, verifier *caller.Verifier) (caller.Caller, error) {
	values := r.Header.Values(accessTokenHeader)
	if len(values) > 1 {
		return caller.Caller{}, &caller.RefusedError{Reason: "there are several " + accessTokenHeader + " headers"}
	}
	scheme, token, _ := strings.Cut(r.Header.Get(accessTokenHeader), " ")
	if len(values) == 1 && !strings.EqualFold(scheme, "Bearer") {
		return caller.Caller{}, &caller.RefusedError{Reason: accessTokenHeader + " must be a bearer token"}
	}
	sender, err := verifier.Verify(r.Context(), strings.TrimSpace(token))
	id := r.Header.Get(idTokenHeader)
	if _, refused := errors.AsType[*caller.RefusedError](err); refused && id != "" {
		if second, idErr := verifier.Verify(r.Context(), id); idErr == nil {
			return second, nil
		}
	}
	return sender, err
}

// refuse answers a request whose caller is not served, and returns the status.
func refuse(w http.ResponseWriter, err error) int {
	status := http.StatusServiceUnavailable
	if _, refused := errors.AsType[*caller.RefusedError](err); refused {
		status = http.StatusUnauthorized
		w.Header().Set("WWW-Authenticate", `Bearer realm="armature codec server", error="invalid_token"`)
	} else if _, denied := errors.AsType[*caller.NotAllowedError](err); denied {
		status = http.StatusForbidden
	}
	http.Error(w, err.Error(), status)
	return status
}

// statusRecorder keeps the status of a response for the log.
type statusRecorder struct {
	http.ResponseWriter
	status int
}

// WriteHeader writes the status.
func (s *statusRecorder) WriteHeader(status int) {
	s.status = status
	s.ResponseWriter.WriteHeader(status)
}
