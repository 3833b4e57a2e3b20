package types

import (
	"cmp"
	"slices"
	"strings"
)

// indexOf returns the index of made-up shapes of one provider.
func indexOf(shapes ...Shape) *index {
	slices.SortStableFunc(shapes, func(a, b Shape) int {
		return cmp.Or(strings.Compare(strings.ToLower(a.Type), strings.ToLower(b.Type)), strings.Compare(a.Version, b.Version))
	})
	p := &provider{name: "Contoso.Net", load: func() ([]Shape, error) { return shapes, nil }}
	x := &index{providers: []*provider{p}}
	for i, s := range shapes {
		key := strings.ToLower(s.Type)
		if n := len(x.types); n == 0 || x.types[n-1].key != key {
			x.types = append(x.types, publishedType{key: key, provider: p})
		}
		t := &x.types[len(x.types)-1]
		t.name, t.versions = s.Type, append(t.versions, publishedVersion{name: s.Version, writable: s.Writable != 0, resource: i})
	}
	return x
}
