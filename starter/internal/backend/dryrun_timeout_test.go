package backend

import (
	"context"
	"testing"

	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/sdk/client"
)

// pastRun is a client and a run with these events.
type pastRun struct {
	client.Client
	client.WorkflowRun
	events []enumspb.EventType
}

func (*pastRun) GetID() string { return "armature:plan:1" }

func (*pastRun) GetRunID() string { return "1" }

func (p *pastRun) GetWorkflowHistory(context.Context, string, string, bool, enumspb.HistoryEventFilterType) client.HistoryEventIterator {
	return p
}

func (p *pastRun) HasNext() bool { return len(p.events) > 0 }

func (p *pastRun) Next() (*historypb.HistoryEvent, error) {
	event := &historypb.HistoryEvent{EventType: p.events[0]}
	p.events = p.events[1:]
	return event, nil
}

// A dry run whose task times out on a busy worker is not given up, as one is whose task fails.
func TestTimedOut(t *testing.T) {
	const (
		scheduled = enumspb.EVENT_TYPE_WORKFLOW_TASK_SCHEDULED
		started   = enumspb.EVENT_TYPE_WORKFLOW_TASK_STARTED
		failed    = enumspb.EVENT_TYPE_WORKFLOW_TASK_FAILED
		timedOut  = enumspb.EVENT_TYPE_WORKFLOW_TASK_TIMED_OUT
	)
	for name, tc := range map[string]struct {
		events []enumspb.EventType
		want   bool
	}{
		"timed out, and offered again": {[]enumspb.EventType{scheduled, started, timedOut, scheduled, started}, true},
		"failed, and offered again":    {[]enumspb.EventType{scheduled, started, failed, scheduled}, false},
		"failed after a timeout":       {[]enumspb.EventType{scheduled, started, timedOut, scheduled, started, failed}, false},
		"waits for a worker":           {[]enumspb.EventType{scheduled}, false},
	} {
		p := &pastRun{events: tc.events}
		if got := (&Client{client: p}).timedOut(t.Context(), p); got != tc.want {
			t.Errorf("%s: got %t, want %t", name, got, tc.want)
		}
	}
}
