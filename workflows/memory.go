package workflows

import "github.com/armature-io/armature/activities"

// recollect returns the result of MemoryQuery.
func (r *reconciler) recollect() (activities.WorkflowMemory, error) {
	s := r.state
	memory := activities.WorkflowMemory{
		Generation: s.Generation, Paused: s.Paused, Deleting: s.Deletion != nil,
		Applied: s.applied(), Existed: s.existed(), Memory: s.Known.Baseline,
		Identity: s.Known.Identity, Desired: s.Desired, Reported: s.Reported.Changes,
	}
	if s.Desired != nil {
		memory.Policy = s.Desired.Policy
	}
	return memory, nil
}

// carry takes over what the workflow of the old place of a moved resource remembered.
func (s *State) carry(c activities.Carried) {
	s.Known.Baseline, s.Known.Identity = c.Memory, c.Identity
	s.Known.Seen, s.Write.Sent, s.Paused = c.Existed, c.Applied, c.Paused
}
