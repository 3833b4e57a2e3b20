package e2e

import (
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.temporal.io/sdk/client"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/activities/feed"
	"github.com/armature-io/armature/armsim"
	"github.com/armature-io/armature/dev/internal/harness"
	"github.com/armature-io/armature/dev/internal/testworker/gate"
	"github.com/armature-io/armature/internal/audit"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/workflows"
)

// identityManifest is an identity of which Resource Graph reports every change.
func identityManifest(name, owner string) string {
	return fmt.Sprintf(`type: Microsoft.ManagedIdentity/userAssignedIdentities@2023-01-31
name: %s
owner: %s/resourceGroups/%s
body: {location: westus2, tags: {purpose: e2e}}
`, name, subscription, owner)
}

func identityID(name, owner string) string {
	return subscription + "/resourceGroups/" + owner + "/providers/Microsoft.ManagedIdentity/userAssignedIdentities/" + name
}

// feedOptions reports changes after a second or two of real time.
func feedOptions() harness.Options {
	return harness.Options{Simulator: armsim.Options{TimeScale: 1, Changes: armsim.ChangeReports{
		Graph: armsim.Reporting{MinDelay: time.Second, MaxDelay: 2 * time.Second}, Events: armsim.Reporting{MinDelay: 100 * time.Millisecond, MaxDelay: time.Second},
	}}}
}

// feedWorker follows a source with short times.
func feedWorker(w *harness.World, source string, options harness.WorkerOptions) *harness.Worker {
	options.Env = append(options.Env, "ARMATURE_FEED_SOURCE="+source, "ARMATURE_FEED_INTERVAL=1s", "ARMATURE_REREAD_WINDOW=5s")
	if source == "queue" {
		w.Sim.Call(http.MethodPost, "/queues", map[string]any{"account": "account", "queue": "changes"}, nil)
		options.Env = append(options.Env, "ARMATURE_FEED_QUEUE="+w.Sim.URL()+"/_queue/account/changes")
	}
	return w.StartWorker(options)
}

// patchAs changes a resource as another user does.
func patchAs(w *harness.World, by armsim.Author, id string, patch map[string]any) {
	w.T.Helper()
	w.Sim.Call(http.MethodPatch, "/resources", map[string]any{"id": id, "patch": patch, "by": by}, nil)
}

// TestFeed changes a resource behind the back of its workflow, which would read it after an hour:
// both sources wake it, its drift names the author, and own writes cause no loop.
func TestFeed(t *testing.T) {
	t.Parallel()
	alice := armsim.Author{Name: "alice@contoso.com", Type: "User", Client: "Azure Portal"}
	for _, source := range []string{"resource-graph", "queue"} {
		t.Run(source, func(t *testing.T) {
			t.Parallel()
			w := harness.New(t, binaries, feedOptions())
			trail := t.TempDir()
			feedWorker(w, source, harness.WorkerOptions{Env: []string{"ARMATURE_AUDIT_FILE=" + filepath.Join(trail, "audit-feed.jsonl")}})
			s := scenarios{w}
			s.putGroup("feed")
			w.Write("id.yaml", identityManifest("one", "feed"))
			w.MustCLI("apply", "-f", "id.yaml", "--wait", "--timeout", "60s")
			id := identityID("one", "feed")
			untilReadAgain(w, id)
			puts := w.Sim.Count(http.MethodPut, id)
			patchAs(w, alice, id, map[string]any{"tags": map[string]any{"purpose": "mine"}})
			begin := time.Now()
			w.Until(time.Minute, "the change is corrected", func() (bool, string) {
				status, err := w.Status(id)
				return w.Sim.Count(http.MethodPut, id) > puts && status.Condition.Ready, fmt.Sprintf("%+v %v", status.Decisions, err)
			})
			t.Logf("corrected %s after the change", time.Since(begin).Round(time.Millisecond))
			text := w.MustCLI("describe", id).Out
			if !strings.Contains(text, "changed by alice@contoso.com with Azure Portal at ") {
				t.Errorf("describe names no author:\n%s", text)
			}
			if history := w.MustCLI("history", id).Out; !strings.Contains(history, "alice@contoso.com") {
				t.Errorf("history names no author:\n%s", history)
			}
			if doctor := w.MustCLI("doctor").Out; !strings.Contains(doctor, "feed of credential default") {
				t.Errorf("doctor names no feed:\n%s", doctor)
			}
			if writes := eventsOf(t, trail)[audit.EventWrite]; len(writes) == 0 || !strings.Contains(writes[len(writes)-1].Message, "changed by alice@contoso.com with Azure Portal at ") {
				t.Errorf("the audit trail names no author: %+v", writes)
			}
			// The correction is reported too; it is read once more, and then nothing happens.
			reads := w.Sim.Count(http.MethodGet, id)
			w.Until(time.Minute, "the own correction was read again", func() (bool, string) {
				n := w.Sim.Count(http.MethodGet, id)
				return n > reads, fmt.Sprint(n, " reads")
			})
			if n := w.Sim.Count(http.MethodPut, id); n != puts+1 {
				t.Errorf("%d PUTs, want one correction", n-puts)
			}
		})
	}
}

