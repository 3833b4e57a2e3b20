package armsim

import (
	"encoding/json"
	"net"
	"net/http"
)

// response is an HTTP response before it is written.
type response struct {
	status         int
	header         http.Header
	body           any    // nil = no body
	raw            []byte // sent unchanged when not nil
	code           string // ARM error code, for the log
	message        string
	dropConnection bool // close the connection instead of responding
	gateway        bool // refused by ARM itself, not by a provider
}

func newResponse(status int, body any) *response {
	return &response{status: status, header: http.Header{}, body: body}
}

// write sends the response, or closes the connection.
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
		_, _ = w.Write(payload) // a client that disconnected needs no response
	}
}

// closeAbruptly closes the connection without a response, with a TCP reset where
// possible. It reports whether it could.
func closeAbruptly(w http.ResponseWriter) bool {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return false
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0) // a plain close serves as well
	}
	_ = conn.Close()
	return true
}
