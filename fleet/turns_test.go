package fleet

import (
	"strings"
	"sync"
	"testing"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/internal/payload"
	"github.com/armature-io/armature/workflows"
	"github.com/google/go-cmp/cmp"
	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/api/serviceerror"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
)

func turn(t *testing.T) activities.Turn {
	id := parse(t, database(1))
	return activities.Turn{Parent: parse(t, clusterText), ID: id, WorkflowID: id.WorkflowID(), RunID: "r1"}
}

func TestTakeTurn(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.position = activities.Position{Holder: parse(t, database(2)), Ahead: 3}
	got, err := s.dial().Take(t.Context(), turn(t))
	if err != nil {
		t.Fatal(err)
	}
	if got.Granted || got.Ahead != 3 || !got.Holder.Equal(parse(t, database(2))) {
		t.Errorf("position %+v, want the result of the workflow", got)
	}
	sentUpdate := s.updates[0]
	if sentUpdate.name != workflows.TakeTurnUpdate || sentUpdate.start != workflows.SerializeSiblingsWorkflow || sentUpdate.taskQueue != "q" ||
		sentUpdate.workflowID != workflows.SiblingsWorkflowID(parse(t, strings.ToUpper(clusterText))) {
		t.Errorf("update %+v, want one that starts the workflow of the parent, whatever the case of its ID", sentUpdate)
	}
	var list []activities.Turn
	if err := payload.DataConverter().FromPayload(sentUpdate.args[0], &list); err != nil || len(list) != 1 {
		t.Fatal(list, err)
	}
	sent := list[0]
	if diff := cmp.Diff(turn(t).ID.Key()+turn(t).RunID, sent.ID.Key()+sent.RunID); diff != "" {
		t.Errorf("turn (-want +got):\n%s", diff)
	}
	s.updateErr = serviceerror.NewInvalidArgument("no worker")
	if _, err := s.dial().Take(t.Context(), turn(t)); err == nil || !strings.Contains(err.Error(), "take turn in "+clusterText) {
		t.Errorf("got %v, want the error with the parent", err)
	}
}

func pendingOf(name string) []*workflowpb.PendingActivityInfo {
	return []*workflowpb.PendingActivityInfo{{ActivityType: &commonpb.ActivityType{Name: name}}}
}

// TestSleeping checks which runs use a turn that they have: a run in a pass has a task or
// an activity other than a notification.
func TestSleeping(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		described *workflowservice.DescribeWorkflowExecutionResponse
		want      bool
	}{
		"sleeps":   {&workflowservice.DescribeWorkflowExecutionResponse{}, true},
		"task":     {&workflowservice.DescribeWorkflowExecutionResponse{PendingWorkflowTask: &workflowpb.PendingWorkflowTaskInfo{}}, false},
		"writes":   {&workflowservice.DescribeWorkflowExecutionResponse{PendingActivities: pendingOf("PutResource")}, false},
		"notifies": {&workflowservice.DescribeWorkflowExecutionResponse{PendingActivities: pendingOf("WakeDependents")}, true},
	} {
		if got := sleeps(c.described); got != c.want {
			t.Errorf("%s: %t, want %t", name, got, c.want)
		}
	}
}

// TestTakesAreJoined checks that the requests of a worker for turns of one parent, which come at
// once, are few updates: Temporal refuses more than ten at a time. Another parent has its own.
func TestTakesAreJoined(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.position = activities.Position{Holder: parse(t, database(2)), Ahead: 3}
	f := s.dial()
	var calls, started sync.WaitGroup
	started.Add(60)
	s.mu.Lock() // the first update takes until all have begun
	for n := range 60 {
		next := turn(t)
		next.ID = parse(t, database(n))
		calls.Go(func() {
			started.Done()
			if got, err := f.Take(t.Context(), next); err != nil || got.Ahead != 3 {
				t.Errorf("position %+v, %v", got, err)
			}
		})
	}
	started.Wait()
	s.mu.Unlock()
	calls.Wait()
	joined := 0
	for _, update := range s.updates {
		var turns []activities.Turn
		if err := payload.DataConverter().FromPayload(update.args[0], &turns); err != nil {
			t.Fatal(err)
		}
		joined += len(turns)
	}
	if len(s.updates) > 20 || joined != 60 {
		t.Errorf("%d updates with %d turns, want all 60 in few", len(s.updates), joined)
	}
	other := turn(t)
	other.Parent = parse(t, database(1))
	if _, err := f.Take(t.Context(), other); err != nil || s.updates[len(s.updates)-1].workflowID != workflows.SiblingsWorkflowID(other.Parent) {
		t.Errorf("the other parent: %v", err)
	}
}
