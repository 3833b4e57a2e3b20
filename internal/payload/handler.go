package payload

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"slices"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/converter"
	"google.golang.org/protobuf/encoding/protojson"
)

// Bounds of one request to the codec server. Temporal sends at most 4 MB in a message,
// so a client never has more to decode at a time; 565 bytes can be 16 MiB compressed.
const (
	// MaxRequestSize is the largest body of a request in bytes.
	MaxRequestSize = 8 << 20
	// MaxDecodedSize is the largest sum of all decoded payloads of a request in bytes.
	MaxDecodedSize = 32 << 20
	// MaxPayloads is the largest number of payloads in a request.
	MaxPayloads = 10_000
	// maxParallelRequests is the number of requests that are answered at a time. Others
	// wait: two of the largest size took 300 to 380 MB (TestGuardCodecMemory in dev/e2e).
	maxParallelRequests = 2
)

// allowedHeaders are those that the Web UI sends to a codec server: with "pass access
// token" also the access token and the ID token (server 2.55 of the Web UI).
const allowedHeaders = "Authorization, Authorization-Extras, Content-Type, " + namespaceHeader

// namespaceHeader names the namespace whose payloads the sender reads.
const namespaceHeader = "X-Namespace"

// errTooLarge marks a request over one of the bounds.
var errTooLarge = errors.New("request too large")

// HandlerOptions configure the codec server.
type HandlerOptions struct {
	// Origins are those of the Web UI: scheme, host and port each.
	Origins []string
	// Protect wraps the handler that reads a request, nil for no check. It is behind the
	// checks of origins and preflights, so that the Web UI can read its refusals.
	Protect func(http.Handler) http.Handler
	// MayDecrypt reports whether the sender of a request may decrypt payloads of a key; nil
	// means that all may.
	MayDecrypt func(r *http.Request, keyID string) bool
}

// Handler returns a codec server without keys and without a check of its callers, for the
// given origins.
func Handler(origins ...string) http.Handler {
	return Clear().NewHandler(HandlerOptions{Origins: origins})
}

// NewHandler returns the codec server: POST /encode and /decode as the Temporal
// Web UI and the Temporal CLI (--codec-endpoint) call them, with CORS for the
// origins of the Web UI. There is no wildcard, because any
// site that a user visits could then decode histories.
//
// A request from a page of another origin is refused before its body is read: CORS
// alone hides the response from the page and lets the server do the work. A request
// without an origin comes from no browser, such as that of the Temporal CLI: browsers
// send the header with every POST. Only application/json is read, because a page may
// send it to another origin with the consent of that origin only.
func (c *Converters) NewHandler(options HandlerOptions) http.Handler {
	slots := make(chan struct{}, maxParallelRequests)
	convert := converter.NewPayloadCodecHTTPHandler(around(total{newChain(c.keys)}, c.codecs))
	protected := http.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
			http.Error(w, "Content-Type must be application/json", http.StatusUnsupportedMediaType)
			return
		}
		select {
		case slots <- struct{}{}:
			defer func() { <-slots }()
		case <-r.Context().Done():
			return
		}
		if body, ok := readBody(w, r); ok && c.mayDecrypt(w, r, body, options.MayDecrypt) {
			r.Body = io.NopCloser(bytes.NewReader(body))
			convert.ServeHTTP(w, r)
		}
	}))
	if options.Protect != nil {
		protected = options.Protect(protected)
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Add("Vary", "Origin")
		if origin := r.Header.Get("Origin"); slices.Contains(options.Origins, origin) {
			w.Header().Set("Access-Control-Allow-Origin", origin)
			w.Header().Set("Access-Control-Allow-Credentials", "true")
			w.Header().Set("Access-Control-Allow-Headers", allowedHeaders)
			w.Header().Set("Access-Control-Allow-Methods", "POST, OPTIONS")
		} else if len(r.Header.Values("Origin")) > 0 {
			http.Error(w, fmt.Sprintf("origin %q is not the Web UI's; add it to --origins of the codec server", origin), http.StatusForbidden)
			return
		}
		if r.Method == http.MethodOptions {
			w.WriteHeader(http.StatusNoContent)
			return
		}
		protected.ServeHTTP(w, r)
	})
}

// readBody returns the body of a request. If it is over a bound, readBody writes the
// error to w and returns false.
func readBody(w http.ResponseWriter, r *http.Request) ([]byte, bool) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, MaxRequestSize))
	if err == nil {
		err = checkCount(body)
	}
	if err == nil {
		return body, true
	}
	status := http.StatusBadRequest
	if tooLarge := (*http.MaxBytesError)(nil); errors.As(err, &tooLarge) || errors.Is(err, errTooLarge) {
		status = http.StatusRequestEntityTooLarge
		err = fmt.Errorf("%w; a request may have %d bytes and %d payloads", err, MaxRequestSize, MaxPayloads)
	}
	http.Error(w, err.Error(), status)
	return nil, false
}

// mayDecrypt reports whether the sender may decrypt all payloads of a request, and all are of
// the namespace that it looks at. If not, it writes the error to w.
func (c *Converters) mayDecrypt(w http.ResponseWriter, r *http.Request, body []byte, may func(*http.Request, string) bool) bool {
	namespace := r.Header.Get(namespaceHeader)
	if may == nil && namespace == "" {
		return true
	}
	var request commonpb.Payloads
	err := protojson.Unmarshal(body, &request)
	payloads := request.GetPayloads()
	for i := len(c.codecs) - 1; err == nil && i >= 0; i-- { // they hide the key
		payloads, err = c.codecs[i].Decode(payloads)
	}
	if err != nil {
		http.Error(w, "read payloads: "+err.Error(), http.StatusBadRequest)
		return false
	}
	for _, p := range payloads {
		if id := KeyID(p); id != "" && may != nil && !may(r, id) {
			http.Error(w, fmt.Sprintf("you may not decrypt payloads of the key %s", id), http.StatusForbidden)
			return false
		}
		if of := PlaceOf(p).Namespace; namespace != "" && of != "" && of != namespace {
			http.Error(w, fmt.Sprintf("a payload was written for namespace %s, and stands in %s", of, namespace), http.StatusForbidden)
			return false
		}
	}
	return true
}

// checkCount returns an error if a request has more than [MaxPayloads]: an empty one has
// three bytes on the wire and two hundred in memory.
func checkCount(body []byte) error {
	var request struct {
		Payloads []json.RawMessage `json:"payloads"`
	}
	if err := json.Unmarshal(body, &request); err != nil {
		return fmt.Errorf("read payloads: %w", err)
	}
	if len(request.Payloads) > MaxPayloads {
		return fmt.Errorf("%w: %d payloads", errTooLarge, len(request.Payloads))
	}
	return nil
}

// total is the codec with a bound on the sum of what one call decodes.
type total struct{ *chain }

// Decode restores payloads, as Decode of the codec does.
func (t total) Decode(payloads []*commonpb.Payload) ([]*commonpb.Payload, error) {
	size := 0
	return t.each(payloads, func(p *commonpb.Payload) (*commonpb.Payload, error) {
		restored, err := t.decode(p)
		if size += len(restored.GetData()); size > MaxDecodedSize {
			return nil, fmt.Errorf("decode payloads: together over %d bytes; decode fewer at a time", MaxDecodedSize)
		}
		return restored, err
	})
}
