package drift

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/armature-io/armature/internal/jsontree"
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
	path              resource.Path
	text, by          string
	kind              SwitchKind
	group             int
	desired, observed any
	present           bool
	// on is set while the owner moves it, switching if a PUT changes the switch, stated if the
	// manifest states the switch.
	on, switching, stated bool
}

// initialOwner is the owner of the values of Options.Initial.
const initialOwner = "reconcile.initial"

// ownerAzure is the owner of the values of a switch without a path.
const ownerAzure = "Azure"

// WithOwned returns the options in which the values of other owners are ignored: they are no
// difference, and a PUT carries them as Azure shows them. A creation has none. owner is
// the body of the owner; if it is nil, its switches count as on. Of the values that their owner let go of, only
// a correction (Hold) ignores those that differ.
func (o Options) WithOwned(desired, observed, owner map[string]any) Options {
	o.ownerBody, o.Owned = owner, nil
	if observed == nil {
		return o
	}
	values := o.ownedValues(desired, observed)
	if len(values) == 0 {
		return o
	}
	applied, changed := o.Baseline.Applied.decode(), map[int]bool{}
	for _, v := range values {
		switch before := o.Baseline.Initial[v.text]; {
		case before == "" && o.Baseline.Body != "" && !applied.has(v.path), before != "" && before != o.hashOwned(v):
			changed[v.group] = true // by the manifest
		}
	}
	ignore := o.Ignore[:len(o.Ignore):len(o.Ignore)]
	for _, v := range values {
		owned := Owned{Path: v.text, By: v.by}
		switch {
		case v.on && v.kind == SwitchAtLeast && !isLess(v.desired, v.observed):
			continue
		case v.on && v.kind != SwitchAtLeast && changed[v.group] && !v.switching:
			continue
		case !v.on:
			owned.By, owned.Held = o.Baseline.Owners[v.text], true
			if owned.By == "" || v.stated || changed[v.group] || !o.Hold || !v.differs() {
				continue
			}
		}
		ignore = append(ignore, v.text)
		if v.differs() {
			shown := difference{path: v.path, desired: v.desired, observed: v.observed, present: v.present}.show()
			owned.Desired, owned.Observed = shown.Desired, shown.Observed
			o.Owned = append(o.Owned, owned)
		}
	}
	o.Ignore = ignore
	return o
}

// ownedPaths returns the paths of the values that a PUT carries for their owners.
func (o Options) ownedPaths() []resource.Path {
	texts := make([]string, len(o.Owned))
	for i, owned := range o.Owned {
		texts[i] = owned.Path
	}
	return resource.ParsePaths(texts)
}

func (v ownedValue) differs() bool { return !v.present || !sameValue(v.desired, v.observed) }

// Differs reports whether desired states a value at a path that observed does not have.
func Differs(desired, observed map[string]any, path string) bool {
	parsed, err := resource.ParsePath(path)
	if err != nil {
		return false
	}
	value, stated := parsed.Get(desired)
	other, shown := parsed.Get(observed)
	return stated && value != nil && (!shown || !sameValue(value, other))
}

// sameValue reports whether two values are equal in JSON, and texts ignoring case.
func sameValue(a, b any) bool {
	if x, ok := a.(string); ok {
		y, isText := b.(string)
		return isText && strings.EqualFold(x, y)
	}
	x, errX := json.Marshal(a)
	y, errY := json.Marshal(b)
	return errX == nil && errY == nil && string(x) == string(y)
}

func (o Options) hashOwned(v ownedValue) string {
	return hasher{o.Key}.cursor(cursorAt(v.path, v.desired))
}

