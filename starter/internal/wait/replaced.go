package wait

import (
	"context"
	"fmt"

	"github.com/armature-io/armature/starter/internal/backend"
)

// Replacement is a later spec that replaced the one of an apply.
type Replacement struct {
	Generation int64 `json:"generation"`
	// By is the user that applied it, "" where the workflow does not return it.
	By string `json:"by,omitempty"`
}

// Text returns the replacement in a sentence about a resource.
func (r Replacement) Text() string {
	if r.By == "" {
		return fmt.Sprintf("generation %d replaced it", r.Generation)
	}
	return fmt.Sprintf("generation %d by %s replaced it", r.Generation, r.By)
}

// Replacements returns the later specs of resources at the end of a wait, by position.
// Resources whose request stated no generation have none.
func Replacements(ctx context.Context, reader backend.Reader, list []Resource, outcomes []Outcome) map[int]Replacement {
	var later []int
	for i, o := range outcomes {
		if list[i].MinGeneration > 0 && o.View.Generation > list[i].MinGeneration {
			later = append(later, i)
		}
	}
	found := make([]Replacement, len(later))
	// A workflow that does not respond leaves the user out.
	_ = backend.ForEach(ctx, len(later), backend.MaxParallel, func(ctx context.Context, at int) error {
		i := later[at]
		found[at].Generation = outcomes[i].View.Generation
		if status, err := reader.Status(ctx, list[i].WorkflowID); err == nil && status.Generation >= found[at].Generation {
			found[at] = Replacement{Generation: status.Generation, By: status.AppliedBy}
		}
		return nil
	})
	replacements := map[int]Replacement{}
	for at, i := range later {
		found[at].Generation = max(found[at].Generation, outcomes[i].View.Generation)
		replacements[i] = found[at]
	}
	return replacements
}
