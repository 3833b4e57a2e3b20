package e2e

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/armsim"
	"github.com/armature-io/armature/dev/internal/harness"
	"github.com/armature-io/armature/dev/internal/histories"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/workflows"
)

const subscription = "/subscriptions/11111111-2222-3333-4444-555555555555"

// thing is a resource of a type that the simulator has no table for.
type thing struct {
	group, name, interval string
}

func (r thing) id() string {
	return subscription + "/resourceGroups/" + r.group + "/providers/Microsoft.Example/things/" + r.name
}

func (r thing) manifest(size string) string {
	return fmt.Sprintf(`type: Microsoft.Example/things@2024-01-01
name: %s
owner: %s/resourceGroups/%s
body: {location: westus2, tags: {purpose: e2e}, properties: {size: %s}}
reconcile: {interval: %s}
`, r.name, subscription, r.group, size, r.interval)
}

// scenarios runs against one world: each has a group and a thing of its own.
type scenarios struct {
	*harness.World
}

// TestRecordHistories plays every path of the workflow against the real server,
// and records its history where HISTORIES names a folder.
func TestRecordHistories(t *testing.T) {
	t.Parallel()
	w := harness.New(t, binaries, harness.Options{})
	w.StartWorker(harness.WorkerOptions{})
	s := scenarios{w}
	steady, slow := s.start(t, "steady", "1m"), s.start(t, "slow", "1m")
	s.Sim.Call(http.MethodPost, "/faults", armsim.Fault{Path: slow.id(), Method: http.MethodGet, DelayMs: 4000, Count: 1}, nil)
	for name, play := range map[string]func(*testing.T, scenarios, thing){
		"create": playCreate, "drift": playDrift, "owner-blocked": playOwnerBlocked, "pre-check-blocked": playPreCheckBlocked,
		"post-check-failure": playPostCheckFailure, "long-operation": playLongOperation, "throttled": playThrottled,
		"failed": playFailed, "fatal": playFatal, "paused": playPaused, "deleted": playDeleted,
		"interrupted-read": playInterruptedRead,
	} {
		t.Run(name, func(t *testing.T) {
			r := thing{group: name, name: name, interval: "1h"}
			if name != "owner-blocked" {
				s.putGroup(name)
			}
			play(t, scenarios{s.On(t)}, r)
			s.On(t).Record(r.id(), name)
		})
	}
	t.Run("in-sync", func(t *testing.T) {
		s := scenarios{s.On(t)}
		s.UntilStatus(2*time.Minute, steady.id(), "had a pass by its own timer", func(status workflows.Status) bool { return status.Pass >= 2 })
		s.Record(steady.id(), "in-sync")
	})
	t.Run("look-deferred", func(t *testing.T) {
		s := scenarios{s.On(t)}
		s.UntilStatus(2*time.Minute, slow.id(), "had a pass by its own timer", func(status workflows.Status) bool { return status.Pass >= 2 })
		if lines := s.HistoryLines(slow.id()); strings.Count(lines, "GetResource") < 3 {
			t.Errorf("want the look of the creation, one that Azure did not answer in time, and the read after it:\n%s", lines)
		}
		s.Record(slow.id(), "look-deferred")
	})
}

// putGroup makes the group without a workflow.
func (s scenarios) putGroup(name string) {
	s.Sim.Call(http.MethodPut, "/resources", map[string]any{
		"id": subscription + "/resourceGroups/" + name, "body": map[string]any{"location": "westus2"},
	}, nil)
}

// apply writes the manifest and applies it.
func (s scenarios) apply(r thing, size string) {
	s.T.Helper()
	s.MustCLI("apply", "-f", s.Write(r.name+".yaml", r.manifest(size)))
}

// start applies a thing in a group of its own and waits until it is Ready.
func (s scenarios) start(t *testing.T, name, interval string) thing {
	t.Helper()
	r := thing{group: name, name: name, interval: interval}
	s.putGroup(name)
	s.apply(r, "small")
	s.UntilPhase(20*time.Second, r.id(), workflows.PhaseReady)
	return r
}

func playCreate(t *testing.T, s scenarios, r thing) {
	s.apply(r, "small")
	s.UntilPhase(20*time.Second, r.id(), workflows.PhaseReady)
	if puts := s.Sim.Count(http.MethodPut, r.id()); puts != 1 {
		t.Errorf("%d PUTs, want one:\n%s", puts, s.HistoryLines(r.id()))
	}
}

