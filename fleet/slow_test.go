package fleet

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/activities/writing"
	"github.com/armature-io/armature/workflows"
	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
)

// slowTemporal answers descriptions and heartbeats after a delay. Like the SDK, it gives one
// try half of the remaining time.
type slowTemporal struct {
	Temporal

	delay                     time.Duration
	freezeReads, beats, calls atomic.Int32
	frozen                    atomic.Pointer[[]workflows.Freeze]
	t                         *testing.T
}

func (s *slowTemporal) wait(ctx context.Context) error {
	try := 10 * time.Second
	if deadline, ok := ctx.Deadline(); ok {
		try = min(try, time.Until(deadline)/2)
	}
	select {
	case <-time.After(min(s.delay, try)):
	case <-ctx.Done():
	}
	if s.delay > try || ctx.Err() != nil {
		return context.DeadlineExceeded
	}
	return nil
}

func (s *slowTemporal) DescribeWorkflowExecution(ctx context.Context, workflowID, _ string) (*workflowservice.DescribeWorkflowExecutionResponse, error) {
	info := &workflowpb.WorkflowExecutionInfo{Status: enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING}
	if workflowID == workflows.FreezeWorkflowID {
		s.freezeReads.Add(1)
		info.Status = enumspb.WORKFLOW_EXECUTION_STATUS_COMPLETED
		if frozen := s.frozen.Load(); frozen != nil {
			info.Status = enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING
			info.Memo = &commonpb.Memo{Fields: map[string]*commonpb.Payload{workflows.MemoFrozen: encode(s.t, *frozen)}}
		}
	} else {
		s.calls.Add(1)
	}
	return &workflowservice.DescribeWorkflowExecutionResponse{WorkflowExecutionInfo: info}, s.wait(ctx)
}

func (s *slowTemporal) RecordActivityHeartbeat(ctx context.Context, _ []byte, _ ...any) error {
	s.beats.Add(1)
	return s.wait(ctx)
}

func (s *slowTemporal) NewWithStartWorkflowOperation(client.StartWorkflowOptions, any, ...any) client.WithStartWorkflowOperation {
	return nil
}

// UpdateWithStartWorkflow grants requests to a budget.
func (s *slowTemporal) UpdateWithStartWorkflow(ctx context.Context, options client.UpdateWithStartWorkflowOptions) (client.WorkflowUpdateHandle, error) {
	s.calls.Add(1)
	expenses, _ := options.UpdateOptions.Args[0].([]writing.Expense)
	return granted{grants: slices.Repeat([]writing.Grant{{Granted: true}}, len(expenses))}, s.wait(ctx)
}

// granted is the handle of an update that granted PUTs.
type granted struct {
	client.WorkflowUpdateHandle

	grants []writing.Grant
}

func (g granted) Get(_ context.Context, into any) error {
	*into.(*[]writing.Grant) = g.grants //nolint:forcetypeassert // the one type of the test
	return nil
}

func (s *slowTemporal) DescribeTaskQueue(ctx context.Context, _ string, _ enumspb.TaskQueueType) (*workflowservice.DescribeTaskQueueResponse, error) {
	s.calls.Add(1)
	return &workflowservice.DescribeTaskQueueResponse{}, s.wait(ctx)
}

// QueryWorkflow finds no worker that answers in time.
func (s *slowTemporal) QueryWorkflow(context.Context, string, string, string, ...any) (converter.EncodedValue, error) {
	return nil, context.DeadlineExceeded
}

// TestSlowLookups checks that errors of look-ups blame Temporal, not the request to Azure that
// waits for them, and that a list that may not be sent in time is as late as one without an answer.
func TestSlowLookups(t *testing.T) {
	id := parse(t, database(1))
	synctest.Test(t, func(t *testing.T) {
		slow := New(&slowTemporal{t: t, delay: 11 * time.Second}, Options{Namespace: "n", TaskQueue: "q"})
		if _, _, err := slow.Managed(t.Context(), id); !errors.Is(err, writing.ErrTemporalSlow) {
			t.Errorf("Managed: %v, want that Temporal is slow", err)
		}
		f := New(&slowTemporal{t: t}, Options{Namespace: "n", TaskQueue: "q", ListsPerSecond: 0.001})
		if _, _, err := f.ReadMemory(t.Context(), id); !errors.Is(err, writing.ErrTemporalSlow) {
			t.Errorf("ReadMemory: %v, want that Temporal is slow", err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		var refused error
		for range 3 {
			refused = f.awaitList(ctx)
		}
		if !errors.Is(activities.TemporalError(refused), writing.ErrTemporalSlow) {
			t.Errorf("the third list of a burst of two: %v, want that Temporal is slow", refused)
		}
	})
}

// TestSlowBudget lets 40 corrections ask a budget at once while an update takes 8 s: the first one
// asks alone, and the others share the next update.
func TestSlowBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		temporal := &slowTemporal{t: t, delay: 8 * time.Second}
		f := New(temporal, Options{Namespace: "n", TaskQueue: "q"})
		var spent atomic.Int32
		spend := func(n int) {
			if got, err := f.Spend(t.Context(), expense(t, writing.PutBudget, n)); err != nil || !got.Granted {
				t.Errorf("correction %d got %+v, %v", n, got, err)
			}
			spent.Add(1)
		}
		go spend(0)
		synctest.Wait()
		for n := range 39 {
			go spend(n + 1)
		}
		<-time.After(17 * time.Second)
		synctest.Wait()
		if spent.Load() != 40 || temporal.calls.Load() != 2 {
			t.Errorf("%d of 40 corrections were granted, with %d updates, want all with 2", spent.Load(), temporal.calls.Load())
		}
	})
}

