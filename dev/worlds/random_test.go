package worlds

import (
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/armature-io/armature/drift"
	"github.com/armature-io/armature/types"
)

const (
	// maxAdded is the number of examples that a world begins with, beside their owners.
	maxAdded = 5
	// minSteps and maxSteps bound the steps after them.
	minSteps, maxSteps = 6, 12
)

// author draws the steps of a script.
type author struct {
	*rand.Rand
	examples *catalogue
	// present are the names of the world at this point, sorted; set are the values that steps set.
	present []string
	set     []step
	script  script
}

// draw returns the script of a seed.
func draw(seed uint64, examples *catalogue) script {
	a := &author{Rand: rand.New(rand.NewPCG(seed, 0)), examples: examples}
	for range 1 + a.IntN(maxAdded) {
		a.add()
	}
	if a.IntN(4) > 0 {
		a.append(step{kind: "settle"})
	}
	for range minSteps + a.IntN(maxSteps-minSteps) {
		a.next()
	}
	return a.script
}

func (a *author) append(s step) { a.script = append(a.script, s) }

// next appends a step of a random kind: as often as the kind is in the list.
func (a *author) next() {
	write := []func(){
		a.add, a.remove, a.vanish,
		a.edit, a.edit, a.edit, a.unset, a.option, a.scale,
		a.foreign, a.foreign, a.foreign, a.foreign,
		a.plain("kill"), a.plain("kill"), a.plain("freeze"), a.plain("unfreeze"), a.plain("rotate"), a.plain("settle"),
	}
	pick(a, write)()
}

func (a *author) plain(kind string) func() { return func() { a.append(step{kind: kind}) } }

func (a *author) add() {
	name := pick(a, slices.Sorted(maps.Keys(a.examples.documents)))
	a.append(step{kind: "add", name: name})
	a.present = a.examples.withNeeds(append(a.present, name)...)
}

// remove deletes a resource that few others need: a world without resources tests little.
func (a *author) remove() {
	name := pick(a, a.present)
	gone := a.examples.withDependents(name)
	if len(gone) > 4 {
		return
	}
	a.append(step{kind: "remove", name: name})
	isGone := func(name string) bool { return slices.Contains(gone, name) }
	a.present = slices.DeleteFunc(a.present, isGone)
	a.set = slices.DeleteFunc(a.set, func(s step) bool { return isGone(s.name) })
}

// vanish deletes a resource that no other one needs as another client.
func (a *author) vanish() {
	name := pick(a, a.present)
	for _, other := range a.examples.withDependents(name) {
		if other != name && slices.Contains(a.present, other) {
			return
		}
	}
	a.append(step{kind: "vanish", name: name})
}

// edit sets a tag, or a setting that is published of the type.
func (a *author) edit() {
	name := pick(a, a.present)
	settings := a.examples.settings(name)
	if len(settings) == 0 {
		return
	}
	chosen := pick(a, settings)
	s := step{kind: "set", name: name, path: "body." + chosen.path, value: pick(a, chosen.values)}
	a.append(s)
	a.set = append(a.set, s)
}

func (a *author) unset() {
	if len(a.set) == 0 {
		return
	}
	i := a.IntN(len(a.set))
	name, path := a.set[i].name, a.set[i].path
	a.append(step{kind: "unset", name: name, path: path})
	a.set = slices.DeleteFunc(a.set, func(s step) bool { return s.name == name && s.path == path })
}

// option changes how a resource is reconciled: the content of a PUT, or a value that is sent
// once.
func (a *author) option() {
	name := pick(a, a.present)
	if a.IntN(2) == 0 || !a.examples.hasTags(name) {
		a.append(step{kind: "set", name: name, path: "reconcile.put", value: pick(a, []any{"default", "merge"})})
		return
	}
	a.append(step{kind: "set", name: name, path: "reconcile.initial", value: []any{"tags.release"}})
	a.append(step{kind: "set", name: name, path: "body.tags.release", value: pick(a, []any{"1", "2"})})
	a.append(step{kind: "foreign", name: name, path: "tags.release", value: "3"})
}

