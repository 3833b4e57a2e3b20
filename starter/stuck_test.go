package starter

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/armature-io/armature/starter/internal/backend"
	"github.com/armature-io/armature/starter/internal/cli"
	"github.com/armature-io/armature/workflows"
	"github.com/google/go-cmp/cmp"
)

// TestStuckStep verifies that a resource whose step keeps failing without a verdict is
// not shown as Ready, wherever it is shown, and that its step is named.
//
//guard:a-pass-ends-in-words
func TestStuckStep(t *testing.T) {
	const step = "its step GetResource keeps failing (attempt 7): the worker that ran it stopped responding"
	cases := map[string]struct {
		command []string
		want    []string
		not     []string
	}{
		"get":       {command: []string{"get"}, want: []string{"Stuck", "its step GetResource keeps failing"}, not: []string{"in sync"}},
		"get name":  {command: []string{"get", "adx", "-o", "wide"}, want: []string{"Stuck", step}, not: []string{"in sync"}},
		"get phase": {command: []string{"get", "--phase", "Stuck"}, want: []string{"adx"}},
		"get json":  {command: []string{"get", "-o", "json"}, want: []string{`"stuck": "` + step + `"`}},
		"why":       {command: []string{"why", "adx"}, want: []string{"kusto cluster adx  Stuck", "root cause:", step, "read the worker's log", "armature pause adx"}, not: []string{"nothing blocks"}},
		"causes":    {command: []string{"why"}, want: []string{"Stuck", "0 of 1 resource"}, not: []string{"nothing is blocked"}},
		"describe":  {command: []string{"describe", "adx"}, want: []string{step, "read the worker's log"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld()
			status := readyStatus()
			status.InPass, status.PassSince = true, time.Now().Add(-time.Minute)
			w.temporal.manage(t, cluster, status)
			w.temporal.stuckStep = step
			if code := w.run(c.command...); code != cli.ExitOK {
				t.Fatalf("exit code %d: %s", code, w.err)
			}
			for _, text := range c.want {
				if !strings.Contains(w.out.String(), text) {
					t.Errorf("the output does not contain %q:\n%s", text, w.out)
				}
			}
			for _, text := range c.not {
				if strings.Contains(w.out.String(), text) {
					t.Errorf("the output contains %q:\n%s", text, w.out)
				}
			}
		})
	}
}

// TestStuckFinding verifies what doctor says about steps that keep failing.
func TestStuckFinding(t *testing.T) {
	for name, c := range map[string]struct{ step, state, want string }{
		"stuck": {step: "its step GetResource keeps failing (attempt 7)", state: "error", want: "1 resource is stuck in a step, of 1 workflow, for example adx: its step GetResource keeps failing (attempt 7)"},
		"fine":  {state: "ok", want: "no step keeps failing"},
	} {
		w := newWorld()
		w.temporal.manage(t, cluster, readyStatus())
		w.temporal.stuckStep = c.step
		got := backend.StuckFinding(t.Context(), w.temporal, w.temporal.records)
		if string(got.State) != c.state || got.Message != c.want {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// describer counts the descriptions by the first letter of a workflow ID.
type describer struct {
	backend.Reader
	mu    sync.Mutex
	count map[string]int
}

func (d *describer) Record(_ context.Context, workflowID string) (backend.Record, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.count[workflowID[:1]]++
	return backend.Record{}, nil
}

// TestStuckFindingOfMany describes at most a thousand workflows: all that are not Ready before
// those that are, and paused ones, of which few run a pass, at the end.
func TestStuckFindingOfMany(t *testing.T) {
	var records []backend.Record
	for _, phase := range []workflows.Phase{workflows.PhaseReady, workflows.PhasePaused, workflows.PhaseBlocked} {
		for i := range 600 {
			records = append(records, backend.Record{WorkflowID: fmt.Sprintf("%s %d", phase, i), Phase: phase, Running: true})
		}
	}
	d := &describer{count: map[string]int{}}
	got := backend.StuckFinding(t.Context(), d, records)
	if want := "no step keeps failing in the 1000 workflows that were described, of 1800: first those that are not Ready"; got.Message != want {
		t.Errorf("got %q, want %q", got.Message, want)
	}
	if diff := cmp.Diff(map[string]int{"B": 600, "R": 400}, d.count); diff != "" {
		t.Errorf("described by phase (-want +got):\n%s", diff)
	}
}