func playDrift(t *testing.T, s scenarios, r thing) {
	playCreate(t, s, r)
	s.Sim.Patch(r.id(), map[string]any{"properties": map[string]any{"size": "large"}})
	s.MustCLI("reconcile", r.id(), "--wait", "--timeout", "30s")
	if puts := s.Sim.Count(http.MethodPut, r.id()); puts != 2 {
		t.Errorf("%d PUTs, want the second to put the property back", puts)
	}
	for _, want := range []string{"properties.size", "large", "small"} {
		if lines := s.HistoryLines(r.id()); !strings.Contains(lines, want) {
			t.Errorf("the history does not name %q:\n%s", want, lines)
		}
	}
	status, err := s.Status(r.id())
	if err != nil || len(status.Differences) != 1 || status.Differences[0].Path != "properties.size" {
		t.Errorf("last differences %+v, %v; want properties.size", status.Differences, err)
	}
}

func playOwnerBlocked(t *testing.T, s scenarios, r thing) {
	s.apply(r, "small")
	status := s.UntilStatus(30*time.Second, r.id(), "was blocked three times", func(status workflows.Status) bool { return status.Pass >= 3 })
	if status.Condition.Reason != resource.ReasonWaitingForOwner || status.Phase != workflows.PhaseBlocked {
		t.Errorf("condition %+v in phase %s, want WaitingForOwner and Blocked", status.Condition, status.Phase)
	}
	if requests := s.Sim.Counters().ByID[strings.ToLower(r.id())]; len(requests) != 0 {
		t.Errorf("the blocked resource got requests: %v", requests)
	}
}

func playPreCheckBlocked(t *testing.T, s scenarios, r thing) {
	playCreate(t, s, r)
	s.Sim.Call(http.MethodPut, "/state", map[string]any{"id": r.id(), "provisioningState": "Updating"}, nil)
	s.MustCLI("reconcile", r.id())
	s.UntilStatus(20*time.Second, r.id(), "is blocked by its operation", func(status workflows.Status) bool {
		return status.Condition.Reason == resource.ReasonOperationInProgress
	})
	s.Sim.Call(http.MethodPut, "/state", map[string]any{"id": r.id(), "provisioningState": "Succeeded"}, nil)
	s.UntilPhase(20*time.Second, r.id(), workflows.PhaseReady)
	if puts := s.Sim.Count(http.MethodPut, r.id()); puts != 1 {
		t.Errorf("%d PUTs, want none while the operation was in flight", puts)
	}
}

func playPostCheckFailure(t *testing.T, s scenarios, r thing) {
	body := fmt.Sprintf(`{"id":%q,"name":%q,"location":"westus2","tags":{"purpose":"e2e"},"properties":{"size":"small","provisioningState":"Updating"}}`, r.id(), r.name)
	s.Sim.Call(http.MethodPost, "/faults", armsim.Fault{
		ID: r.name, Method: http.MethodGet, Path: r.id(), After: 1, Count: 3, Status: http.StatusOK, Body: []byte(body),
	}, nil)
	s.apply(r, "small")
	s.UntilStatus(20*time.Second, r.id(), "is not ready", func(status workflows.Status) bool {
		return status.Condition.Reason == resource.ReasonPostReconciliationFailure
	})
	s.UntilPhase(20*time.Second, r.id(), workflows.PhaseReady)
	if puts := s.Sim.Count(http.MethodPut, r.id()); puts != 1 {
		t.Errorf("%d PUTs, want one: a post-check never causes a second", puts)
	}
}

func playLongOperation(t *testing.T, s scenarios, r thing) {
	s.Sim.Call(http.MethodPost, "/operations", armsim.OperationRule{
		ID: r.id(), Spec: armsim.OperationSpec{Shape: armsim.ShapeAsync, Polls: 3, RetryAfter: []float64{60}},
	}, nil)
	s.apply(r, "small")
	s.UntilPhase(60*time.Second, r.id(), workflows.PhaseReady)
	s.UntilWoken(r.id()) // its record shows the wakes too
	if puts := s.Sim.Count(http.MethodPut, r.id()); puts != 1 {
		t.Errorf("%d PUTs, want one", puts)
	}
}

