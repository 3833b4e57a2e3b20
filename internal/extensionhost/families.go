package extensionhost

import (
	"path"
	"strings"

	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/resource"
)

// FamilyHead returns the parent below which ARM accepts one change at a time,
// and whether there is one: a virtual network for its subnets, its peerings
// and itself. A member must take the head's turn before it changes. Of nested
// families the outermost counts.
func (r *Registry) FamilyHead(id resource.ID) (head resource.ID, ok bool) {
	below := ""
	for at := id; !at.IsZero(); {
		if family := r.childFacts(at.Type()).family; family[strings.ToLower(below)] || below == "" && family != nil {
			head, ok = at, true
		}
		if !at.IsChild() {
			break
		}
		below = path.Join(path.Base(at.Type()), below)
		at = at.Owner()
	}
	return head, ok
}

// childFacts are the facts about the children of a type.
type childFacts struct {
	// family are the children, in lower case, that change one at a time; nil for a type
	// without a family.
	family map[string]bool
	lists  []inlineList
}

// childFacts collects the facts and the published lists of a type.
func (r *Registry) childFacts(resourceType string) *childFacts {
	stated := r.Facts(resourceType)
	facts := &childFacts{}
	for _, family := range stated.Families {
		facts.addFamily(family.Children)
	}
	keeps := stated.PutKeepsOmitted != ""
	facts.addLists(stated.InlineLists, keeps)
	facts.addLists(r.listedInline(resourceType), keeps)
	for i, list := range facts.lists {
		for _, fact := range stated.Comparison.Properties {
			if member, within := strings.CutPrefix(fact.Path, list.path.String()+"[*]."); within && fact.AllOrNone {
				facts.lists[i].allOrNone = append(facts.lists[i].allOrNone, member)
			}
		}
	}
	return facts
}

// listedInline returns the lists of the links of a type, which are asked once.
func (r *Registry) listedInline(resourceType string) []extensions.InlineList {
	key := strings.ToLower(resourceType)
	if known, ok := r.inline.Load(key); ok {
		lists, _ := known.([]extensions.InlineList)
		return lists
	}
	var lists []extensions.InlineList
	for _, lister := range implementing[InlineLister](r.links(resourceType)) {
		lists = append(lists, lister.InlineLists(resourceType)...)
	}
	r.inline.Store(key, lists)
	return lists
}

func (f *childFacts) addFamily(children []string) {
	if len(children) > 0 && f.family == nil {
		f.family = map[string]bool{}
	}
	for _, child := range children {
		f.family[strings.ToLower(child)] = true
	}
}

// addLists adds lists and their children to the family: a PUT that lists the
// children, read before a child is made and sent after it, would delete the child,
// and not every type has an ETag.
func (f *childFacts) addLists(lists []extensions.InlineList, keepsOmitted bool) {
	for _, list := range lists {
		if path, err := resource.ParsePath(list.Path); err == nil {
			f.lists = append(f.lists, inlineList{path: path, keptWhenOmitted: keepsOmitted || list.KeptWhenOmitted})
			f.addFamily(list.Types)
		}
	}
}

// Leaf reports whether a type can have no children in ARM and is nothing that
// other resources wait for: when one of its resources becomes Ready, there is
// nothing to wake.
func (r *Registry) Leaf(armType string) bool { return r.Facts(armType).Leaf != "" }
