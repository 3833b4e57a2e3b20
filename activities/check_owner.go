package activities

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/armature-io/armature/arm"
	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/resource"
)

// CheckOwner is step 1, a local activity: may the resource be touched at all? It
// makes no request to the resource itself, and reads the owner and the
// references through the cache, within 3 s.
func (a *Activities) CheckOwner(ctx context.Context, in CheckOwnerInput) (CheckOwnerResult, error) {
	ctx = arm.WithCredential(ctx, in.Desired.Credential)
	ctx, cancel := context.WithTimeout(correlated(ctx), readBudget)
	defer cancel()
	a.owners.heard(in.Changes)
	request := a.bare(in.Desired)
	request.Force = in.Force
	if stop := a.readOwner(ctx, &request, in); stop != nil {
		return CheckOwnerResult{Verdict: a.observed("CheckOwner", *stop), OverdueAfter: a.options.OverdueAfter}, nil
	}
	if !in.Deleting {
		request.References = a.readReferences(ctx, in)
	}
	verdict := namesVersions(a.Registry.CheckOwner(ctx, request), in, request.Owner, newestTaken(request.References, in))
	if in.Deleting {
		verdict = a.endsWithOwner(ctx, verdict, request)
	}
	verdict.WaitingFor = verdict.WaitingFor[:min(len(verdict.WaitingFor), waitingForMost)]
	if verdict.Stops() {
		verdict.RetryWithin = a.owners.readings.expires(verdict.WaitingFor)
	}
	return CheckOwnerResult{
		Verdict:      a.observed("CheckOwner", verdict),
		Freed:        a.freed(ctx, in.Held, request, verdict),
		OwnerAbsent:  request.Owner != nil && !request.Owner.Exists(),
		OverdueAfter: a.overdueAfter(request.Owner),
	}, nil
}

// overdueAfter returns the configured limit, and a negative one for never while
// the owner is in an exempt state.
func (a *Activities) overdueAfter(owner *resource.Object) time.Duration {
	if a.overdueExempt(owner) {
		return -1
	}
	return a.options.OverdueAfter
}

// overdueExempt reports whether an object is in one of the states in which it, and
// what it owns, is never overdue.
func (a *Activities) overdueExempt(object *resource.Object) bool {
	return slices.ContainsFunc(states(object), func(state string) bool {
		return slices.ContainsFunc(a.options.OverdueExempt, func(exempt string) bool { return strings.EqualFold(exempt, state) })
	})
}

// freed are those of held that the check read and found free, unless their own
// workflow tells: it does while it works on its resource, and not while it is at
// rest or where there is none. What a check of this worker found a moment ago is
// left out.
func (a *Activities) freed(ctx context.Context, held []resource.ID, request extensions.Request, verdict resource.Verdict) []resource.ID {
	if verdict.Stops() {
		return nil
	}
	var found []resource.ID
	for _, id := range held {
		if !reads(request, id) {
			continue
		}
		if managed, known, err := a.Fleet.Managed(ctx, id); err == nil && (!known || managed.Rests) && a.owners.firstFree(id) {
			found = append(found, id)
		}
	}
	return found
}

// reads reports whether a resource was read for the request, and exists.
func reads(request extensions.Request, id resource.ID) bool {
	if request.Owner.Exists() && request.Owner.ID.Equal(id) {
		return true
	}
	return slices.ContainsFunc(request.References, func(r extensions.ResolvedReference) bool {
		return r.Resolution.Found && r.Reference.ID.Equal(id)
	})
}

// endsWithOwner lets go of a resource whose owner blocks all access to it and
// is being deleted itself: the DELETE of the owner takes it along. An owner in
// the middle of another operation is waited for.
func (a *Activities) endsWithOwner(ctx context.Context, verdict resource.Verdict, request extensions.Request) resource.Verdict {
	owner := request.Owner
	if !verdict.Stops() || !owner.Exists() || a.Registry.InFlight(owner.ID.Type(), owner.ProvisioningState()) {
		return verdict
	}
	goes, going, err := a.ownerIsGoing(ctx, request.Object.ID)
	if err != nil || !going {
		return verdict
	}
	return waitForOwnerDelete(goes, verdict.Message)
}

// request is what the extension points know of a resource before any read.
func (a *Activities) request(desired resource.Desired) extensions.Request {
	request := a.bare(desired)
	request.Object.Desired, _ = resource.DecodeBody(desired.Body)
	return request
}

