package drift

import (
	"slices"
	"strings"

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
func echoes(desired, observed map[string]any, resourceType, apiVersion string) map[string]any {
	shape := types.Lookup(resourceType, apiVersion)
	if shape == nil {
		return observed
	}
	echoObject(shape.Body, desired, observed, types.ReadOnlyOf(resourceType))
	oneShotsOf(resourceType, apiVersion).withoutOneShots(desired, observed, nil)
	return observed
}

// echoObject removes the members of an observed object that are not sent back. readOnly
// are the rests of the paths that Azure sets.
func echoObject(n *types.Node, desired, observed map[string]any, readOnly *types.Paths) {
	lists, additional := formOf(n, desired, observed)
	for name, value := range observed {
		below := readOnly.Below(resource.Step{Name: name})
		p, found := propertyIn(lists, name)
		if !found && additional != nil {
			p, found = types.Property{Type: additional}, true
		}
		_, stated, isStated := property(desired, name)
		switch {
		case isStated && stated == nil: // the manifest states that there is none
			delete(observed, name)
		case isStated && !found: // the manifest's own value replaces it
		case isStated:
			observed[name] = echoValue(p.Type, stated, value, below)
		case !found, p.Has(types.ReadOnly), p.Has(types.WriteOnly), p.Type.Sensitive,
			below.Ends(), slices.Contains(neverEchoed, strings.ToLower(name)), isPlaceholder(value):
			delete(observed, name)
		default:
			// An empty value is a value where names are free: {} of an identity's ID.
			if observed[name] = echoValue(p.Type, nil, value, below); isEmpty(observed[name]) && p.Name != "" && !p.Has(types.Required) {
				delete(observed, name)
			}
		}
	}
}

// echoValue removes what is not sent back from the members of a value, and returns a
// published text in its published spelling: some services show another one.
func echoValue(n *types.Node, desired, observed any, readOnly *types.Paths) any {
	switch at := observed.(type) {
	case map[string]any:
		stated, _ := desired.(map[string]any)
		echoObject(n, stated, at, readOnly)
	case string:
		values, _ := n.Values()
		if i := slices.IndexFunc(values, func(v string) bool { return strings.EqualFold(v, at) }); i >= 0 && !slices.Contains(values, at) {
			return values[i]
		}
	case []any:
		if n.Item == nil {
			break
		}
		stated, _ := desired.([]any)
		key := identifyingKey(stated, at)
		below := readOnly.Below(resource.Step{Any: true})
		for i, item := range at {
			var own any
			for _, candidate := range stated {
				if key != "" && keyOf(candidate, key) == keyOf(item, key) {
					own = candidate
				}
			}
			at[i] = echoValue(n.Item, own, item, below)
		}
	}
	return observed
}

// formOf returns the properties that an object may have, and the kind of those with any
// name. The discriminator of the manifest, else the one in Azure, selects the form.
func formOf(n *types.Node, desired, observed map[string]any) (lists [][]types.Property, additional *types.Node) {
	switch n.Kind {
	case types.Object:
		return [][]types.Property{n.Properties}, n.Additional
	case types.Discriminated:
		_, selector, stated := property(desired, n.Discriminator)
		if !stated {
			_, selector, _ = property(observed, n.Discriminator)
		}
		text, _ := selector.(string)
		for _, v := range n.Variants {
			if strings.EqualFold(v.Value, text) {
				return [][]types.Property{v.Type.Properties, n.Properties}, v.Type.Additional
			}
		}
		return [][]types.Property{n.Properties}, nil
	}
	return nil, &types.Node{Kind: types.Any}
}

func propertyIn(lists [][]types.Property, name string) (types.Property, bool) {
	for _, list := range lists {
		if i := slices.IndexFunc(list, func(p types.Property) bool { return strings.EqualFold(p.Name, name) }); i >= 0 {
			return list[i], true
		}
	}
	return types.Property{}, false
}
