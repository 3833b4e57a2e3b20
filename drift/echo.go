package drift

import (
	"slices"
	"strings"

	"github.com/armature-io/armature/internal/jsontree"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/types"
)

// neverEchoed are properties that no PUT sends back although some published shapes have
// them as writable: the service or the other side sets them. Sources: the properties of
// the private link, peering and managed cluster APIs on learn.microsoft.com.
var neverEchoed = []string{
	"privateendpointconnections", "provisioningstate", "provisioningdetails", "peeringstate", "peeringsyncstate",
	"nodeimageversion", "resourceguid", "etag", "systemdata",
}

// echoes returns the part of observed that a merged PUT may send back: what the
// published shape of the type has as writable. It leaves out what Azure sets, what a GET
// does not show whole (write-only properties, secrets), properties that the shape does
// not have, and members of a form that desired does not select. Of a type that is not
// published, only what no service accepts is left out: neverEchoed and placeholders.
// observed is changed.
func echoes(desired, observed map[string]any, opts Options) map[string]any {
	shape := types.Lookup(opts.Type, opts.APIVersion)
	if shape == nil {
		echoUnpublished(nil, observed)
		return observed
	}
	s := opts.sender(observed)
	s.echoObject(shape.Body, observed, sides{value: observed, desired: desired}, types.ReadOnlyOf(opts.Type))
	s.withoutOneShots(observed, sides{value: observed, desired: desired})
	return observed
}

// echoUnpublished removes from a value of a type without a shape the members that no service
// accepts. Members with names of users stay.
func echoUnpublished(path resource.Path, value any) {
	switch at := value.(type) {
	case map[string]any:
		for name, member := range at {
			below := path.With(resource.Step{Name: name})
			if !isUserDefined(path) && (slices.Contains(neverEchoed, strings.ToLower(name)) || isPlaceholder(member)) {
				delete(at, name)
				continue
			}
			echoUnpublished(below, member)
		}
	case []any:
		for i, item := range at {
			echoUnpublished(path.With(resource.Step{Index: i, IsIndex: true}), item)
		}
	}
}

// echoObject removes the members of an observed object that are not sent back. readOnly
// are the rests of the paths that Azure sets.
func (s *subject) echoObject(n *types.Node, observed map[string]any, of sides, readOnly *types.Paths) {
	desired, _ := of.desired.(map[string]any)
	members := publishedMembers(n, desired, observed)
	for at := range s.inside(of) {
		name := at.name()
		below := readOnly.Below(at.path[len(at.path)-1])
		p, found := members.Find(name)
		switch {
		case at.isStated && at.desired == nil: // the manifest states that there is none
			delete(observed, name)
		case at.isStated && !found: // the manifest's own value replaces it
		case at.isStated:
			observed[name] = s.echoValue(p.Type, at, below)
		case !found, p.Has(types.ReadOnly), p.Has(types.WriteOnly), p.Type.Sensitive,
			below.Ends(), slices.Contains(neverEchoed, strings.ToLower(name)), isPlaceholder(at.value):
			delete(observed, name)
		default:
			// An empty value is a value where names are free: {} of an identity's ID.
			if observed[name] = s.echoValue(p.Type, at, below); isEmpty(observed[name]) && p.Name != "" && !p.Has(types.Required) {
				delete(observed, name)
			}
		}
	}
}

// echoValue removes what is not sent back from the members of a value, and returns a
// published text in its published spelling: some services show another one.
func (s *subject) echoValue(n *types.Node, of sides, readOnly *types.Paths) any {
	switch observed := of.value.(type) {
	case map[string]any:
		s.echoObject(n, observed, of, readOnly)
	case string:
		values, _ := n.Values()
		if i := slices.IndexFunc(values, func(v string) bool { return strings.EqualFold(v, observed) }); i >= 0 && !slices.Contains(values, observed) {
			return values[i]
		}
	case []any:
		if n.Item == nil {
			break
		}
		for item := range s.inside(of) {
			observed[item.at] = s.echoValue(n.Item, item, readOnly.Below(resource.Step{Any: true}))
		}
	}
	return of.value
}

// publishedMembers returns the members that an object may have. The discriminator of the manifest,
// else the one in Azure, selects the form.
func publishedMembers(n *types.Node, desired, observed map[string]any) types.Members {
	if n.Kind != types.Discriminated {
		return n.Members("")
	}
	_, selector, isStated := jsontree.Member(desired, n.Discriminator)
	if !isStated {
		_, selector, _ = jsontree.Member(observed, n.Discriminator)
	}
	text, _ := selector.(string)
	return n.Members(text)
}
