package workflows

import (
	"fmt"
	"testing"
	"time"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/resource"
)

// TestNoteChange checks that the list of changes contains each resource once with its
// newest change, sorted by time, and that its length is bounded.
func TestNoteChange(t *testing.T) {
	noon := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	change := func(n int, upper bool, at time.Duration) activities.Change {
		text := fmt.Sprintf("/subscriptions/11111111-2222-3333-4444-555555555555/resourceGroups/g%d", n)
		if upper {
			text = fmt.Sprintf("/subscriptions/11111111-2222-3333-4444-555555555555/resourceGroups/G%d", n)
		}
		id, err := resource.ParseID(text)
		if err != nil {
			t.Fatal(err)
		}
		return activities.Change{ID: id, At: noon.Add(at)}
	}
	var s State
	for i, c := range []struct {
		change activities.Change
		noted  bool
	}{
		{change(1, false, 0), true}, {change(1, true, 0), false}, {change(1, false, -1), false},
		{change(2, false, 0), true}, {change(1, true, 1), true}, {change(1, false, 0), false},
	} {
		if got := s.noteChange(c.change); got != c.noted {
			t.Errorf("step %d: noted %t, want %t", i, got, c.noted)
		}
	}
	older := s.Changes
	s.noteChange(change(2, false, 1))
	s.noteChange(change(1, true, 2))
	if len(older) != 2 || older[0].ID.Name() != "g2" || older[1].ID.Name() != "G1" {
		t.Errorf("noteChange modified a list that a caller has: %v", older)
	}
	if len(s.Changes) != 2 || s.Changes[1].ID.Name() != "G1" || !s.Changes[1].At.Equal(noon.Add(2)) {
		t.Errorf("changes %v, want two, the newest of g1 last", s.Changes)
	}
	kept := s.Changes
	for i := range 200 {
		s.noteChange(change(i+10, false, time.Duration(i)*time.Minute))
	}
	if len(s.Changes) != maxChanges || s.Changes[maxChanges-1].ID.Name() != "g209" || s.Changes[0].ID.Name() != "g146" {
		t.Errorf("%d changes from %s to %s, want the last %d", len(s.Changes), s.Changes[0].ID.Name(), s.Changes[len(s.Changes)-1].ID.Name(), maxChanges)
	}
	if kept[0].ID.Name() != "g2" {
		t.Errorf("noteChange modified a list that a caller has: %v", kept)
	}
	shared := s.Changes
	s.dropOldChanges(noon.Add(199*time.Minute + maxChangeAge))
	if len(s.Changes) != 1 || shared[0].ID.Name() != "g146" {
		t.Errorf("%d changes remain, want the one that is not older than %s, and an unmodified list of the caller", len(s.Changes), maxChangeAge)
	}
}
