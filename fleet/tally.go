package fleet

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/internal/searchattr"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/workflows"
	enumspb "go.temporal.io/api/enums/v1"
	taskqueuepb "go.temporal.io/api/taskqueue/v1"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
)

// maxTallied bounds the resources that one Tally lists.
const maxTallied = 20_000

// EndedBy says what ends the state of a resource.
type EndedBy string

// What may end a state.
const (
	// EndedByNothing is the class of what is Ready.
	EndedByNothing EndedBy = "nothing"
	// EndedByTime is the class of what retries, operations or other resources end.
	EndedByTime EndedBy = "time"
	// EndedByPerson is the class of what someone must mend, approve or resume.
	EndedByPerson EndedBy = "person"
	// EndedByUnknown is the class of what was not listed.
	EndedByUnknown EndedBy = "unknown"
)

// Group is what the resources of one number of a Tally have in common. Phase and Reason are
// "" for a resource whose first pass has not begun, and Reason for what is Ready. Label is
// the value of the tallied label, "" without one.
type Group struct {
	Phase  workflows.Phase
	Reason resource.Reason
	Class  EndedBy
	Label  string
}

// Tally is the number of managed resources of a task queue.
type Tally struct {
	Groups map[Group]int
	// Oldest is how long the resource that has been not Ready for the longest time has been
	// so, by class; a class without such a resource is absent, and paused ones do not count.
	Oldest map[EndedBy]time.Duration
}

// Tally counts the resources that this task queue manages. Without a label it sends one
// count of the Ready ones, and lists the others; with a label it lists all of them, because
// Temporal cannot group a count by a search attribute of ours (server v1.32.1). It lists at
// most 20,000 resources, and counts the rest as one group of class unknown.
func (f *Fleet) Tally(ctx context.Context, label string) (Tally, error) {
	tally := Tally{Groups: map[Group]int{}, Oldest: map[EndedBy]time.Duration{}}
	query := f.managedQuery()
	if label == "" {
		ready, err := f.count(ctx, query+" AND "+searchattr.ReconcilePhase+" = '"+string(workflows.PhaseReady)+"'")
		if err != nil {
			return Tally{}, err
		}
		if ready > 0 {
			tally.Groups[Group{Phase: workflows.PhaseReady, Class: EndedByNothing}] = ready
		}
		query += " AND (" + searchattr.ReconcilePhase + " != '" + string(workflows.PhaseReady) + "' OR " + searchattr.ReconcilePhase + " IS NULL)"
	}
	listed, err := f.tallyList(ctx, query, label, &tally)
	if err != nil || listed < maxTallied {
		return tally, err
	}
	all, err := f.count(ctx, query)
	if err != nil {
		return Tally{}, err
	}
	if all > listed {
		tally.Groups[Group{Class: EndedByUnknown}] = all - listed
	}
	return tally, nil
}

// tallyList adds the resources of a query, and returns how many there were.
func (f *Fleet) tallyList(ctx context.Context, query, label string, tally *Tally) (listed int, err error) {
	if err := f.awaitList(ctx); err != nil {
		return 0, fmt.Errorf("count resources: %w", err)
	}
	now := f.options.Now()
	err = f.pages(ctx, query, func(page []*workflowpb.WorkflowExecutionInfo) bool {
		for _, info := range page {
			f.addTo(tally, info, label, now)
		}
		listed += len(page)
		return listed >= maxTallied
	})
	return listed, err
}

// addTo counts one resource.
func (f *Fleet) addTo(t *Tally, info *workflowpb.WorkflowExecutionInfo, label string, now time.Time) {
	var phase, reason string
	var summary workflows.Summary
	attributes := info.GetSearchAttributes().GetIndexedFields()
	readAttribute(attributes[searchattr.ReconcilePhase], &phase)
	readAttribute(attributes[searchattr.ReconcileReason], &reason)
	_ = f.readMemo(info, workflows.MemoSummary, &summary)
	group := Group{Phase: workflows.Phase(phase), Reason: resource.Reason(reason)}
	if label != "" {
		group.Label = f.labelOf(info, label)
	}
	group.Class = classOf(group, summary)
	if group.Class == EndedByNothing {
		group.Reason = ""
	}
	t.Groups[group]++
	if group.Class == EndedByNothing || group.Phase == workflows.PhasePaused {
		return
	}
	managed := activities.Managed{}
	f.addSummary(&managed, info)
	if managed.Since.IsZero() {
		managed.Since = info.GetStartTime().AsTime()
	}
	t.Oldest[group.Class] = max(t.Oldest[group.Class], now.Sub(managed.Since))
}

// classOf returns what ends the state of a resource. A summary may be older than the search
// attributes: it counts where both have the same reason.
func classOf(group Group, summary workflows.Summary) EndedBy {
	if group.Phase == workflows.PhaseReady {
		return EndedByNothing
	}
	actor := group.Reason.Actor()
	if summary.Condition.Reason == group.Reason {
		actor = summary.Condition.Actor
	}
	if actor != "" || group.Phase == workflows.PhaseFailed || group.Phase == workflows.PhasePaused {
		return EndedByPerson
	}
	return EndedByTime
}

// labelOf returns the value of a label of a resource, "" without it.
func (f *Fleet) labelOf(info *workflowpb.WorkflowExecutionInfo, name string) string {
	for _, keyword := range keysIn(info, searchattr.ReconcileLabels) {
		if value, found := strings.CutPrefix(keyword, name+"="); found {
			return value
		}
	}
	return ""
}

// managedQuery matches the running workflows of the resources of this task queue.
func (f *Fleet) managedQuery() string {
	return "WorkflowType = '" + workflows.ReconcileResourceWorkflow + "' AND ExecutionStatus = 'Running' AND TaskQueue = '" +
		strings.ReplaceAll(f.options.TaskQueue, "'", "''") + "'"
}

func (f *Fleet) count(ctx context.Context, query string) (int, error) {
	response, err := f.temporal.CountWorkflow(ctx, &workflowservice.CountWorkflowExecutionsRequest{Namespace: f.options.Namespace, Query: query})
	if err != nil {
		return 0, fmt.Errorf("count resources: %w", err)
	}
	return int(response.GetCount()), nil
}

// Leads reports whether a worker is the one of the live workers of the task queue that
// counts for all of them: the first by the identity of its process. It is false where
// Temporal does not say which workers live. checks is the number of different fingerprints of
// checks among the live workers of one version, of the version with the most.
func (f *Fleet) Leads(ctx context.Context, process string) (leads bool, checks int, err error) {
	described, err := f.temporal.DescribeTaskQueue(ctx, f.options.TaskQueue, enumspb.TASK_QUEUE_TYPE_WORKFLOW)
	if err != nil {
		return false, 0, fmt.Errorf("list the workers of task queue %s: %w", f.options.TaskQueue, err)
	}
	live := livePollers(described.GetPollers())
	for _, groups := range workflows.ChecksByVersion(live) {
		checks = max(checks, len(groups))
	}
	return len(live) > 0 && live[0].Identity == process, checks, nil
}

// livePollers returns the processes among pollers, sorted by identity. The times of polls are
// of the server, so they are compared with each other.
func livePollers(pollers []*taskqueuepb.PollerInfo) []workflows.Worker {
	workers := workflows.Workers(pollers)
	var newest time.Time
	for _, worker := range workers {
		if worker.Last.After(newest) {
			newest = worker.Last
		}
	}
	return slices.DeleteFunc(workers, func(w workflows.Worker) bool { return !w.IsLive(newest) })
}
