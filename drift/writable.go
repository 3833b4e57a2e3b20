package drift

import (
	_ "embed"
	"slices"
	"strings"
	"sync"

	"github.com/armature-io/armature/resource"
)

// Writable is what of an observed body a manifest may state: without what the
// contract of ARM and the published description of the type call read-only,
// without nulls and what is empty, and without masked values, whose paths are
// answered. observed is not changed. Compared with observed, the result is in
// sync.
func Writable(id resource.ID, observed map[string]any) (body map[string]any, masked []string) {
	w := &writable{id: id, readOnly: readOnlyTable()[strings.ToLower(id.Type())]}
	kept, _ := w.object(nil, observed).(map[string]any)
	slices.Sort(w.masked)
	return kept, w.masked
}

type writable struct {
	id       resource.ID
	readOnly map[string]bool
	masked   []string
}

// setByARM reports whether a member at the top of a resource is ARM's own: a
// manifest cannot set it, a PUT does not carry it, and it is never a difference.
func setByARM(name string) bool {
	name = strings.ToLower(name)
	return slices.Contains(topLevelSetByARM, name) || slices.Contains(setByARMEverywhere, name)
}

// topLevelSetByARM are the members that ARM sets at the top of every resource, setByARMEverywhere
// those that it sets in each resource within a resource too.
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

// object leaves out what is read-only; nil when nothing is left.
func (w *writable) object(path resource.Path, object map[string]any) any {
	kept := make(map[string]any, len(object))
	part := w.isNestedResource(path, object)
	for name, value := range object {
		next := path.With(resource.Step{Name: name})
		if w.isReadOnly(next, part) {
			continue
		}
		if pattern(path) == "identity.userassignedidentities" {
			kept[name] = map[string]any{}
			continue
		}
		if left := w.value(next, value); left != nil {
			kept[name] = left
		}
	}
	if len(kept) == 0 {
		return nil
	}
	return kept
}

// list keeps every element or none: a manifest that states a list states its
// elements. A masked text among them cannot be stated.
func (w *writable) list(path resource.Path, list []any) any {
	kept := make([]any, len(list))
	stated := false
	for i, item := range list {
		left := w.value(path.With(resource.Step{Index: i, IsIndex: true}), item)
		_, isObject := item.(map[string]any)
		switch {
		case left != nil:
			stated = true
		case isObject:
			left = map[string]any{}
		case item != nil:
			return nil
		}
		kept[i] = left
	}
	if !stated {
		return nil
	}
	return kept
}

// isNestedResource reports whether an object is a resource within the resource (a subnet
// in its network), as opposed to a mere reference to one.
func (w *writable) isNestedResource(path resource.Path, object map[string]any) bool {
	_, id, _ := property(object, "id")
	text, _ := id.(string)
	_, _, named := property(object, "name")
	return len(path) > 0 && named && strings.HasPrefix(strings.ToLower(text), w.id.Key()+"/")
}

// fixed reports whether nobody can set a member. part says that it is one of a
// resource within the resource.
func (w *writable) isReadOnly(path resource.Path, part bool) bool {
	name := strings.ToLower(lastName(path))
	switch {
	case strings.EqualFold(path[0].Name, "tags"):
		return false
	case len(path) == 1 && setByARM(name), part && (name == "id" || name == "type"),
		slices.Contains(setByARMEverywhere, name):
		return true
	case pattern(path) == "identity.principalid", pattern(path) == "identity.tenantid":
		return true
	}
	return w.readOnly[pattern(path)]
}

// readOnlyText has one line for each type, as writeOnlyText has.
//
//go:embed readonly.txt
var readOnlyText string

var readOnlyTable = sync.OnceValue(func() map[string]map[string]bool {
	table := make(map[string]map[string]bool)
	for line := range strings.Lines(readOnlyText) {
		words := strings.Fields(line)
		if len(words) == 0 || words[0] == "#" {
			continue
		}
		table[words[0]] = make(map[string]bool, len(words)-1)
		for _, path := range words[1:] {
			table[words[0]][path] = true
		}
	}
	return table
})
