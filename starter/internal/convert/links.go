package convert

import (
	"slices"
	"strings"

	"github.com/armature-io/armature/resource"
)

// graph has the needs of the resources of a conversion, by key.
type graph map[string][]string

// reaches reports whether one resource needs another, directly or not.
func (g graph) reaches(from, to string) bool {
	seen := map[string]bool{}
	queue := []string{from}
	for len(queue) > 0 {
		at := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		if at == to {
			return true
		}
		if !seen[at] {
			seen[at] = true
			queue = append(queue, g[at]...)
		}
	}
	return false
}

// add adds a need unless it is there, would close a circle, or is one too many.
func (g graph) add(from, to string) bool {
	switch {
	case slices.Contains(g[from], to):
		return true
	case len(g[from]) >= resource.MaxNeeds-1 || g.reaches(to, from):
		return false
	}
	g[from] = append(g[from], to)
	return true
}

// linkAll turns resource IDs in bodies into references where the conversion has their
// resource, so that it is applied first. A resource that contains the ID of its own child
// keeps it as a text, as everything that would close a circle.
func (c *conversion) linkAll() {
	slices.SortFunc(c.resources, func(a, b *Resource) int { return strings.Compare(a.id.Key(), b.id.Key()) })
	needs := graph{}
	for _, r := range c.resources {
		if owner := r.id.Owner(); !owner.IsZero() {
			needs[r.id.Key()] = append(needs[r.id.Key()], owner.Key())
		}
	}
	for _, r := range c.resources {
		r.body.walk(nil, func(_ resource.Path, v *value) *value {
			if v.kind == reference && !slices.Contains(needs[r.id.Key()], v.id.Key()) {
				needs[r.id.Key()] = append(needs[r.id.Key()], v.id.Key())
			}
			return v
		})
	}
	for _, r := range c.resources {
		r.needs = slices.DeleteFunc(r.needs, func(id resource.ID) bool {
			known := slices.Contains(needs[r.id.Key()], id.Key())
			return known || c.byKey[id.Key()] == nil || !needs.add(r.id.Key(), id.Key())
		})
	}
	for _, r := range c.resources {
		r.body = r.body.walk(nil, func(path resource.Path, v *value) *value { return c.link(r, path, v, needs) })
	}
}

// link returns the reference for a text that is the ID of another resource of the
// conversion.
func (c *conversion) link(r *Resource, path resource.Path, v *value, needs graph) *value {
	if v.kind != text || v.plain || !strings.HasPrefix(v.text, "/") || len(path) > 0 && strings.EqualFold(path[0].Name, "tags") {
		return v
	}
	id, err := resource.ParseID(v.text)
	if err != nil {
		return v
	}
	target := c.byKey[id.Key()]
	if target == nil {
		c.needAbove(r, id, needs)
	}
	if target == nil || target == r || !needs.add(r.id.Key(), target.id.Key()) {
		return v
	}
	return &value{kind: reference, line: v.line, id: target.id}
}

// needAbove makes a resource depend on the one that contains what an ID names, such as the
// network of a subnet that is stated in the body of the network.
func (c *conversion) needAbove(r *Resource, id resource.ID, needs graph) {
	for id.IsChild() {
		id = id.Owner()
		target := c.byKey[id.Key()]
		if target == nil {
			continue
		}
		known := slices.Contains(needs[r.id.Key()], id.Key())
		if target != r && !known && needs.add(r.id.Key(), id.Key()) {
			r.needs = append(r.needs, target.id)
		}
		return
	}
}

// nameOf returns the text by which the manifest of a resource names another one: its name
// where only one manifest of the same file has it, else its ID, with the api-version where
// a loader cannot know it.
func (c *conversion) nameOf(r *Resource, id resource.ID, version string) string {
	target := c.byKey[id.Key()]
	if target == nil {
		if version != "" && !id.IsContainer() {
			return id.String() + "@" + version
		}
		return id.String()
	}
	if fileOf(r.id) == fileOf(target.id) {
		forms := []string{target.id.Short(), target.id.Name()}
		if c.lastNamesOnly {
			forms = forms[1:]
		}
		for _, name := range forms {
			if c.names[strings.ToLower(name)] == 1 && !strings.HasPrefix(name, "/") {
				return name
			}
		}
	}
	return target.id.String()
}

// countNames counts the resources for each name by which a loader finds them.
func (c *conversion) countNames() {
	c.names = map[string]int{}
	for _, r := range c.resources {
		c.names[strings.ToLower(r.id.Name())]++
		if short := r.id.Short(); short != r.id.Name() {
			c.names[strings.ToLower(short)]++
		}
	}
}