// ownedValues returns the values of desired that have another owner, or had one, each once.
func (o Options) ownedValues(desired, observed map[string]any) []ownedValue {
	var found []ownedValue
	seen := map[pathHash]bool{}
	enforced := resource.ParsePaths(o.Enforce)
	add := func(v ownedValue) {
		if hash := hashPath(v.path); !seen[hash] && !isIgnored(v.path, enforced) {
			seen[hash] = true
			v.text = v.path.String()
			found = append(found, v)
		}
	}
	s, group := o.subject(observed), 0
	for _, path := range resource.ParsePaths(o.Initial) {
		s.expand(path, desired, observed, func(v ownedValue) {
			group++
			v.by, v.kind, v.group, v.on = initialOwner, SwitchFloats, group, true
			add(v)
		})
	}
	for _, text := range slices.Sorted(maps.Keys(o.Owners)) {
		by := o.Owners[text]
		if path, err := resource.ParsePath(text); err == nil {
			s.expand(path, desired, observed, func(v ownedValue) {
				group++
				v.by, v.kind, v.group, v.on = by, SwitchFloats, group, true
				add(v)
			})
		}
	}
	for _, sw := range o.Facts.Switches {
		if sw.Setting != "" {
			continue
		}
		group++
		at, err := resource.ParsePath(sw.Path)
		for _, path := range resource.ParsePaths(sw.Values) {
			s.expand(path, desired, observed, func(v ownedValue) {
				v.by, v.kind, v.group, v.on = ownerAzure, sw.Kind, group, sw.Path == ""
				if err == nil {
					o.setSwitch(&v, sw, bindItems(at, path, v.path), desired, observed)
				}
				if v.kind != SwitchSwaps {
					v.group = group*1000 + len(found)
				}
				add(v)
			})
		}
	}
	for _, text := range slices.Sorted(maps.Keys(o.Baseline.Owners)) {
		by := o.Baseline.Owners[text]
		if path, err := resource.ParsePath(text); err == nil && by != initialOwner {
			s.expand(path, desired, observed, func(v ownedValue) {
				group++
				v.group = -group
				add(v)
			})
		}
	}
	return found
}

// setSwitch reads the state of a switch.
func (o Options) setSwitch(v *ownedValue, sw Switch, at resource.Path, desired, observed map[string]any) {
	v.by = at.String()
	if sw.Owner {
		value, _ := at.Get(o.ownerBody)
		v.on, v.by = sw.isOn(value) || o.ownerBody == nil, v.by+" of the owner"
		return
	}
	own, stated := at.Get(desired)
	shown, _ := at.Get(observed)
	v.stated = stated && own != nil
	v.on = sw.isOn(own) || sw.isOn(shown)
	v.switching = v.stated && sw.isOn(own) != sw.isOn(shown)
}

// isOn reports whether a switch with a value is on.
func (sw Switch) isOn(value any) bool {
	if value == nil {
		return false
	}
	text := strings.Trim(compactJSON(value), `"`)
	is := func(words []string) bool {
		for _, word := range words {
			if strings.EqualFold(word, text) || word == "*" && text != "" {
				return true
			}
		}
		return false
	}
	return is(sw.On) && !is(sw.Off)
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

// expand calls found for each value of desired at a pattern.
func (s *subject) expand(pattern resource.Path, desired, observed any, found func(ownedValue)) {
	s.expandAt(nil, pattern, desired, observed, observed != nil, found)
}

func (s *subject) expandAt(path, pattern resource.Path, desired, observed any, present bool, found func(ownedValue)) {
	if len(pattern) == 0 {
		if desired != nil {
			found(ownedValue{path: path, desired: desired, observed: observed, present: present && observed != nil})
		}
		return
	}
	switch own := desired.(type) {
	case map[string]any:
		name, value, stated := jsontree.Member(own, pattern[0].Name)
		if pattern[0].Name == "" || !stated {
			return
		}
		others, _ := observed.(map[string]any)
		_, shown, isShown := jsontree.Member(others, name)
		s.expandAt(path.With(resource.Step{Name: name}), pattern[1:], value, shown, isShown, found)
	case []any:
		others, _ := observed.([]any)
		pairs := s.pair(path, own, others)
		for i, item := range own {
			if !pattern[0].MatchesElement(i, item) {
				continue
			}
			var shown any
			if at := pairs.At[i]; at >= 0 {
				shown = others[at]
			}
			s.expandAt(path.With(pairs.Step(i, item)), pattern[1:], item, shown, shown != nil, found)
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
	before := opts.Baseline
	b.Initial, b.Owners = nil, nil
	for _, v := range opts.ownedValues(desired, observed) {
		by, known := before.Owners[v.text]
		switch {
		case v.on:
			by = v.by
		case !known || v.stated || !v.differs():
			continue
		}
		hash := opts.hashOwned(v)
		if _, sent := reasons[v.text]; before.Initial[v.text] != "" && v.differs() && (!opts.Put || !sent) {
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
