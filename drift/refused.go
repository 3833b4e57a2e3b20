package drift

import (
	"slices"

	"fmt"

	"github.com/armature-io/armature/internal/jsontree"
	"github.com/armature-io/armature/resource"
)

// Refused are values that the manifest does not state and that Azure refused in a PUT. It
// counts for one body: another one may make the value legal.
type Refused struct {
	// Body is the hash of the manifest's body, Leaves are hashes of paths and values.
	Body   string  `json:"body"`
	Leaves PathSet `json:"leaves"`
}

// maxRefused bounds Refused.
const maxRefused = 50

// Leaf is a value of a payload that the manifest does not state: a scalar, an empty
// mapping, a whole list, or an item of a list that the manifest states.
type Leaf struct {
	Path  resource.Path
	Value any
	// Own is set where the service had set the value by itself at the last PUT; Refused
	// where Azure refused it beside the same body of the manifest.
	Own, Refused bool
	hash         pathHash
	// item is set for an item of a list that the manifest states.
	item bool
}

// isRemovable reports whether a value is one that others add and remove: a list, an item of one,
// or a member with a name of its own, such as an identity. Scalars change, and are not removed.
func (l Leaf) isRemovable() bool {
	if slices.ContainsFunc(l.Path, func(step resource.Step) bool { return step.IsIndex }) {
		return false // its place may have another item later
	}
	list, isList := l.Value.([]any)
	return l.item || isList && len(list) > 0 || isFullID(l.Path[len(l.Path)-1].Name)
}

// Leaves returns the values of a payload that desired does not state, and the paths of
// the scalars that it does.
func Leaves(payload, desired map[string]any, opts Options) (others []Leaf, desiredPaths []resource.Path) {
	c := leafCollector{subject: opts.sender(payload), hash: hasher{opts.Key}, serviceValues: opts.Baseline.ServiceValues.decode()}
	if refused := opts.Baseline.refusedValues(desired, opts); refused != nil {
		c.refusedValues = refused.Leaves.decode()
	}
	c.inside(sides{value: payload, desired: desired})
	return c.leaves, c.desiredPaths
}

// refusedValues returns the values that Azure refused beside a body of the manifest, nil if
// there are none.
func (b Baseline) refusedValues(desired map[string]any, opts Options) *Refused {
	if b.Refused == nil || b.Refused.Body != (hasher{opts.Key}).cursor(root(desired)) {
		return nil
	}
	return b.Refused
}

type leafCollector struct {
	subject                      *subject
	hash                         hasher
	serviceValues, refusedValues decodedSet
	leaves                       []Leaf
	desiredPaths                 []resource.Path
}

func (c *leafCollector) inside(of sides) {
	for at := range c.subject.inside(of) {
		c.value(at)
	}
}

func (c *leafCollector) value(of sides) {
	members, isMap := of.value.(map[string]any)
	items, isList := of.value.([]any)
	own, ownMap := of.desired.(map[string]any)
	switch {
	case isMap && len(members) > 0 && (!of.isStated || ownMap && !isMarker(own)):
		c.inside(of)
	case !of.isStated:
		c.leaf(of.value, of.path)
	case isList && len(items) > 0 && jsontree.Objects(items):
		for item := range c.subject.inside(of) {
			if !item.isStated && item.keyed {
				c.leaf(item.value, item.path)
				c.leaves[len(c.leaves)-1].item = true
				continue
			}
			item.isStated = true // without a key the counterpart is a guess
			c.value(item)
		}
	default:
		c.desiredPaths = append(c.desiredPaths, of.path)
	}
}

// leaf adds a value that desired does not state.
func (c *leafCollector) leaf(value any, path resource.Path) {
	leaf := Leaf{Path: path, Value: value, hash: hashValue(path, c.hash.sum(value))}
	own := leaf.hash
	if isShownMasked(value, path) {
		own = placeholderHash(path)
	}
	leaf.Own, leaf.Refused = c.serviceValues.hasHash(own), c.refusedValues.hasHash(leaf.hash)
	c.leaves = append(c.leaves, leaf)
}

// WithRefused returns the baseline with values that Azure refused beside the body of the
// manifest. It forgets the values of another body.
func (b Baseline) WithRefused(desired map[string]any, leaves []Leaf, opts Options) Baseline {
	body := hasher{opts.Key}.cursor(root(desired))
	depths := map[pathHash]int{}
	if b.Refused != nil && b.Refused.Body == body {
		for hash := range b.Refused.Leaves.decode().all() {
			depths[hash] = 1
		}
	}
	for _, leaf := range leaves {
		depths[leaf.hash] = 0
	}
	b.Refused = &Refused{Body: body, Leaves: newPathSet(depths, maxRefused)}
	return b
}

// Text returns the value as a text, "" for lists and mappings.
func (l Leaf) Text() string {
	switch l.Value.(type) {
	case map[string]any, []any, nil:
		return ""
	}
	return fmt.Sprint(l.Value)
}
