package workflows

import "go.temporal.io/sdk/temporal"

// The priorities of tasks while more wait than the workers can take: a smaller number goes
// first, and 3 is Temporal's default. PriorityBrake is for the workflows of freezes and
// budgets, which must not wait behind what they are to stop.
const (
	PriorityBrake   = 1
	PriorityUser    = 2
	priorityChange  = 3
	priorityRoutine = 4
)

// priority returns the priority of the activities of the next pass: a user waits for one
// that a message requested and for every deletion, another resource may wait for one that
// is not Ready, and nothing waits for a routine look at a Ready resource.
func (s *State) priority() temporal.Priority {
	switch {
	case !s.Requests.At.IsZero() || s.Deletion != nil:
		return temporal.Priority{PriorityKey: PriorityUser}
	case s.Requests.Pass || s.Phase != PhaseReady:
		return temporal.Priority{PriorityKey: priorityChange}
	}
	return temporal.Priority{PriorityKey: priorityRoutine}
}
