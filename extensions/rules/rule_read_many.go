package rules

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"cel.dev/cel-go/common/types/ref"
	"go.yaml.in/yaml/v3"

	"github.com/armature-io/armature/internal/expression"
	"github.com/armature-io/armature/internal/extensionhost"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/types"
)

// Bounds of the resources of one read: of IDs at a path, and of a list. A verdict waits for
// maxWaits resources, and a list of more is no matter for a condition.
const (
	usualEach, maxEach     = 16, maxWaits
	usualListed, maxListed = 100, 500
)

// idsPath is a path in the body of a variable at which IDs stand.
type idsPath struct {
	variable string
	path     resource.Path
}

func (p idsPath) String() string { return p.variable + "." + p.path.String() }

// isMany reports whether the value of a read is a list.
func (o read) isMany() bool { return o.max > 0 }

// max sets the largest number of resources of a read.
func (f *file) max(made *read, kind string, node *yaml.Node) {
	usual, most := 0, 0
	switch kind {
	case "each":
		usual, most = usualEach, maxEach
	case "list":
		usual, most = usualListed, maxListed
	}
	made.max = usual
	if node == nil {
		return
	}
	number, err := strconv.Atoi(node.Value)
	switch {
	case most == 0:
		f.report(node, "max is only valid beside each and list")
	case err != nil || number < 1 || number > most:
		f.report(node, "max beside %s must be a number from 1 to %d, not %q", kind, most, node.Value)
	default:
		made.max = number
	}
}

// each compiles the path of the IDs of a read.
func (f *file) each(compiled *rule, made *read, node *yaml.Node) {
	bodies := []string{"desired", "observed", "owner"}
	if compiled.at == atOwner {
		bodies = []string{"owner"}
	}
	variable, rest, _ := strings.Cut(node.Value, ".")
	if !slices.Contains(bodies, variable) {
		f.report(node, "each is a path of IDs in %s, such as %s.properties.domains[*].id, not %q", strings.Join(bodies, ", "), bodies[0], node.Value)
		return
	}
	path, err := resource.ParsePath(rest)
	switch {
	case err != nil:
		f.report(node, "each: %v", err)
	case !slices.ContainsFunc(path, func(step resource.Step) bool { return step.Any }):
		f.report(node, "each has no [*] and leads to one ID: write [*] behind the list, or id in place of each")
	}
	made.each = idsPath{variable, path}
	compiled.parts = append(compiled.parts, part{what: "read " + made.name, node: node, decides: true})
}

// list compiles the type of the resources of a list.
func (f *file) list(compiled *rule, made *read, node *yaml.Node) {
	made.list = node.Value
	compiled.parts = append(compiled.parts, part{what: "read " + made.name, node: node, decides: true})
	id, owner, err := exampleIDs(compiled.resourceType)
	if compiled.at == atOwner {
		id = owner
	}
	switch {
	case !typePattern.MatchString(node.Value):
		f.report(node, "list: %q is not a resource type such as Microsoft.Kusto/clusters/databases", node.Value)
	case err != nil: // of the type of the rule, which is reported
	case listParent(node.Value, id).IsZero():
		f.report(node, "list: %s is not directly below %s, nor below a resource above it", node.Value, compiled.resourceType)
	case !knownType(node.Value):
		f.warn(node, "unknown type %s%s; the rule is loaded anyway", node.Value, didYouMean(types.Nearest(node.Value)))
	}
}

// listParent returns the nearest resource, from one upwards, that has resources of a type
// directly below it: the parent of those of its own type, and the resource group of other types
// without a parent. It is the zero ID if there is none.
func listParent(resourceType string, from resource.ID) resource.ID {
	if strings.EqualFold(resourceType, from.Type()) {
		return from.Owner()
	}
	above := resourceType[:strings.LastIndex(resourceType, "/")]
	for at := from; !at.IsZero(); at = at.Owner() {
		if strings.EqualFold(above, at.Type()) || at.IsContainer() && !strings.Contains(above, "/") {
			return at
		}
	}
	return resource.ID{}
}

