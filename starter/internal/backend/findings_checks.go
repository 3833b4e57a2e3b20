package backend

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/starter/internal/cli"
	"github.com/armature-io/armature/workflows"
)

// checksCheck is the name of the check for differing links and rules.
const checksCheck = "checks"

// maxNamed bounds the workers of one fingerprint that a finding names.
const maxNamed = 5

// checksFindings returns a finding for each version among the live workers of a task queue:
// the fingerprints of their links and rules, which have to be the same.
func checksFindings(taskQueue string, live []workflows.Worker) []activities.Finding {
	var found []activities.Finding
	for _, groups := range workflows.ChecksByVersion(live) {
		first := groups[0]
		where := "without a version on task queue " + taskQueue
		if first.BuildID != "" {
			where = "of version " + first.BuildID + " (deployment " + first.Deployment + ") on task queue " + taskQueue
		}
		if len(groups) == 1 {
			found = append(found, finding(checksCheck, fingerprintText(first)+": "+cli.Count(len(first.Workers), "worker")+" "+where))
			continue
		}
		texts := make([]string, len(groups))
		for i, group := range groups {
			texts[i] = fingerprintText(group) + ": " + cli.Count(len(group.Workers), "worker") + " (" + namesOf(group.Workers) + ")"
		}
		found = append(found, failure(checksCheck, "the workers "+where+" have different checks, and each decides by its own: "+strings.Join(texts, "; "),
			"stop the worker that should not run, or give all the same build and rule files; the log of each names its links and rules when it starts, and a change of rule files reaches each within rules.reload"))
	}
	return found
}

// fingerprintText returns the fingerprint of a group.
func fingerprintText(group workflows.CheckGroup) string {
	return cmp.Or(group.Checks, "no fingerprint")
}

// namesOf returns the first of several workers, and how many there are beside them.
func namesOf(workers []string) string {
	named := strings.Join(workers[:min(len(workers), maxNamed)], ", ")
	if more := len(workers) - maxNamed; more > 0 {
		named += fmt.Sprintf(" and %d more", more)
	}
	return named
}
