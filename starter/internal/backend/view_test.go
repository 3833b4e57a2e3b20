package backend

import (
	"testing"
	"time"

	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/workflows"
)

// TestPausedCondition verifies that a pause shows its own time and reason, not those of
// the last pass.
func TestPausedCondition(t *testing.T) {
	v := View{Status: workflows.Status{
		Paused: true, Generation: 3, Phase: workflows.PhasePaused,
		Condition: resource.Condition{Ready: true, Reason: resource.ReasonSucceeded, Message: "in sync", ObservedGeneration: 2, LastTransitionTime: noon().Add(-time.Hour)},
		Decisions: []workflows.Decision{{At: noon().Add(-time.Minute), Step: workflows.PauseUpdate, Message: "by ana@laptop: INC-1"}},
	}}
	got := v.CurrentCondition(noon())
	if want := "by ana@laptop: INC-1; generation 3 is not applied yet"; got.Message != want || got.Reason != resource.ReasonPaused || got.Ready {
		t.Errorf("condition is %+v, want the message %q", got, want)
	}
	if want := noon().Add(-time.Minute); !got.LastTransitionTime.Equal(want) {
		t.Errorf("paused since %s, want the time of the pause, %s", got.LastTransitionTime, want)
	}
}
