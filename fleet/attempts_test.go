package fleet

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/activities/writing"
	"github.com/armature-io/armature/workflows"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
)

// RecordActivityTaskHeartbeat stores the token and returns what the test set.
func (s *server) RecordActivityTaskHeartbeat(_ context.Context, in *workflowservice.RecordActivityTaskHeartbeatRequest) (*workflowservice.RecordActivityTaskHeartbeatResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.heartbeats = append(s.heartbeats, string(in.GetTaskToken()))
	if s.beatErr != nil {
		return nil, s.beatErr
	}
	if s.beat != nil {
		return s.beat, nil
	}
	return &workflowservice.RecordActivityTaskHeartbeatResponse{}, nil
}

// TestConfirm asks about an attempt that the server sees in different ways.
//
//guard:fence
//guard:writes-belong-to-a-workflow
func TestConfirm(t *testing.T) {
	id := parse(t, database(1)).WorkflowID()
	cases := map[string]struct {
		reason     string
		change     func(s *server)
		local      bool
		foreign    bool
		task       string
		over       string
		generation int64
		err        string
	}{
		"Current": {reason: "the server accepts the heartbeat"},
		"Generation": {reason: "an apply during a write is in the memo", generation: 7, change: func(s *server) {
			s.running[id].Memo.Fields[workflows.MemoGeneration] = encode(s.t, 7)
		}},
		"Forgotten": {reason: "the management ended during a write", over: "management of the resource has ended", change: func(s *server) {
			s.running[id].Memo.Fields[workflows.MemoForgotten] = encode(s.t, true)
		}},
		"OtherAttempt": {reason: "the server knows no such attempt any more", over: "another attempt has begun",
			change: func(s *server) { s.beatErr = serviceerror.NewNotFound("activity not found") }},
		"Canceled": {reason: "the workflow was canceled", over: "canceled",
			change: func(s *server) { s.beat = &workflowservice.RecordActivityTaskHeartbeatResponse{CancelRequested: true} }},
		"Paused": {reason: "an operator paused the activity", over: "paused",
			change: func(s *server) { s.beat = &workflowservice.RecordActivityTaskHeartbeatResponse{ActivityPaused: true} }},
		"Reset": {reason: "an operator reset the activity", over: "reset",
			change: func(s *server) { s.beat = &workflowservice.RecordActivityTaskHeartbeatResponse{ActivityReset: true} }},
		"Ended": {reason: "a local activity outlived its workflow", over: "has ended", local: true,
			change: func(s *server) { s.running[id].Status = enumspb.WORKFLOW_EXECUTION_STATUS_TERMINATED }},
		"OtherWorkflow": {reason: "an activity without a workflow, or of another one, with an input that its sender chose", over: "not run by the workflow of", foreign: true},
		"Local":         {reason: "a local activity has no heartbeat", local: true},
		"Task":          {reason: "the check runs in the workflow task that the server waits for", local: true, task: "current"},
		"OlderTask":     {reason: "the server started another workflow task meanwhile", local: true, task: "older", over: "workflow task of this check is over"},
		"NoTask": {reason: "the workflow task ended meanwhile", local: true, task: "current", over: "workflow task of this check is over",
			change: func(s *server) { s.noTask = true }},
		"NoHeartbeat": {reason: "a heartbeat that fails confirms nothing", err: "send a heartbeat",
			change: func(s *server) { s.beatErr = serviceerror.NewInvalidArgument("broken") }},
		"NoDescription": {reason: "neither does a description that fails", err: "describe the workflow",
			change: func(s *server) { s.broken[id] = serviceerror.NewInvalidArgument("broken") }},
		"Unreadable": {reason: "a generation of another form may be newer", err: "decode the memo generation", change: func(s *server) {
			s.running[id].Memo.Fields[workflows.MemoGeneration] = encode(s.t, "seven")
		}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newServer(t)
			s.add(run{id: database(1)})
			if c.change != nil {
				c.change(s)
			}
			attempt := writing.Attempt{WorkflowID: id, RunID: "run", Resource: parse(t, database(1)), TaskToken: []byte("token"), Progress: map[string]int{"transientErrors": 1}}
			if c.local {
				attempt.TaskToken = nil
			}
			if c.foreign {
				attempt.WorkflowID = "attack"
			}
			if c.task != "" {
				s.task = sinceText
				attempt.TaskStarted = map[string]time.Time{"current": sinceText, "older": sinceText.Add(-10 * time.Second)}[c.task]
			}
			got, err := s.dial().Confirm(t.Context(), attempt)
			if (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
				t.Errorf("the error is %v, want %q: %s", err, c.err, c.reason)
			}
			if (got.Over == "") != (c.over == "") || !strings.Contains(got.Over, c.over) || got.Generation != c.generation {
				t.Errorf("got %+v, want over %q and generation %d: %s", got, c.over, c.generation, c.reason)
			}
			if want := 1; !c.local && !c.foreign && len(s.heartbeats) != want || (c.local || c.foreign) && len(s.heartbeats) != 0 {
				t.Errorf("%d heartbeats: %s", len(s.heartbeats), c.reason)
			}
		})
	}
}
