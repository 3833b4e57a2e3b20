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

// Switch gives values of a resource to another owner while it is on: to an autoscaler, a
// failover or an upgrade channel.
type Switch struct {
	// Path leads to the switch. [*] in it is the same element as in Values. A switch without a
	// path is always on: Azure lets the values move in one direction only.
	Path string `yaml:"path"`
	// Setting is the type of a resource that turns the switch on for its target.
	// Options.Owners has the paths that such resources own.
	Setting string `yaml:"setting"`
	// On are the values that turn the switch on, "*" is any value. Off are exceptions from "*".
	On  []string `yaml:"on"`
	Off []string `yaml:"off"`
	// Owner is set if Path leads into the body of the resource's owner.
	Owner bool `yaml:"owner"`
	// Kind is the way in which the values move; Values are their paths.
	Kind   SwitchKind `yaml:"kind"`
	Values []string   `yaml:"values"`
	Source string     `yaml:"source"`
}

// SettingOwners returns the owners of values by path, for switches that are settings. by returns
// the name of the setting that a switch stands for, "" if there is none.
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

// SwitchKind is the way in which an owner moves its values.
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

// Owned is a value of the manifest that a PUT leaves as Azure shows it.
type Owned struct {
	Path string
	// By names its owner: a switch, reconcile.initial, or a resource.
	By string
	// Kind is the way in which the owner moves it. Only OwnedIn sets it.
	Kind SwitchKind
	// Held is set if the switch is off now: a user has to decide.
	Held bool
	// Desired and Observed are the values as messages show them.
	Desired, Observed string
}

// String returns the path and its owner, for a message.
func (o Owned) String() string {
	if o.Held {
		return fmt.Sprintf("%s %s -> %s belonged to %s, which is off now", o.Path, o.Observed, o.Desired, o.By)
	}
	return fmt.Sprintf("%s belongs to %s", o.Path, o.By)
}

// OwnedTexts returns the paths of values with their owners, at most resource.MaxDifferences.
func (r Result) OwnedTexts() []string {
	var texts []string
	for _, owned := range r.Owned[:min(len(r.Owned), resource.MaxDifferences)] {
		texts = append(texts, owned.String())
	}
	return texts
}

// ownedValue is a value of the manifest with another owner, or with one in the past. In its
// sides, value is the manifest's, and desired is Azure's.
type ownedValue struct {
	sides
	text, by string
	kind     SwitchKind
	// group is the same for the values that move together.
	group string
	// on is set while the switch is on, switching if a PUT changes the switch, ownSwitch if
	// the manifest has the switch.
	on, switching, ownSwitch bool
}

// initialOwner is the owner of the values of Options.Initial.
const initialOwner = "reconcile.initial"

// ownerAzure is the owner of the values of a switch without a path.
const ownerAzure = "Azure"

// WithOwned returns options that ignore the values of other owners: they are no difference, and
// a PUT carries them as Azure shows them. A creation ignores none. owner is the body of the
// resource's owner; without it, its switches count as on. If a switch was turned off outside
// the manifest, only a correction (Hold) ignores its values.
func (o Options) WithOwned(desired, observed, owner map[string]any) Options {
	o.ownerBody, o.Owned, o.hidden = owner, nil, nil
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
		if s.hides(v.sides) {
			o.hidden = append(o.hidden, v.path)
		}
		if s.differs(v.sides) {
			shown := difference{path: v.path, desired: v.value, observed: v.desired, present: v.isStated}.show()
			owned.Desired, owned.Observed = shown.Desired, shown.Observed
			o.Owned = append(o.Owned, owned)
		}
	}
	return o
}

// changedGroups returns the groups of values that the manifest changed since the baseline. A
// value without a hash in the baseline (adoption) counts as unchanged, unless the last applied
// body lacked it.
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

