package activities

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/armature-io/armature/arm"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/secrets"
)

// Bounds of the contents that CheckContents reads, counts and names. Managed
// resources that may be deleted too can fill the first pages, so it reads more than
// it counts.
const (
	maxContentsRead    = 5000
	maxContentsCounted = 100
	maxContentsNamed   = 10
)

// CheckContentsInput is the resource to delete with its contents.
type CheckContentsInput struct {
	ID         resource.ID `json:"id"`
	APIVersion string      `json:"apiVersion"`
	// Credential is as in resource.Desired.
	Credential string `json:"credential,omitempty"`
	// Cascade skips the check, as requested by By.
	Cascade bool   `json:"cascade,omitempty"`
	By      string `json:"by,omitempty"`
	// WithData allows to delete data that ARM does not list.
	WithData bool `json:"withData,omitempty"`
	// EndScope allows what resource.EndsScope reports.
	EndScope bool `json:"endScope,omitempty"`
	// Stated is the body of the manifest: children that it contains belong to the
	// resource.
	Stated json.RawMessage `json:"stated,omitempty"`
}

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
func (a *Activities) CheckContents(ctx context.Context, in CheckContentsInput) (CheckContentsResult, error) {
	ctx = withCredential(ctx, in.Credential, in.ID)
	heartbeat := startHeartbeat[readProgress](ctx)
	defer heartbeat.stop()
	requests, cancel := requestContext(ctx)
	defer cancel()
	turn, _ := a.Registry.FamilyHead(in.ID)
	if resource.EndsScope(in.ID.Type()) {
		if verdict := a.checkScope(requests, in); verdict != nil {
			return CheckContentsResult{Verdict: a.report("CheckContents", *verdict), Turn: turn}, nil
		}
	}
	if in.Cascade && in.WithData {
		return CheckContentsResult{Verdict: resource.Proceed("contents not checked: --cascade --with-data by " + in.By), Turn: turn}, nil
	}
	found := contents{activities: a, in: in, listed: map[string]bool{}}
	err := found.look(requests)
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
	verdict := found.verdict()
	switch {
	case verdict.Stops():
	case in.Cascade:
		verdict.Message = "only looked for data: --cascade by " + in.By
	case len(found.managedGroups) > 0:
		verdict.Message = "the resource group that its service manages is deleted with it: " + nameContents(found.managedGroups)
	}
	return CheckContentsResult{Verdict: a.report("CheckContents", verdict), Turn: turn}, nil
}

// isClosed reports whether a stopped parent, such as a stopped cluster, refuses to
// list its children, while a managed child waits for its deletion. Without such a
// child no user agreed that anything in it may be deleted.
func (a *Activities) isClosed(ctx context.Context, in CheckContentsInput, err error) bool {
	if failure, ok := errors.AsType[*arm.Error](err); !ok || failure.Class != arm.ClassConflict {
		return false
	}
	found, err := a.Fleet.Dependents(ctx, in.ID)
	return err == nil && slices.ContainsFunc(found.Listed, func(m Managed) bool { return m.Released && Contains(in.ID, m.ID) })
}

// temporalError is an error of Temporal, not of ARM.
type temporalError struct{ error }

func (a *Activities) contentsErrorVerdict(ctx context.Context, in CheckContentsInput, err error) resource.Verdict {
	if _, ok := errors.AsType[temporalError](err); ok {
		return resource.Fail(resource.ReasonCheckFailed, resource.RetrySlow,
			fmt.Sprintf("cannot look up in Temporal what Armature manages in %s, so it is not deleted: %v", in.ID.Short(), err))
	}
	return a.errorVerdict(ctx, in.ID, in.APIVersion, err)
}

// checkItem returns the ID and the display name of a listed item, and reports whether
// Armature manages it and it is being deleted.
func (a *Activities) checkItem(ctx context.Context, parent resource.ID, item json.RawMessage) (resource.ID, string, bool, error) {
	var found struct {
		ID string `json:"id"`
	}
	if json.Unmarshal(item, &found) != nil || found.ID == "" {
		return resource.ID{}, "an item without an ID", false, nil
	}
	id, err := resource.ParseID(found.ID)
	if err != nil {
		return resource.ID{}, found.ID, false, nil //nolint:nilerr // an ID of another form is not managed, and its text is its name
	}
	managed, known, err := a.Fleet.Managed(ctx, id)
	if err != nil {
		return resource.ID{}, "", false, temporalError{fmt.Errorf("look up %s in %s: %w", id.Short(), parent.Short(), err)}
	}
	return id, displayName(id), known && managed.Deleting, nil
}

// displayName returns the short name and the type of a resource.
func displayName(id resource.ID) string { return id.Short() + " (" + id.Type() + ")" }

func displayNames(ids []resource.ID) []string {
	names := make([]string, 0, len(ids))
	for _, id := range ids {
		names = append(names, displayName(id))
	}
	return names
}

// nameContents names the first of the contents and counts the rest.
func nameContents(all []string) string {
	return nameFirst(all, len(all), len(all) >= maxContentsCounted)
}

// nameFirst names the first resources of total ones and counts the rest; atLeast
// marks a count that was cut off.
func nameFirst(names []string, total int, atLeast bool) string {
	named := min(len(names), maxContentsNamed)
	text := strings.Join(names[:named], ", ")
	switch more := total - named; {
	case atLeast:
		text += fmt.Sprintf(" and at least %d more", more)
	case more > 0:
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