// TestFeedObserves reports the author of drift that a policy only shows.
func TestFeedObserves(t *testing.T) {
	t.Parallel()
	w := harness.New(t, binaries, feedOptions())
	feedWorker(w, "resource-graph", harness.WorkerOptions{})
	s := scenarios{w}
	s.putGroup("feed")
	id := identityID("seen", "feed")
	w.Write("id.yaml", identityManifest("seen", "feed"))
	w.MustCLI("apply", "-f", "id.yaml", "--wait", "--timeout", "60s")
	w.Write("id.yaml", identityManifest("seen", "feed")+"reconcile: {policy: observe}\n")
	w.MustCLI("apply", "-f", "id.yaml", "--wait", "--timeout", "60s")
	patchAs(w, armsim.Author{Name: "bob@contoso.com", Type: "User", Client: "Azure CLI"}, id, map[string]any{"tags": map[string]any{"purpose": "other"}})
	// The read of its own creation may see the drift before the feed reports who made it.
	w.UntilStatus(time.Minute, id, "reports drift and its author", func(status workflows.Status) bool {
		return status.Condition.Reason == resource.ReasonDriftDetected && strings.Contains(status.Condition.Message, "changed by bob@contoso.com with Azure CLI at ")
	})
	for _, command := range [][]string{{"why", id}, {"drift", id}, {"observed", id}} {
		if text := w.CLI(command...).Out; !strings.Contains(text, "bob@contoso.com") {
			t.Errorf("%s names no author:\n%s", command[0], text)
		}
	}
	if list := w.MustCLI("get").Out; !strings.Contains(list, "Drift") || strings.Contains(list, "bob@contoso.com") {
		t.Errorf("the list, which reads memos, names the author or no drift:\n%s", list)
	}
}

// TestFeedTroubles breaks a feed: doctor says what is wrong in words, and a change is found by the
// interval while the feed does not follow.
func TestFeedTroubles(t *testing.T) {
	t.Parallel()
	binary := buildTestWorker(t)
	const fast = gate.FreezeVariable + "=1s"
	t.Run("without rights", func(t *testing.T) {
		t.Parallel()
		w := harness.New(t, binaries, feedOptions())
		fault := armsim.Fault{ID: "graph", Path: "/providers/Microsoft.ResourceGraph*", Status: http.StatusForbidden, Code: "AuthorizationFailed"}
		w.Sim.Call(http.MethodPost, "/faults", fault, nil)
		worker := feedWorker(w, "resource-graph", harness.WorkerOptions{Binary: binary, Env: []string{fast}})
		untilDoctor(w, worker, 1, "resource-graph refuses the credential: ")
		s := scenarios{w}
		s.putGroup("feed")
		id := identityID("one", "feed")
		w.Write("id.yaml", identityManifest("one", "feed")+"reconcile: {interval: 1m}\n")
		w.MustCLI("apply", "-f", "id.yaml", "--wait", "--timeout", "60s")
		patchAs(w, armsim.Author{Name: "alice@contoso.com"}, id, map[string]any{"tags": map[string]any{"purpose": "mine"}})
		w.Until(2*time.Minute, "the interval finds the change", func() (bool, string) {
			return w.Sim.Count(http.MethodPut, id) == 2, fmt.Sprint(w.Sim.Count(http.MethodPut, id), " PUTs")
		})
		w.Sim.Call(http.MethodDelete, "/faults", nil, nil)
		untilDoctor(w, worker, 0, "resource-graph: all changes until ")
	})
	t.Run("throttled", func(t *testing.T) {
		t.Parallel()
		w, id, reads := followed(t, binary, 20*time.Minute)
		fault := armsim.Fault{Path: "/providers/Microsoft.ResourceGraph*", Status: http.StatusTooManyRequests, Code: "RateLimiting", Headers: map[string]string{"Retry-After": "1"}}
		w.Sim.Call(http.MethodPost, "/faults", fault, nil)
		worker := feedWorker(w, "resource-graph", harness.WorkerOptions{Binary: binary, Env: []string{fast}})
		untilDoctor(w, worker, 1, "behind: query Resource Graph: 429")
		if text := w.CLI("doctor").Out; !strings.Contains(text, "RateLimiting") {
			t.Errorf("doctor does not say why:\n%s", text)
		}
		untilShortened(w, id, reads)
		w.Sim.Call(http.MethodDelete, "/faults", nil, nil)
		untilDoctor(w, worker, 0, "resource-graph: all changes until ")
	})
	t.Run("behind its retention", func(t *testing.T) {
		t.Parallel()
		w, id, reads := followed(t, binary, 15*24*time.Hour)
		worker := feedWorker(w, "resource-graph", harness.WorkerOptions{Binary: binary, Env: []string{fast}})
		untilDoctor(w, worker, 0, "1 times the source no longer had all changes, and the waits of a day were shortened")
		untilShortened(w, id, reads)
	})
	t.Run("poisoned messages", func(t *testing.T) {
		t.Parallel()
		w := harness.New(t, binaries, feedOptions())
		worker := feedWorker(w, "queue", harness.WorkerOptions{Binary: binary, Env: []string{fast}})
		for _, kind := range []string{"text", "json", "shape", "type", "huge"} {
			w.Sim.Call(http.MethodPost, "/queues/messages", armsim.Poison{Account: "account", Queue: "changes", Kind: kind}, nil)
		}
		untilDoctor(w, worker, 0, "messages could not be read and were dropped")
		s := scenarios{w}
		s.putGroup("feed")
		id := identityID("one", "feed")
		w.Write("id.yaml", identityManifest("one", "feed"))
		w.MustCLI("apply", "-f", "id.yaml", "--wait", "--timeout", "60s")
		patchAs(w, armsim.Author{Name: "alice@contoso.com"}, id, map[string]any{"tags": map[string]any{"purpose": "mine"}})
		w.Until(2*time.Minute, "the queue wakes the resource all the same", func() (bool, string) {
			return w.Sim.Count(http.MethodPut, id) == 2, fmt.Sprint(w.Sim.Count(http.MethodPut, id), " PUTs\n", worker.Log())
		})
	})
}