// bare is a request without the body.
func (a *Activities) bare(desired resource.Desired) extensions.Request {
	return extensions.Request{
		Object:   &resource.Object{ID: desired.ID, APIVersion: desired.APIVersion},
		Resolver: a.owners, Client: a.Client, Log: a.Log, Ignore: desired.Ignore, HashKey: a.options.HashKey,
		Merge: desired.Put == resource.PutMerge,
	}
}

// readOwner reads the owner into the request where a check needs it. A 403 is
// noted, any other refusal is the verdict.
func (a *Activities) readOwner(ctx context.Context, request *extensions.Request, in CheckOwnerInput) *resource.Verdict {
	if !a.Registry.NeedsOwner(in.Desired.ID) || in.Force {
		return nil
	}
	var after time.Time
	if in.Deleting {
		after = a.now()
	}
	got := a.owners.read(ctx, in.Desired.Owner, in.Desired.OwnerAPIVersion, after)
	var unknown *unknownVersion
	switch {
	case errors.As(got.err, &unknown):
		verdict := resource.Fail(resource.ReasonCheckFailed, resource.RetryVerySlow, "the owner cannot be read: "+unknown.Error())
		return &verdict
	case isForbidden(got.err):
		request.OwnerNote = "not readable, not checked"
	case got.err != nil:
		verdict := a.verdict(ctx, in.Desired.Owner, in.Desired.OwnerAPIVersion, got.err)
		verdict.Message = "the owner " + in.Desired.Owner.Short() + " cannot be read: " + verdict.Message
		if verdict.Class == resource.RetryNone {
			verdict.Class, verdict.Severity = resource.RetryVerySlow, resource.SeverityWarning
		}
		return &verdict
	default:
		request.Owner = got.object
	}
	return nil
}

// newestTaken are the references of which nobody states the api-version, with the
// one that was taken.
func newestTaken(resolved []extensions.ResolvedReference, in CheckOwnerInput) []resource.Reference {
	stated := append(in.Desired.References[:len(in.Desired.References):len(in.Desired.References)], in.Desired.DependsOn...)
	var taken []resource.Reference
	for i, reference := range resolved {
		if i < len(stated) && stated[i].APIVersion == "" && reference.Resolution.Object != nil {
			taken = append(taken, resource.Reference{ID: reference.Reference.ID, APIVersion: reference.Resolution.Object.APIVersion})
		}
	}
	return taken
}

// readReferences looks up what the body names, and dependsOn.
func (a *Activities) readReferences(ctx context.Context, in CheckOwnerInput) []extensions.ResolvedReference {
	references := in.Desired.References
	resolved := make([]extensions.ResolvedReference, len(references)+len(in.Desired.DependsOn))
	var reads sync.WaitGroup
	for i, reference := range append(references[:len(references):len(references)], in.Desired.DependsOn...) {
		reads.Go(func() {
			got := a.owners.read(ctx, reference.ID, reference.APIVersion, time.Time{})
			resolved[i] = extensions.ResolvedReference{Reference: reference, Resolution: got.resolution(), Err: got.err}
			if i >= len(references) && resolved[i].Resolution.Ready {
				resolved[i] = a.managedReady(ctx, resolved[i])
			}
		})
	}
	reads.Wait()
	return resolved
}

// managedReady lets a resource of dependsOn count as ready only when its own
// post-check says so, where it is managed: an endpoint that nobody approved
// exists, and nothing that depends on it works.
func (a *Activities) managedReady(ctx context.Context, found extensions.ResolvedReference) extensions.ResolvedReference {
	managed, known, err := a.Fleet.Managed(ctx, found.Reference.ID)
	switch {
	case err != nil:
		found.Err = err
	case known:
		found.Resolution.Ready = managed.Ready
	}
	return found
}

// cachedOwner is the owner for the later checks of a pass: the reading of
// CheckOwner, unless it is too old by now.
func (a *Activities) cachedOwner(ctx context.Context, request *extensions.Request, desired resource.Desired) {
	if !a.Registry.NeedsOwner(desired.ID) {
		return
	}
	got := a.owners.read(ctx, desired.Owner, desired.OwnerAPIVersion, time.Time{})
	if got.err != nil {
		request.OwnerNote = "not readable, not checked"
		return
	}
	request.Owner = got.object
}
