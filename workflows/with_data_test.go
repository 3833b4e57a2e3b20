package workflows_test

import (
	"slices"
	"testing"
	"time"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/activities/contents"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/workflows"
)

// TestWithDataIsKept repeats the request of a deletion: a consent reaches the looks at
// contents and dependents, and a later request without it does not take it back.
func TestWithDataIsKept(t *testing.T) {
	r := newRun(t)
	var looks, cascades []bool
	r.script.dependents = func(in activities.CheckDependentsInput) resource.Verdict {
		cascades = append(cascades, in.WithData)
		return resource.Proceed("")
	}
	r.script.contents = func(in contents.Request) resource.Verdict {
		if looks = append(looks, in.WithData); len(looks) < 3 {
			return resource.Block(resource.ReasonContainsData, "a disk")
		}
		return resource.Proceed("")
	}
	r.script.get = absentAfter(3)
	spec := desired()
	r.at(0, workflows.DeleteUpdate, workflows.DeleteInput{Desired: &spec})
	r.at(time.Second, workflows.DeleteUpdate, workflows.DeleteInput{WithData: true})
	r.at(2*time.Second, workflows.DeleteUpdate, workflows.DeleteInput{})
	r.start(0)
	if want := []bool{false, true, true}; !slices.Equal(looks, want) || !slices.Equal(cascades[:3], want) {
		t.Errorf("looks with data %v, cascades %v; want %v", looks, cascades, want)
	}
}
