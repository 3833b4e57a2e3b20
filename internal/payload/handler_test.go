package payload_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"
	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/converter"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/testing/protocmp"

	"github.com/armature-io/armature/internal/payload"
)

const uiOrigin = "http://127.0.0.1:8233"

func TestHandlerDecodes(t *testing.T) {
	server := httptest.NewServer(payload.Handler(uiOrigin))
	defer server.Close()
	want := &commonpb.Payload{Metadata: metadata("json/plain"), Data: []byte(`"` + strings.Repeat("long ", 1000) + `"`)}
	encoded, err := payload.Codec().Encode([]*commonpb.Payload{want})
	if err != nil {
		t.Fatal(err)
	}
	remote := converter.NewRemotePayloadCodec(converter.RemotePayloadCodecOptions{Endpoint: server.URL})
	got, err := remote.Decode(encoded)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got[0], protocmp.Transform()); diff != "" {
		t.Errorf("the codec server did not restore the payload (-want +got):\n%s", diff)
	}
}

func TestHandlerOrigins(t *testing.T) {
	cases := map[string]struct {
		reason  string
		origin  string
		allowed string
	}{
		"Web UI":       {reason: "the browser sends a preflight before the Web UI may decode", origin: uiOrigin, allowed: uiOrigin},
		"another site": {reason: "no other page may read decoded payloads", origin: "http://example.com"},
		"another port": {reason: "an origin is scheme, host and port", origin: "http://127.0.0.1:9999"},
		"no browser":   {reason: "the Temporal CLI sends no origin"},
		"null origin":  {reason: "sandboxed pages send null", origin: "null"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := httptest.NewRequest(http.MethodOptions, "/decode", nil)
			if tc.origin != "" {
				r.Header.Set("Origin", tc.origin)
			}
			w := httptest.NewRecorder()
			payload.Handler(uiOrigin).ServeHTTP(w, r)
			want := http.StatusNoContent
			if tc.origin != "" && tc.allowed == "" {
				want = http.StatusForbidden
			}
			if w.Code != want {
				t.Errorf("preflight returned %d, want %d: %s", w.Code, want, tc.reason)
			}
			if got := w.Header().Get("Access-Control-Allow-Origin"); got != tc.allowed {
				t.Errorf("allowed origin = %q, want %q: %s", got, tc.allowed, tc.reason)
			}
		})
	}
}

// bomb returns a payload of some hundred bytes that has almost size bytes when decoded.
func bomb(t *testing.T, size int) *commonpb.Payload {
	t.Helper()
	large := &commonpb.Payload{Metadata: metadata("json/plain"), Data: []byte(`"` + strings.Repeat("a", size-100) + `"`)}
	encoded, err := payload.Codec().Encode([]*commonpb.Payload{large})
	if err != nil {
		t.Fatal(err)
	}
	return encoded[0]
}

//guard:bounds-of-the-codec-server
func TestRequestsAreBounded(t *testing.T) {
	large := bomb(t, payload.MaxSize)
	request := func(payloads ...*commonpb.Payload) string {
		text, err := protojson.Marshal(&commonpb.Payloads{Payloads: payloads})
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	cases := map[string]struct {
		reason, origin, contentType, body string
		want                              int
	}{
		"Web UI":        {"its payloads are small", uiOrigin, "application/json", request(bomb(t, 8<<10)), http.StatusOK},
		"largest body":  {"one payload of the largest size is honest", uiOrigin, "application/json", request(large), http.StatusOK},
		"charset":       {"a parameter is allowed", uiOrigin, "application/json; charset=utf-8", request(bomb(t, 8<<10)), http.StatusOK},
		"Temporal CLI":  {"it sends no origin", "", "application/json", request(bomb(t, 8<<10)), http.StatusOK},
		"100 bombs":     {"they would take 1.6 GB and more", uiOrigin, "application/json", request(slices.Repeat([]*commonpb.Payload{large}, 100)...), http.StatusBadRequest},
		"another site":  {"CORS hides the response only", "http://evil.example", "application/json", request(bomb(t, 8<<10)), http.StatusForbidden},
		"null origin":   {"a sandboxed page", "null", "application/json", request(bomb(t, 8<<10)), http.StatusForbidden},
		"text":          {"a page may send it anywhere without asking", uiOrigin, "text/plain", request(bomb(t, 8<<10)), http.StatusUnsupportedMediaType},
		"no type":       {"the same", uiOrigin, "", request(bomb(t, 8<<10)), http.StatusUnsupportedMediaType},
		"long body":     {"Temporal has no message of this size", uiOrigin, "application/json", strings.Repeat(" ", payload.MaxRequestSize+1), http.StatusRequestEntityTooLarge},
		"many payloads": {"three bytes each", uiOrigin, "application/json", `{"payloads":[` + strings.Repeat("{},", payload.MaxPayloads) + `{}]}`, http.StatusRequestEntityTooLarge},
		"no JSON":       {"a client's mistake", uiOrigin, "application/json", "{", http.StatusBadRequest},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := httptest.NewRequest(http.MethodPost, "/decode", strings.NewReader(tc.body))
			for key, value := range map[string]string{"Origin": tc.origin, "Content-Type": tc.contentType} {
				if value != "" {
					r.Header.Set(key, value)
				}
			}
			w := httptest.NewRecorder()
			payload.Handler(uiOrigin).ServeHTTP(w, r)
			if w.Code != tc.want {
				t.Errorf("%s: got %d %.200s, want %d", tc.reason, w.Code, w.Body, tc.want)
			}
		})
	}
}

