package plan

import (
	"context"
	"slices"
	"testing"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/resource"
	"github.com/google/go-cmp/cmp"
)

// needing is a resource that is created once all that it needs exists or is planned.
type needing struct {
	needs []resource.ID
	tries []string
}

func (n *needing) Plan(_ context.Context, run string, in activities.PlanResourceInput) (activities.PlanResourceResult, error) {
	n.tries = append(n.tries, run)
	for _, id := range n.needs {
		if !slices.ContainsFunc(in.Together, id.Equal) {
			return activities.PlanResourceResult{Action: activities.PlanBlocked, WaitingFor: []resource.ID{id}}, nil
		}
	}
	return activities.PlanResourceResult{Action: activities.PlanCreate, After: n.needs}, nil
}

// TestDriftOfWhatIsMissing compares a resource again where only others of the comparison block
// it, once for each.
func TestDriftOfWhatIsMissing(t *testing.T) {
	t.Parallel()
	parse := func(name string) resource.ID {
		id, err := resource.ParseID("/subscriptions/s/resourceGroups/g/providers/Microsoft.Example/things/" + name)
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	a, b, foreign := parse("a"), parse("b"), parse("foreign")
	for name, c := range map[string]struct {
		needs []resource.ID
		want  activities.PlanAction
		tries []string
	}{
		"nothing":             {nil, activities.PlanCreate, []string{"run:1"}},
		"both":                {[]resource.ID{a, b}, activities.PlanCreate, []string{"run:1", "run:2", "run:3"}},
		"one of no selection": {[]resource.ID{a, foreign}, activities.PlanBlocked, []string{"run:1", "run:2"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			planner := &needing{needs: c.needs}
			result, err := driftOf(t.Context(), planner, "run", parse("it"), map[string]bool{a.Key(): true, b.Key(): true})
			if err != nil || result.Action != c.want {
				t.Errorf("got %+v, %v, want %s", result, err, c.want)
			}
			if diff := cmp.Diff(c.tries, planner.tries); diff != "" {
				t.Errorf("runs (-want +got)\n%s", diff)
			}
		})
	}
}