// autoscaler is the switch of an agent pool that makes Azure the owner of the value at autoscaled.
const autoscaler, autoscaled = "properties.enableAutoScaling", "properties.count"

// scale changes a number that an autoscaler owns: a switch of the manifest says so, or ignore.
func (a *author) scale() {
	count := float64(2 + a.IntN(5))
	for _, name := range a.present {
		d := a.examples.documents[name]
		ignored, _ := valueAt(d, "reconcile.ignore")
		for _, path := range listOf(ignored) {
			a.append(step{kind: "foreign", name: name, path: path.(string), value: count})
		}
		if _, counted := valueAt(d, "body."+autoscaled); counted && ignored == nil {
			a.append(step{kind: "set", name: name, path: "body.properties.minCount", value: 1.0})
			a.append(step{kind: "set", name: name, path: "body.properties.maxCount", value: 9.0})
			a.append(step{kind: "set", name: name, path: "body." + autoscaler, value: true})
			a.append(step{kind: "foreign", name: name, path: autoscaled, value: count})
		}
	}
}

func listOf(value any) []any {
	list, _ := value.([]any)
	return list
}

// foreign changes a value of the manifest, or a tag that no manifest has.
func (a *author) foreign() {
	if len(a.set) > 0 && a.IntN(2) == 0 {
		s := pick(a, a.set)
		for _, setting := range a.examples.settings(s.name) {
			if "body."+setting.path == s.path {
				a.append(step{kind: "foreign", name: s.name, path: setting.path, value: pick(a, setting.values)})
			}
		}
		return
	}
	if name := pick(a, a.present); a.examples.hasTags(name) {
		a.append(step{kind: "foreign", name: name, path: "tags.theirs", value: pick(a, []any{"a", "b"})})
	}
}

func pick[T any](a *author, from []T) T { return from[a.IntN(len(from))] }

// setting is a path of a body with values that are published.
type setting struct {
	path   string
	values []any
}

// settings returns what a manifest may set: a tag, and the properties of its type with a closed
// choice that the example leaves to Azure.
func (c *catalogue) settings(name string) []setting {
	var found []setting
	if c.hasTags(name) {
		found = append(found, setting{"tags.team", []any{"blue", "green"}})
	}
	properties, _ := c.shape(name).Body.Property("properties")
	if properties.Type == nil {
		return found
	}
	for _, property := range properties.Type.Properties {
		path := "properties." + property.Name
		_, stated := valueAt(c.documents[name], "body."+path)
		if stated || property.Flags != 0 || isState(property.Name) || path == autoscaler || c.isFixed(name, path) {
			continue
		}
		if values := choice(property.Type); len(values) > 1 {
			found = append(found, setting{path, values})
		}
	}
	return found
}

// isFixed reports whether Azure takes the value at a path only when it creates the resource.
func (c *catalogue) isFixed(name, path string) bool {
	typ, _, _ := strings.Cut(c.documents[name].text("type"), "@")
	return slices.ContainsFunc(c.facts.Facts(typ).Comparison.Properties, func(f drift.PropertyFact) bool {
		return f.Immutable && strings.EqualFold(f.Path, path)
	})
}

// isState reports whether a property shows a state although it is published as writable.
func isState(name string) bool {
	return strings.HasSuffix(name, "State") || strings.HasSuffix(name, "Phase")
}

// choice returns the published values of a property, nil if they are not listed.
func choice(of *types.Node) []any {
	if of.Kind == types.Boolean {
		return []any{true, false}
	}
	var values []any
	words, _ := of.Values()
	for _, word := range words {
		values = append(values, word)
	}
	return values
}

func (c *catalogue) hasTags(name string) bool { return c.shape(name).Body.Has("tags") }

func (c *catalogue) shape(name string) *types.Shape {
	typ, version, _ := strings.Cut(c.documents[name].text("type"), "@")
	return types.Lookup(typ, version)
}
