package workflows

import (
	"cmp"
	"slices"

	"github.com/armature-io/armature/internal/tracing"
	"go.temporal.io/sdk/workflow"
)

const (
	// maxTracePasses is the number of passes that belong to the trace of one request. A
	// resource that waits for days would make a trace of thousands of spans.
	maxTracePasses = 20
	// maxTraceLinks bounds the links of a pass; the oldest are dropped.
	maxTraceLinks = 8
)

// Causes of passes beside the names of messages. A run that continues a requested pass of the
// run before does not know which message it was.
const (
	causeTimer   = "timer"
	causeMessage = "message"
)

// Trace is what a run keeps about traces. It decides nothing but the IDs of spans.
type Trace struct {
	// Request is the trace context of the last request of a user, Passes the number of
	// passes in its trace. Served is set once one of them left nothing to do: passes after
	// it are traces of their own, with a link to the request.
	Request tracing.Parent `json:"request,omitzero"`
	Passes  int            `json:"passes,omitempty"`
	Served  bool           `json:"served,omitempty"`
	// Links are the traces that caused the next pass beside its own.
	Links []tracing.Parent `json:"links,omitempty"`
}

// noteRequest records the trace of a message that requested a pass.
func (s *State) noteRequest(message string, from tracing.Parent) {
	if from.IsZero() {
		return
	}
	if s.Trace == nil {
		s.Trace = &Trace{}
	}
	t := s.Trace
	switch {
	case message == WakeSignal:
		t.link(from)
	case t.Request != from:
		if !t.Served {
			t.link(t.Request)
		}
		t.Request, t.Passes, t.Served = from, 0, false
	}
}

// link adds a link to the next pass.
func (t *Trace) link(to tracing.Parent) {
	if to.IsZero() || slices.Contains(t.Links, to) {
		return
	}
	t.Links = append(t.Links, to)
	t.Links = t.Links[max(0, len(t.Links)-maxTraceLinks):]
}

// passTrace is the trace of a pass that runs.
type passTrace struct {
	span  tracing.Span
	links []tracing.Parent
	cause string
}

// beginTrace returns the context of a pass in which its activities belong to its span.
// requested is set when a message requested the pass.
func (r *reconciler) beginTrace(ctx workflow.Context, requested bool) (workflow.Context, passTrace) {
	begun := passTrace{cause: causeTimer}
	if requested {
		begun.cause = cmp.Or(r.cause, causeMessage)
	}
	r.cause = ""
	var request tracing.Parent
	if t := r.state.Trace; t != nil {
		if t.Served || t.Passes >= maxTracePasses {
			t.link(t.Request)
		} else {
			request = t.Request
			t.Passes++
		}
		begun.links, t.Links = t.Links, nil
	}
	begun.span = tracing.PassSpan(request, workflow.GetInfo(ctx).WorkflowExecution.RunID, r.passSince)
	return tracing.WithSpan(ctx, begun.span), begun
}

// endTrace reports a pass that has ended.
func (r *reconciler) endTrace(ctx workflow.Context, begun passTrace, number int64) {
	s := r.state
	if s.Trace != nil && (s.Condition.Ready || s.Phase == PhaseFailed || s.deleted()) && !s.Requests.Pass { // a request that came meanwhile has not been served
		s.Trace.Served = true
	}
	if s.Desired == nil {
		return
	}
	execution := workflow.GetInfo(ctx).WorkflowExecution
	tracing.Record(ctx, tracing.Pass{
		Span: begun.span, Links: begun.links, Cause: begun.cause,
		WorkflowID: execution.ID, RunID: execution.RunID, Resource: s.Desired.ID.String(), Type: s.Desired.ID.Type(),
		Number: number, Generation: s.Generation,
		Phase: string(s.Phase), Reason: string(s.Condition.Reason), Ready: s.Condition.Ready,
		Begun: r.passSince, Ended: workflow.Now(ctx),
	})
}
