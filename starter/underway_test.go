package main

import (
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/starter/internal/cli"
	"github.com/armature-io/armature/workflows"
)

// What goes on counts more than the condition of the last pass.
func TestShowUnderway(t *testing.T) {
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
	golden(t, "get-underway.txt", w.out.String())
}

func TestShowEnded(t *testing.T) {
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
		"detached": {reason: "nobody may believe that Azure lost it", final: detached, want: []string{"Detached", "it still exists in Azure"}},
		"once":     {reason: "nobody looks at it again", final: once, want: []string{"Ready (ended)", "no longer checked"}},
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
