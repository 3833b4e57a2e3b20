package types

import (
	"slices"
	"strings"
)

// maxWalkSteps is the depth to which Walk descends: deeper than any published body.
const maxWalkSteps = 40

// Walk visits every property below the body, also of all variants, with its path in
// lower case: "[]" stands for the items of a list, "*" for the keys of a map. It
// descends as long as visit returns true, and never into a node below itself. path is
// valid during the call only.
func (s *Shape) Walk(visit func(path []string, p Property) (descend bool)) {
	w := walker{visit: visit}
	w.below(s.Body)
}

type walker struct {
	visit     func([]string, Property) bool
	path      []string
	ancestors []*Node
}

func (w *walker) below(n *Node) {
	if slices.Contains(w.ancestors, n) || len(w.path) > maxWalkSteps {
		return
	}
	w.ancestors = append(w.ancestors, n)
	defer func() { w.ancestors = w.ancestors[:len(w.ancestors)-1] }()
	for _, p := range n.Properties {
		w.path = append(w.path, strings.ToLower(p.Name))
		if w.visit(w.path, p) {
			w.below(p.Type)
		}
		w.path = w.path[:len(w.path)-1]
	}
	for _, v := range n.Variants {
		w.below(v.Type)
	}
	for _, element := range n.Elements {
		w.below(element)
	}
	w.step("[]", n.Item)
	w.step("*", n.Additional)
}

func (w *walker) step(name string, n *Node) {
	if n == nil {
		return
	}
	w.path = append(w.path, name)
	w.below(n)
	w.path = w.path[:len(w.path)-1]
}
