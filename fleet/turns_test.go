package fleet

import (
	"strings"
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
	var sent activities.Turn
	if err := payload.DataConverter().FromPayload(sentUpdate.args[0], &sent); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(turn(t).ID.Key()+turn(t).RunID, sent.ID.Key()+sent.RunID); diff != "" {
		t.Errorf("turn (-want +got):\n%s", diff)
	}
	s.updateErr = serviceerror.NewInvalidArgument("no worker")
	if _, err := s.dial().Take(t.Context(), turn(t)); err == nil || !strings.Contains(err.Error(), "take turn in "+clusterText) {
		t.Errorf("got %v, want the error with the parent", err)
	}
}

// TestSleeping checks which runs use a turn that they have: a run in a pass has a task or
// an activity other than a notification.
func TestSleeping(t *testing.T) {
	t.Parallel()
	activity := func(name string) []*workflowpb.PendingActivityInfo {
		return []*workflowpb.PendingActivityInfo{{ActivityType: &commonpb.ActivityType{Name: name}}}
	}
	for name, c := range map[string]struct {
		described *workflowservice.DescribeWorkflowExecutionResponse
		want      bool
	}{
		"sleeps":   {&workflowservice.DescribeWorkflowExecutionResponse{}, true},
		"task":     {&workflowservice.DescribeWorkflowExecutionResponse{PendingWorkflowTask: &workflowpb.PendingWorkflowTaskInfo{}}, false},
		"writes":   {&workflowservice.DescribeWorkflowExecutionResponse{PendingActivities: activity("PutResource")}, false},
		"notifies": {&workflowservice.DescribeWorkflowExecutionResponse{PendingActivities: activity("WakeDependents")}, true},
	} {
		if got := sleeps(c.described); got != c.want {
			t.Errorf("%s: %t, want %t", name, got, c.want)
		}
	}
}

func TestEndTurn(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	f := s.dial()
	if err := f.End(t.Context(), turn(t)); err != nil {
		t.Errorf("ending a turn without a queue failed: %v", err)
	}
	id := workflows.SiblingsWorkflowID(parse(t, clusterText))
	s.running[id] = &workflowpb.WorkflowExecutionInfo{Status: 1}
	if err := f.End(t.Context(), turn(t)); err != nil {
		t.Fatal(err)
	}
	if len(s.signals) != 1 || s.signals[0].name != workflows.EndTurnSignal || s.signals[0].turn.RunID != "r1" {
		t.Errorf("signals %+v, want the end of the turn", s.signals)
	}
	s.broken[id] = serviceerror.NewInvalidArgument("shard unavailable")
	if err := f.End(t.Context(), turn(t)); err == nil || !strings.Contains(err.Error(), "end turn in "+clusterText) {
		t.Errorf("got %v, want the error, so that the turn is ended later", err)
	}
}
