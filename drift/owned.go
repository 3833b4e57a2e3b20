package drift

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/armature-io/armature/resource"
)

// Switch gives values of a resource to another owner while it is on: an autoscaler, a
// failover, an upgrade channel.
type Switch struct {
	// Path leads to the switch. [*] in it is the same element as in Values. "" is a switch that
	// is always on: Azure lets the values move in one direction only.
	Path string `yaml:"path"`
	// Setting is the type of another resource that is the switch, if it names the resource as
	// its target: Options.Owners has the paths that one owns.
	Setting string `yaml:"setting"`
	// On are the values in which it is on, "*" any value. Off are exceptions from "*".
	On  []string `yaml:"on"`
	Off []string `yaml:"off"`
	// Owner is set if Path is one of the owner of the resource.
	Owner bool `yaml:"owner"`
	// Kind is how the values move; Values are their paths.
	Kind   SwitchKind `yaml:"kind"`
	Values []string   `yaml:"values"`
	Source string     `yaml:"source"`
}

// SettingOwners returns the owners, by path, of the values that settings own. by returns the
// setting that is the switch of values, "" for none.
func (f Facts) SettingOwners(by func(Switch) string) map[string]string {
	owners := map[string]string{}
	for _, sw := range f.Switches {
		if sw.Setting == "" {
			continue
		}
		if owner := by(sw); owner != "" {
			for _, path := range sw.Values {
				owners[path] = owner
			}
		}
	}
	return owners
}

// SwitchKind is how the owner of values moves them.
type SwitchKind string

// The kinds of switches.
const (
	// SwitchFloats moves each value in both directions, for example a count.
	SwitchFloats SwitchKind = "floats"
	// SwitchAtLeast only raises a value, for example a version or a size.
	SwitchAtLeast SwitchKind = "atLeast"
	// SwitchSwaps moves the values of a switch together, for example zones.
	SwitchSwaps SwitchKind = "swaps"
)

// Owned is a value that the manifest states and a PUT leaves as Azure shows it.
type Owned struct {
	Path string
	// By names its owner: a switch, reconcile.initial, or a resource.
	By string
	// Kind is how the owner moves it; only OwnedIn sets it.
	Kind SwitchKind
	// Held is set if the owner let go of the value, and a user has to decide.
	Held bool
	// Desired and Observed are the values, shown.
	Desired, Observed string
}

// String returns the path with its owner.
func (o Owned) String() string {
	if o.Held {
		return fmt.Sprintf("%s %s -> %s belonged to %s, which is off now", o.Path, o.Observed, o.Desired, o.By)
	}
	return fmt.Sprintf("%s belongs to %s", o.Path, o.By)
}

// OwnedTexts returns the values of other owners with their owners, at most
// resource.MaxDifferences.
func (r Result) OwnedTexts() []string {
	var texts []string
	for _, owned := range r.Owned[:min(len(r.Owned), resource.MaxDifferences)] {
		texts = append(texts, owned.String())
	}
	return texts
}

// ownedValue is a value of the manifest that another owner moves, or moved.
type ownedValue struct {
	sides
	text, by string
	kind     SwitchKind
	// group is the same for the values that move together.
	group string
	// on is set while the owner moves it, switching if a PUT changes the switch, switchStated if
	// the manifest states the switch.
	on, switching, switchStated bool
}

// initialOwner is the owner of the values of Options.Initial.
const initialOwner = "reconcile.initial"

// ownerAzure is the owner of the values of a switch without a path.
const ownerAzure = "Azure"

// WithOwned returns the options in which the values of other owners are ignored: they are no
// difference, and a PUT carries them as Azure shows them. A creation has none. owner is the body
// of the owner; if it is nil, its switches count as on. A value whose owner let go of it is
// ignored by a correction alone (Hold).
func (o Options) WithOwned(desired, observed, owner map[string]any) Options {
	o.ownerBody, o.Owned = owner, nil
	if observed == nil {
		return o
	}
	values := o.ownedValues(desired, observed)
	if len(values) == 0 {
		return o
	}
	s := o.subject(observed)
	changed := o.changedGroups(values)
	o.Ignore = slices.Clone(o.Ignore)
	for _, v := range values {
		owned, kept := o.owned(s, v, changed[v.group])
		if !kept {
			continue
		}
		o.Ignore = append(o.Ignore, v.text)
		if s.differs(v.sides) {
			shown := difference{path: v.path, desired: v.value, observed: v.desired, present: v.isStated}.show()
			owned.Desired, owned.Observed = shown.Desired, shown.Observed
			o.Owned = append(o.Owned, owned)
		}
	}
	return o
}