// targets returns the resources to read, each once. It is an error if they are more than max.
func (o read) targets(ctx context.Context, vars map[string]any) ([]resource.ID, error) {
	if !o.isMany() {
		id, err := o.target(ctx, vars)
		if err != nil || id.IsZero() {
			return nil, err
		}
		return []resource.ID{id}, nil
	}
	var ids []resource.ID
	for _, value := range o.each.path.All(native(vars[o.each.variable])) {
		id, err := idOf(value)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", o.each, err)
		}
		if !id.IsZero() && !slices.ContainsFunc(ids, id.Equal) {
			ids = append(ids, id)
		}
	}
	if len(ids) > o.max {
		return nil, fmt.Errorf("%d resources stand at %s, and max is %d: a check that sees a part of them must not decide; raise max (to %d at most)", len(ids), o.each, o.max, maxEach)
	}
	return ids, nil
}

// native returns a variable as JSON is decoded, nil for a value that JSON does not have.
func native(variable any) any {
	value, ok := variable.(ref.Val)
	if !ok {
		return variable
	}
	decoded, err := expression.Native(value)
	if err != nil {
		return nil
	}
	return decoded
}

// listOf returns the list to read, without a parent for none, and the resource of the rule. A
// rule at owner knows only the owner.
func (o read) listOf(vars map[string]any) (list extensionhost.List, self resource.ID, err error) {
	text, own := vars["id"].(string)
	if !own {
		text, _ = vars["ownerID"].(string)
	}
	if text == "" {
		return list, self, nil
	}
	from, err := resource.ParseID(text)
	if err != nil {
		return list, self, err
	}
	if own {
		self = from
	}
	version := o.apiVersion
	if version == "" {
		version = types.Newest(o.list)
	}
	return extensionhost.List{Parent: listParent(o.list, from), Type: o.list, APIVersion: version, Max: o.max + 1}, self, nil
}

// takeList puts the resources of a list into the variables and the result. A rule waits for a
// change of each, and of their parent if there is none.
func (a *asked) takeList(vars map[string]any, result *readResult) error {
	if a.err != nil {
		return a.err
	}
	bodies := []any{}
	for _, item := range a.listing.Resources {
		if item.ID.Equal(a.self) {
			continue
		}
		bodies = append(bodies, bodyOf(item))
		if !item.ID.IsZero() {
			result.add(item.ID, item.Ready())
		}
	}
	if a.listing.More || len(bodies) > a.max {
		return fmt.Errorf("%s has more than %d resources of type %s, or more than %d pages of them: a check that sees a part of a list must not decide; raise max (to %d at most)",
			a.from.Parent.Short(), a.max, a.list, extensionhost.MaxListPages, maxListed)
	}
	if len(bodies) == 0 && !a.from.Parent.IsZero() {
		result.add(a.from.Parent, true)
	}
	vars[a.name] = expression.Value(bodies)
	return nil
}

// maxPassRequests bounds what the rules of one type read in one pass.
const maxPassRequests = 64

// requests returns the number of requests that a read takes at most.
func (o read) requests() int {
	switch {
	case o.list != "":
		return extensionhost.MaxListPages
	case o.isMany():
		return o.max
	}
	return 1
}

// requestShares shares the requests of a pass among the rules of a type.
type requestShares struct {
	left int
	// granted has the requests of the reads so far, by point and spelling: rules at one point
	// that read the same resources share the readings.
	granted map[string]int
}

// grant gives the reads of a rule their share, and warns of one that may need more.
func (s *requestShares) grant(f *file, r *rule) {
	for i := range r.reads {
		o := &r.reads[i]
		key := string(r.at) + " " + o.spelled
		more := min(max(o.requests()-s.granted[key], 0), s.left)
		s.left -= more
		s.granted[key] += more
		if o.allowed = min(s.granted[key], o.requests()); o.allowed < o.requests() {
			f.warn(o.node, "read %s takes up to %d requests and has %d: the rules of %s share the %d requests of a pass in the order of the files, and rule %s fails if it needs more; lower max",
				o.name, o.requests(), o.allowed, r.resourceType, maxPassRequests, r.name)
		}
	}
}
