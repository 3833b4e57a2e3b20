package service_test

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/armature-io/armature/internal/payload"
	"github.com/armature-io/armature/internal/testonly/issuer"
	"github.com/armature-io/armature/service"
	commonpb "go.temporal.io/api/common/v1"
	"google.golang.org/protobuf/encoding/protojson"
)

const (
	codecAudience = "api://codec"
	codecOrigin   = "https://ui.example.com"
)

// startCodec runs a codec server until the test ends, and returns its address and its log.
func startCodec(t *testing.T, flags ...string) (address string, stderr *log) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	addresses, exited := make(chan string, 1), make(chan int, 1)
	stderr = &log{}
	go func() {
		exited <- service.Main(ctx, append([]string{"codec", "--listen", "127.0.0.1:0", "--origins", codecOrigin}, flags...),
			service.Options{OnListen: func(address string) { addresses <- address }, Stdout: &bytes.Buffer{}, Stderr: stderr})
	}()
	t.Cleanup(func() { stop(); <-exited })
	select {
	case address = <-addresses:
	case code := <-exited:
		exited <- code
		t.Fatalf("the codec server ended with %d: %s", code, stderr)
	}
	return address, stderr
}

const codecSecret = "a body that only some may read "

// stored returns the body of a request with a compressed payload.
func stored(t *testing.T) []byte {
	t.Helper()
	large := &commonpb.Payload{Metadata: map[string][]byte{"encoding": []byte("json/plain")}, Data: []byte(`"` + strings.Repeat(codecSecret, 200) + `"`)}
	encoded, err := payload.Codec().Encode([]*commonpb.Payload{large})
	if err != nil {
		t.Fatal(err)
	}
	body, err := protojson.Marshal(&commonpb.Payloads{Payloads: encoded})
	if err != nil {
		t.Fatal(err)
	}
	return body
}

// post sends a request as the Web UI does, and returns the status and what was decoded.
func post(t *testing.T, client *http.Client, method, url string, headers map[string]string) (*http.Response, string) {
	t.Helper()
	return postBody(t, client, method, url, headers, stored(t))
}

func postBody(t *testing.T, client *http.Client, method, url string, headers map[string]string, body []byte) (*http.Response, string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, url, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range headers {
		request.Header.Set(name, value)
	}
	response, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	var read commonpb.Payloads
	if response.StatusCode != http.StatusOK || protojson.Unmarshal(text, &read) != nil {
		return response, string(text)
	}
	var decoded strings.Builder
	for _, p := range read.GetPayloads() {
		decoded.Write(p.GetData())
	}
	return response, decoded.String()
}

// webUI are the headers that the Web UI 2.55 sends with "pass access token".
func webUI(access, id string) map[string]string {
	headers := map[string]string{"Origin": codecOrigin, "Content-Type": "application/json", "X-Namespace": "prod"}
	if access != "" {
		headers["Authorization"] = "Bearer " + access
	}
	if id != "" {
		headers["Authorization-Extras"] = id
	}
	return headers
}

// TestGuardCodecCallers checks that the codec server decodes for callers with a token of
// the issuer only, and what it logs of them.
//
//guard:callers-of-the-codec-server
func TestGuardCodecCallers(t *testing.T) {
	honest, other := issuer.Start(t), issuer.Start(t)
	address, stderr := startCodec(t, "--oidc-issuer", honest.URL, "--oidc-audience", codecAudience, "--oidc-allow", "groups=ops, sub=ci")
	ops := map[string]any{"groups": []string{"ops"}}
	good := honest.Token(codecAudience, "ann", ops)
	without := webUI(good, "")
	delete(without, "Origin")
	basic := webUI("", "")
	basic["Authorization"] = "Basic YW5uOnNlY3JldA=="
	cases := map[string]struct {
		reason  string
		headers map[string]string
		want    int
	}{
		"Web UI":             {"the token of its user", webUI(good, ""), http.StatusOK},
		"Temporal CLI":       {"--codec-auth, without an origin", without, http.StatusOK},
		"ID token":           {"an issuer whose access tokens cannot be verified", webUI("opaque", good), http.StatusOK},
		"another group":      {"known, and not allowed", webUI(honest.Token(codecAudience, "eve", nil), ""), http.StatusForbidden},
		"a better ID token":  {"both are of the same user; the first decides who that is", webUI(honest.Token(codecAudience, "eve", nil), good), http.StatusForbidden},
		"no token":           {"never open by default", webUI("", ""), http.StatusUnauthorized},
		"password":           {"no bearer token", basic, http.StatusUnauthorized},
		"expired":            {"the end of a session", webUI(honest.Token(codecAudience, "ann", map[string]any{"exp": 1}), ""), http.StatusUnauthorized},
		"another audience":   {"a token that another program received", webUI(honest.Token("api://other", "ann", ops), ""), http.StatusUnauthorized},
		"another issuer":     {"anyone can run one", webUI(other.Token(codecAudience, "ann", ops), ""), http.StatusUnauthorized},
		"algorithm none":     {"no signature", webUI(honest.Unsigned(honest.Claims(codecAudience, "ann", ops)), ""), http.StatusUnauthorized},
		"key confusion":      {"the published key as a secret", webUI(honest.SignWithPublicKey(honest.Claims(codecAudience, "ann", ops)), ""), http.StatusUnauthorized},
		"both are forgeries": {"the second is verified as the first", webUI(other.Token(codecAudience, "ann", ops), honest.Unsigned(honest.Claims(codecAudience, "ann", ops))), http.StatusUnauthorized},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			response, text := post(t, http.DefaultClient, http.MethodPost, "http://"+address+"/decode?preserveStorageRefs=true", c.headers)
			if response.StatusCode != c.want {
				t.Errorf("%s: got %s %.200s, want %d", c.reason, response.Status, text, c.want)
			}
			if strings.Contains(text, codecSecret) != (c.want == http.StatusOK) {
				t.Errorf("%s: the response is %.200s", c.reason, text)
			}
			if origin := c.headers["Origin"]; response.Header.Get("Access-Control-Allow-Origin") != origin {
				t.Errorf("%s: the browser hides the response", c.reason)
			}
			if c.want == http.StatusUnauthorized && !strings.HasPrefix(response.Header.Get("WWW-Authenticate"), "Bearer ") {
				t.Errorf("%s: no WWW-Authenticate", c.reason)
			}
		})
	}
	text := stderr.String()
	if !has(text, `"subject":"ann"`, `"subject":"eve"`, `"namespace":"prod"`, `"status":401`, `it expired at`) || strings.Contains(text, good) || strings.Contains(text, codecSecret) {
		t.Errorf("the log of requests:\n%s", text)
	}
}