// changedGroups returns the groups of values that the manifest changed since they were sent or
// found. Without a record, as for an adopted resource, it changed none but those that the
// last applied body did not state.
func (o Options) changedGroups(values []ownedValue) map[string]bool {
	applied, changed := o.Baseline.Applied.decode(), map[string]bool{}
	for _, v := range values {
		switch before := o.Baseline.Initial[v.text]; {
		case before == "" && o.Baseline.Body != "" && !applied.has(v.path), before != "" && before != o.hashOwned(v):
			changed[v.group] = true
		}
	}
	return changed
}

// owned returns a value as one of another owner, and reports whether a PUT leaves it alone.
// changed is set if the manifest changed it.
func (o Options) owned(s *subject, v ownedValue, changed bool) (Owned, bool) {
	owned := Owned{Path: v.text, By: v.by}
	switch {
	case v.on && v.kind == SwitchAtLeast:
		return owned, isLess(v.value, v.desired)
	case v.on:
		return owned, !changed || v.switching
	}
	owned.By, owned.Held = o.Baseline.Owners[v.text], true
	return owned, o.Hold && owned.By != "" && !v.switchStated && !changed && s.differs(v.sides)
}

// ownedPaths returns the paths of the values that a PUT carries for their owners.
func (o Options) ownedPaths() []resource.Path {
	texts := make([]string, len(o.Owned))
	for i, owned := range o.Owned {
		texts[i] = owned.Path
	}
	return resource.ParsePaths(texts)
}

// differs reports whether a value of the manifest differs from Azure's. In sides, value is the
// manifest's.
func (s *subject) differs(of sides) bool {
	probe := &walker{subject: s, probe: true}
	p := cursorAt(of.path, of.value).in(s)
	p.observed, p.present = of.desired, of.isStated
	probe.compare(p, nil)
	return len(probe.found) > 0
}

// Differs reports whether desired states a value at a pattern that observed does not have.
func Differs(desired, observed map[string]any, pattern string) bool {
	s, differs := &subject{}, false
	for _, path := range resource.ParsePaths([]string{pattern}) {
		s.expand(sides{value: desired, desired: observed}, path, func(of sides) { differs = differs || s.differs(of) })
	}
	return differs
}

func (o Options) hashOwned(v ownedValue) string {
	return hasher{o.Key}.cursor(cursorAt(v.path, v.value))
}

// ownedValues returns the values of desired that have another owner, or had one, each once, with
// the first of its owners.
func (o Options) ownedValues(desired, observed map[string]any) []ownedValue {
	var found []ownedValue
	s, seen, enforced := o.subject(observed), map[pathHash]bool{}, resource.ParsePaths(o.Enforce)
	add := func(patterns []string, owned func(pattern resource.Path, v *ownedValue)) {
		for _, pattern := range resource.ParsePaths(patterns) {
			s.expand(sides{value: desired, desired: observed}, pattern, func(of sides) {
				hash := hashPath(of.path)
				if seen[hash] || isIgnored(of.path, enforced) {
					return
				}
				seen[hash] = true
				v := ownedValue{sides: of, text: of.path.String()}
				v.group = v.text
				owned(pattern, &v)
				found = append(found, v)
			})
		}
	}
	always := func(by string) func(resource.Path, *ownedValue) {
		return func(_ resource.Path, v *ownedValue) { v.by, v.kind, v.on = by, SwitchFloats, true }
	}
	add(o.Initial, always(initialOwner))
	for _, pattern := range slices.Sorted(maps.Keys(o.Owners)) {
		add([]string{pattern}, always(o.Owners[pattern]))
	}
	for _, sw := range o.Facts.Switches {
		if sw.Setting == "" {
			add(sw.Values, func(pattern resource.Path, v *ownedValue) { o.setSwitch(v, sw, pattern, desired, observed) })
		}
	}
	for _, text := range slices.Sorted(maps.Keys(o.Baseline.Owners)) {
		if o.Baseline.Owners[text] != initialOwner {
			add([]string{text}, func(resource.Path, *ownedValue) {})
		}
	}
	return found
}

