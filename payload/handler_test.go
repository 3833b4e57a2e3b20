package payload_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/converter"
	"google.golang.org/protobuf/testing/protocmp"

	"github.com/armature-io/armature/payload"
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
			if w.Code != http.StatusNoContent {
				t.Errorf("preflight returned %d, want 204", w.Code)
			}
			if got := w.Header().Get("Access-Control-Allow-Origin"); got != tc.allowed {
				t.Errorf("allowed origin = %q, want %q: %s", got, tc.allowed, tc.reason)
			}
		})
	}
}
