// Package policy is an authorizer of messages as an embedder would write it: it refuses the
// actions that a variable lists.
package policy

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/armature-io/armature/service"
)

// Variable is the environment variable with what is refused, separated by commas: verbs,
// and force and recreate for what qualifies a reconcile. A label stage=free allows all.
const Variable = "TESTWORKER_REFUSE"

// Authorize returns the authorizer for a value of the variable.
func Authorize(list string) func(context.Context, service.Action) error {
	refused := strings.Split(list, ",")
	return func(_ context.Context, action service.Action) error {
		if action.Labels["stage"] == "free" {
			return nil
		}
		asked := map[string]bool{string(action.Verb): true, "force": action.Force, "recreate": action.Recreate}
		for name, is := range asked {
			if is && slices.Contains(refused, name) {
				return fmt.Errorf("%s needs a change request, ask the release team", name)
			}
		}
		return nil
	}
}
