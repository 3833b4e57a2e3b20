package extensionhost

import (
	"fmt"
	"reflect"

	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/resource"
)

// validate returns the links that the facts of an entry make, or an error for an entry that
// would never take effect or that would break a pass.
func validate(e extensions.Entry, index int) (made []any, err error) {
	issue := typeIssue(e.Type)
	if e.Link == nil && isFactPattern(e.Type) {
		issue = ""
	}
	switch {
	case e.Type == "":
		return nil, fmt.Errorf("register extension %s: entry %d has no resource type such as %s", typeAndLine(e.Link), index, exampleType)
	case issue != "":
		return nil, fmt.Errorf("register extension %s: %s", typeAndLine(e.Link), issue)
	case e.Type == extensions.AllTypes && aboutOneType(e.Facts):
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
	if lister, ok := link.(extensions.ChildLister); ok {
		lister.Children()
	}
	if stater, ok := link.(extensions.RestingStater); ok {
		stater.RestingStates()
	}
	if trimmer, ok := link.(extensions.ObservationTrimmer); ok {
		for _, path := range trimmer.TrimObserved() {
			if _, err := resource.ParsePath(path); err != nil {
				return err
			}
		}
	}
	return nil
}

// isTwin reports whether two entries of one type register the same link.
func isTwin(a, b extensions.Entry) bool {
	return a.Link != nil && reflect.DeepEqual(a.Link, b.Link)
}
