package author

import (
	"slices"
	"strings"

	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/types"
)

// Offer is what a shell can complete a word to, with a note about it.
type Offer struct{ Text, Note string }

// CompleteQuery returns what can complete TYPE[@VERSION][.path]: namespaces, types,
// api-versions behind an @, and properties behind a dot.
func CompleteQuery(typed string) []Offer {
	name, rest := splitType(typed)
	if _, found := types.Spelled(name); !found || rest == "" {
		return CompleteType(typed, false)
	}
	version := types.Newest(name)
	if stated, versioned := strings.CutPrefix(rest, "@"); versioned {
		version, rest = splitVersion(name, stated)
		if rest == "" {
			return CompleteVersion(name, version, name+"@")
		}
	}
	return completePath(typed[:len(typed)-len(rest)], types.Lookup(name, version), rest)
}

// CompleteType returns the namespaces that begin with a text without a slash, and the
// types that begin with any other text, ignoring case. With writable it leaves out what
// a PUT cannot create. An offer begins as the user typed it, because shells compare with
// case.
func CompleteType(typed string, writable bool) []Offer {
	lower := strings.ToLower(typed)
	var found []Offer
	for _, name := range types.Names(writable) {
		if !strings.Contains(typed, "/") {
			name = name[:strings.IndexByte(name, '/')+1]
		}
		if !strings.HasPrefix(strings.ToLower(name), lower) {
			continue
		}
		offer := Offer{Text: typed + name[len(typed):]}
		if len(found) == 0 || !strings.EqualFold(found[len(found)-1].Text, offer.Text) {
			found = append(found, offer)
		}
	}
	return found
}

// CompleteVersion returns the api-versions of a type that begin with a text, newest
// first, each behind prefix.
func CompleteVersion(name, typed, prefix string) []Offer {
	var found []Offer
	for _, version := range slices.Backward(types.Versions(name)) {
		if strings.HasPrefix(version, typed) {
			found = append(found, Offer{Text: prefix + version})
		}
	}
	return found
}

// completePath returns the properties that can complete the path at the end of a
// query; before is the query without the path.
func completePath(before string, shape *types.Shape, path string) []Offer {
	dot := strings.LastIndexByte(path, '.')
	if shape == nil || dot < 0 || strings.Count(path[:dot], "['") != strings.Count(path[:dot], "']") {
		return nil
	}
	base, typed := path[:dot], strings.ToLower(path[dot+1:])
	var steps resource.Path
	if text := strings.TrimPrefix(base, "."); text != "" {
		parsed, err := resource.ParsePath(strings.ReplaceAll(text, "[]", "[*]"))
		if err != nil {
			return nil
		}
		steps = parsed
	}
	places, at, err := find(shape, steps)
	if err != nil {
		return nil
	}
	var found []Offer
	for _, p := range places {
		n := p.property.Type.Innermost()
		nodes := []*types.Node{n}
		for _, v := range n.Variants {
			nodes = append(nodes, v.Type)
		}
		for _, node := range nodes {
			for _, property := range sortedProperties(node) {
				if at == "" && isOwnField(property.Name) || !strings.HasPrefix(strings.ToLower(property.Name), typed) {
					continue
				}
				f := fieldOf(property, 0)
				offer := Offer{Text: before + base + "." + path[dot+1:] + property.Name[len(typed):], Note: strings.Join(append([]string{f.Kind}, flags(f)...), ", ")}
				if !slices.ContainsFunc(found, func(known Offer) bool { return known.Text == offer.Text }) {
					found = append(found, offer)
				}
			}
		}
	}
	return found
}
