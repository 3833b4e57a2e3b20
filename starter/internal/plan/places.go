package plan

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/manifest"
	"github.com/armature-io/armature/starter/internal/backend"
)

// WarnOfOtherPlaces adds a warning to each resource to create that looks like a managed one
// with another owner: type, name and labels are the same, and the plan does not have that
// one. A manifest whose owner changes names another resource, and the one at the old place
// stays. Without an answer of Temporal there are no warnings.
func (p Plan) WarnOfOtherPlaces(ctx context.Context, reader backend.Reader) {
	var names []string
	planned := map[string]bool{}
	for _, c := range p.Resources {
		planned[c.ID.Key()] = true
		if c.isNew() {
			names = append(names, c.ID.Name())
		}
	}
	if len(names) == 0 {
		return
	}
	managed, err := backend.Managed(ctx, reader, names)
	if err != nil {
		return
	}
	for i, c := range p.Resources {
		if !c.isNew() {
			continue
		}
		for _, r := range managed {
			if !planned[r.ID.Key()] && c.looksLike(r) {
				p.Resources[i].Warnings = append(p.Resources[i].Warnings, fmt.Sprintf(
					"owner: %s is managed too, with the same name and labels; it stays as it is: `armature delete` or `armature forget` ends it, `armature move` follows a resource that was moved in Azure", r.ID))
				break
			}
		}
	}
}

// isNew reports whether an apply creates the resource and its workflow.
func (c Row) isNew() bool { return c.Action == activities.PlanCreate && !c.Managed }

// looksLike reports whether a managed resource has the same type, name and labels.
func (c Row) looksLike(r manifest.Managed) bool {
	if !strings.EqualFold(r.ID.Type(), c.ID.Type()) || !strings.EqualFold(r.ID.Name(), c.ID.Name()) {
		return false
	}
	labels := make([]string, 0, len(c.desired.Labels))
	for key, value := range c.desired.Labels {
		labels = append(labels, key+"="+value)
	}
	return slices.Equal(slices.Sorted(slices.Values(r.Labels)), slices.Sorted(slices.Values(labels)))
}