// TestGuardCodecPreflight checks that a preflight, which needs no token, decodes nothing and
// opens nothing, however often it is repeated.
//
//guard:callers-of-the-codec-server
func TestGuardCodecPreflight(t *testing.T) {
	honest := issuer.Start(t)
	address, _ := startCodec(t, "--oidc-issuer", honest.URL, "--oidc-audience", codecAudience)
	preflight := map[string]string{
		"Origin": codecOrigin, "Access-Control-Request-Method": "POST",
		"Access-Control-Request-Headers": "authorization,authorization-extras,content-type,x-namespace",
	}
	for range 2 {
		response, text := post(t, http.DefaultClient, http.MethodOptions, "http://"+address+"/decode", preflight)
		if response.StatusCode != http.StatusNoContent || text != "" {
			t.Errorf("preflight: got %s %q", response.Status, text)
		}
		allowed := strings.ToLower(strings.ReplaceAll(response.Header.Get("Access-Control-Allow-Headers"), " ", ""))
		for header := range strings.SplitSeq(preflight["Access-Control-Request-Headers"], ",") {
			if !strings.Contains(","+allowed+",", ","+header+",") {
				t.Errorf("the preflight does not allow %s: %s", header, allowed)
			}
		}
		override := webUI("", "")
		override["X-HTTP-Method-Override"] = "OPTIONS"
		for _, headers := range []map[string]string{webUI("", ""), override} {
			if response, text := post(t, http.DefaultClient, http.MethodPost, "http://"+address+"/decode", headers); response.StatusCode != http.StatusUnauthorized {
				t.Errorf("after a preflight: got %s %.100s", response.Status, text)
			}
		}
	}
}

// TestGuardCodecIsNotOpen checks that a codec server without an identity of its callers
// starts where only this machine reaches it, or where a user wants it.
//
//guard:callers-of-the-codec-server
func TestGuardCodecIsNotOpen(t *testing.T) {
	cases := map[string]struct {
		reason string
		flags  []string
		code   int
		want   string
	}{
		"loopback":           {"this machine", []string{"--listen=127.0.0.1:0"}, service.ExitStopped, ""},
		"loopback of 6":      {"this machine", []string{"--listen=[::1]:0"}, service.ExitStopped, ""},
		"all addresses":      {"a container or VM in a network", []string{"--listen=0.0.0.0:0"}, service.ExitConfig, "set --oidc-issuer and --oidc-audience"},
		"no host":            {"the same", []string{"--listen=:0"}, service.ExitConfig, "add --open"},
		"asked for":          {"a proxy in front decides", []string{"--listen=0.0.0.0:0", "--open"}, service.ExitStopped, "callers are not identified"},
		"clear tokens":       {"it starts behind a proxy with TLS", []string{"--listen=0.0.0.0:0", "--oidc-issuer=https://login.example.com", "--oidc-audience=a"}, service.ExitStopped, "no --tls-cert"},
		"both":               {"a contradiction", []string{"--open", "--oidc-issuer=https://login.example.com", "--oidc-audience=a"}, service.ExitConfig, "use one of them"},
		"audience only":      {"nothing would be checked", []string{"--oidc-audience=a"}, service.ExitConfig, "need --oidc-issuer"},
		"no audience":        {"tokens for other programs", []string{"--oidc-issuer=https://login.example.com"}, service.ExitConfig, "set the audience"},
		"clear issuer":       {"forged keys", []string{"--oidc-issuer=http://login.example.com", "--oidc-audience=a"}, service.ExitConfig, "use https"},
		"claim":              {"not NAME=VALUE", []string{"--oidc-issuer=https://login.example.com", "--oidc-audience=a", "--oidc-allow=ops"}, service.ExitConfig, "use NAME=VALUE"},
		"key is missing":     {"half of TLS", []string{"--tls-cert=a.pem"}, service.ExitConfig, "set both --tls-cert and --tls-key"},
		"certificate is not": {"no such file", []string{"--tls-cert=a.pem", "--tls-key=b.pem"}, service.ExitFailed, "a.pem"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if strings.Contains(c.flags[0], "[::1]") {
				if l, err := net.Listen("tcp", "[::1]:0"); err != nil {
					t.Skip("this machine has no IPv6 loopback")
				} else {
					_ = l.Close()
				}
			}
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			var stderr bytes.Buffer
			code := service.Main(ctx, append([]string{"codec"}, c.flags...),
				service.Options{OnListen: func(string) { stop() }, Stdout: &bytes.Buffer{}, Stderr: &stderr})
			if code != c.code || !strings.Contains(stderr.String(), c.want) || c.want == "" && stderr.Len() > 0 {
				t.Errorf("%s: exit code %d, %q, want %d and %q", c.reason, code, stderr.String(), c.code, c.want)
			}
		})
	}
}