// TestSlowCountOfWorkers checks that lists do not wait while another call counts the live workers.
func TestSlowCountOfWorkers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := New(&slowTemporal{t: t, delay: 9 * time.Second}, Options{Namespace: "n", TaskQueue: "q"})
		var counted atomic.Bool
		go func() {
			_ = f.awaitList(t.Context())
			counted.Store(true)
		}()
		synctest.Wait()
		if err := f.awaitList(t.Context()); err != nil || counted.Load() {
			t.Errorf("the second list waited for the count of workers: %v", err)
		}
		<-time.After(10 * time.Second)
	})
}

// TestSlowTemporal lets 40 writes ask at once for leave. Each asks once, all share the reading
// of the freezes, and none fails before an answer takes over 10 s.
func TestSlowTemporal(t *testing.T) {
	const writers = 40
	for name, c := range map[string]struct {
		reason string
		delay  time.Duration
		pass   int32
	}{
		"2.5 s": {"slower than a list of freezes counts", 2500 * time.Millisecond, writers},
		"4 s":   {"slower than half of 5 s", 4 * time.Second, writers},
		"8 s":   {"just within the time of one try", 8 * time.Second, writers},
		"11 s":  {"no answer, no write", 11 * time.Second, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				temporal := &slowTemporal{t: t, delay: c.delay}
				f := New(temporal, Options{Namespace: "n", TaskQueue: "q"})
				id := parse(t, database(1))
				var passed, slow atomic.Int32
				for range writers {
					go func() {
						_, _, err := f.Frozen(t.Context(), nil)
						if err == nil {
							_, err = f.Confirm(t.Context(), writing.Attempt{WorkflowID: id.WorkflowID(), RunID: "r", Resource: id, TaskToken: []byte("t")})
						}
						if err == nil {
							passed.Add(1)
						} else if errors.Is(err, writing.ErrTemporalSlow) {
							slow.Add(1)
						}
					}()
				}
				<-time.After(time.Minute)
				synctest.Wait()
				if passed.Load() != c.pass || slow.Load() != writers-c.pass {
					t.Errorf("%d passed, %d were told that Temporal is slow, want %d to pass: %s", passed.Load(), slow.Load(), c.pass, c.reason)
				}
				if temporal.freezeReads.Load() != 1 || temporal.beats.Load() != c.pass || temporal.calls.Load() != c.pass {
					t.Errorf("%d readings of freezes, %d heartbeats, %d descriptions, want 1, %d and %d: %s",
						temporal.freezeReads.Load(), temporal.beats.Load(), temporal.calls.Load(), c.pass, c.pass, c.reason)
				}
			})
		})
	}
}

// TestConfirmFreezeReadsAgain confirms a freeze that was set after a slow reading began: only a
// reading that begins later knows it, and a write that waited for Temporal meanwhile sees it.
//
//guard:freeze
func TestConfirmFreezeReadsAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		temporal := &slowTemporal{t: t, delay: 4 * time.Second}
		f := New(temporal, Options{Namespace: "n", TaskQueue: "q"})
		var early bool
		go func() { _, early, _ = f.Frozen(t.Context(), nil) }()
		<-time.After(time.Second)
		all := workflows.Freeze{By: "ada"}
		temporal.frozen.Store(&[]workflows.Freeze{all})
		result, err := f.ConfirmFreeze(t.Context())
		if err != nil || !result.Includes(all) {
			t.Errorf("confirmed %+v, %v", result, err)
		}
		synctest.Wait()
		if _, known := f.KnownFreeze(nil); early || !known {
			t.Errorf("the early check said frozen %t, after the confirmation %t; want false, then true", early, known)
		}
		if reads := temporal.freezeReads.Load(); reads != 2 {
			t.Errorf("%d readings, want 2, one after the other", reads)
		}
	})
}

// TestFrozenGivesUp checks that a caller leaves when its context ends, and the request goes on.
func TestFrozenGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := New(&slowTemporal{t: t, delay: 8 * time.Second}, Options{Namespace: "n", TaskQueue: "q"})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, _, err := f.Frozen(ctx, nil); !errors.Is(err, writing.ErrTemporalSlow) {
			t.Errorf("got %v, want that Temporal is slow", err)
		}
		if _, _, err := f.Frozen(t.Context(), nil); err != nil {
			t.Errorf("the next caller did not get the result: %v", err)
		}
	})
}
