package extensions

import (
	"fmt"

	"github.com/armature-io/armature/resource"
)

// AllTypes is the Type of an entry that applies to every resource.
const AllTypes = "*"

// Entry puts a link, facts about a type, or both into the registry.
type Entry struct {
	// Type is the ARM type in any case, or AllTypes. In an entry without a link it may also
	// be a pattern: Microsoft.Compute/* or */snapshots.
	Type string
	// Link implements one or more of the points. It may be nil in an entry that
	// only states facts.
	Link any
	// Facts are facts that the published shape of the type does not have.
	Facts Facts
	// Evidence is where the type was observed. With it, Warnings accepts a type that is not
	// published.
	Evidence string
}

// InlineList is a list in the body of a parent and the child types of its items.
type InlineList struct {
	// Path leads to the list, for example properties.subnets.
	Path string `yaml:"path"`
	// Types are relative to the parent, for example "subnets". They are a Family.
	Types []string `yaml:"types"`
	// KeptWhenOmitted marks a list that may be omitted in the body of a PUT
	// without deleting the children. One that the body contains is the whole list all the same.
	KeptWhenOmitted bool   `yaml:"keptWhenOmitted"`
	Source          Source `yaml:"source"`
}

// StoppedState is a value by which a resource reports that it was stopped.
type StoppedState struct {
	// Path leads to the state, from the top of the resource. A manifest that
	// sets this path decides itself, and the state has no effect.
	Path string `yaml:"path"`
	// State is compared ignoring case.
	State string `yaml:"state"`
	// Start completes "Start it ...", for example "with az kusto cluster start".
	Start string `yaml:"start"`
	// HoldsReferences blocks also what names the resource in $ref or dependsOn. Children
	// are always blocked.
	HoldsReferences bool   `yaml:"holdsReferences"`
	Source          Source `yaml:"source"`
}

// validate returns the links that the facts of an entry make, or an error for an entry that
// would never take effect or that would break a pass.
func validate(e Entry, index int) (made []any, err error) {
	issue := typeIssue(e.Type)
	if e.Link == nil && isFactPattern(e.Type) {
		issue = ""
	}
	switch {
	case e.Type == "":
		return nil, fmt.Errorf("register extension %s: entry %d has no resource type such as %s", typeAndLine(e.Link), index, exampleType)
	case issue != "":
		return nil, fmt.Errorf("register extension %s: %s", typeAndLine(e.Link), issue)
	case e.Type == AllTypes && aboutOneType(e.Facts):
		return nil, fmt.Errorf("register extension %T: only facts about states apply to all types", e.Link)
	}
	made, err = linksOf(e.Facts, e.Type)
	if err != nil {
		return nil, fmt.Errorf("register facts of %s: %w", e.Type, err)
	}
	if e.Link == nil && !isZero(e.Facts) {
		return made, nil
	}
	if _, err := linkIssues(e.Link); err != nil {
		return nil, fmt.Errorf("register extension %s for %s: %w", typeAndLine(e.Link), e.Type, err)
	}
	if err := checkFacts(e.Link); err != nil {
		return nil, fmt.Errorf("register extension %s for %s: %w", typeAndLine(e.Link), e.Type, err)
	}
	return made, nil
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
