// Package issuer is an OpenID Connect issuer for tests: it publishes keys and signs tokens,
// also those that no honest issuer would sign, and logs users of registered applications in.
package issuer

import (
	"cmp"
	"crypto"
	"crypto/hmac"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"math/big"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// Issuer serves discovery and keys on loopback. URL is its name.
type Issuer struct {
	URL string
	// KeyRequests counts the requests for keys.
	KeyRequests atomic.Int64
	// Refreshes counts the refresh tokens that applications sent.
	Refreshes atomic.Int64
	// Down makes each answer a 503.
	Down atomic.Bool
	// Delay is how long each answer takes, a time.Duration.
	Delay atomic.Int64
	// TokenEndpoint replaces the published address of the token endpoint, if set.
	TokenEndpoint string

	handler      http.Handler
	t            testing.TB
	mu           sync.Mutex
	key          *rsa.PrivateKey
	kid          string
	turn         int
	applications map[string]Application
	sessions     map[string]session
}

// Start serves an issuer until the test ends.
func Start(t testing.TB) *Issuer {
	t.Helper()
	i := &Issuer{t: t}
	i.Rotate()
	mux := http.NewServeMux()
	mux.HandleFunc("/.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		i.write(w, map[string]any{
			"issuer": i.URL, "jwks_uri": i.URL + "/keys", "id_token_signing_alg_values_supported": []string{"RS256"},
			"authorization_endpoint": i.URL + "/authorize", "token_endpoint": cmp.Or(i.TokenEndpoint, i.URL+"/token"),
		})
	})
	mux.HandleFunc("/keys", func(w http.ResponseWriter, _ *http.Request) {
		i.KeyRequests.Add(1)
		i.write(w, map[string]any{"keys": []any{i.jwk()}})
	})
	mux.HandleFunc("/authorize", i.authorize)
	mux.HandleFunc("POST /token", i.exchange)
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	i.URL, i.handler = server.URL, mux
	return i
}

// Client returns a client that reaches the issuer without a network, for tests in a bubble of
// package synctest.
func (i *Issuer) Client() *http.Client { return &http.Client{Transport: direct{i}} }

type direct struct{ *Issuer }

// RoundTrip serves a request.
func (d direct) RoundTrip(r *http.Request) (*http.Response, error) {
	recorder := httptest.NewRecorder()
	d.handler.ServeHTTP(recorder, r)
	return recorder.Result(), nil
}

// Rotate replaces the key.
func (i *Issuer) Rotate() {
	i.t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		i.t.Fatal(err)
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.turn++
	i.key, i.kid = key, fmt.Sprintf("key-%d", i.turn)
}

// Claims returns the claims of a token for an audience that is valid for an hour, with
// changes: nil removes a claim.
func (i *Issuer) Claims(audience, subject string, changes map[string]any) map[string]any {
	now := time.Now()
	claims := map[string]any{
		"iss": i.URL, "aud": audience, "sub": subject, "iat": now.Unix(), "exp": now.Add(time.Hour).Unix(),
	}
	for name, value := range changes {
		if claims[name] = value; value == nil {
			delete(claims, name)
		}
	}
	return claims
}

// Token returns a token that the current key signs.
func (i *Issuer) Token(audience, subject string, changes map[string]any) string {
	return i.Sign(map[string]any{"alg": "RS256", "kid": i.KeyID()}, i.Claims(audience, subject, changes))
}

// Sign returns a token with any header and claims, signed by the current key with RS256.
func (i *Issuer) Sign(header, claims map[string]any) string {
	i.t.Helper()
	signed := i.part(header) + "." + i.part(claims)
	digest := sha256.Sum256([]byte(signed))
	i.mu.Lock()
	defer i.mu.Unlock()
	signature, err := rsa.SignPKCS1v15(rand.Reader, i.key, crypto.SHA256, digest[:])
	if err != nil {
		i.t.Fatal(err)
	}
	return signed + "." + encode(signature)
}

// Unsigned returns a token of the algorithm none.
func (i *Issuer) Unsigned(claims map[string]any) string {
	return i.part(map[string]any{"alg": "none"}) + "." + i.part(claims) + "."
}

// SignWithPublicKey returns a token of the algorithm HS256 whose secret is the published
// key: a verifier that takes the algorithm from the token accepts it.
func (i *Issuer) SignWithPublicKey(claims map[string]any) string {
	i.t.Helper()
	signed := i.part(map[string]any{"alg": "HS256", "kid": i.KeyID()}) + "." + i.part(claims)
	der, err := x509.MarshalPKIXPublicKey(i.public())
	if err != nil {
		i.t.Fatal(err)
	}
	mac := hmac.New(sha256.New, pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}))
	mac.Write([]byte(signed))
	return signed + "." + encode(mac.Sum(nil))
}

// KeyID returns the ID of the current key.
func (i *Issuer) KeyID() string {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.kid
}

// JWK returns the current public key as a header of a token may contain it.
func (i *Issuer) JWK() map[string]any { return i.jwk() }

func (i *Issuer) public() *rsa.PublicKey {
	i.mu.Lock()
	defer i.mu.Unlock()
	return &i.key.PublicKey
}

func (i *Issuer) jwk() map[string]any {
	public := i.public()
	return map[string]any{
		"kty": "RSA", "use": "sig", "kid": i.KeyID(),
		"n": encode(public.N.Bytes()), "e": encode(big.NewInt(int64(public.E)).Bytes()),
	}
}

func (i *Issuer) part(value any) string {
	i.t.Helper()
	data, err := json.Marshal(value)
	if err != nil {
		i.t.Fatal(err)
	}
	return encode(data)
}

func (i *Issuer) write(w http.ResponseWriter, value any) {
	<-time.After(time.Duration(i.Delay.Load()))
	if i.Down.Load() {
		http.Error(w, "maintenance", http.StatusServiceUnavailable)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(value)
}

func encode(data []byte) string { return base64.RawURLEncoding.EncodeToString(data) }
