package activities

import (
	"fmt"

	"github.com/armature-io/armature/secrets"
)

// RulesState is the state of the rules of a worker.
type RulesState struct {
	// Path is the file or folder, Count the number of rules in force.
	Path  string
	Count int
	// Err is why the last reload failed, nil if it did not.
	Err error
}

// Text returns the failed reload as a sentence, "" for none.
func (r RulesState) Text() string {
	if r.Err == nil {
		return ""
	}
	return fmt.Sprintf("the files in %s changed and are invalid: the %d rules from before stay in force, and a worker that starts now would refuse them: %s",
		r.Path, r.Count, secrets.Scrub(r.Err.Error(), nil))
}

// checkRules reports the rules of the worker, nothing for a worker without any.
func (a *Activities) checkRules() []Finding {
	if a.options.Rules == nil {
		return nil
	}
	state := a.options.Rules()
	finding := Finding{Check: "rules", State: FindingOK, Message: fmt.Sprintf("rules of %s in force: %d", state.Path, state.Count)}
	if text := state.Text(); text != "" {
		finding.State, finding.Message = FindingWarn, text
		finding.Advice = "correct the files; armature rules check PATH shows every issue"
	}
	return []Finding{finding}
}
