package e2e

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/armsim"
	"github.com/armature-io/armature/dev/internal/harness"
	"github.com/armature-io/armature/workflows"
)

const (
	// upgradeVariable names the commit of the release to upgrade from; by default the last tag.
	upgradeVariable = "UPGRADE_FROM"
	// waveSize is the number of resources of one wave; the test has two.
	waveSize = 50
)

// wavePhases are the phases of a wave's resources, and what their names begin with.
var wavePhases = map[string]workflows.Phase{
	"ready": workflows.PhaseReady, "paused": workflows.PhasePaused, "blocked": workflows.PhaseBlocked, "failed": workflows.PhaseFailed,
	"notready": workflows.PhaseNotReady, "operating": workflows.PhaseOperating, "deleting": workflows.PhaseDeleting,
}

// upgradeFrom returns the commit of the release, and skips the test without one.
func upgradeFrom(t *testing.T) string {
	t.Helper()
	if commit := os.Getenv(upgradeVariable); commit != "" {
		return commit
	}
	tag, err := exec.CommandContext(t.Context(), "git", "describe", "--tags", "--abbrev=0", "--match", "v*").Output()
	if err != nil {
		t.Skip("there is no release yet, or no tag in this clone: make upgrade UPGRADE_FROM=COMMIT runs it")
	}
	return strings.TrimSpace(string(tag))
}

