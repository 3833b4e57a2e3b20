package wait

import (
	"slices"

	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/starter/internal/backend"
	"github.com/armature-io/armature/workflows"
)

// isNew reports whether the first pass of a run has not ended yet.
func isNew(r backend.Record) bool {
	return r.Phase == workflows.PhasePending && r.Reason == "" && r.Summary == nil
}

// isSame reports whether two rows of one resource show the same state.
func isSame(a, b backend.Record) bool {
	if a.Phase != b.Phase || a.Reason != b.Reason || !a.Since.Equal(b.Since) || a.Obstacle() != b.Obstacle() || !slices.Equal(a.WaitingFor, b.WaitingFor) {
		return false
	}
	if a.Summary == nil || b.Summary == nil {
		return a.Summary == b.Summary
	}
	return a.Summary.Equal(*b.Summary)
}

// hasEnded reports whether a pass ended between two rows: the run wrote its summary.
func hasEnded(before, now backend.Record) bool {
	now.Phase, now.Reason, now.Since, now.WaitingFor, now.Unreadable, now.Stuck = before.Phase, before.Reason, before.Since, before.WaitingFor, before.Unreadable, before.Stuck
	return now.Summary != nil && !isSame(before, now)
}

// viewOf returns the state of a resource from a record alone.
func (f *Follower) viewOf(r backend.Record) backend.View {
	v := backend.ListedView(r)
	if isNew(r) {
		v.Condition.Reason, v.Condition.Severity = resource.ReasonReconciling, resource.SeverityInfo
		v.Condition.Message = "the first pass has not ended yet"
	}
	if r.Summary == nil {
		v.Listed = false // phase and reason are all that it has, and they are current
	}
	if v.Phase == workflows.PhaseReady || v.Unmanaged {
		return v
	}
	for _, key := range r.WaitingFor {
		if id := f.nameOf(r.ID, key); !id.IsZero() {
			v.WaitingFor = append(v.WaitingFor, id)
		}
	}
	return v
}

// nameOf returns the ID behind a key for which a resource waits: of another one of the
// wait, or of an owner. It returns the zero ID for any other.
func (f *Follower) nameOf(self resource.ID, key string) resource.ID {
	if id, known := f.ids[key]; known {
		return id
	}
	for id := self.Owner(); !id.IsZero(); id = id.Owner() {
		if workflows.WaitingKey(id) == key {
			return id
		}
	}
	return resource.ID{}
}

// lacksNames reports whether a view waits for something of which the list has no name.
func (f *Follower) lacksNames(v backend.View) bool {
	return v.Listed && v.Phase != workflows.PhaseReady && len(v.WaitingFor) < len(v.Record.WaitingFor)
}
