package workflows

import "github.com/armature-io/armature/internal/payload"

// ConfirmFreezeActivity is the name of the activity with which one worker confirms that it
// has read the freezes in force. It belongs to no workflow, and each worker serves it on a
// task queue of its own.
const ConfirmFreezeActivity = payload.ClearActivity

// ConfirmFreezeResult is what one worker has read.
type ConfirmFreezeResult struct {
	Frozen []Freeze `json:"frozen,omitempty"`
}

// Includes reports whether a freeze is among them.
func (r ConfirmFreezeResult) Includes(freeze Freeze) bool {
	for _, known := range r.Frozen {
		if known.Selector == freeze.Selector && len(known.Except) == 0 {
			return true
		}
	}
	return false
}

// ConfirmTaskQueue returns the task queue of one worker among those of a task queue, by the
// identity of its process.
func ConfirmTaskQueue(taskQueue, process string) string {
	return taskQueue + ":confirm:" + process
}