// owned describes a value for messages, and reports whether a PUT leaves it as Azure shows it.
// changed is set if the manifest changed a value of its group.
func (o Options) owned(s *subject, v ownedValue, changed bool) (Owned, bool) {
	owned := Owned{Path: v.text, By: v.by}
	switch {
	case v.on && v.kind == SwitchAtLeast:
		return owned, isLess(v.value, v.desired)
	case v.on:
		return owned, !changed || v.switching
	}
	owned.By, owned.Held = o.Baseline.Owners[v.text], true
	return owned, o.Hold && owned.By != "" && !v.ownSwitch && !changed && s.differs(v.sides)
}

// ownedPaths returns the paths of Owned.
func (o Options) ownedPaths() []resource.Path {
	texts := make([]string, len(o.Owned))
	for i, owned := range o.Owned {
		texts[i] = owned.Path
	}
	return resource.ParsePaths(texts)
}

// differs reports whether a value of the manifest differs from Azure's: of.value from
// of.desired.
func (s *subject) differs(of sides) bool {
	probe := &walker{subject: s, probe: true}
	p := cursorAt(of.path, of.value).in(s)
	p.observed, p.present = of.desired, of.isStated
	probe.compare(p, nil)
	return len(probe.found) > 0
}

// Differs reports whether desired has a value at a pattern that differs from observed's.
func Differs(desired, observed map[string]any, pattern string) bool {
	s, differs := &subject{}, false
	for _, path := range resource.ParsePaths([]string{pattern}) {
		s.expand(sides{value: desired, desired: observed}, path, func(of sides) { differs = differs || s.differs(of) })
	}
	return differs
}

// hides reports whether no read shows a value of the manifest.
func (s *subject) hides(of sides) bool {
	w, p := &walker{subject: s}, cursorAt(of.path, of.value).in(s)
	p.observed, p.present = of.desired, of.isStated
	w.compare(p, nil)
	return len(w.found) == 1 && w.found[0].hidden
}

func (o Options) hashOwned(v ownedValue) string {
	return hasher{o.Key}.cursor(cursorAt(v.path, v.value))
}

// ownedValues returns the values of desired with another owner, now or in the baseline. Each
// comes once, with the first of its owners.
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

// setSwitch sets the owner of a value, found at a pattern, and the state of its switch.
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
	own, found := at.Get(desired)
	shown, _ := at.Get(observed)
	v.ownSwitch = found && own != nil
	v.on = sw.isOn(own) || sw.isOn(shown)
	v.switching = v.ownSwitch && sw.isOn(own) != sw.isOn(shown)
}

// isOn reports whether a value turns the switch on.
func (sw Switch) isOn(value any) bool {
	if value == nil {
		return false
	}
	text := strings.Trim(compactJSON(value), `"`)
	is := func(word string) bool { return strings.EqualFold(word, text) || word == "*" && text != "" }
	return slices.ContainsFunc(sw.On, is) && !slices.ContainsFunc(sw.Off, is)
}

// bindItems returns the path of a switch with each [*] replaced by the element of found, the
// path at which the pattern of a value matched.
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

// expand calls found for each value of the manifest (of.value) at a pattern, with Azure's value
// there (of.desired).
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

// isLess reports whether a number or version is lower than another: 1.29 is lower than 1.29.4
// and than 1.30. For other values it returns false.
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

// versionOf returns the parts of a version, or a number as the only part.
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

// noteOwned records the owners of values in a new baseline, with hashes of the manifest's
// values. If the manifest changed a value and no PUT sent it yet, its old hash stays, so that
// the change still counts (changedGroups).
func (b *Baseline) noteOwned(desired, observed map[string]any, reasons map[string]resource.Difference, opts Options) {
	before, s := opts.Baseline, opts.subject(observed)
	b.Initial, b.Owners = nil, nil
	for _, v := range opts.ownedValues(desired, observed) {
		by, known := before.Owners[v.text]
		switch {
		case v.on:
			by = v.by
		case !known || v.ownSwitch || !s.differs(v.sides):
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
