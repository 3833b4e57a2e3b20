package starter

import (
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/starter/internal/cli"
	"github.com/armature-io/armature/workflows"
)

// TestGetInProgress verifies that an operation in progress replaces the condition of the
// last pass.
func TestGetInProgress(t *testing.T) {
	operating := readyStatus()
	operating.Phase, operating.Operation, operating.OperationSince = workflows.PhaseOperating, "PUT", noon().Add(-8*time.Second)
	asked := readyStatus()
	asked.Deleting = true
	removing := asked
	removing.Phase, removing.Operation, removing.OperationSince = workflows.PhaseDeleting, "DELETE", noon().Add(-70*time.Second)
	w := newWorld()
	w.temporal.manage(t, cluster, operating)
	w.temporal.manage(t, database, removing)
	w.temporal.manage(t, cluster+"/databases/traces", asked)
	if code := w.run("get"); code != cli.ExitOK {
		t.Errorf("exit code %d: %s", code, w.err)
	}
	golden(t, "get-operating.txt", w.out.String())
}

func TestGetEnded(t *testing.T) {
	detached := readyStatus()
	detached.ID, detached.Deleting, detached.Deleted = mustID(t, cluster), true, true
	detached.Phase, detached.Condition.Reason = workflows.PhaseDeleting, resource.ReasonDetached
	once := readyStatus()
	once.ID = mustID(t, cluster)
	cases := map[string]struct {
		reason string
		final  workflows.Status
		want   []string
	}{
		"detached": {reason: "the output must not suggest that Azure deleted it", final: detached, want: []string{"Detached", "it still exists in Azure"}},
		"once":     {reason: "no pass starts any more", final: once, want: []string{"Ready (ended)", "no longer checked"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld()
			w.temporal.manage(t, cluster, readyStatus())
			w.temporal.end("Completed", tc.final)
			w.run("describe", cluster)
			w.run("get", cluster)
			for _, text := range tc.want {
				if !strings.Contains(w.out.String(), text) {
					t.Errorf("%s: output lacks %q:\n%s", tc.reason, text, w.out)
				}
			}
			if strings.Contains(w.out.String(), "in 52m") {
				t.Errorf("%s: it names a next try:\n%s", tc.reason, w.out)
			}
		})
	}
}

// TestEmptySelection verifies that an empty result states what is missing: the labels, or
// resources in the phase.
func TestEmptySelection(t *testing.T) {
	for name, tc := range map[string]struct {
		reason string
		args   []string
		want   string
	}{
		"phase of a label": {reason: "resources with the label exist", args: []string{"get", "-l", "stack=prod", "--phase", "Failed"}, want: "no managed resource with the labels stack=prod is Failed"},
		"label":            {reason: "other resources exist", args: []string{"get", "-l", "stack=none"}, want: "no managed resource has the labels stack=none"},
		"phase":            {reason: "resources exist", args: []string{"get", "--phase", "Failed"}, want: "no managed resource is Failed"},
		"why of a label":   {reason: "other resources exist", args: []string{"why", "-l", "stack=none"}, want: "no managed resource has the labels stack=none"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld()
			w.temporal.manage(t, cluster, readyStatus())
			if code := w.run(tc.args...); code != cli.ExitOK || !strings.Contains(w.err.String(), tc.want) {
				t.Errorf("%s: exit code %d: %s, want %q", tc.reason, code, w.err, tc.want)
			}
		})
	}
}
