package activities

import (
	"slices"
	"strings"
	"time"

	"github.com/armature-io/armature/resource"
)

// overdue marks the verdict of a resource that has been blocked or not ready for
// too long. What rests on purpose, or whose owner does, is never overdue.
func (a *Activities) overdue(
	id resource.ID, verdict resource.Verdict, notReadyFor time.Duration, seen *resource.Object,
) resource.Verdict {
	if !verdict.Stops() || a.options.OverdueAfter < 0 || notReadyFor < a.options.OverdueAfter || a.rests(seen) {
		return verdict
	}
	verdict.Overdue, verdict.Severity = true, resource.SeverityError
	if a.options.Overdue != nil {
		a.options.Overdue(verdict)
	}
	a.Log.Error("resource is overdue", "id", id.String(), "reason", string(verdict.Reason),
		"notReadyFor", notReadyFor.Round(time.Second).String(), "message", verdict.Message)
	return verdict
}

// statePaths are where resources say how they are: all of them at
// provisioningState, Kusto and PostgreSQL also at properties.state, AKS at
// powerState, Application Gateway at operationalState.
var statePaths = []string{"properties.provisioningState", "properties.state", "properties.powerState.code", "properties.operationalState"}

// stateWords are the words with which an object says how it is.
func stateWords(seen *resource.Object) []string {
	var words []string
	for _, path := range statePaths {
		if word, _ := seen.StringAt(path); word != "" && !slices.Contains(words, word) {
			words = append(words, word)
		}
	}
	return words
}

// rests reports whether an object says that it rests.
func (a *Activities) rests(seen *resource.Object) bool {
	return slices.ContainsFunc(stateWords(seen), func(word string) bool {
		return slices.ContainsFunc(a.options.OverdueExempt, func(exempt string) bool { return strings.EqualFold(exempt, word) })
	})
}