// setSwitch reads the state of the switch of a value that was found at a pattern.
func (o Options) setSwitch(v *ownedValue, sw Switch, pattern resource.Path, desired, observed map[string]any) {
	v.kind = sw.Kind
	at, err := resource.ParsePath(sw.Path)
	if err != nil {
		v.by, v.on = ownerAzure, true
		return
	}
	at = bindItems(at, pattern, v.path)
	if v.by = at.String(); v.kind == SwitchSwaps {
		v.group = v.by
	}
	if sw.Owner {
		value, _ := at.Get(o.ownerBody)
		v.on, v.by = sw.isOn(value) || o.ownerBody == nil, v.by+" of the owner"
		return
	}
	own, stated := at.Get(desired)
	shown, _ := at.Get(observed)
	v.switchStated = stated && own != nil
	v.on = sw.isOn(own) || sw.isOn(shown)
	v.switching = v.switchStated && sw.isOn(own) != sw.isOn(shown)
}

// isOn reports whether a switch with a value is on.
func (sw Switch) isOn(value any) bool {
	if value == nil {
		return false
	}
	text := strings.Trim(compactJSON(value), `"`)
	is := func(word string) bool { return strings.EqualFold(word, text) || word == "*" && text != "" }
	return slices.ContainsFunc(sw.On, is) && !slices.ContainsFunc(sw.Off, is)
}

// bindItems replaces [*] in the path of a switch by the elements at which the pattern of a value
// was found.
func bindItems(at, pattern, found resource.Path) resource.Path {
	bound := append(resource.Path(nil), at...)
	for i := range min(len(at), len(pattern), len(found)) {
		if at[i] != pattern[i] {
			break
		}
		bound[i] = found[i]
	}
	return bound
}

// expand calls found for each value of the manifest at a pattern. In sides, value is the
// manifest's, and desired the counterpart that Azure shows.
func (s *subject) expand(of sides, pattern resource.Path, found func(sides)) {
	if len(pattern) == 0 {
		if of.isStated = of.isStated && of.desired != nil; of.value != nil {
			found(of)
		}
		return
	}
	for at := range s.inside(of) {
		step := at.path[len(at.path)-1]
		if step.Name != "" && strings.EqualFold(step.Name, pattern[0].Name) || step.Name == "" && pattern[0].MatchesElement(at.at, at.value) {
			s.expand(at, pattern[1:], found)
		}
	}
}

// isLess reports whether a number or a version is lower than another one: 1.29 is lower than
// 1.29.4 and than 1.30. Other values are not.
func isLess(a, b any) bool {
	x, okX := versionOf(a)
	y, okY := versionOf(b)
	if !okX || !okY {
		return false
	}
	for i := range min(len(x), len(y)) {
		if x[i] != y[i] {
			return x[i] < y[i]
		}
	}
	return len(x) < len(y)
}

// versionOf returns the numbers of a number or of a version.
func versionOf(value any) ([]float64, bool) {
	switch value := value.(type) {
	case json.Number:
		number, err := value.Float64()
		return []float64{number}, err == nil
	case float64:
		return []float64{value}, true
	case string:
		var numbers []float64
		for part := range strings.SplitSeq(strings.TrimPrefix(value, "v"), ".") {
			number, err := strconv.ParseFloat(part, 64)
			if err != nil {
				return nil, false
			}
			numbers = append(numbers, number)
		}
		return numbers, true
	}
	return nil, false
}

// noteOwned records in a new baseline which values have another owner, and the hashes of those
// that the manifest states. A value that the manifest changed and that was not sent yet
// keeps its hash.
func (b *Baseline) noteOwned(desired, observed map[string]any, reasons map[string]resource.Difference, opts Options) {
	before, s := opts.Baseline, opts.subject(observed)
	b.Initial, b.Owners = nil, nil
	for _, v := range opts.ownedValues(desired, observed) {
		by, known := before.Owners[v.text]
		switch {
		case v.on:
			by = v.by
		case !known || v.switchStated || !s.differs(v.sides):
			continue
		}
		hash := opts.hashOwned(v)
		if _, sent := reasons[v.text]; before.Initial[v.text] != "" && s.differs(v.sides) && (!opts.Put || !sent) {
			hash = before.Initial[v.text]
		}
		if v.kind == SwitchAtLeast && v.on {
			hash = ""
		}
		if b.Owners == nil {
			b.Owners, b.Initial = map[string]string{}, map[string]string{}
		}
		if b.Owners[v.text] = by; hash != "" {
			b.Initial[v.text] = hash
		}
	}
}
