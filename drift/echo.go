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
// not have, and members of a form that desired does not select. All of observed is
// returned if the type is not published. observed is changed.
func echoes(desired, observed map[string]any, opts Options) map[string]any {
	shape := types.Lookup(opts.Type, opts.APIVersion)
	if shape == nil {
		return observed
	}
	s := opts.sender(observed)
	s.echoObject(shape.Body, desired, observed, nil, types.ReadOnlyOf(opts.Type))
	s.withoutOneShots(desired, observed, nil)
	return observed
}

// echoObject removes the members of an observed object that are not sent back. readOnly
// are the rests of the paths that Azure sets.
func (s *subject) echoObject(n *types.Node, desired, observed map[string]any, path resource.Path, readOnly *types.Paths) {
	members := publishedMembers(n, desired, observed)
	for name, value := range observed {
		step := resource.Step{Name: name}
		at, below := path.With(step), readOnly.Below(step)
		p, found := members.Find(name)
		_, stated, isStated := jsontree.Member(desired, name)
		switch {
		case isStated && stated == nil: // the manifest states that there is none
			delete(observed, name)
		case isStated && !found: // the manifest's own value replaces it
		case isStated:
			observed[name] = s.echoValue(p.Type, stated, value, at, below)
		case !found, p.Has(types.ReadOnly), p.Has(types.WriteOnly), p.Type.Sensitive,
			below.Ends(), slices.Contains(neverEchoed, strings.ToLower(name)), isPlaceholder(value):
			delete(observed, name)
		default:
			// An empty value is a value where names are free: {} of an identity's ID.
			if observed[name] = s.echoValue(p.Type, nil, value, at, below); isEmpty(observed[name]) && p.Name != "" && !p.Has(types.Required) {
				delete(observed, name)
			}
		}
	}
}

// echoValue removes what is not sent back from the members of a value, and returns a
// published text in its published spelling: some services show another one.
func (s *subject) echoValue(n *types.Node, desired, observed any, path resource.Path, readOnly *types.Paths) any {
	switch at := observed.(type) {
	case map[string]any:
		stated, _ := desired.(map[string]any)
		s.echoObject(n, stated, at, path, readOnly)
	case string:
		values, _ := n.Values()
		if i := slices.IndexFunc(values, func(v string) bool { return strings.EqualFold(v, at) }); i >= 0 && !slices.Contains(values, at) {
			return values[i]
		}
	case []any:
		if n.Item == nil {
			break
		}
		desired, _ := desired.([]any)
		pairs := s.pair(path, desired, at)
		below := readOnly.Below(resource.Step{Any: true})
		for i, stated := range pairs.Of() {
			var own any
			if stated >= 0 {
				own = desired[stated]
			}
			at[i] = s.echoValue(n.Item, own, at[i], path.With(pairs.Step(i, at[i])), below)
		}
	}
	return observed
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
