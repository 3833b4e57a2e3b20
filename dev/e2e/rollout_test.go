package e2e

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	farm "github.com/dgryski/go-farm"

	"github.com/armature-io/armature/dev/internal/harness"
)

const (
	// rolloutVariable is the number of resources of TestRollout, rolloutCopies its default.
	rolloutVariable, rolloutCopies = "ROLLOUT_RESOURCES", 24
	rolloutDeployment              = "armature-rollout"
)

// rolloutStatus is what the tests read of `armature rollout status -o json`.
type rolloutStatus struct {
	State       string
	Current     string
	Ramping     string
	RampPercent float64
	Resources   int
	Versions    []struct {
		BuildID, Status                   string
		Workers, Resources, Others, Ready int
	}
	Behind   []struct{ Name, BuildID string }
	Problems []struct{ Message, Advice string }
}

// on returns the number of resources by build ID, without the versions that have none.
func (s rolloutStatus) on() map[string]int {
	counts := map[string]int{}
	for _, v := range s.Versions {
		if v.Resources > 0 {
			counts[v.BuildID] = v.Resources
		}
	}
	return counts
}

// rollout is a world with resources and worker versions.
type rollout struct {
	*harness.World
	ids []string
	// next is the index of the resource that differs first in the next pass: one that always
	// did would count as contested.
	next int
}

// worker starts a worker of a version.
func (r rollout) worker(build string) *harness.Worker {
	r.T.Helper()
	return r.StartWorker(harness.WorkerOptions{Env: []string{"ARMATURE_WORKER_DEPLOYMENT=" + rolloutDeployment, "ARMATURE_WORKER_BUILD_ID=" + build}})
}

// status returns the status, and checks its exit code.
func (r rollout) status() rolloutStatus {
	r.T.Helper()
	result := r.CLI("rollout", "status", "-o", "json")
	var s rolloutStatus
	if err := json.Unmarshal([]byte(result.Out), &s); err != nil {
		r.T.Fatalf("%v: %s", err, result)
	}
	if want := map[string]int{"complete": 0, "moving": 2, "ramping": 2, "broken": 1}[s.State]; result.Code != want {
		r.T.Errorf("want exit code %d of a rollout that is %s: %s", want, s.State, result)
	}
	return s
}

// truth returns the number of resources by the build ID to which the server has pinned each.
func (r rollout) truth() map[string]int {
	r.T.Helper()
	counts := map[string]int{}
	for _, id := range r.ids {
		counts[runsOn(r.World, id)]++
	}
	return counts
}

// runsOn returns the build ID of the worker version of a workflow.
func runsOn(w *harness.World, id string) string {
	description, err := w.Client.DescribeWorkflowExecution(w.T.Context(), w.WorkflowID(id), "")
	if err != nil {
		return err.Error()
	}
	return description.GetWorkflowExecutionInfo().GetVersioningInfo().GetDeploymentVersion().GetBuildId()
}

// until waits until the runs are where they belong, and checks that status agrees once the
// index of the server has followed.
func (r rollout) until(what, state string, want map[string]int) rolloutStatus {
	r.T.Helper()
	r.Until(120*time.Second, what, func() (bool, string) {
		now := r.truth()
		return maps.Equal(now, want), fmt.Sprintf("%v, want %v", now, want)
	})
	var s rolloutStatus
	r.Until(60*time.Second, what+" in rollout status", func() (bool, string) {
		s = r.status()
		return s.State == state && maps.Equal(s.on(), want), fmt.Sprintf("%+v, want %s with %v", s, state, want)
	})
	if s.Resources != len(r.ids) || len(s.Problems) > 0 {
		r.T.Errorf("%s: %d of %d resources and the problems %v", what, s.Resources, len(r.ids), s.Problems)
	}
	return s
}

// share returns how many resources a ramp chooses: the server hashes workflow IDs.
func (r rollout) share(percent float64) int {
	n := 0
	for _, id := range r.ids {
		if 100*(float64(farm.Fingerprint32([]byte(r.WorkflowID(id))))/(math.MaxUint32+1)) <= percent {
			n++
		}
	}
	return n
}

// split returns what runs where while a share of the resources is ramped.
func (r rollout) split(from, to string, percent float64) map[string]int {
	counts := map[string]int{from: len(r.ids) - r.share(percent), to: r.share(percent)}
	maps.DeleteFunc(counts, func(_ string, n int) bool { return n == 0 })
	return counts
}

