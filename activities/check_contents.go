package activities

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/armature-io/armature/activities/contents"
	"github.com/armature-io/armature/activities/writing"
	"github.com/armature-io/armature/arm"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/secrets"
)

// CheckContentsResult blocks while there are unmanaged contents.
type CheckContentsResult struct {
	Verdict resource.Verdict `json:"verdict"`
	// Turn is the parent in whose queue the DELETE waits, zero where ARM accepts
	// parallel changes of siblings.
	Turn resource.ID `json:"turn,omitzero"`
}

// CheckContents blocks a DELETE while it would remove resources that Armature does
// not manage: everything in a resource group, and the published children of a type.
// Managed resources that are being deleted with their owner do not block.
func (a *Activities) CheckContents(ctx context.Context, in contents.Request) (CheckContentsResult, error) {
	ctx = withCredential(ctx, in.Credential, in.ID)
	heartbeat := startHeartbeat[readProgress](ctx)
	defer heartbeat.stop()
	requests, cancel := requestContext(ctx)
	defer cancel()
	turn, _ := a.Registry.FamilyHead(in.ID)
	looker := contents.Looker{Client: a.Client, Registry: a.Registry, IsDeleting: a.isDeleting}
	if in.Intent == contents.IntentReplace {
		looker.IsDeleting = a.isManaged // CheckDependents judged them
	}
	if verdict, err := looker.CheckScope(requests, in); err != nil || verdict != nil {
		if err != nil {
			verdict = new(a.contentsErrorVerdict(ctx, in, err))
		}
		return CheckContentsResult{Verdict: a.report("CheckContents", *verdict), Turn: turn}, nil
	}
	if in.Cascade && in.WithData {
		return CheckContentsResult{Verdict: resource.Proceed("contents not checked: --cascade --with-data by " + in.By), Turn: turn}, nil
	}
	verdict, err := looker.Look(requests, in)
	if err != nil && a.isClosed(requests, in, err) {
		return CheckContentsResult{Turn: turn, Verdict: resource.Proceed(
			"contents not checked, because ARM refuses to list them; managed resources in it are deleted with it: " + secrets.Scrub(err.Error(), nil))}, nil
	}
	if err != nil {
		if retry := countTransient(heartbeat, err); retry != nil {
			return CheckContentsResult{}, retry
		}
		verdict := a.contentsErrorVerdict(ctx, in, err)
		if in.Cascade && isRefusal(err) {
			verdict.Message += "; with --cascade --with-data its contents are not looked at"
		}
		return CheckContentsResult{Verdict: a.report("CheckContents", verdict)}, nil
	}
	return CheckContentsResult{Verdict: a.report("CheckContents", verdict), Turn: turn}, nil
}

// isDeleting reports whether Armature manages a resource and deletes it.
func (a *Activities) isDeleting(ctx context.Context, id resource.ID) (bool, error) {
	managed, known, err := a.Fleet.Managed(ctx, id)
	return known && managed.Deleting, err //nolint:wrapcheck // its caller adds the resource
}

// isManaged reports whether Armature manages a resource.
func (a *Activities) isManaged(ctx context.Context, id resource.ID) (bool, error) {
	_, known, err := a.Fleet.Managed(ctx, id)
	return known, err //nolint:wrapcheck // its caller adds the resource
}

// isClosed reports whether a stopped parent, such as a stopped cluster, refuses to
// list its children, while a managed child waits for its deletion. Without such a
// child no user agreed that anything in it may be deleted.
func (a *Activities) isClosed(ctx context.Context, in contents.Request, err error) bool {
	if failure, ok := errors.AsType[*arm.Error](err); !ok || failure.Class != arm.ClassConflict {
		return false
	}
	found, err := a.Fleet.Dependents(ctx, in.ID)
	return err == nil && slices.ContainsFunc(found.Listed, func(m Managed) bool { return m.Released && Contains(in.ID, m.ID) })
}

func (a *Activities) contentsErrorVerdict(ctx context.Context, in contents.Request, err error) resource.Verdict {
	if _, ok := errors.AsType[contents.LookupError](err); ok {
		return writing.Unanswered(fmt.Sprintf("cannot look up in Temporal what Armature manages in %s, so it is not deleted", in.ID.Short()), err)
	}
	return a.errorVerdict(ctx, in.ID, in.APIVersion, helper("its contents are not known", err))
}
