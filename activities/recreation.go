package activities

import (
	"fmt"
	"strings"

	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/internal/extensionhost"
	"github.com/armature-io/armature/resource"
)

// disappeared reports whether the absence of the resource means that it was deleted. A
// resource that the manifest does not adopt was never managed: the manifest creates its
// own one.
func (in PreCheckInput) disappeared() bool {
	return in.Existed && (in.Applied || in.Desired.Adopt != resource.AdoptNever)
}

// recreation returns whether a resource that was deleted outside Armature is made again:
// the manifest decides, else the type does. adopt: only creates nothing.
func recreation(registry *extensionhost.Registry, desired resource.Desired) extensions.Recreation {
	found := registry.Recreation(desired.ID.Type())
	switch {
	case desired.Adopt == resource.AdoptOnly, desired.Put == resource.PutPatch:
		found.Default = resource.RecreateNever
	case strings.EqualFold(string(desired.Recreate), string(resource.RecreateNever)):
		found.Default = resource.RecreateNever
	case strings.EqualFold(string(desired.Recreate), string(resource.RecreateAlways)):
		found.Default = resource.RecreateAlways
	}
	return found
}

// allowsRecreate reports whether a resource that was deleted outside Armature may be
// made again.
func allowsRecreate(registry *extensionhost.Registry, desired resource.Desired, approved bool) bool {
	if desired.Adopt == resource.AdoptOnly || desired.Put == resource.PutPatch {
		return false
	}
	return approved || recreation(registry, desired).Default == resource.RecreateAlways
}

// disappearedVerdict names the reason of a create that no user requested, or stops it.
// An observed resource is only reported.
func (c *comparer) disappearedVerdict(verdict resource.Verdict, in PreCheckInput) resource.Verdict {
	desired := in.Desired
	if c.observing(desired) == "" && !allowsRecreate(c.registry, desired, in.Approved.Recreation) {
		stop := resource.Block(resource.ReasonDisappeared, disappearedText(desired, recreation(c.registry, desired)))
		stop.Class = resource.RetryVerySlow
		return stop
	}
	verdict.Reason = resource.ReasonDisappeared
	verdict.Message = "deleted outside Armature; it is recreated"
	if in.Approved.Recreation {
		verdict.Message += ", as a user approved"
	}
	return verdict
}

// disappearedText says why a resource is not recreated, how to bring it back, and how to
// accept the loss.
func disappearedText(desired resource.Desired, recreation extensions.Recreation) string {
	name := desired.ID.Short()
	text := name + " was deleted outside Armature and is not recreated"
	switch {
	case desired.Put == resource.PutPatch:
		return text + fmt.Sprintf(" (put: patch). If its owner made it again, armature reconcile %s finds it; armature forget %s stops managing it", name, name)
	case desired.Adopt == resource.AdoptOnly:
		return text + fmt.Sprintf(" (adopt: only). If it was made again by its own tool, armature reconcile %s finds it; armature forget %s stops managing it", name, name)
	case desired.Recreate == resource.RecreateNever:
		text += " (recreate: never)"
	default:
		text += fmt.Sprintf(", because it %s (recreate: never is the default of %s)", recreation.Loss, desired.ID.Type())
	}
	if recreation.Restore != "" {
		restore := restoreText(recreation, desired.ID)
		if recreation.Within != "" {
			restore += " (within " + recreation.Within + ")"
		}
		text += fmt.Sprintf(". To bring it back, %s, then run armature reconcile %s", restore, name)
	}
	return text + fmt.Sprintf(". To accept the loss, run armature reconcile --recreate %s for a new one, or armature forget %s to stop managing it", name, name)
}

// restoreText returns how Azure restores a resource, with its names.
func restoreText(recreation extensions.Recreation, id resource.ID) string {
	return strings.NewReplacer("VAULT", id.Owner().Name(), "NAME", id.Name()).Replace(recreation.Restore)
}

// disappearedSinceRead is the verdict of a PUT of a resource which existed when the pass read it.
// A replica may lag: the next pass proves the absence before anything is written.
func disappearedSinceRead(desired resource.Desired) resource.Verdict {
	return resource.Block(resource.ReasonDisappeared, desired.ID.Short()+" disappeared since this pass read it; nothing is written, and the next pass decides")
}