// pass has a pass of each resource, of which some differ in Azure: these get one PUT each,
// and no other gets any.
func (r *rollout) pass(drifted int) {
	r.T.Helper()
	r.Sim.Reset()
	puts := map[string]int{}
	for range drifted {
		id := r.ids[r.next%len(r.ids)]
		r.next++
		r.Sim.Patch(id, map[string]any{"properties": map[string]any{"size": "large"}})
		puts[id] = 1
	}
	r.MustCLI("reconcile", "--all", "--yes", "--wait", "--timeout", "180s")
	for _, id := range r.ids {
		if got := r.Sim.Count(http.MethodPut, id); got != puts[id] {
			r.T.Errorf("%s got %d PUTs in a pass, want %d", id, got, puts[id])
		}
	}
}

// TestRollout ramps a version under resources that are managed, takes it back, promotes it,
// returns, and promotes it again: no PUT is sent that would not have been sent, nothing is
// left on the old version, and rollout status is right each time.
func TestRollout(t *testing.T) {
	t.Parallel()
	count := rolloutCopies
	if value := os.Getenv(rolloutVariable); value != "" {
		var err error
		if count, err = strconv.Atoi(value); err != nil {
			t.Fatal(err)
		}
	}
	w := harness.New(t, binaries, harness.Options{})
	r := newRollout(t, w, count)
	one := r.worker("one")
	// A fresh installation needs no command.
	if s := r.status(); s.Current != "one" || s.State != "complete" {
		t.Fatalf("the first worker did not make its version current: %+v\n%s", s, one.Log())
	}
	r.apply()
	r.until("all begin on the first version", "complete", map[string]int{"one": count})
	r.worker("two")
	r.until("a version without routing gets nothing", "complete", map[string]int{"one": count})
	r.pass(3)

	for _, percent := range []float64{5, 50} {
		w.MustCLI("rollout", "ramp", "two", fmt.Sprint(percent))
		s := r.until(fmt.Sprintf("a ramp of %v %%", percent), "ramping", r.split("one", "two", percent))
		if s.Current != "one" || s.Ramping != "two" || s.RampPercent != percent {
			t.Errorf("want a ramp of %v %% from one to two: %+v", percent, s)
		}
		r.pass(3)
	}
	w.MustCLI("rollout", "back")
	r.until("the ramp was taken back", "complete", map[string]int{"one": count})
	r.pass(3)

	for _, build := range []string{"two", "one", "two"} {
		if build == "one" {
			w.MustCLI("rollout", "back")
		} else {
			w.MustCLI("rollout", "promote", build)
		}
		s := r.until(build+" is current", "complete", map[string]int{build: count})
		if s.Current != build || s.Ramping != "" || len(s.Behind) > 0 {
			t.Errorf("want everything on %s: %+v", build, s)
		}
		r.pass(3)
	}
	if result := w.MustCLI("rollout", "status", "--wait", "--timeout", "60s"); !strings.Contains(result.Out, fmt.Sprintf("complete, %d resources run on version two", count)) {
		t.Errorf("the status for people is wrong: %s", result)
	}
	if code := one.Stop(); code != 0 {
		t.Errorf("the first worker exits with %d", code)
	}
	r.pass(3)
	r.until("the first version has no worker any more", "complete", map[string]int{"two": count})
	for _, id := range r.ids {
		for _, event := range w.History(id).GetEvents() {
			if failure := event.GetWorkflowTaskFailedEventAttributes().GetFailure(); failure != nil && strings.Contains(failure.GetMessage(), "TMPRL1100") {
				t.Errorf("a task of %s failed: %s", id, failure.GetMessage())
			}
		}
	}
}

// newRollout returns a world with the manifests of resources.
func newRollout(t *testing.T, w *harness.World, count int) *rollout {
	t.Helper()
	r := &rollout{World: w}
	quickPolls(w)
	scenarios{w}.putGroup("rollout")
	if err := os.MkdirAll(filepath.Join(w.Folder, "rollout"), 0o755); err != nil {
		t.Fatal(err)
	}
	for i := range count {
		one := thing{group: "rollout", name: fmt.Sprintf("r%03d", i), interval: "1h"}
		w.Write(filepath.Join("rollout", one.name+".yaml"), one.manifest("small"))
		r.ids = append(r.ids, one.id())
	}
	return r
}

// apply applies the manifests and waits.
func (r rollout) apply() {
	r.T.Helper()
	r.MustCLI("apply", "-f", filepath.Join(r.Folder, "rollout"), "--wait", "--timeout", "300s")
}
