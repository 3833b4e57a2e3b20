package e2e

import (
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"

	"github.com/armature-io/armature/armsim"
	"github.com/armature-io/armature/dev/internal/harness"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/workflows"
)

const (
	// waitersShort is the number of waiting databases; the benchmark has 200.
	waitersShort = 20
	// wakeEvents is the maximum number of history events that one wake costs the
	// owner, whatever the number of waiting resources.
	wakeEvents = 6
)

// TestRecordWaking checks the cost of waiting and the wake that ends it, and
// records the histories of an owner and of a child that it woke.
func TestRecordWaking(t *testing.T) {
	t.Parallel()
	world := harness.New(t, binaries, harness.Options{})
	sideBySide(t, 2, map[string]func(*testing.T){
		"own operation":     func(t *testing.T) { playOwnOperation(newWaiters(t, world, "own-operation", waitersShort)) },
		"foreign operation": func(t *testing.T) { playForeignOperation(newWaiters(t, world, "foreign-operation", 6)) },
	})
}

// waiters are databases whose cluster is Ready and managed.
type waiters struct {
	*harness.World
	group, cluster, folder string
	databases              []string
	workers                []*harness.Worker
}

func newWaiters(t *testing.T, world *harness.World, name string, count int) *waiters {
	t.Helper()
	s := &waiters{World: world.Branch(t, name, harness.Options{Simulator: armsim.Options{TimeScale: 600}}), group: subscription + "/resourceGroups/" + name}
	path := "Microsoft.Kusto/clusters/adx"
	members := []member{{"Microsoft.Kusto/clusters@2023-08-15", path, "", `{"location":"westus2","sku":{"name":"Standard_D13_v2","tier":"Standard","capacity":2}}`}}
	s.cluster = members[0].id(s.group)
	for i := range count {
		m := member{"Microsoft.Kusto/clusters/databases@2023-08-15", fmt.Sprintf("%s/databases/db%d", path, i), path, `{"location":"westus2","kind":"ReadWrite","properties":{"softDeletePeriod":"P30D"}}`}
		members = append(members, m)
		s.databases = append(s.databases, m.id(s.group))
	}
	quickPolls(s.World)
	s.folder = writeStack(s.World, s.group, members)
	s.workers = []*harness.Worker{s.StartWorker(harness.WorkerOptions{}), s.StartWorker(harness.WorkerOptions{})}
	s.MustCLI("apply", "-f", s.folder+"/group.yaml", "-f", s.folder+"/00.yaml", "--wait", "--timeout", "60s")
	return s
}

// blocked waits until every database was blocked the given number of times.
func (s *waiters) blocked(times int) {
	s.T.Helper()
	for _, id := range s.databases {
		s.UntilStatus(90*time.Second, id, "is blocked", func(status workflows.Status) bool {
			return status.Phase == workflows.PhaseBlocked && status.Attempts >= times && status.Condition.Reason == resource.ReasonReconciliationBlocked
		})
	}
}

// untouched checks that no database got a request, and the cluster at most two GETs
// per minute and worker.
func (s *waiters) untouched(since time.Time) {
	s.T.Helper()
	counters, maxGets := s.Sim.Counters(), len(s.workers)*(1+int(time.Since(since)/ownerMaxAge))
	for id, requests := range counters.ByID {
		if strings.Contains(id, "/databases/") {
			s.T.Errorf("the blocked %s got requests: %v", id, requests)
		}
	}
	if gets := counters.ByID[strings.ToLower(s.cluster)][http.MethodGet]; gets > maxGets {
		s.T.Errorf("the cluster got %d GETs for waiting databases, want at most %d", gets, maxGets)
	}
}

// playOwnOperation keeps the cluster Updating by its own PUT. The end of the
// operation wakes all databases.
func playOwnOperation(s *waiters) {
	s.Sim.Call(http.MethodPost, "/holds", armsim.Hold{ID: s.cluster}, nil)
	s.Sim.Patch(s.cluster, map[string]any{"sku": map[string]any{"capacity": 3}})
	s.MustCLI("reconcile", s.cluster)
	s.UntilPhase(30*time.Second, s.cluster, workflows.PhaseOperating)
	s.Until(30*time.Second, "the cluster is Updating", func() (bool, string) {
		now := stored(s.World, s.cluster)
		return len(now) == 1 && now[0].State == "Updating", fmt.Sprint(now)
	})
	s.MustCLI("apply", "-f", s.folder)
	s.blocked(1)
	started := time.Now()
	s.Sim.Reset()
	s.blocked(4)
	s.untouched(started)
	s.Sim.Call(http.MethodDelete, "/holds", nil, nil)
	for _, id := range append([]string{s.cluster}, s.databases...) {
		s.UntilPhase(60*time.Second, id, workflows.PhaseReady)
	}
	for _, id := range s.databases {
		if puts := s.Sim.Count(http.MethodPut, id); puts != 1 {
			s.T.Errorf("%s got %d PUTs, want one", id, puts)
		}
		if woken := s.wakes(id); woken == 0 {
			s.T.Errorf("%s was not woken by its cluster:\n%s", id, s.HistoryLines(id))
		}
	}
	s.wakeCosts()
	s.Record(s.cluster, "owner-wakes")
	s.Record(s.databases[0], "woken")
	visibilityKept(s.World, s.workers)
}

// wakes counts the signals of the cluster to a database.
func (s *waiters) wakes(id string) int {
	s.T.Helper()
	signals := 0
	for _, event := range s.History(id).GetEvents() {
		if event.GetEventType() == enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED {
			signals++
		}
	}
	return signals
}