// TestUpgradeFromRelease replaces the worker of a release by this one while 50 resources are in
// all phases, brings them to their ends, starts 50 more, and goes back while these are in all
// phases: nothing fails, and no PUT is sent that would not have been sent.
func TestUpgradeFromRelease(t *testing.T) {
	t.Parallel()
	commit := upgradeFrom(t)
	release, err := harness.BuildCommit(t.Context(), commit, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	this := binaries
	w := harness.New(t, release, harness.Options{})
	r := &rollout{World: w}
	scenarios{w}.putGroup("upgrade")
	w.Sim.Call(http.MethodPost, "/operations", armsim.OperationRule{Spec: armsim.OperationSpec{RetryAfter: []float64{60}}}, nil)

	r.worker("release")
	first := r.wave("first")
	w.Binaries = this
	r.worker("this")
	w.MustCLI("rollout", "promote", "this")
	r.untilMoved(first, "this")
	r.finish(first)
	r.until("the release was replaced", "complete", map[string]int{"this": len(r.ids)})

	second := r.wave("second")
	w.MustCLI("rollout", "back")
	r.untilMoved(second, "release")
	r.finish(second)
	r.until("the release is back", "complete", map[string]int{"release": len(r.ids)})
	r.pass(3)
	upgrade{scenarios{w}}.wantNoFailures("after going back", r.ids...)
	t.Logf("%d resources moved from %s to this version and back", 2*waveSize, commit)
}

// wave is a set of resources of which some are in each phase.
type wave struct {
	name string
	// ids are the resources by the phase that they wait in.
	ids map[workflows.Phase][]string
}

// wave applies manifests and waits until resources are in all phases.
func (r *rollout) wave(name string) wave {
	r.T.Helper()
	set := wave{name: name, ids: map[workflows.Phase][]string{}}
	kinds := []string{"ready", "paused", "blocked", "failed", "notready", "operating", "deleting"}
	for _, rule := range []struct{ kind, on string }{{"operating", "create"}, {"deleting", "delete"}} {
		r.Sim.Call(http.MethodPost, "/operations", armsim.OperationRule{
			ID: "*/" + name + "-" + rule.kind + "*", On: rule.on, Spec: armsim.OperationSpec{Shape: armsim.ShapeAsync, RetryAfter: []float64{60}},
		}, nil)
		r.Sim.Call(http.MethodPost, "/holds", armsim.Hold{ID: "*/" + name + "-" + rule.kind + "*"}, nil)
	}
	r.Sim.Call(http.MethodPost, "/faults", armsim.Fault{
		ID: name + "-failed", Method: http.MethodPut, Path: "*/" + name + "-failed*", Status: http.StatusBadRequest, Code: "InvalidRequestContent", Message: "The content is invalid.",
	}, nil)
	r.Sim.Call(http.MethodPost, "/faults", armsim.Fault{
		ID: name + "-notready", Method: http.MethodPut, Path: "*/" + name + "-notready*", Status: http.StatusConflict, Code: "AllocationFailed", Message: "There is no capacity.",
	}, nil)
	folder := filepath.Join(r.Folder, name)
	for i := range waveSize {
		kind := kinds[i%len(kinds)]
		one := thing{group: "upgrade", name: fmt.Sprintf("%s-%s-%02d", name, kind, i), interval: "1h"}
		if kind == "blocked" {
			one.group = name + "-absent"
		}
		r.Write(filepath.Join(name, one.name+".yaml"), one.manifest("small")+fmt.Sprintf("labels: {stack: %s-%s}\n", name, kind))
		set.ids[wavePhases[kind]] = append(set.ids[wavePhases[kind]], one.id())
		r.ids = append(r.ids, one.id())
	}
	r.MustCLI("apply", "-f", folder)
	for _, kind := range []string{"ready", "paused", "deleting"} {
		r.untilAll(set.ids[wavePhases[kind]], workflows.PhaseReady)
	}
	r.MustCLI("pause", "-l", "stack="+name+"-paused")
	r.MustCLI("delete", "-l", "stack="+name+"-deleting", "--yes")
	for phase, ids := range set.ids {
		r.untilAll(ids, phase)
	}
	return set
}

// untilAll waits until all resources are in a phase.
func (r *rollout) untilAll(ids []string, phase workflows.Phase) {
	r.T.Helper()
	for _, id := range ids {
		r.UntilPhase(120*time.Second, id, phase)
	}
}

// untilMoved waits until the resources of a wave that await no operation run on a version, still in
// their phases.
func (r *rollout) untilMoved(set wave, build string) {
	r.T.Helper()
	for phase, ids := range set.ids {
		if phase == workflows.PhaseOperating || phase == workflows.PhaseDeleting {
			continue
		}
		for _, id := range ids {
			r.Until(120*time.Second, id+", which is "+string(phase)+", runs on "+build, func() (bool, string) {
				now := runsOn(r.World, id)
				return now == build, now
			})
		}
		r.untilAll(ids, phase)
	}
}

// finish lets all resources of a wave end: those that are deleted are gone, all others are Ready
// with one accepted PUT.
func (r *rollout) finish(set wave) {
	r.T.Helper()
	r.Sim.Call(http.MethodDelete, "/holds", nil, nil)
	r.Sim.Call(http.MethodDelete, "/faults/"+set.name+"-failed", nil, nil)
	r.Sim.Call(http.MethodDelete, "/faults/"+set.name+"-notready", nil, nil)
	scenarios{r.World}.putGroup(set.name + "-absent")
	r.MustCLI("resume", "-l", "stack="+set.name+"-paused")
	for _, kind := range []string{"blocked", "failed", "notready"} {
		r.MustCLI("reconcile", "-l", "stack="+set.name+"-"+kind, "--yes", "--wait", "--timeout", "180s")
	}
	for phase, ids := range set.ids {
		if phase == workflows.PhaseDeleting {
			continue
		}
		r.untilAll(ids, workflows.PhaseReady)
		if phase == workflows.PhaseFailed || phase == workflows.PhaseNotReady {
			continue // the simulator counts PUTs that it rejected
		}
		for _, id := range ids {
			if puts := r.Sim.Count(http.MethodPut, id); puts != 1 {
				r.T.Errorf("%s, which was %s, got %d PUTs, want one", id, phase, puts)
			}
		}
	}
	r.MustCLI(append([]string{"wait", "--for", "deleted", "--timeout", "180s"}, set.ids[workflows.PhaseDeleting]...)...)
	r.ids = slices.DeleteFunc(r.ids, func(id string) bool { return slices.Contains(set.ids[workflows.PhaseDeleting], id) })
}
