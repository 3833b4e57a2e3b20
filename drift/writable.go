package drift

import (
	"slices"
	"strings"

	"github.com/armature-io/armature/internal/jsontree"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/types"
)

// Writable returns the part of an observed body that a manifest may state, and the
// paths of masked values. The part omits what ARM's contract or the published
// shape of the type marks as read-only, nulls, empty values and masked values. observed is not modified. The result is in sync with observed.
func Writable(id resource.ID, observed map[string]any) (body map[string]any, masked []string) {
	w := &writable{id: id, readOnly: types.ReadOnlyOf(id.Type())}
	body, _ = w.object(nil, observed).(map[string]any)
	slices.Sort(w.masked)
	return body, w.masked
}

type writable struct {
	id       resource.ID
	readOnly *types.Paths
	masked   []string
}

// setByARM reports whether ARM sets a member at the top of a resource: a manifest
// cannot set it, a PUT does not carry it, and it is never a difference.
func setByARM(name string) bool {
	name = strings.ToLower(name)
	return slices.Contains(topLevelSetByARM, name) || slices.Contains(setByARMEverywhere, name)
}

// topLevelSetByARM are the members that ARM sets at the top of every resource;
// setByARMEverywhere those that it also sets in nested resources.
var (
	topLevelSetByARM   = []string{"id", "name", "type", "apiversion"}
	setByARMEverywhere = []string{"etag", "systemdata", "provisioningstate"}
)

func (w *writable) value(path resource.Path, value any) any {
	switch at := value.(type) {
	case map[string]any:
		return w.object(path, at)
	case []any:
		return w.list(path, at)
	case string:
		if resource.Masked(at) {
			w.masked = append(w.masked, path.String())
			return nil
		}
	}
	return value
}

// object omits read-only members; nil if nothing remains.
func (w *writable) object(path resource.Path, object map[string]any) any {
	part := make(map[string]any, len(object))
	nested := w.isNestedResource(path, object)
	for name, value := range object {
		next := path.With(resource.Step{Name: name})
		if w.isReadOnly(next, nested) {
			continue
		}
		if pattern(path) == "identity.userassignedidentities" {
			part[name] = map[string]any{}
			continue
		}
		if left := w.value(next, value); left != nil {
			part[name] = left
		}
	}
	if len(part) == 0 {
		return nil
	}
	return part
}

// list returns every element or nil: a manifest that states a list states all of
// its elements. A list with a masked text cannot be stated.
func (w *writable) list(path resource.Path, list []any) any {
	part := make([]any, len(list))
	isEmpty := true
	for i, item := range list {
		left := w.value(path.With(resource.Step{Index: i, IsIndex: true}), item)
		_, isObject := item.(map[string]any)
		switch {
		case left != nil:
			isEmpty = false
		case isObject:
			left = map[string]any{}
		case item != nil:
			return nil
		}
		part[i] = left
	}
	if isEmpty {
		return nil
	}
	return part
}

// isNestedResource reports whether an object is a resource within the resource (a
// subnet in its network), not only a reference to one.
func (w *writable) isNestedResource(path resource.Path, object map[string]any) bool {
	id := jsontree.Text(object, "id")
	_, _, named := jsontree.Member(object, "name")
	return len(path) > 0 && named && strings.HasPrefix(strings.ToLower(id), w.id.Key()+"/")
}

// isReadOnly reports whether a manifest cannot set a member. nested is set for
// members of a nested resource.
func (w *writable) isReadOnly(path resource.Path, nested bool) bool {
	name := strings.ToLower(lastName(path))
	switch {
	case strings.EqualFold(path[0].Name, "tags"):
		return false
	case len(path) == 1 && setByARM(name), nested && (name == "id" || name == "type"),
		slices.Contains(setByARMEverywhere, name):
		return true
	case pattern(path) == "identity.principalid", pattern(path) == "identity.tenantid":
		return true
	}
	return w.readOnly.Contain(path)
}
