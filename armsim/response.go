package armsim

import (
	"encoding/json"
	"net"
	"net/http"
)

// answer is a response before it is written.
type response struct {
	status         int
	header         http.Header
	body           any    // nil = no body
	raw            []byte // sent as it is when not nil
	code           string // ARM error code, for the log
	message        string
	dropConnection bool // cut the connection instead of answering
	gateway        bool // ARM itself refused, not a provider
}

func newResponse(status int, body any) *response {
	return &response{status: status, header: http.Header{}, body: body}
}

// write sends the answer, or cuts the connection.
func (resp *response) write(w http.ResponseWriter, head bool) {
	h := w.Header()
	if resp.dropConnection && closeAbruptly(w) {
		return
	}
	for name, values := range resp.header {
		h[name] = values
	}
	payload := resp.raw
	if payload == nil && resp.body != nil {
		var err error
		if payload, err = json.Marshal(resp.body); err != nil {
			payload = []byte(`{"error":{"code":"InternalServerError","message":"cannot encode the answer"}}`)
			resp.status = http.StatusInternalServerError
		}
	}
	if payload != nil && h.Get("Content-Type") == "" {
		h.Set("Content-Type", "application/json; charset=utf-8")
	}
	w.WriteHeader(resp.status)
	if payload != nil && !head {
		_, _ = w.Write(payload) // the client may be gone; nobody to tell
	}
}

// closeAbruptly closes the connection without an answer: a TCP reset where possible.
func closeAbruptly(w http.ResponseWriter) bool {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return false
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0) // a plain close is as good for the client
	}
	_ = conn.Close()
	return true
}
