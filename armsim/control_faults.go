package armsim

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"time"
)

// Fault disturbs matching requests. Without Status, Reset, DelayMs and Gate it only
// counts them.
type Fault struct {
	ID string `json:"id,omitempty"` // assigned by the simulator when empty

	// Which requests it matches. Empty fields match everything.
	Method string `json:"method,omitempty"`
	Type   string `json:"type,omitempty"` // glob over the resource type
	Path   string `json:"path,omitempty"` // glob over the resource ID (unescaped)
	// On is resource (default), operation (polls of operation URLs) or any.
	On string `json:"on,omitempty"`

	// When it fires.
	After       int     `json:"after,omitempty"`       // matches that pass before the first one fires
	Count       int     `json:"count,omitempty"`       // how often it fires; 0 = always
	Probability float64 `json:"probability,omitempty"` // of firing; 0 = 1

	// What it does. With Applied the request takes effect first, and only its response
	// is delayed, held, replaced or lost.
	Applied bool              `json:"applied,omitempty"`
	DelayMs int               `json:"delayMs,omitempty"` // real milliseconds
	Gate    bool              `json:"gate,omitempty"`    // hold requests until released
	Reset   bool              `json:"reset,omitempty"`   // close the connection
	Status  int               `json:"status,omitempty"`
	Code    string            `json:"code,omitempty"`
	Message string            `json:"message,omitempty"`
	Headers map[string]string `json:"headers,omitempty"`
	Body    json.RawMessage   `json:"body,omitempty"` // instead of the envelope; a JSON string is sent as plain text

	// What happened so far.
	Matched int `json:"matched"`
	Fired   int `json:"fired"`
	Waiting int `json:"waiting"` // requests that the gate holds now

	released chan struct{}
}

// AddFault adds a fault and returns its ID.
func (s *Simulator) AddFault(f Fault) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if f.ID == "" {
		s.nextFault++
		f.ID = fmt.Sprintf("fault-%d", s.nextFault)
	}
	s.dropFault(f.ID)
	f.Matched, f.Fired, f.Waiting, f.released = 0, 0, 0, make(chan struct{})
	s.faults = append(s.faults, &f)
	return f.ID
}

// RemoveFault removes a fault and releases the requests that its gate holds; "" removes
// all faults. It reports whether there was one.
func (s *Simulator) RemoveFault(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.dropFault(id)
}

func (s *Simulator) dropFault(id string) bool {
	before := len(s.faults)
	s.faults = slices.DeleteFunc(s.faults, func(f *Fault) bool {
		removed := id == "" || f.ID == id
		if removed {
			close(f.released)
		}
		return removed
	})
	return len(s.faults) < before
}

// Faults returns the faults with their counts.
func (s *Simulator) Faults() []Fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := []Fault{}
	for _, f := range s.faults {
		out = append(out, *f)
	}
	return out
}

func (f *Fault) matches(q *request) bool {
	onOperation := q.target.kind == kindOperation
	return (f.On == "any" || onOperation == (f.On == "operation")) && globMatch(f.Method, q.r.Method) && globMatch(f.Type, q.resourceType) && globMatch(f.Path, q.target.id)
}

// dueFault returns the fault that fires for a request: the first that matches and is
// due; nil when there is none.
func (s *Simulator) dueFault(q *request) *Fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range s.faults {
		if !f.matches(q) {
			continue
		}
		f.Matched++
		if f.Matched <= f.After || f.Count > 0 && f.Fired >= f.Count {
			continue
		}
		if f.Probability > 0 && f.Probability < 1 && s.random.Float64() >= f.Probability {
			continue
		}
		f.Fired++
		q.fault = f.ID
		return f
	}
	return nil
}

// serveWithFaults serves a request and applies the fault that is due for it.
func (s *Simulator) serveWithFaults(q *request, serve func() *response) *response {
	f := s.dueFault(q)
	if f == nil {
		return serve()
	}
	var res *response
	if f.Applied {
		res = serve()
	}
	if !s.delay(q.r.Context(), f) {
		return &response{status: http.StatusServiceUnavailable, header: http.Header{}, dropConnection: true, code: "ClientGone"}
	}
	if f.Reset {
		return &response{status: http.StatusServiceUnavailable, header: http.Header{}, dropConnection: true, code: "ConnectionReset"}
	}
	if f.Status != 0 {
		return f.response()
	}
	if res == nil {
		res = serve()
	}
	return res
}

// delay waits for the fault's delay and gate. It reports false when the client
// disconnected in the meantime.
func (s *Simulator) delay(ctx context.Context, f *Fault) bool {
	if f.DelayMs > 0 {
		timer := time.NewTimer(time.Duration(f.DelayMs) * time.Millisecond)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
			return false
		}
	}
	if !f.Gate {
		return true
	}
	s.countWaiting(f, 1)
	defer s.countWaiting(f, -1)
	select {
	case <-f.released:
		return true
	case <-ctx.Done():
		return false
	}
}

func (s *Simulator) countWaiting(f *Fault, by int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f.Waiting += by
}

func (f *Fault) response() *response {
	resp := newResponse(f.Status, nil)
	if f.Code != "" || f.Body == nil && f.Status >= 400 {
		resp = armError(f.Status, cmp.Or(f.Code, "InternalServerError"), "%s", cmp.Or(f.Message, "Encountered internal server error."))
	}
	if f.Body != nil {
		resp.body, resp.raw = nil, f.Body
		var plain string
		if json.Unmarshal(f.Body, &plain) == nil {
			resp.raw = []byte(plain)
			resp.header.Set("Content-Type", "text/html")
		}
	}
	for name, value := range f.Headers {
		resp.header.Set(name, value)
	}
	return resp
}
