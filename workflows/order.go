package workflows

// The orders of commands since which a run does something in another way; see
// activities.CommandOrder.
const (
	orderListed    = 1
	orderFirstRead = 1
	orderWakeLater = 1
	// orderLeaveNotifications: a run leaves the notifications that take long to the next one.
	orderLeaveNotifications = 2
	// orderExport: a pass has the step Export. It counts as the worker of the pass reports it,
	// also in a run that began before: such a run would export nothing for a day, and its
	// manifest states exports only since the upgrade.
	orderExport = 3
)

// follow takes the order of commands that the worker of a step reported. A run never uses
// one that its starter does not know: runs that began before an upgrade keep theirs until
// they continue as new, and the release before can continue them. A starter that is newer
// than the worker changes nothing.
func (r *reconciler) follow(reported int) {
	r.commandOrder = max(r.commandOrder, min(reported, r.maxOrder))
	r.state.Listed = r.state.Listed || r.commandOrder >= orderListed
}

// isFirstRead reports whether nothing is known of the resource yet: it is then read within
// the workflow task. Of all passes, that of a creation has the most tasks.
func (r *reconciler) isFirstRead() bool {
	s := r.state
	return r.commandOrder >= orderFirstRead && s.Delete == nil && !s.Seen && !s.PutSent && !s.existed() && len(s.Identity) == 0
}
