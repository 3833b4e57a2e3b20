package author

import (
	"fmt"
	"slices"
	"strings"

	"github.com/armature-io/armature/types"
)

// Tree returns the properties that a body may state below a page, one a line, indented
// by their level. A mapping that contains itself ends at its second mention.
func Tree(q Query) (string, error) {
	page, err := Explain(q)
	if err != nil {
		return "", err
	}
	places, _, err := find(types.Lookup(page.Type, page.Version), q.Path)
	if err != nil {
		return "", err
	}
	t := &tree{}
	t.below(places[0].property.Type, 0, page.Path == "")
	return t.b.String(), nil
}

type tree struct {
	b         strings.Builder
	ancestors []*types.Node
}

func (t *tree) below(n *types.Node, level int, top bool) {
	n = n.Innermost()
	if n.Kind == types.Object && len(n.Properties) == 0 && n.Additional != nil {
		t.below(n.Additional, level, false)
		return
	}
	if slices.Contains(t.ancestors, n) {
		return
	}
	t.ancestors = append(t.ancestors, n)
	defer func() { t.ancestors = t.ancestors[:len(t.ancestors)-1] }()
	indent := strings.Repeat("  ", level)
	for _, p := range sortedProperties(n) {
		if p.Has(types.ReadOnly) || top && isOwnField(p.Name) {
			continue
		}
		f := fieldOf(p, 0)
		fmt.Fprintf(&t.b, "%s%s\n", indent, joinNotEmpty("  ", f.Name, f.Kind, strings.Join(flags(f), ", ")))
		t.below(p.Type, level+1, false)
	}
	for _, v := range n.Variants {
		fmt.Fprintf(&t.b, "%s[%s=%s]\n", indent, n.Discriminator, v.Value)
		t.below(&types.Node{Kind: types.Object, Properties: slices.DeleteFunc(slices.Clone(v.Type.Properties), func(p types.Property) bool { return p.Name == n.Discriminator })}, level+1, top)
	}
}
