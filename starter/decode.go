package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/armature-io/armature/payload"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/workflows"
	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/protobuf/types/known/timestamppb"
)

// attributeProblems is the server's own search attribute of a workflow whose
// tasks keep failing: "category=WorkflowTaskFailed",
// "cause=WorkflowTaskFailedCauseNonDeterministicError".
const attributeProblems = "TemporalReportedProblems"

// stuckAttempts is from which attempt on a pending workflow task is stuck: a
// worker that is killed in the middle of one leaves the second behind.
const stuckAttempts = 3

// newRecord reads what a list and a description have in common.
func newRecord(info *workflowpb.WorkflowExecutionInfo) record {
	attributes := info.GetSearchAttributes().GetIndexedFields()
	memo := info.GetMemo().GetFields()
	r := record{
		WorkflowID: info.GetExecution().GetWorkflowId(),
		Name:       decodeText(memo[workflows.MemoName]),
		APIVersion: decodeText(memo[workflows.MemoAPIVersion]),
		Policy:     resource.Policy(decodeText(memo[workflows.MemoPolicy])),
		Phase:      workflows.Phase(decodeText(attributes[attributePhase])),
		Reason:     resource.Reason(decodeText(attributes[attributeReason])),
		WaitingFor: decodeTexts(attributes[attributeWaitingFor]),
		Needs:      decodeTexts(attributes[attributeNeeds]),
		Labels:     decodeTexts(attributes[attributeLabels]),
		TaskQueue:  info.GetTaskQueue(),
		Started:    timeOf(info.GetStartTime()),
		Stuck:      stuck(decodeTexts(attributes[attributeProblems]), 0),
		Running:    info.GetStatus() == enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING,
	}
	// A memo that does not parse is somebody else's: the workflow ID still
	// names the row.
	r.ID, _ = resource.ParseID(decodeText(memo[workflows.MemoID]))
	if !r.Running {
		r.Stuck = ""
		r.Ended, r.EndedAt = info.GetStatus().String(), timeOf(info.GetCloseTime())
	}
	return r
}

// addPending adds what only the description of one workflow tells: a workflow
// task that fails again and again, and when an activity tries again.
func (r *record) addPending(answer *workflowservice.DescribeWorkflowExecutionResponse) {
	info := answer.GetWorkflowExecutionInfo()
	r.RunID, r.Events = info.GetExecution().GetRunId(), info.GetHistoryLength()
	problems := decodeTexts(info.GetSearchAttributes().GetIndexedFields()[attributeProblems])
	r.Stuck = stuck(problems, answer.GetPendingWorkflowTask().GetAttempt())
	for _, activity := range answer.GetPendingActivities() {
		if next := timeOf(activity.GetNextAttemptScheduleTime()); !next.IsZero() {
			r.NextLook = next
		}
	}
}

// stuck says in words that a workflow task fails; "" where none does.
func stuck(problems []string, attempt int32) string {
	if len(problems) == 0 && attempt < stuckAttempts {
		return ""
	}
	verb, details := "fails", []string{}
	for _, problem := range problems {
		key, value, _ := strings.Cut(problem, "=")
		switch {
		case key == "category" && strings.HasSuffix(value, "TimedOut"):
			verb = "times out"
		case key == "cause":
			_, cause, _ := strings.Cut(value, "Cause")
			details = append(details, cause)
		}
	}
	if attempt > 0 {
		details = append(details, fmt.Sprintf("attempt %d", attempt))
	}
	text := "its workflow task " + verb
	if len(details) > 0 {
		text += " (" + strings.Join(details, ", ") + ")"
	}
	return text
}

// stuckWords say what is stuck, where, and what to do about it.
func (r record) stuckWords(queue string) string {
	name := r.called()
	if !r.ID.IsZero() {
		name = r.ID.String()
	}
	return fmt.Sprintf("%s: a worker on task queue %s takes it and cannot go on; its log says why, and `armature replay %s` where this version parts from the history",
		r.Stuck, queue, name)
}

func timeOf(stamp *timestamppb.Timestamp) time.Time {
	if stamp == nil {
		return time.Time{}
	}
	return stamp.AsTime()
}

// decodeText decodes a payload that holds a string, "" where it does not.
func decodeText(p *commonpb.Payload) string {
	var value string
	if p == nil || payload.DataConverter().FromPayload(p, &value) != nil {
		return ""
	}
	return value
}

// decodeTexts decodes a payload that holds a list of strings; the server writes
// a list of one as a string in some places.
func decodeTexts(p *commonpb.Payload) []string {
	var values []string
	if p == nil {
		return nil
	}
	if payload.DataConverter().FromPayload(p, &values) == nil {
		return values
	}
	if value := decodeText(p); value != "" {
		return []string{value}
	}
	return nil
}
