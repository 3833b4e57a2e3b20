package drift

import (
	"slices"
	"strings"

	"github.com/armature-io/armature/internal/jsontree"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/types"
)

// Drops are the paths of what a PUT takes away from a resource although no manifest
// requests it: at most resource.MaxDifferences, and the number of the others. Tags are
// kept and not among them.
type Drops struct {
	Paths []string
	More  int
}

func (d *Drops) add(path string) {
	if len(d.Paths) == resource.MaxDifferences {
		d.More++
		return
	}
	d.Paths = append(d.Paths, path)
}

// envelope are the top-level members that a body may state. Of a type without a published
// shape, a service may show others that a body may not.
var envelope = [...]string{"properties", "identity", "sku", "plan", "zones", "managedBy", "extendedLocation"}

// DropsOf returns what a PUT of desired takes away from observed: values and list items
// that desired does not state, that its body does not contain, and that are not there by
// themselves. What the last PUT did not state and left alone, the next one does too.
func DropsOf(desired, observed map[string]any, opts Options) Drops {
	return boundedDrops(dropsOf(desired, observed, opts), observed)
}

func boundedDrops(paths []resource.Path, observed map[string]any) Drops {
	var drops Drops
	for _, path := range paths {
		drops.add(dropText(path, observed))
	}
	return drops
}

// dropText returns the path of a value that a PUT takes away, with the value of a scalar in a
// list: its index names nothing.
func dropText(path resource.Path, observed map[string]any) string {
	value := valueAt(path, observed)
	if !path[len(path)-1].IsIndex || !isScalar(value) {
		return path.String()
	}
	return path.String() + " " + difference{path: path, observed: value, present: true}.show().Observed
}

// dropsOf is DropsOf without a bound.
func dropsOf(desired, observed map[string]any, opts Options) []resource.Path {
	if observed == nil {
		return nil
	}
	if opts.StatedOnly { // a PATCH takes away items of the lists that it states, nothing else
		opts.KeepOthers, opts.Baseline.ServiceValues = true, ""
	}
	body := Body(desired, desired, observed, opts).Body
	f := dropFinder{
		subject: opts.sender(observed), view: opts.Baseline.view(desired, opts), published: KeepsOthers(opts.Type),
		serviceValues: opts.Baseline.ServiceValues.decode(), hash: hasher{opts.Key}, ignore: resource.ParsePaths(opts.Ignore),
		holds: opts.holds, survived: opts.Baseline.Sent, inline: types.InlineLists(opts.Type), childLists: opts.ChildLists,
	}
	shown := writableOf(desired, observed, opts)
	rest := map[string]any{}
	if name, properties, found := jsontree.Member(shown, "properties"); found {
		delete(shown, name) // last: the others are few
		rest[name] = properties
	}
	f.members(sides{value: shown, desired: desired}, body)
	f.members(sides{value: rest, desired: desired}, body)
	return f.drops
}

// writableOf returns the part of observed that a PUT may state, in the form that observed
// has.
func writableOf(desired, observed map[string]any, opts Options) map[string]any {
	return withoutFixed(desired, echoes(nil, jsontree.Clone(observed), opts), opts)
}

// dropFinder walks through what observed shows beside desired and the body of the PUT.
type dropFinder struct {
	subject *subject
	view    *baselineView
	// published is set if the shape of the type is known.
	published     bool
	inline        []types.InlineList
	childLists    []string
	serviceValues decodedSet
	hash          hasher
	ignore        []resource.Path
	// holds is set for a correction.
	holds bool
	// survived is set if the items of others in the baseline were there after a PUT.
	survived bool
	drops    []resource.Path
}

func (f *dropFinder) add(path resource.Path) { f.drops = append(f.drops, path) }

func (f *dropFinder) members(of sides, body map[string]any) {
	for at := range f.subject.inside(of) {
		_, sent, isSent := jsontree.Member(body, at.name())
		switch {
		case len(at.path) == 1 && strings.EqualFold(at.name(), "tags"), isIgnored(at.path, f.ignore):
		case at.isStated && at.desired == nil: // a difference, as every value of desired
		case at.isStated, isSent:
			f.both(at, sent)
		case f.subject.parts.keepOmitted(at.path):
		default:
			f.missing(at.value, at.path)
		}
	}
}

// both compares a value that the body contains too.
func (f *dropFinder) both(of sides, body any) {
	switch shown := of.value.(type) {
	case map[string]any:
		if sent, ok := body.(map[string]any); ok {
			f.members(of, sent)
		}
	case []any:
		own, isList := of.desired.([]any)
		if sent, ok := body.([]any); ok && isList {
			f.items(own, sent, shown, of.path)
		}
	}
}

// missing adds a value that the body does not contain, without the parts that are there
// by themselves.
func (f *dropFinder) missing(shown any, path resource.Path) {
	if isEmpty(shown) || !f.published && !f.isKnown(path) {
		return
	}
	foreign, all := f.foreign(shown, path)
	members, isMap := shown.(map[string]any)
	switch {
	case !foreign:
	case !isMap, all && (len(path) != 1 || !strings.EqualFold(path[0].Name, "properties")):
		f.add(path)
	default:
		for name := range jsontree.Names(members) {
			f.missing(members[name], path.With(resource.Step{Name: name}))
		}
	}
}

