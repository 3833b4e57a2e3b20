package e2e

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/dev/internal/harness"
	"github.com/armature-io/armature/workflows"
)

// TestCauses checks that `armature why` shows why a resource waits in vain, and what
// to do.
func TestCauses(t *testing.T) {
	t.Parallel()
	w := harness.New(t, binaries, harness.Options{})
	w.StartWorker(harness.WorkerOptions{})
	s := scenarios{w}
	cases := map[string]func(*testing.T){}
	for name, c := range map[string]struct {
		// given creates the state of the resource that r waits for.
		given func(*testing.T, scenarios, thing)
		want  []string
	}{
		"why-cycle":   {causeCycle, []string{"a cycle", "waits for", "remove one of these references"}},
		"why-paused":  {causePaused, []string{"Paused", "armature resume"}},
		"why-failed":  {causeFailed, []string{"Failed", "InvalidRequestContent", "follow the message"}},
		"why-deleted": {causeDeleted, []string{"deleted", "apply it again"}},
		"why-never":   {func(*testing.T, scenarios, thing) {}, []string{"not managed", "never applied", "apply its manifest"}},
	} {
		s.putGroup(name)
		cases[name] = func(t *testing.T) { playCause(t, scenarios{s.On(t)}, name, c.given, c.want) }
	}
	cases["why-itself"] = func(t *testing.T) { playItself(t, scenarios{s.On(t)}) }
	sideBySide(t, len(cases), cases)
}

// needs is a thing that waits for another one.
func (s scenarios) needs(r thing, other string) {
	s.T.Helper()
	s.applyMore(r, "small", "dependsOn: ["+other+"@2024-01-01]")
}

func playCause(t *testing.T, s scenarios, name string, given func(*testing.T, scenarios, thing), want []string) {
	other := thing{group: name, name: name + "-other", interval: "1h"}
	given(t, s, other)
	r := thing{group: name, name: name, interval: "1h"}
	s.needs(r, other.id())
	s.UntilPhase(30*time.Second, r.id(), workflows.PhaseBlocked)
	answer := s.MustCLI("why", r.id())
	for _, part := range append(want, other.name) {
		if !strings.Contains(answer.Out, part) {
			t.Errorf("why does not show %q:\n%s", part, answer)
		}
	}
	if requests := s.Sim.Count(http.MethodPut, r.id()); requests != 0 {
		t.Errorf("%d PUTs of a waiting resource", requests)
	}
}

// causeCycle lets the other resource wait for this one, by its own manifest.
func causeCycle(_ *testing.T, s scenarios, other thing) {
	s.needs(other, strings.TrimSuffix(other.id(), "-other"))
	s.UntilPhase(30*time.Second, other.id(), workflows.PhaseBlocked)
}

func causePaused(_ *testing.T, s scenarios, other thing) {
	s.needs(other, other.id()+"-missing")
	s.UntilPhase(30*time.Second, other.id(), workflows.PhaseBlocked)
	s.MustCLI("pause", other.id(), "--reason", "incident")
	s.UntilPhase(30*time.Second, other.id(), workflows.PhasePaused)
}

func causeFailed(_ *testing.T, s scenarios, other thing) {
	s.refusePut(other)
	s.apply(other, "small")
	s.UntilPhase(30*time.Second, other.id(), workflows.PhaseFailed)
}

func causeDeleted(t *testing.T, s scenarios, other thing) {
	playCreate(t, s, other)
	s.deleteThing(other)
}

// playItself checks that a reference to itself is refused with an explanation.
func playItself(t *testing.T, s scenarios) {
	r := thing{group: "why-itself", name: "itself", interval: "1h"}
	text := strings.Replace(r.manifest("small"), "reconcile: {", "reconcile: {dependsOn: ["+r.id()+"@2024-01-01], ", 1)
	refused := s.CLI("apply", "-f", s.Write("itself.yaml", text))
	if refused.Code != 2 || !strings.Contains(refused.Err, "is this resource itself and cannot be its own dependency") {
		t.Errorf("want a self-reference refused: %s", refused)
	}
}