// TestParallelRequests checks that requests beyond the bound wait until others end.
//
//guard:bounds-of-the-codec-server
func TestParallelRequests(t *testing.T) {
	handler := payload.Handler(uiOrigin)
	reading := make(chan struct{}, 3)
	release := make(chan struct{})
	var done sync.WaitGroup
	for range 3 {
		done.Go(func() {
			r := httptest.NewRequest(http.MethodPost, "/decode", io.MultiReader(signal{reading, release}, strings.NewReader(`{}`)))
			r.Header.Set("Content-Type", "application/json")
			handler.ServeHTTP(httptest.NewRecorder(), r)
		})
	}
	<-reading
	<-reading
	select {
	case <-reading:
		t.Error("three requests are read at once, want two")
	case <-time.After(100 * time.Millisecond):
	}
	close(release)
	done.Wait()
	if len(reading) != 1 {
		t.Error("the third request was not answered")
	}
}

// signal is an empty reader that reports its first read and waits.
type signal struct {
	reading chan<- struct{}
	release <-chan struct{}
}

func (s signal) Read([]byte) (int, error) {
	s.reading <- struct{}{}
	<-s.release
	return 0, io.EOF
}

// TestProtect checks that the check of callers runs after that of origins, before the body
// is read, and not for preflights, which have no token.
func TestProtect(t *testing.T) {
	refuse := func(http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no token", http.StatusUnauthorized) })
	}
	handler := payload.Clear().NewHandler(payload.HandlerOptions{Origins: []string{uiOrigin}, Protect: refuse})
	cases := map[string]struct {
		reason, method, origin string
		want                   int
	}{
		"preflight":    {"browsers send it without a token", http.MethodOptions, uiOrigin, http.StatusNoContent},
		"request":      {"the caller is unknown", http.MethodPost, uiOrigin, http.StatusUnauthorized},
		"Temporal CLI": {"the same without an origin", http.MethodPost, "", http.StatusUnauthorized},
		"another site": {"its token does not matter", http.MethodPost, "http://evil.example", http.StatusForbidden},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := httptest.NewRequest(tc.method, "/decode", iotest.ErrReader(errors.New("the body was read")))
			r.Header.Set("Content-Type", "application/json")
			if tc.origin != "" {
				r.Header.Set("Origin", tc.origin)
			}
			w := httptest.NewRecorder()
			handler.ServeHTTP(w, r)
			if w.Code != tc.want {
				t.Errorf("%s: got %d, want %d", tc.reason, w.Code, tc.want)
			}
			// Without the origin in the refusal, the browser hides its reason from the Web UI.
			if allowed := w.Header().Get("Access-Control-Allow-Origin"); tc.origin == uiOrigin && allowed != uiOrigin {
				t.Errorf("%s: the Web UI may not read the response: %q", tc.reason, allowed)
			}
			if headers := w.Header().Get("Access-Control-Allow-Headers"); tc.origin == uiOrigin && !strings.Contains(headers, "Authorization-Extras") {
				t.Errorf("%s: the Web UI may not send its ID token: %q", tc.reason, headers)
			}
		})
	}
}
