package plan

import (
	"strings"
	"testing"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/activities/exporting"
	"github.com/armature-io/armature/starter/internal/cli"
)

// TestExportsOfAPlan checks the lines of secrets that a pass would write, and that a resource in
// sync is shown where there are any.
func TestExportsOfAPlan(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason, change, why, want string
		shown                     bool
	}{
		"write":   {reason: "a rotated key", change: exporting.PlannedWrite, why: "the secret has another value", want: "export to https://kv.vault.example/secrets/a: a new version, the secret has another value", shown: true},
		"tags":    {reason: "the value stays", change: exporting.PlannedTag, why: "its tags differ", want: "other tags, its tags differ", shown: true},
		"refused": {reason: "the pass would not be Ready", change: exporting.PlannedRefused, why: "ExportRefused: x", want: "not written: ExportRefused: x", shown: true},
		"left":    {reason: "nothing is to be done", change: exporting.PlannedLeave, want: "left, because it exists"},
		"in sync": {reason: "nothing differs"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			change := Row{PlanResourceResult: activities.PlanResourceResult{Action: activities.PlanNone, Exports: []exporting.Planned{
				{To: "keyvault:https://kv.vault.example/secrets/a", Change: tc.change, Why: tc.why},
			}}}
			text := change.Text(cli.Ink{})
			if !strings.Contains(text, tc.want) || tc.want == "" && strings.Contains(text, "export") || change.isInSync() == tc.shown {
				t.Errorf("%s: in sync %t:\n%s", tc.reason, change.isInSync(), text)
			}
		})
	}
}
