package e2e

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/armature-io/armature/armsim"
	"github.com/armature-io/armature/dev/internal/harness"
)

// TestRolloutStranded replaces the workers of a version at once, without a rollout: status,
// doctor and the new worker's log name what is stranded, and rescue moves it.
func TestRolloutStranded(t *testing.T) {
	t.Parallel()
	w := harness.New(t, binaries, harness.Options{})
	r := newRollout(t, w, 4)
	one := r.worker("one")
	r.apply()
	// A step of one resource runs when its worker ends.
	w.Sim.Call(http.MethodPost, "/faults", armsim.Fault{ID: "hang", Method: http.MethodGet, Path: r.ids[1], Gate: true}, nil)
	w.MustCLI("reconcile", r.ids[1])
	w.Until(60*time.Second, "the step waits for Azure", func() (bool, string) {
		var faults []armsim.Fault
		w.Sim.Call(http.MethodGet, "/faults", nil, &faults)
		return len(faults) == 1 && faults[0].Waiting > 0, fmt.Sprintf("%+v", faults)
	})
	one.Kill()
	w.Sim.Call(http.MethodDelete, "/faults/hang", nil, nil)
	two := r.worker("two")
	if !strings.Contains(two.Log(), "another version is current") {
		t.Errorf("the log of the second version lacks that it gets no work:\n%s", two.Log())
	}
	// A message that waits for the lost version, and one for a version that never served.
	w.CLI("reconcile", r.ids[0], "--worker-timeout", "1s")
	var s rolloutStatus
	// A worker counts as live for two minutes after its last poll.
	w.Until(240*time.Second, "the resources are stranded", func() (bool, string) {
		s = r.status()
		return s.State == "broken", fmt.Sprintf("%+v", s)
	})
	problems := fmt.Sprint(s.Problems)
	for _, want := range []string{"4 resources are stranded on version one, which no worker serves since", "rollout rescue one", "the current version one has no worker", "rollout promote two"} {
		if !strings.Contains(problems, want) {
			t.Errorf("the problems lack %q: %s", want, problems)
		}
	}
	if result := w.CLI("doctor"); result.Code != 1 || !strings.Contains(result.Out, "4 resources are stranded on version one") {
		t.Errorf("doctor does not find what is stranded: %s", result)
	}
	if result := w.CLI("rollout", "promote", "one"); result.Code != 0 || !strings.Contains(result.Out, "current already") {
		t.Errorf("promote of the current version: %s", result)
	}
	if result := w.CLI("rollout", "rescue", "one"); result.Code != 1 || !strings.Contains(result.Err, "it is the current version") {
		t.Errorf("rescue to the version itself: %s", result)
	}
	w.MustCLI("rollout", "promote", "tw") // the beginning of a build ID is enough
	if s = r.status(); s.State != "broken" || len(s.Behind) != 4 {
		t.Errorf("want four resources behind, stranded: %+v", s)
	}
	behind := slices.ContainsFunc(s.Behind, func(b struct{ Name, BuildID string }) bool { return b.Name == "r000" && b.BuildID == "one" })
	if !behind {
		t.Errorf("r000 is not among what is behind: %+v", s.Behind)
	}
	w.MustCLI("rollout", "rescue", "one")
	r.until("what was stranded moved", "complete", map[string]int{"two": 4})
	r.pass(1)
	if result := w.CLI("rollout", "rescue", "two"); result.Code != 1 {
		t.Errorf("rescue refuses nothing of a version with workers: %s", result)
	}
	if diff := cmp.Diff(map[string]int{"two": 4}, r.status().on()); diff != "" {
		t.Errorf("after the rescue (-want +got):\n%s", diff)
	}
}

// TestRolloutFromUnversioned gives workers a version while resources run on workers without
// one: they move with their next task.
func TestRolloutFromUnversioned(t *testing.T) {
	t.Parallel()
	w := harness.New(t, binaries, harness.Options{})
	r := newRollout(t, w, 4)
	before := w.StartWorker(harness.WorkerOptions{})
	r.apply()
	if result := w.MustCLI("rollout", "status"); !strings.Contains(result.Out, "have no versions") {
		t.Errorf("workers without versions: %s", result)
	}
	r.worker("one")
	before.Stop()
	r.pass(1)
	s := r.until("all run on the version", "complete", map[string]int{"one": 4})
	if s.Current != "one" {
		t.Errorf("the first version is not current: %+v", s)
	}
}
