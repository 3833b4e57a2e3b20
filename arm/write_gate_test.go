package arm

import (
	"context"
	"errors"
	"net"
	"testing"
	"time"
)

// TestRefusedConnectionIsClosed refuses a write at its connection: net/http would write it
// beside the caller, whose context has ended.
func TestRefusedConnectionIsClosed(t *testing.T) {
	t.Parallel()
	refusal := errors.New("not now")
	for name, age := range map[string]time.Duration{"Old": time.Minute, "Fresh": 0} {
		near, far := net.Pipe()
		t.Cleanup(func() { _ = far.Close() })
		canceled := false
		gate := &writeGate{
			answered: time.Now().Add(-age), cancel: func(error) { canceled = true },
			check: func(context.Context, Write) error { return refusal },
		}
		gate.connected(t.Context(), near)
		if err := near.SetDeadline(time.Now()); (err != nil) != (name == "Old") || canceled != (name == "Old") || errors.Is(gate.refusal, refusal) != (name == "Old") {
			t.Errorf("%s: the connection has error %v, canceled %t, refusal %v", name, err, canceled, gate.refusal)
		}
	}
}
