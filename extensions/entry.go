package extensions

import (
	"fmt"
	"slices"

	"github.com/armature-io/armature/resource"
)

// AllTypes is the Type of an entry that applies to every resource.
const AllTypes = "*"

// Entry puts a link, facts about a type, or both into the registry.
type Entry struct {
	// Type is the ARM type in any case, or AllTypes for a link, Stopped, Busy or
	// BlocksChildren.
	Type string
	// Link implements one or more of the points. It may be nil in an entry that
	// only states facts.
	Link any
	// Serialises lists the children ("subnets", "a/b" for deeper ones) that ARM
	// refuses to change while a sibling or the resource itself changes; see
	// Registry.FamilyHead.
	Serialises []string
	// Leaf marks a type that can have no children in ARM and that no other
	// resource waits for; see Registry.Leaf.
	Leaf bool
	// InlineLists are the lists in a body of the type that contain child
	// resources. A PUT keeps the children that its body does not name.
	InlineLists []InlineList
	// Stopped are the states in which a PUT would start a stopped resource or be
	// refused. The default pre-check does not send one then.
	Stopped []StoppedState
	// Busy are the states of an operation in progress for which Azure has another property
	// or word than those of resource.InFlight. The defaults send no PUT to the resource then,
	// block changes of its children and of what refers to it, and report it as not Ready.
	Busy []BlockingState
	// BlocksChildren are the states of a resource in which ARM refuses changes of its
	// children. The default owner check blocks them then, and in the states of Stopped.
	BlocksChildren []BlockingState
	// Recreation states whether a deleted resource is recreated. The last entry of
	// a type that states it counts.
	Recreation Recreation
	// Evidence records where the facts or the type were observed. With it, Warnings accepts
	// a type that is not published.
	Evidence string
	// Facts are facts that the published shape of the type does not have.
	Facts Facts
}

// InlineList is a list in the body of a parent and the child types of its items.
type InlineList struct {
	// Path leads to the list, for example properties.subnets.
	Path string
	// Types are relative to the parent, for example "subnets". They change one
	// at a time, as in Serialises.
	Types []string
	// KeptWhenOmitted marks a list that may be omitted in the body of a PUT
	// without deleting the children. One that the body contains is the whole list all the same.
	KeptWhenOmitted bool
}

// StoppedState is a value by which a resource reports that it was stopped.
type StoppedState struct {
	// Path leads to the state, from the top of the resource. A manifest that
	// sets this path decides itself, and the state has no effect.
	Path string
	// State is compared ignoring case.
	State string
	// Start completes "Start it ...", for example "with az kusto cluster start".
	Start string
	// HoldsReferences blocks also what names the resource in $ref or dependsOn. Children
	// are always blocked.
	HoldsReferences bool
}

// aboutOneType reports whether the entry states a fact that AllTypes cannot have.
func (e Entry) aboutOneType() bool {
	return e.Leaf || len(e.Serialises) > 0 || len(e.InlineLists) > 0 || e.Recreation.Default != ""
}

// validate returns an error for an entry that would never take effect or that
// would break a pass.
func (e Entry) validate(index int) error {
	issue := typeIssue(e.Type)
	if e.Link == nil && isFactPattern(e.Type) {
		issue = ""
	}
	switch {
	case e.Type == "":
		return fmt.Errorf("register extension %s: entry %d has no resource type such as %s", typeAndLine(e.Link), index, exampleType)
	case issue != "":
		return fmt.Errorf("register extension %s: %s", typeAndLine(e.Link), issue)
	case e.Type == AllTypes && e.aboutOneType():
		return fmt.Errorf("register extension %T: Leaf, Serialises, InlineLists and Recreation are facts about one type, not about all", e.Link)
	}
	for _, text := range e.paths() {
		if _, err := resource.ParsePath(text); err != nil {
			return fmt.Errorf("register facts of %s: %w", e.Type, err)
		}
	}
	if e.Link == nil && (!e.Facts.isZero() || e.aboutOneType() || len(e.Stopped)+len(e.BlocksChildren)+len(e.Busy) > 0) {
		return nil
	}
	if _, err := linkIssues(e.Link); err != nil {
		return fmt.Errorf("register extension %s for %s: %w", typeAndLine(e.Link), e.Type, err)
	}
	if err := checkFacts(e.Link); err != nil {
		return fmt.Errorf("register extension %s for %s: %w", typeAndLine(e.Link), e.Type, err)
	}
	return nil
}

// paths returns the paths of the entry's facts.
func (e Entry) paths() []string {
	var paths []string
	for _, list := range e.InlineLists {
		paths = append(paths, list.Path)
	}
	for _, state := range e.Stopped {
		paths = append(paths, state.Path)
	}
	for _, state := range slices.Concat(e.BlocksChildren, e.Busy) {
		paths = append(paths, state.Path)
	}
	return paths
}

// checkFacts calls the methods by which a link states facts about its type. A
// panic in one of them would break every pass, so it is an error at registration.
func checkFacts(link any) (err error) {
	defer func() {
		if value := recover(); value != nil {
			err = fmt.Errorf("it panics when its facts are read: %v", value)
		}
	}()
	if lister, ok := link.(ChildLister); ok {
		lister.Children()
	}
	if stater, ok := link.(RestingStater); ok {
		stater.RestingStates()
	}
	if trimmer, ok := link.(ObservationTrimmer); ok {
		for _, path := range trimmer.TrimObserved() {
			if _, err := resource.ParsePath(path); err != nil {
				return err
			}
		}
	}
	return nil
}
