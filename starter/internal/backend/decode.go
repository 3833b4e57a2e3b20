package backend

import (
	"fmt"
	"strings"
	"time"

	"github.com/armature-io/armature/internal/payload"
	"github.com/armature-io/armature/internal/searchattr"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/workflows"
	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/converter"
	"google.golang.org/protobuf/types/known/timestamppb"
)

// attributeProblems is the server's own search attribute of a workflow with tasks that
// keep failing: "category=WorkflowTaskFailed",
// "cause=WorkflowTaskFailedCauseNonDeterministicError".
const attributeProblems = "TemporalReportedProblems"

// minStuckAttempts is the attempt of a pending workflow task from which on the task
// counts as stuck: a worker killed during a task leaves a second attempt behind.
const minStuckAttempts = 3

// decoder decodes payloads. One serves many, because its converter is expensive to make.
type decoder struct {
	converter.DataConverter
	converters *payload.Converters
	namespace  string
}

func newDecoder(converters *payload.Converters, namespace string) decoder {
	return decoder{converters.Data, converters, namespace}
}

// newRecord decodes what a list and a description have in common.
func newRecord(d decoder, info *workflowpb.WorkflowExecutionInfo) Record {
	attributes := info.GetSearchAttributes().GetIndexedFields()
	memo := info.GetMemo().GetFields()
	reading := &Reading{DataConverter: d.converters.AtRun(d.namespace, info)}
	m := d // search attributes are never encrypted
	m.DataConverter = reading
	r := Record{
		WorkflowID: info.GetExecution().GetWorkflowId(),
		Name:       m.text(memo[workflows.MemoName]),
		APIVersion: m.text(memo[workflows.MemoAPIVersion]),
		Policy:     resource.Policy(m.text(memo[workflows.MemoPolicy])),
		Phase:      workflows.Phase(d.text(attributes[searchattr.ReconcilePhase])),
		Reason:     resource.Reason(d.text(attributes[searchattr.ReconcileReason])),
		Since:      d.time(attributes[searchattr.ReconcileSince]),
		WaitingFor: d.texts(attributes[searchattr.ReconcileWaitingFor]),
		Needs:      d.texts(attributes[searchattr.ReconcileNeeds]),
		Labels:     d.texts(attributes[searchattr.ReconcileLabels]),
		TaskQueue:  info.GetTaskQueue(),
		Started:    timeOf(info.GetStartTime()),
		Summary:    m.summary(memo[workflows.MemoSummary]),
		Stuck:      describeStuck(d.texts(attributes[attributeProblems]), 0),
		Running:    info.GetStatus() == enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING,
	}
	// Another tool may have written a memo that does not parse; the workflow ID
	// still identifies the row.
	r.ID, _ = resource.ParseID(m.text(memo[workflows.MemoID]))
	if reading.missing != nil {
		r.identify(reading.missing)
	}
	if !r.Running {
		r.Stuck = ""
		r.Ended, r.EndedAt = info.GetStatus().String(), timeOf(info.GetCloseTime())
	}
	return r
}

// addPending adds what only the description of one workflow has: a workflow task
// or a step that keeps failing, and the next attempt of an activity.
func (r *Record) addPending(d decoder, response *workflowservice.DescribeWorkflowExecutionResponse) {
	info := response.GetWorkflowExecutionInfo()
	r.BuildID = info.GetVersioningInfo().GetDeploymentVersion().GetBuildId()
	r.RunID, r.Events = info.GetExecution().GetRunId(), info.GetHistoryLength()
	problems := d.texts(info.GetSearchAttributes().GetIndexedFields()[attributeProblems])
	r.Stuck = describeStuck(problems, response.GetPendingWorkflowTask().GetAttempt())
	r.Busy = response.GetPendingWorkflowTask() != nil
	for _, activity := range response.GetPendingActivities() {
		r.Busy = r.Busy || activity.GetActivityType().GetName() != notification
		if next := timeOf(activity.GetNextAttemptScheduleTime()); !next.IsZero() {
			r.NextAttempt = next
		}
		if step := describeStuckStep(d, activity); step != "" {
			r.StuckStep = step
		}
	}
}

// describeStuck returns how a workflow task fails, "" if it does not.
func describeStuck(problems []string, attempt int32) string {
	if len(problems) == 0 && attempt < minStuckAttempts {
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
	summary := "its workflow task " + verb
	if len(details) > 0 {
		summary += " (" + strings.Join(details, ", ") + ")"
	}
	return summary
}

// StuckText returns what is stuck, on which task queue, and what to do about it.
func (r Record) StuckText(taskQueue string) string {
	name := r.DisplayName()
	if !r.ID.IsZero() {
		name = r.ID.String()
	}
	return fmt.Sprintf("%s: workers on task queue %s cannot complete it; read the worker's log, and run `worker replay %s` of their version to find where it differs from the history",
		r.Stuck, taskQueue, name)
}

func timeOf(stamp *timestamppb.Timestamp) time.Time {
	if stamp == nil {
		return time.Time{}
	}
	return stamp.AsTime()
}

// text decodes a payload with a string; it returns "" for any other payload.
func (d decoder) text(p *commonpb.Payload) string {
	var value string
	if p == nil || d.FromPayload(p, &value) != nil {
		return ""
	}
	return value
}

// texts decodes a payload with a list of strings. In some places the server
// writes a list of one as a string.
func (d decoder) texts(p *commonpb.Payload) []string {
	var values []string
	if p == nil {
		return nil
	}
	if d.FromPayload(p, &values) == nil {
		return values
	}
	if value := d.text(p); value != "" {
		return []string{value}
	}
	return nil
}

// time decodes a payload with a time; it returns zero for any other payload.
func (d decoder) time(p *commonpb.Payload) time.Time {
	var value time.Time
	if p == nil || d.FromPayload(p, &value) != nil {
		return time.Time{}
	}
	return value.UTC()
}

// summary decodes a payload with a summary; it returns nil for any other payload.
func (d decoder) summary(p *commonpb.Payload) *workflows.Summary {
	var value workflows.Summary
	if p == nil || d.FromPayload(p, &value) != nil {
		return nil
	}
	return &value
}