// wakeCosts counts the events of the owner's last wake: the activity, and the
// workflow task after it.
func (s *waiters) wakeCosts() {
	s.T.Helper()
	var last int64
	var events []*historypb.HistoryEvent
	s.Until(30*time.Second, "the second sweep is complete", func() (bool, string) {
		events = s.History(s.cluster).GetEvents()
		last = 0
		complete := false
		for _, event := range events {
			if event.GetActivityTaskScheduledEventAttributes().GetActivityType().GetName() == "WakeDependents" {
				last, complete = event.GetEventId(), false
			}
			if scheduled := event.GetActivityTaskCompletedEventAttributes().GetScheduledEventId(); scheduled != 0 && scheduled == last {
				complete = true
			}
		}
		return complete && events[len(events)-1].GetEventType() == enumspb.EVENT_TYPE_WORKFLOW_TASK_COMPLETED, s.HistoryLines(s.cluster)
	})
	cost := 0
	for _, event := range events {
		switch event.GetEventType() {
		case enumspb.EVENT_TYPE_TIMER_STARTED, enumspb.EVENT_TYPE_WORKFLOW_PROPERTIES_MODIFIED: // the interval, and the last write for lists
		default:
			if event.GetEventId() >= last {
				cost++
			}
		}
	}
	if cost > wakeEvents {
		s.T.Errorf("waking %d cost %d events, want at most %d:\n%s", len(s.databases), cost, wakeEvents, s.HistoryLines(s.cluster))
	}
}

// playForeignOperation keeps the cluster Updating by an operation that another tool
// started, so that the cluster's workflow does not know its end. The first database
// that finds the cluster free, at its next try and on a new worker with empty caches,
// wakes the others.
func playForeignOperation(s *waiters) {
	s.Sim.Call(http.MethodPut, "/state", map[string]any{"id": s.cluster, "provisioningState": "Updating"}, nil)
	s.MustCLI("apply", "-f", s.folder)
	s.blocked(4)
	passes, wakesBefore, tries := s.lastPass(s.cluster), 0, map[string]int64{}
	for _, id := range s.databases {
		wakesBefore += s.wakes(id)
		before, err := s.Status(id)
		if err != nil || before.NextTry.IsZero() {
			s.T.Errorf("%s has no next try, and only another database will wake it: %+v, %v", id, before, err)
		}
		tries[id] = before.Pass
	}
	for _, worker := range s.workers {
		worker.Kill()
	}
	s.Sim.Call(http.MethodPut, "/state", map[string]any{"id": s.cluster, "provisioningState": "Succeeded"}, nil)
	s.workers = []*harness.Worker{s.StartWorker(harness.WorkerOptions{})}
	waker, wakesAfter := "", 0
	for _, id := range s.databases {
		// One try may have come before the state changed.
		if after := s.UntilPhase(90*time.Second, id, workflows.PhaseReady); after.Pass > tries[id]+2 {
			s.T.Errorf("%s was Ready after %d more passes, want Ready by the next try or a wake", id, after.Pass-tries[id])
		}
		if s.wakesOthers(id) {
			waker = id
		}
		wakesAfter += s.wakes(id)
	}
	if waker == "" || wakesAfter == wakesBefore {
		s.T.Errorf("%d wakes arrived, sent by %q; want wakes sent by a database", wakesAfter-wakesBefore, waker)
	} else {
		s.Record(waker, "owner-freed")
	}
	if now := s.lastPass(s.cluster); now != passes {
		s.T.Errorf("the cluster had %d more passes; want its databases to continue without it", now-passes)
	}
}

// wakesOthers reports whether a database woke the other databases before its own PUT.
func (s *waiters) wakesOthers(id string) bool {
	s.T.Helper()
	for _, event := range s.History(id).GetEvents() {
		switch event.GetActivityTaskScheduledEventAttributes().GetActivityType().GetName() {
		case "WakeDependents":
			return true
		case "PutResource":
			return false
		}
	}
	return false
}

func (s *waiters) lastPass(id string) int64 {
	s.T.Helper()
	// A query may first go to a worker that was killed.
	return s.UntilStatus(30*time.Second, id, "responds to a query", func(workflows.Status) bool { return true }).Pass
}

// visibilityKept checks that the workers stayed within the namespace's limit of list
// requests, and that Temporal refused no request for a limit.
func visibilityKept(w *harness.World, workers []*harness.Worker) {
	w.T.Helper()
	for _, worker := range workers {
		if !worker.Running() {
			continue
		}
		code, metrics := worker.Get("/metrics")
		if code != http.StatusOK {
			w.T.Fatalf("/metrics returns %d", code)
		}
		for line := range strings.Lines(grep(metrics, "request_resource_exhausted")) {
			// Of requests and long polls. A busy workflow is no limit: a slow machine holds its lock
			// for long.
			if strings.TrimSpace(line) != "" && !strings.HasPrefix(line, "#") && !strings.Contains(line, `cause="BusyWorkflow"`) {
				w.T.Errorf("Temporal refused requests for a limit:\n%s", line)
			}
		}
		if sum(w, metrics, `(?m)^temporal_request(?:_total)?\{.*operation="ListWorkflowExecutions".*\} ([0-9.e+]+)$`) == 0 {
			w.T.Errorf("the worker counts no list request:\n%s", grep(metrics, "temporal_request"))
		}
	}
}

// sum adds the numbers that a pattern captures in metrics.
func sum(w *harness.World, metrics, pattern string) float64 {
	w.T.Helper()
	total := 0.0
	for _, match := range regexp.MustCompile(pattern).FindAllStringSubmatch(metrics, -1) {
		value, err := strconv.ParseFloat(match[1], 64)
		if err != nil {
			w.T.Fatal(err)
		}
		total += value
	}
	return total
}
