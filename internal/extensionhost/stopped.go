package extensionhost

import (
	"fmt"
	"strings"

	"github.com/armature-io/armature/drift"
	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/resource"
)

// stoppedState returns the state by which a resource is stopped. A manifest that
// sets the path of the state decides itself.
func (r *Registry) stoppedState(obj *resource.Object) (found extensions.StoppedState, value string, stopped bool) {
	for _, state := range r.Facts(obj.ID.Type()).Stopped {
		value, _ := obj.StringAt(state.Path)
		if desired, _ := obj.DesiredAt(state.Path); desired == nil && strings.EqualFold(value, state.State) {
			return state, value, true
		}
	}
	return extensions.StoppedState{}, "", false
}

// Stopped returns a block for a resource that was stopped and that a PUT would
// start, and whether it is one. It is for the last read before the PUT.
func (r *Registry) Stopped(obj *resource.Object) (resource.Verdict, bool) {
	state, value, stopped := r.stoppedState(obj)
	if !stopped {
		return resource.Verdict{}, false
	}
	verdict := resource.Block(resource.ReasonStopped, fmt.Sprintf(
		"it was stopped after this pass read it (%s is %q); no PUT is sent, because a PUT would start it or be refused", state.Path, value))
	verdict.Origin = factOrigin(state.Source)
	return verdict, true
}

// blockStopped returns a block that leaves a stopped resource alone and lists
// what the PUT would change.
func blockStopped(found drift.Result, state extensions.StoppedState, value string) resource.Verdict {
	due := differing(found)
	verdict := resource.Block(resource.ReasonStopped, fmt.Sprintf(
		"it was stopped outside Armature (%s is %q); no PUT is sent, because a PUT would start it or be refused. Pending change: %s. "+
			"Start it %s and run armature reconcile; or set %s in the manifest, if the type supports it; armature reconcile --force sends the PUT once",
		state.Path, value, due.Message, state.Start, state.Path))
	verdict.Origin = factOrigin(state.Source)
	verdict.Differences, verdict.More = due.Differences, due.More
	verdict.Drops, verdict.MoreDrops = due.Drops, due.MoreDrops
	return verdict
}
