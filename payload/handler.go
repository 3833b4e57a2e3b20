package payload

import (
	"net/http"
	"slices"

	"go.temporal.io/sdk/converter"
)

// Handler returns the codec server: POST /encode and /decode as the Temporal
// Web UI and the Temporal CLI (--codec-endpoint) call them, with CORS for the
// origins of the Web UI (scheme, host and port each; no wildcard, for any site
// that a user visits could else send histories through it). A request body
// over four times [MaxSize] bytes is refused, since base64 and many payloads
// share one body.
func Handler(origins ...string) http.Handler {
	codec := converter.NewPayloadCodecHTTPHandler(Codec())
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Add("Vary", "Origin")
		if origin := r.Header.Get("Origin"); slices.Contains(origins, origin) {
			w.Header().Set("Access-Control-Allow-Origin", origin)
			w.Header().Set("Access-Control-Allow-Credentials", "true")
			w.Header().Set("Access-Control-Allow-Headers", "Authorization, Content-Type, X-Namespace")
			w.Header().Set("Access-Control-Allow-Methods", "POST, OPTIONS")
		}
		if r.Method == http.MethodOptions {
			w.WriteHeader(http.StatusNoContent)
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, 4*MaxSize)
		codec.ServeHTTP(w, r)
	})
}
