package backend

import (
	"fmt"
	"strings"
	"testing"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/workflows"
)

// TestChecksFindings checks that workers of one version with different checks are a fault, and
// those of two versions are not.
func TestChecksFindings(t *testing.T) {
	worker := func(identity, build, checks string) workflows.Worker {
		w := workflows.Worker{Identity: identity, BuildID: build, Checks: checks}
		if build != "" {
			w.Deployment = "armature"
		}
		return w
	}
	var many []workflows.Worker
	for i := range 9 {
		many = append(many, worker(fmt.Sprintf("1@pod-%d@", i), "", "aaaaaaaaaa"))
	}
	cases := map[string]struct {
		reason  string
		workers []workflows.Worker
		want    []string
	}{
		"one": {"a single worker has its own", []workflows.Worker{worker("1@a@", "", "aaaaaaaaaa")}, []string{
			"ok aaaaaaaaaa: 1 worker without a version on task queue q1",
		}},
		"rolling update": {"each version has its own", []workflows.Worker{worker("1@a@", "v1", "aaaaaaaaaa"), worker("1@b@", "v1", "aaaaaaaaaa"), worker("1@c@", "v2", "bbbbbbbbbb")}, []string{
			"ok aaaaaaaaaa: 2 workers of version v1 (deployment armature) on task queue q1",
			"ok bbbbbbbbbb: 1 worker of version v2 (deployment armature) on task queue q1",
		}},
		"forgotten replica": {"the same resource is decided by either", []workflows.Worker{worker("1@b@", "", "bbbbbbbbbb"), worker("1@a@", "", "aaaaaaaaaa")}, []string{
			"error the workers without a version on task queue q1 have different checks, and each decides by its own: aaaaaaaaaa: 1 worker (1@a@); bbbbbbbbbb: 1 worker (1@b@)",
		}},
		"one version": {"the rule files of one differ", []workflows.Worker{worker("1@a@", "v1", "aaaaaaaaaa"), worker("1@b@", "v1", "bbbbbbbbbb"), worker("1@c@", "v2", "cccccccccc")}, []string{
			"error the workers of version v1 (deployment armature) on task queue q1 have different checks, and each decides by its own: aaaaaaaaaa: 1 worker (1@a@); bbbbbbbbbb: 1 worker (1@b@)",
			"ok cccccccccc: 1 worker of version v2 (deployment armature) on task queue q1",
		}},
		"another program": {"a worker without a fingerprint decides otherwise", append(many, worker("7@x@", "", "")), []string{
			"error the workers without a version on task queue q1 have different checks, and each decides by its own: no fingerprint: 1 worker (7@x@); aaaaaaaaaa: 9 workers (1@pod-0@, 1@pod-1@, 1@pod-2@, 1@pod-3@, 1@pod-4@ and 4 more)",
		}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, f := range checksFindings("q1", c.workers) {
				got = append(got, string(f.State)+" "+f.Message)
				if (f.State == activities.FindingError) != (f.Advice != "") {
					t.Errorf("%s: advice %q", f.Message, f.Advice)
				}
			}
			if want := strings.Join(c.want, "\n"); strings.Join(got, "\n") != want {
				t.Errorf("%s: got\n%s\nwant\n%s", c.reason, strings.Join(got, "\n"), want)
			}
		})
	}
}
