package fleet

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/armature-io/armature/activities/writing"
	"github.com/armature-io/armature/workflows"
	enumspb "go.temporal.io/api/enums/v1"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
)

// slowTemporal responds to descriptions and heartbeats after a delay. Like the SDK, it gives one
// try half of the remaining time, and at most 10 s.
type slowTemporal struct {
	Temporal

	delay       time.Duration
	freezeReads atomic.Int32
}

func (s *slowTemporal) wait(ctx context.Context) error {
	try := 10 * time.Second
	if deadline, ok := ctx.Deadline(); ok {
		try = min(try, time.Until(deadline)/2)
	}
	<-time.After(min(s.delay, try))
	if s.delay > try {
		return context.DeadlineExceeded
	}
	return nil
}

func (s *slowTemporal) DescribeWorkflowExecution(ctx context.Context, workflowID, _ string) (*workflowservice.DescribeWorkflowExecutionResponse, error) {
	if workflowID == workflows.FreezeWorkflowID {
		s.freezeReads.Add(1)
	}
	info := &workflowpb.WorkflowExecutionInfo{Status: enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING}
	return &workflowservice.DescribeWorkflowExecutionResponse{WorkflowExecutionInfo: info}, s.wait(ctx)
}

func (s *slowTemporal) RecordActivityHeartbeat(ctx context.Context, _ []byte, _ ...any) error {
	return s.wait(ctx)
}

// TestSlowTemporal asks for two writes, one after the other, while each response takes long. The
// second one uses the freezes that the first one read.
func TestSlowTemporal(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		delay  time.Duration
		passes bool
	}{
		"2.5 s": {"longer than a list of freezes counts", 2500 * time.Millisecond, true},
		"4 s":   {"longer than half of 5 s", 4 * time.Second, true},
		"9 s":   {"within one try", 9 * time.Second, true},
		"11 s":  {"no response confirms the attempt", 11 * time.Second, false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				temporal := &slowTemporal{delay: c.delay}
				f := New(temporal, Options{Namespace: "n", TaskQueue: "q"})
				id := parse(t, database(1))
				for range 2 {
					_, _, frozenErr := f.Frozen(t.Context(), nil)
					if (frozenErr == nil) != c.passes {
						t.Errorf("freezes: %v: %s", frozenErr, c.reason)
					}
				}
				if reads := temporal.freezeReads.Load(); c.passes && reads != 1 {
					t.Errorf("%d reads of the freezes, want 1: %s", reads, c.reason)
				}
				_, err := f.Confirm(t.Context(), writing.Attempt{WorkflowID: id.WorkflowID(), RunID: "r", Resource: id, TaskToken: []byte("t")})
				if (err == nil) != c.passes {
					t.Errorf("attempt: %v: %s", err, c.reason)
				}
			})
		})
	}
}