func playThrottled(t *testing.T, s scenarios, r thing) {
	s.Sim.Call(http.MethodPost, "/faults", armsim.Fault{
		ID: r.name, Method: http.MethodGet, Path: r.id(), Count: 2, Status: http.StatusTooManyRequests,
		Code: "SubscriptionRequestsThrottled", Message: "Number of requests exceeded the limit.", Headers: map[string]string{"Retry-After": "2"},
	}, nil)
	s.apply(r, "small")
	status := s.UntilStatus(20*time.Second, r.id(), "is throttled", func(status workflows.Status) bool { return status.Pass >= 1 })
	if status.Condition.Reason != "SubscriptionRequestsThrottled" || status.Phase != workflows.PhaseBlocked {
		t.Errorf("condition %+v in phase %s, want throttled and Blocked", status.Condition, status.Phase)
	}
	if wait := status.NextTry.Sub(status.Condition.LastTransitionTime); wait < 2*time.Second {
		t.Errorf("the next try comes after %s, want at least the 2 s that ARM asked for", wait)
	}
	s.UntilPhase(20*time.Second, r.id(), workflows.PhaseReady)
}

func playFailed(t *testing.T, s scenarios, r thing) {
	s.Sim.Call(http.MethodPost, "/operations", armsim.OperationRule{
		ID: r.id(), Count: 1,
		Spec: armsim.OperationSpec{
			Shape: armsim.ShapeAsync, Polls: 1, RetryAfter: []float64{60}, Outcome: "Failed", ErrorCode: "AllocationFailed", ErrorMessage: "There is no capacity.",
		},
	}, nil)
	s.apply(r, "small")
	status := s.UntilStatus(60*time.Second, r.id(), "failed", func(status workflows.Status) bool { return status.Pass >= 1 })
	if status.Condition.Reason != "AllocationFailed" || !strings.Contains(status.Condition.Message, "There is no capacity.") {
		t.Errorf("condition %+v, want ARM's code and message", status.Condition)
	}
	s.UntilPhase(60*time.Second, r.id(), workflows.PhaseReady)
}

func playFatal(t *testing.T, s scenarios, r thing) {
	s.Sim.Call(http.MethodPost, "/faults", armsim.Fault{
		ID: r.name, Method: http.MethodPut, Path: r.id(), Status: http.StatusBadRequest,
		Code: "InvalidRequestContent", Message: "The request content was invalid.",
	}, nil)
	s.apply(r, "small")
	status := s.UntilPhase(20*time.Second, r.id(), workflows.PhaseFailed)
	if wait := time.Until(status.NextTry); wait < 40*time.Minute || wait > time.Hour || status.Condition.Severity != resource.SeverityError {
		t.Errorf("next reading in %s, severity %s; want it within the interval, and Error", wait, status.Condition.Severity)
	}
	s.Sim.Call(http.MethodDelete, "/faults/"+r.name, nil, nil)
	s.MustCLI("reconcile", r.id(), "--wait", "--timeout", "30s")
}

func playPaused(t *testing.T, s scenarios, r thing) {
	playCreate(t, s, r)
	s.MustCLI("pause", r.id(), "--reason", "incident")
	s.UntilPhase(20*time.Second, r.id(), workflows.PhasePaused)
	gets := s.Sim.Count(http.MethodGet, r.id())
	s.MustCLI("reconcile", r.id())
	if now := s.Sim.Count(http.MethodGet, r.id()); now != gets {
		t.Errorf("%d GETs while paused", now-gets)
	}
	s.MustCLI("resume", r.id())
	s.UntilPhase(20*time.Second, r.id(), workflows.PhaseReady)
}