// followed returns a resource whose next routine read is a day away because a feed follows, with
// the number of its reads. No worker runs any more, and the progress of the feed is as if the last
// one had ended a time ago.
func followed(t *testing.T, binary string, ago time.Duration) (w *harness.World, id string, reads int) {
	t.Helper()
	w = harness.New(t, binaries, feedOptions())
	worker := feedWorker(w, "resource-graph", harness.WorkerOptions{Binary: binary, Env: []string{gate.FreezeVariable + "=1s"}})
	untilDoctor(w, worker, 0, "resource-graph: all changes until ")
	s := scenarios{w}
	s.putGroup("feed")
	id = identityID("one", "feed")
	w.Write("id.yaml", identityManifest("one", "feed"))
	w.MustCLI("apply", "-f", "id.yaml", "--wait", "--timeout", "60s")
	untilReadAgain(w, id)
	w.UntilStatus(time.Minute, id, "waits for a day", func(status workflows.Status) bool {
		return status.Phase == workflows.PhaseReady && time.Until(status.NextTry) > 20*time.Hour
	})
	worker.Stop()
	changes := workflows.FollowChangesWorkflowID(workflows.TaskQueue, "default")
	if err := w.Client.TerminateWorkflow(t.Context(), changes, "", "the end of the first worker"); err != nil {
		t.Fatal(err)
	}
	through := time.Now().Add(-ago)
	in := activities.FollowChangesInput{
		Credential: "default", Progress: feed.Progress{Through: through},
		State: activities.FeedState{Source: "resource-graph", Through: through, Following: true},
	}
	if _, err := w.Client.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{ID: changes, TaskQueue: workflows.TaskQueue}, workflows.FollowChangesWorkflow, in); err != nil {
		t.Fatal(err)
	}
	return w, id, w.Sim.Count(http.MethodGet, id)
}

// untilShortened waits until a resource that waited for a day is read within the interval of its
// manifest. It is not read at once, because all resources of a feed have this at the same time.
func untilShortened(w *harness.World, id string, reads int) {
	w.T.Helper()
	w.UntilStatus(time.Minute, id, "waits for its interval", func(status workflows.Status) bool {
		return !status.NextTry.IsZero() && time.Until(status.NextTry) < 2*time.Hour
	})
	if n := w.Sim.Count(http.MethodGet, id); n != reads {
		w.T.Errorf("%d reads, want none yet", n-reads)
	}
}

// untilReadAgain waits for the second pass, which reads the own creation once more.
func untilReadAgain(w *harness.World, id string) {
	w.T.Helper()
	w.UntilStatus(time.Minute, id, "read its own creation again", func(status workflows.Status) bool {
		return status.Pass == 2 && status.Phase == workflows.PhaseReady
	})
}

// untilDoctor waits until doctor, with an exit code, says a text about a feed.
func untilDoctor(w *harness.World, worker *harness.Worker, code int, text string) {
	w.T.Helper()
	w.Until(90*time.Second, "doctor says "+text, func() (bool, string) {
		result := w.CLI("doctor")
		return result.Code == code && strings.Contains(result.Out, text), result.Out + worker.Log()
	})
}
