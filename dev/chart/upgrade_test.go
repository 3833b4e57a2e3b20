package chart

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// An upgrade removes the workers of a version only when its build ID is named.
func TestUpgradeKeepsVersions(t *testing.T) {
	values := set(t, "demo")
	before := render(t, values)
	find(t, before, "Deployment", "armature-worker-v1-2-3")
	tests := map[string]struct {
		values, want, reason string
		stopped              bool
	}{
		"same version":      {values: "{worker: {replicas: 3}}", reason: "nothing is removed"},
		"new version":       {values: "{image: {tag: v1.2.4}}", want: "runs version v1.2.3", reason: "workflows pinned to v1.2.3 would wait without a worker"},
		"beside it":         {values: "{image: {tag: v1.2.4}, versioning: {previous: [{buildId: v1.2.3, image: {tag: v1.2.3}}]}}", reason: "both versions run"},
		"retired":           {values: "{image: {tag: v1.2.4}, versioning: {retired: [v1.2.3]}}", reason: "the user states that it has no workflows"},
		"stopped":           {values: "{image: {tag: v1.2.4}}", stopped: true, reason: "a version without workers serves nothing"},
		"to the controller": {values: "{workerDeployment: {enabled: true}}", want: "runs version v1.2.3", reason: "the controller does not adopt Deployments of this chart"},
		"without versions":  {values: "{versioning: {enabled: false}}", want: "runs version v1.2.3", reason: "workers without a version take no pinned workflows"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			existing := before
			if tc.stopped {
				existing = render(t, with(t, values, "{worker: {replicas: 0}}"))
			}
			objects, err := Render(root, Release{Name: "armature", Namespace: namespace, Existing: existing}, with(t, values, tc.values))
			switch {
			case tc.want == "" && err != nil:
				t.Errorf("refused, although %s: %v", tc.reason, err)
			case tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)):
				t.Errorf("got %v, want an error with %q, since %s", err, tc.want, tc.reason)
			}
			if err == nil {
				old, now := find(t, existing, "Secret", "armature-armsim"), find(t, objects, "Secret", "armature-armsim")
				if diff := cmp.Diff(old.Content["data"], now.Content["data"]); diff != "" {
					t.Errorf("the simulator gets another certificate or secret, which running workers do not know:\n%s", diff)
				}
			}
		})
	}
	// Another release in the namespace has workers of its own.
	if _, err := Render(root, Release{Name: "second", Namespace: namespace, Existing: before}, with(t, values, "{image: {tag: v2.0.0}}")); err != nil {
		t.Errorf("a second release is refused: %v", err)
	}
}
