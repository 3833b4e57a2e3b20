// Package policy is an authorizer of messages as an embedder would write it: it refuses the
// actions that a variable lists.
package policy

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/armature-io/armature/caller"
	"github.com/armature-io/armature/service"
)

// Variable is the environment variable with what is refused, separated by commas: verbs,
// and force and recreate for what qualifies a reconcile. A label stage=free allows all.
const Variable = "TESTWORKER_REFUSE"

// DelayVariable is the environment variable with the time that each decision takes.
const DelayVariable = "TESTWORKER_HOOK_DELAY"

// Slow returns a hook that takes time.
func Slow(delay time.Duration, hook func(context.Context, service.Action) error) func(context.Context, service.Action) error {
	return func(ctx context.Context, action service.Action) error {
		select {
		case <-time.After(delay):
			return hook(ctx, action)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// IssuerVariable is the environment variable with the issuer of the tokens that users send,
// and Audience their audience.
const (
	IssuerVariable = "TESTWORKER_ISSUER"
	Audience       = "api://armature"
)

// Owners allows everything to users with the group owners, and an apply to all whose token
// is verified. A freeze is not asked about.
func Owners(_ context.Context, action service.Action) error {
	switch {
	case action.Caller == nil:
		return errors.New("send a token of the company in ARMATURE_TOKEN")
	case action.Verb == service.VerbApply, action.Caller.Has(caller.Claim{Name: "groups", Value: "owners"}):
		return nil
	}
	return fmt.Errorf("%s is not in the group owners", action.Caller.Subject)
}

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
