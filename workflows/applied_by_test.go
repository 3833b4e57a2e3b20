package workflows_test

import (
	"testing"
	"time"

	"github.com/armature-io/armature/workflows"
)

// TestAppliedBy checks that a status names the user of the spec in force: not one that
// repeated it, and not one whose spec was replaced.
func TestAppliedBy(t *testing.T) {
	r := newRun(t)
	other := desired()
	other.Labels = map[string]string{"team": "data"}
	r.apply(desired())
	first := r.statusAt(30 * time.Second)
	r.at(40*time.Second, workflows.ApplyUpdate, workflows.ApplyInput{Desired: desired(), By: "eve@host"})
	repeated := r.statusAt(50 * time.Second)
	r.at(60*time.Second, workflows.ApplyUpdate, workflows.ApplyInput{Desired: other, By: "bob@host"})
	replaced := r.statusAt(70 * time.Second)
	r.start(2 * time.Minute)
	for _, c := range []struct {
		reason     string
		status     *workflows.Status
		generation int64
		by         string
	}{
		{"the first apply", first, 1, "ada@host"}, {"a repeated apply changes nothing", repeated, 1, "ada@host"}, {"another spec replaces the first one", replaced, 2, "bob@host"},
	} {
		if c.status.Generation != c.generation || c.status.AppliedBy != c.by {
			t.Errorf("%s: generation %d by %q, want %d by %q", c.reason, c.status.Generation, c.status.AppliedBy, c.generation, c.by)
		}
	}
}
