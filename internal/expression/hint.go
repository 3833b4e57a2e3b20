package expression

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/interpreter"

	"github.com/armature-io/armature/internal/nearest"
)

// Names returns the functions that Armature adds to CEL.
func Names() []string {
	return []string{"at", "text", "state", "among", "lower", "inFlight", "broken", "quote", "items", "number", "sum"}
}

var (
	undeclared = regexp.MustCompile(`^undeclared reference to '([^']+)'`)
	// mixedNumbers matches an operator between a whole number and a fraction.
	mixedNumbers = regexp.MustCompile(`applied to '\((double, int|int, double)\)'`)
)

// hint returns what the author of an expression probably meant, "" where nothing is known.
func hint(env *cel.Env, message string) string {
	if mixedNumbers.MatchString(message) {
		return "; write the whole number with a point: 3.0"
	}
	match := undeclared.FindStringSubmatch(message)
	if match == nil {
		return ""
	}
	var known []string
	for _, variable := range env.Variables() {
		known = append(known, variable.Name())
	}
	for function := range env.Functions() {
		if !strings.ContainsAny(function, "_@!-.") && function != match[1] {
			known = append(known, function)
		}
	}
	slices.Sort(known)
	return nearest.Suggest(match[1], known)
}

// withLimit adds the limit to the error of an evaluation that exceeded it.
func withLimit(err error) error {
	if stopped, ok := errors.AsType[interpreter.EvalCancelledError](err); ok && stopped.Cause == interpreter.CostLimitExceeded {
		return fmt.Errorf("over the cost limit of %d units: %w", MaxCost, err)
	}
	return err
}
