package extensionhost

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/armature-io/armature/arm"
	"github.com/armature-io/armature/resource"
)

// checkReferences returns a block while a referenced resource is absent or not
// ready, else the given verdict. A reference that may not be read (403) passes with
// a note in the message. An absent reference has priority over a failed read, and
// that over one that is not ready, or whose facts hold what refers to it.
func (r *Registry) checkReferences(verdict resource.Verdict, references []ResolvedReference) resource.Verdict {
	var absent, unready []resource.ID
	var failed, waits *ResolvedReference
	why, origin := "", ""
	for i, reference := range references {
		switch {
		case isForbidden(reference.Err):
			verdict.Message = strings.TrimPrefix(fmt.Sprintf("%s; referenced %s: not readable, not checked",
				verdict.Message, reference.Reference.ID.Short()), "; ")
		case reference.Err != nil:
			failed = &references[i]
		case !reference.Resolution.Found:
			absent = append(absent, reference.Reference.ID)
		case !reference.Resolution.Ready:
			unready = append(unready, reference.Reference.ID)
			if waits == nil {
				waits, why = &references[i], reference.unreadyText()
			}
		default:
			held := r.refusesReferences(reference.Resolution.Object)
			if held == nil {
				continue
			}
			unready = append(unready, reference.Reference.ID)
			if waits == nil {
				waits, why, origin = &references[i], held.text, factOrigin(held.source)
			}
		}
	}
	switch {
	case len(absent) > 0:
		return blockFor(resource.ReasonReferenceNotFound, "does not exist in Azure", absent, append(absent, unready...))
	case failed != nil:
		return withARMError(resource.Fail(resource.ReasonCheckFailed, resource.RetrySlow,
			fmt.Sprintf("The referenced resource %s could not be read: %v", failed.Reference.ID, failed.Err)), failed.Err)
	case len(unready) > 0:
		stop := blockFor(resource.ReasonReferenceNotReady, "is not ready: "+why, unready, unready)
		stop.Origin = origin
		return stop
	}
	return verdict
}

// unreadyText says which condition of a reference is not met.
func (r ResolvedReference) unreadyText() string {
	if r.Resolution.Refusal != "" {
		return r.Resolution.Refusal
	}
	if r.Managed {
		return "its Ready condition in Armature is not true"
	}
	return fmt.Sprintf("its provisioning state is %q", r.Resolution.Object.ProvisioningState())
}

func blockFor(reason resource.Reason, what string, ids, waitingFor []resource.ID) resource.Verdict {
	message := fmt.Sprintf("The referenced resource %q (%s) %s", ids[0].Short(), ids[0].Type(), what)
	if len(ids) > 1 {
		message += fmt.Sprintf(" (and %d more)", len(ids)-1)
	}
	verdict := resource.Block(reason, message)
	verdict.WaitingFor = waitingFor
	return verdict
}

// isForbidden reports whether ARM refused to show a resource.
func isForbidden(err error) bool {
	failure, ok := errors.AsType[*arm.Error](err)
	return ok && failure.Status == http.StatusForbidden
}