// playInterruptedRead pauses a resource while ARM does not respond its first two GETs, of the
// local activity and of the one that follows: the pause does not wait for the response.
func playInterruptedRead(t *testing.T, s scenarios, r thing) {
	s.Sim.Call(http.MethodPost, "/faults", armsim.Fault{ID: r.name, Method: http.MethodGet, Path: r.id(), Count: 2, Gate: true}, nil)
	s.apply(r, "small")
	s.Until(20*time.Second, "Azure has the GET", func() (bool, string) {
		var faults []armsim.Fault
		s.Sim.Call(http.MethodGet, "/faults", nil, &faults)
		waiting := slices.ContainsFunc(faults, func(f armsim.Fault) bool { return f.ID == r.name && f.Waiting > 0 })
		return waiting, fmt.Sprintf("%+v", faults)
	})
	s.MustCLI("pause", r.id(), "--reason", "incident")
	status := s.UntilPhase(10*time.Second, r.id(), workflows.PhasePaused)
	if status.Pass != 1 {
		t.Errorf("paused in pass %d, want the first one to have ended", status.Pass)
	}
	s.Sim.Call(http.MethodDelete, "/faults/"+r.name, nil, nil)
	s.MustCLI("resume", r.id())
	s.UntilPhase(20*time.Second, r.id(), workflows.PhaseReady)
	if puts := s.Sim.Count(http.MethodPut, r.id()); puts != 1 {
		t.Errorf("%d PUTs, want one", puts)
	}
}

func playDeleted(t *testing.T, s scenarios, r thing) {
	playCreate(t, s, r)
	s.MustCLI("delete", r.id(), "--yes", "--wait", "--timeout", "60s")
	if deletes := s.Sim.Count(http.MethodDelete, r.id()); deletes != 1 {
		t.Errorf("%d DELETEs, want one", deletes)
	}
}

// TestRecordContinueAsNew plays continue-as-new on a server that suggests it
// early: the next run resumes the wait and costs no request.
func TestRecordContinueAsNew(t *testing.T) {
	t.Parallel()
	w := harness.New(t, binaries, harness.Options{ContinueAsNewAfter: 60})
	w.StartWorker(harness.WorkerOptions{})
	s := scenarios{w}
	r := s.start(t, "continued", "1h")
	first := w.RunID(r.id())
	for range 20 {
		if w.RunID(r.id()) != first {
			break
		}
		w.MustCLI("reconcile", r.id(), "--wait", "--timeout", "30s")
	}
	w.Until(20*time.Second, "a second run", func() (bool, string) { return w.RunID(r.id()) != first, "still the first run" })
	w.RecordRun(r.id(), first, "continue-as-new")
	before, err := w.Status(r.id())
	if err != nil {
		t.Fatal(err)
	}
	gets := w.Sim.Count(http.MethodGet, r.id())
	if before.Phase != workflows.PhaseReady || before.Generation != 1 || before.NextTry.IsZero() {
		t.Errorf("the second run starts with %+v, want the state of the first", before)
	}
	w.MustCLI("pause", r.id())
	if now := w.Sim.Count(http.MethodGet, r.id()); now != gets {
		t.Errorf("the second run made %d GETs before its next try", now-gets)
	}
	w.MustCLI("resume", r.id())
	w.UntilStatus(20*time.Second, r.id(), "had a pass in the second run", func(status workflows.Status) bool {
		return status.Pass > before.Pass && status.Phase == workflows.PhaseReady
	})
	w.Record(r.id(), "continued")
}

// TestRecordMessageBeforeNewRun sends a message to a run that is to continue as new and
// still notifies its dependents: it is handled in that run.
func TestRecordMessageBeforeNewRun(t *testing.T) {
	t.Parallel()
	w := harness.New(t, binaries, harness.Options{ContinueAsNewAfter: 12})
	w.StartWorker(harness.WorkerOptions{})
	r := scenarios{w}.start(t, "message-before-new-run", "1h")
	first := w.RunID(r.id())
	// The second sweep of the notification comes after 5 s.
	w.Update([]string{w.WorkflowID(r.id())}, workflows.ReconcileUpdate, func(int) any { return workflows.ReconcileInput{By: "ada@host"} })
	w.Until(20*time.Second, "a second run", func() (bool, string) { return w.RunID(r.id()) != first, "still the first run" })
	w.RecordRun(r.id(), first, "message-before-new-run")
	history, err := histories.Fetch(t.Context(), w.Client, w.WorkflowID(r.id()), first)
	if err != nil {
		t.Fatal(err)
	}
	checks := 0
	for _, event := range history.GetEvents() {
		if histories.LocalActivity(event) == "PreCheck" {
			checks++
		}
	}
	if checks != 2 {
		t.Errorf("%d passes in the first run, want 2: the message waited for the next run", checks)
	}
}