// isKnown reports whether an unpublished property may be one that a body states: in a member
// of the envelope, or with a key that users choose.
func (f *dropFinder) isKnown(path resource.Path) bool {
	last := path[len(path)-1].Name
	if slices.ContainsFunc(envelope[:], func(name string) bool { return strings.EqualFold(path[0].Name, name) }) {
		return true
	}
	return isFullID(last) || isUserDefined(path[:len(path)-1])
}

// foreign reports whether any or all of the leaves of a value differ from what the
// service had set by itself at the last PUT. What the manifest stated then is not
// foreign: its removal is requested.
func (f *dropFinder) foreign(value any, path resource.Path) (some, all bool) {
	members, isMap := value.(map[string]any)
	if !isMap || len(members) == 0 {
		requested := f.view.applied != nil && f.view.applied.has(path)
		is := !requested && !f.serviceValues.hasHash(f.hash.leaf(value, path))
		return is, is
	}
	all = true
	for name, member := range members {
		part, whole := f.foreign(member, path.With(resource.Step{Name: name}))
		some, all = some || part, all && whole
	}
	return some, all
}

// items adds the items of a list that the body does not contain.
func (f *dropFinder) items(desired, body, shown []any, path resource.Path) {
	if !jsontree.Objects(desired) || !jsontree.Objects(shown) {
		f.scalars(desired, shown, path)
		return
	}
	ofDesired, sent := f.subject.pair(path, desired, shown), f.subject.pair(path, body, shown)
	own, inBody := ofDesired.Of(), sent.Of()
	extra := 0
	for i, item := range shown {
		if own[i] < 0 && f.subject.isImplied(path, item) {
			continue
		}
		if own[i] >= 0 {
			if inBody[i] >= 0 {
				f.both(sides{path: path.With(ofDesired.Step(own[i], desired[own[i]])), value: item, desired: desired[own[i]]}, body[inBody[i]])
			}
			continue
		}
		extra++
		below := path.With(ofDesired.Step(i, item))
		if !f.isChild(path, item) && (sent.Key == "" || inBody[i] < 0) && !f.stays(below, path, extra, item) {
			f.add(below)
		}
	}
}

// isChild reports whether an item is a child resource, which a PUT keeps.
func (f *dropFinder) isChild(list resource.Path, item any) bool {
	if slices.ContainsFunc(f.childLists, func(path string) bool { return strings.EqualFold(path, list.String()) }) {
		return true
	}
	return resource.KeyText(item, "name") != "" && slices.ContainsFunc(f.inline, func(l types.InlineList) bool {
		return strings.EqualFold(strings.Join(l.Path, "."), list.String())
	})
}

// stays reports whether an item is none that a PUT takes from another tool: its removal
// is requested, or it was there after the last PUT, whose body did not contain it.
func (f *dropFinder) stays(path, list resource.Path, extra int, item any) bool {
	if isIgnored(path, f.ignore) {
		return true
	}
	applied := f.view.applied
	if applied == nil {
		return false
	}
	keyed := !path[len(path)-1].IsIndex
	if row, shared := f.subject.sharing.at(list); keyed && applied.has(path) || shared && applied.has(list.With(row.step(item))) {
		return true
	}
	recorded := path
	if !keyed {
		recorded = list.With(addedStep(extra))
	}
	if entry, known := f.view.entries[hashPath(recorded)]; known && entry.Observed == ruleItemAdded {
		return true
	}
	return f.survived && applied.hasAdded(recorded)
}

// scalars adds the elements that a list has beyond the desired ones: those of a longer list, and
// in a correction those of a set that is not longer. What Azure kept after the last PUT is its
// choice.
func (f *dropFinder) scalars(desired, shown []any, path resource.Path) {
	whole := difference{path: path, text: path.String(), desired: desired, observed: shown, present: true, rule: ruleListLength}
	longer := len(shown) > len(desired)
	inSet := f.holds && f.subject.isTextSet(path, desired, shown)
	if !longer && !inSet || f.isAccepted(whole) {
		return
	}
	p := cursorAt(path, desired).in(f.subject)
	for i, at := range shown {
		if slices.ContainsFunc(desired, func(own any) bool { return f.subject.equalItems(p, own, at) }) {
			continue
		}
		item := difference{path: path.With(resource.Step{Index: i, IsIndex: true}), observed: at, present: true, rule: ruleValue}
		if len(shown) == len(desired) {
			item.desired = desired[i]
		}
		if longer || !f.isAccepted(item) {
			f.add(item.path)
		}
	}
}

// isAccepted reports whether Azure kept a difference after the last PUT.
func (f *dropFinder) isAccepted(d difference) bool {
	entry, known := f.view.entries[hashPath(d.path)]
	return known && f.view.matches(entry, d)
}

// withoutFixed removes from what may be sent back the members that ARM sets, and the lists
// of child resources that desired does not state: those are kept as children (extensions).
func withoutFixed(desired, others map[string]any, opts Options) map[string]any {
	for name := range others {
		if setByARM(name) {
			delete(others, name)
		}
	}
	for _, list := range types.InlineLists(opts.Type) {
		parent, own := others, desired
		for _, step := range list.Path[:len(list.Path)-1] {
			parent, own = jsontree.Object(parent, step), jsontree.Object(own, step)
		}
		last := list.Path[len(list.Path)-1]
		if name, _, present := jsontree.Member(parent, last); present {
			if _, _, isStated := jsontree.Member(own, last); !isStated {
				delete(parent, name)
			}
		}
	}
	return others
}
