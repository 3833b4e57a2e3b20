package armsim

import (
	"encoding/json"
	"net"
	"net/http"
)

// answer is a response before it is written.
type answer struct {
	status  int
	header  http.Header
	body    any    // nil = no body
	raw     []byte // sent as it is when not nil
	code    string // ARM error code, for the log
	message string
	reset   bool // cut the connection instead of answering
	gateway bool // ARM itself refused, not a provider
}

func newAnswer(status int, body any) *answer {
	return &answer{status: status, header: http.Header{}, body: body}
}

// write sends the answer, or cuts the connection.
func (a *answer) write(w http.ResponseWriter, head bool) {
	h := w.Header()
	if a.reset && cut(w) {
		return
	}
	for name, values := range a.header {
		h[name] = values
	}
	payload := a.raw
	if payload == nil && a.body != nil {
		var err error
		if payload, err = json.Marshal(a.body); err != nil {
			payload = []byte(`{"error":{"code":"InternalServerError","message":"cannot encode the answer"}}`)
			a.status = http.StatusInternalServerError
		}
	}
	if payload != nil && h.Get("Content-Type") == "" {
		h.Set("Content-Type", "application/json; charset=utf-8")
	}
	w.WriteHeader(a.status)
	if payload != nil && !head {
		_, _ = w.Write(payload) // the client may be gone; nobody to tell
	}
}

// cut closes the connection without an answer: a TCP reset where possible.
func cut(w http.ResponseWriter) bool {
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
