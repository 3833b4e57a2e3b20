package activities

import (
	"fmt"

	"github.com/armature-io/armature/internal/text"
	"github.com/armature-io/armature/resource"
)

// Lines returns the trial for a terminal: the resource, then each check with what it does and
// what it saw.
func (r TryChecksResult) Lines() []string {
	what := "not managed by Armature: no manifest, no labels"
	if r.Generation > 0 {
		what = fmt.Sprintf("with the manifest of generation %d", r.Generation)
	}
	if r.Observed == nil {
		what = "absent in Azure, " + what
	}
	lines := []string{fmt.Sprintf("%s %s (%s), %s", r.ID.Type(), r.ID.Short(), r.APIVersion, what)}
	if len(r.Trials) == 0 {
		lines = append(lines, "the worker has no checks of this type but the default ones")
	}
	for _, trial := range r.Trials {
		lines = append(lines, trial.name(), "    "+text.OneLine(trial.outcome()))
		for _, value := range trial.Values {
			lines = append(lines, "    "+text.OneLine(value))
		}
		if trial.Ages != "" {
			lines = append(lines, "    "+text.OneLine(trial.Ages))
		}
	}
	return lines
}

// Failed returns the number of checks that could not decide.
func (r TryChecksResult) Failed() int {
	failed := 0
	for _, trial := range r.Trials {
		if trial.Verdict.Action == resource.ActionError {
			failed++
		}
	}
	return failed
}

// name returns the check with its point.
func (t CheckTrial) name() string {
	if t.Point == "" {
		return text.OneLine(t.Link + " at " + t.At)
	}
	return text.OneLine(t.Link + " at " + t.Point)
}

// outcome returns what the check does now.
func (t CheckTrial) outcome() string {
	verdict := t.Verdict
	switch {
	case t.Result == "busy" || t.Result == "stopped":
		return t.Result
	case t.Point == "" && t.Result == "":
		return "not tried: it needs an error of Azure; state one in a test"
	case verdict.Action == resource.ActionBlock:
		return fmt.Sprintf("blocks (%s): %s", verdict.Reason, verdict.Message)
	case verdict.Action == resource.ActionFailure:
		return fmt.Sprintf("not Ready (%s): %s", verdict.Reason, verdict.Message)
	case verdict.Action == resource.ActionError:
		return "failed: " + verdict.Message
	case t.Payload != nil:
		return "changes the payload"
	}
	return "passes"
}
