package arm

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/http/httptrace"
	"strings"
	"time"

	"github.com/armature-io/armature/internal/servertime"
)

// Write is a request that changes something in Azure, right before it leaves.
type Write struct {
	Call   Call
	Method string
	// Type is the resource type, Action the action of a POST.
	Type, Action string
}

// WriteCheck decides whether a write may leave: nil lets it go. It is called after every
// wait, for a token, for the budgets and for the connection, and again where more than
// maxCheckAge passed until the request is handed to the connection.
type WriteCheck func(ctx context.Context, write Write) error

// WriteRefusedError is the error of a WriteCheck. Nothing was sent.
type WriteRefusedError struct{ Cause error }

// Error returns the text of the cause.
func (e *WriteRefusedError) Error() string { return e.Cause.Error() }

// Unwrap returns the cause.
func (e *WriteRefusedError) Unwrap() error { return e.Cause }

// maxCheckAge is the time after which the answer of a WriteCheck no longer counts. With the
// 10 s that the check may wait for Temporal it is below the 30 s after which Temporal starts
// another attempt of the activity.
const maxCheckAge = 2 * time.Second

// isWrite reports whether a request changes something. A POST whose action begins with
// "list" reads: that is how ARM names them.
func (t *roundTrip) isWrite(method string) bool {
	switch method {
	case http.MethodGet, http.MethodHead:
		return false
	case http.MethodPost:
		return !t.reads && !strings.HasPrefix(strings.ToLower(t.action), readAction)
	}
	return true
}

// CodeReadOnly means that a client that is read-only did not send a write.
const CodeReadOnly = "ReadOnly"

func readOnlyError(method string) *Error {
	e := &Error{Code: CodeReadOnly, Message: "this worker is read-only: the " + method + " was not sent"}
	e.classify("")
	return e
}

// writeGate lets one write through. The transport may take a while to connect, or send
// the request again over another connection, so the gate stands at the connection too.
type writeGate struct {
	check WriteCheck
	write Write
	// answered is the time when the last check ended.
	answered time.Time
	refusal  error
	cancel   context.CancelCauseFunc
}

// ask runs the check.
func (g *writeGate) ask(ctx context.Context) error {
	if err := g.check(ctx, g.write); err != nil {
		g.refusal = &WriteRefusedError{Cause: err}
		return g.refusal
	}
	g.answered = time.Now()
	return nil
}

// connected asks again where the last check is too old, and closes the way of a refused
// request: net/http writes right after this call, whatever became of the context.
func (g *writeGate) connected(ctx context.Context, conn net.Conn) {
	if servertime.Elapsed(g.answered, time.Now()) <= maxCheckAge {
		return
	}
	err := g.ask(ctx)
	if err == nil {
		return
	}
	g.cancel(err)
	if encrypted, ok := conn.(*tls.Conn); ok && encrypted.ConnectionState().NegotiatedProtocol == "h2" {
		return // a stream is not opened once its context ended, and others share the connection
	}
	_ = conn.Close()
}

// checked returns a sender that sends what the check allows.
func (g *guardedTransport) checked(trip *roundTrip, send sender) sender {
	return func(request *http.Request) (*http.Response, error) { return g.sendWrite(request, trip, send) }
}

// sendWrite sends a write that the check allows.
func (g *guardedTransport) sendWrite(request *http.Request, trip *roundTrip, send sender) (*http.Response, error) {
	ctx, cancel := context.WithCancelCause(request.Context())
	gate := &writeGate{
		check: g.mayWrite, cancel: cancel,
		write: Write{Call: trip.call, Method: request.Method, Type: trip.typ, Action: trip.action},
	}
	if err := gate.ask(ctx); err != nil {
		trip.refused = true
		cancel(err)
		return nil, err
	}
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GotConn: func(got httptrace.GotConnInfo) { gate.connected(ctx, got.Conn) },
	})
	response, err := send(request.WithContext(ctx))
	if gate.refusal != nil {
		trip.refused = true
		return nil, gate.refusal
	}
	return response, err // the body is read in this context, which ends with the activity
}
