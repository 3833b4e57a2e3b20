package starter

import (
	"strings"
	"testing"

	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/starter/internal/cli"
	"github.com/armature-io/armature/workflows"
)

// TestDeletionIsNamed verifies that the output of a deletion names its parameters and its
// purge, and that a plan names them before.
func TestDeletionIsNamed(t *testing.T) {
	stated := &resource.Deletion{Query: map[string]string{"force": "true"}, Purge: true}
	const want = "the DELETE is sent with force=true; then it is purged, and nothing restores it (reconcile.delete)"
	w := sampleWorld(t)
	w.temporal.answers = map[string]any{strings.ToLower(cluster): workflows.DeleteResult{Changed: true, Deletion: stated}}
	if code := w.run("delete", "adx"); code != cli.ExitOK || !strings.Contains(w.out.String(), "deletion requested; "+want) {
		t.Errorf("exit code %d:\n%s%s", code, w.out, w.err)
	}
	w = newWorld()
	status := readyStatus()
	status.Deletion = stated
	w.temporal.manage(t, cluster, status)
	folder := manifests(t, map[string]string{"group.yaml": "type: Microsoft.Resources/resourceGroups@2021-04-01\nname: rg1\nowner: /subscriptions/11111111-2222-3333-4444-555555555555\nlabels: {stack: prod}\nbody: {location: westus2}\n"})
	w.run("plan", "-f", folder, "--prune", "-l", "stack=prod")
	if !strings.Contains(w.out.String(), "adx  delete: "+want) {
		t.Errorf("the plan does not name it:\n%s%s", w.out, w.err)
	}
}
