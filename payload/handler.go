package payload

import (
	"net/http"
	"slices"

	"go.temporal.io/sdk/converter"
)

// Handler returns the codec server: POST /encode and /decode as the Temporal
// Web UI and the Temporal CLI (--codec-endpoint) call them, with CORS for the
// origins of the Web UI (scheme, host and port each). There is no wildcard, because any
// site that a user visits could then decode histories. A request body over four times
// [MaxSize] bytes is refused; the factor covers base64 and several payloads.
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
