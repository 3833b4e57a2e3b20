package activities

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/armature-io/armature/activities/lookup"
	"github.com/armature-io/armature/drift"
	"github.com/armature-io/armature/internal/jsontree"
	"github.com/armature-io/armature/internal/text"
	"github.com/armature-io/armature/resource"
)

// MoveResourceInput is a resource that Azure moved from Old to New.
type MoveResourceInput struct {
	Old resource.ID `json:"old"`
	New resource.ID `json:"new"`
	// ID is the resource to carry over: one in Old, or zero for Old itself. The identity
	// of Old proves the place of both.
	ID resource.ID `json:"id,omitzero"`
}

// MoveResourceResult is what the workflow of the new place starts with.
type MoveResourceResult struct {
	// Verdict stops the move when nothing proves it.
	Verdict resource.Verdict `json:"verdict"`
	// Desired is the spec with the new ID.
	Desired *resource.Desired `json:"desired,omitempty"`
	Carried *Carried          `json:"carried,omitempty"`
	// Identity are the members that prove the move.
	Identity resource.Identity `json:"identity,omitempty"`
	// Differences are why the new workflow starts paused: the spec does not fit the new
	// place.
	Differences []resource.Difference `json:"differences,omitempty"`
}

// Carried is what the workflow of the old place of a moved resource remembers.
type Carried struct {
	From     resource.ID       `json:"from"`
	Memory   json.RawMessage   `json:"baseline,omitempty"`
	Identity resource.Identity `json:"identity,omitempty"`
	// Applied, Existed and Paused are as in WorkflowMemory.
	Applied bool `json:"applied,omitempty"`
	Existed bool `json:"existed,omitempty"`
	Paused  bool `json:"paused,omitempty"`
}

// MoveResource proves by the remembered identity that a resource is at a new place, and
// returns what its workflow there takes over. It never writes.
func (a *Activities) MoveResource(ctx context.Context, in MoveResourceInput) (MoveResourceResult, error) {
	heartbeat := startHeartbeat[readProgress](ctx)
	defer heartbeat.stop()
	reader := a.resourceReader.startedAt(a.options.StartTime(ctx))
	m := moving{resourceReader: reader, comparer: &comparer{reader.requestMaker, a.options.SettleTime}, memories: a.Memory, in: in, heartbeat: heartbeat}
	result, err := m.prove(ctx)
	if err == nil && !result.Verdict.Stops() {
		err = m.carry(ctx, &result)
	}
	return result, err
}

// moving is one attempt of MoveResource.
type moving struct {
	*resourceReader
	comparer *comparer
	memories MemoryReader

	in        MoveResourceInput
	heartbeat *heartbeater[readProgress]
	// memory belongs to Old, got the reading of New.
	memory WorkflowMemory
	got    GetResourceResult
}

// reject returns the result of a move that is not proven.
func (m *moving) reject(format string, args ...any) (MoveResourceResult, error) {
	verdict := resource.Fail(resource.ReasonFailed, resource.RetryNone, fmt.Sprintf(format, args...))
	return MoveResourceResult{Verdict: verdict}, nil
}

// recollect returns what a workflow remembers, and false where none manages the resource.
func (m *moving) recollect(ctx context.Context, id resource.ID) (WorkflowMemory, bool, error) {
	memory, known, err := m.memories.ReadMemory(ctx, id)
	if err != nil {
		if retry := countTransient(m.heartbeat, err); retry != nil {
			return memory, false, retry
		}
		return memory, false, err
	}
	return memory, known && memory.Desired != nil, nil
}

// prove compares what is at the new place with the remembered identity.
func (m *moving) prove(ctx context.Context) (MoveResourceResult, error) {
	from, to := m.in.Old, m.in.New
	var managed bool
	var err error
	m.memory, managed, err = m.recollect(ctx, from)
	switch {
	case err != nil:
		return MoveResourceResult{}, err
	case !strings.EqualFold(from.Type(), to.Type()) || from.Equal(to):
		return m.reject("%s and %s are not two places of one resource: their types have to be equal and their IDs different", from, to)
	case !managed:
		return m.reject("%s is not managed: apply a manifest with the new place", from)
	case m.memory.Deleting:
		return m.reject("%s is being deleted: armature delete --abort %s first", from.Short(), from)
	case len(m.memory.Identity) == 0:
		return m.reject("nothing proves that %s is %s: Azure shows no immutable identifier of %s, or no pass has ended since the worker remembers them. "+
			"Apply a manifest with the new place, then run armature forget %s", to, from.Short(), from.Type(), from)
	}
	target := m.target(m.memory.Desired.WithSecrets())
	ctx = withCredential(ctx, target.Credential, from)
	old, err := m.getResource(ctx, GetResourceInput{Target: target}, m.heartbeat)
	switch {
	case err != nil:
		return MoveResourceResult{}, err
	case old.Verdict.Stops():
		return MoveResourceResult{Verdict: old.Verdict}, nil
	case old.Exists:
		return m.reject("%s still exists at its old place", from)
	}
	target.ID = to
	ctx = withCredential(ctx, target.Credential, to)
	if m.got, err = m.getResource(ctx, GetResourceInput{Target: target}, m.heartbeat); err != nil || m.got.Verdict.Stops() {
		return MoveResourceResult{Verdict: m.got.Verdict}, err
	}
	body, err := resource.DecodeBody(m.got.Observed)
	if err != nil || !m.got.Exists {
		return m.reject("%s does not exist", to)
	}
	if !m.memory.Identity.Proves(identityOf(to.Type(), body)) {
		return m.reject("%s is another resource than %s: %s is not the one that was remembered", to, from.Short(), m.memory.Identity)
	}
	return MoveResourceResult{Verdict: resource.Proceed(""), Identity: m.memory.Identity}, nil
}

// carry fills in what the workflow of the new place takes over.
func (m *moving) carry(ctx context.Context, result *MoveResourceResult) error {
	from := m.in.Old
	if !m.in.ID.IsZero() && !m.in.ID.Equal(m.in.Old) {
		from = m.in.ID
		memory, managed, err := m.recollect(ctx, from)
		if err != nil {
			return err
		}
		if !managed || memory.Deleting || !Contains(m.in.Old, from) {
			*result, _ = m.reject("%s is not managed, is being deleted, or is not in %s", from, m.in.Old.Short())
			return nil
		}
		m.memory = memory
	}
	desired, err := relocate(*m.memory.Desired, m.in.Old, m.in.New)
	if err != nil {
		*result, _ = m.reject("the spec of %s has no new place: %v", from.Short(), err)
		return nil
	}
	ctx = withCredential(ctx, desired.Credential, desired.ID)
	if !from.Equal(m.in.Old) {
		if m.got, err = m.getResource(ctx, GetResourceInput{Target: m.target(desired.WithSecrets())}, m.heartbeat); err != nil {
			return err
		}
		if !m.got.Exists {
			*result, _ = m.reject("%s does not exist", desired.ID)
			return nil
		}
	}
	result.Desired = &desired
	result.Carried = &Carried{
		From: from, Memory: m.memory.Memory, Identity: m.memory.Identity,
		Applied: m.memory.Applied, Existed: true, Paused: m.memory.Paused,
	}
	checks, cancel := context.WithTimeout(ctx, lookup.Timeout)
	defer cancel()
	checked, _ := m.comparer.preCheck(checks, PreCheckInput{
		Desired: desired, Observed: m.got.Observed, Completed: m.got.Completed, Memory: m.memory.Memory, Applied: m.memory.Applied, Existed: true,
	})
	verdict := checked.Verdict
	if verdict.Action == resource.ActionProceed {
		result.Carried.Paused, result.Differences = true, verdict.Differences
	}
	return nil
}

// relocate returns a spec with the IDs at or in one place replaced by IDs of another.
func relocate(desired resource.Desired, from, to resource.ID) (resource.Desired, error) {
	move := func(id resource.ID) resource.ID {
		moved, err := resource.ParseID(replaceID(id.String(), from, to))
		if err != nil {
			return id
		}
		return moved
	}
	body, err := drift.Decode("desired", desired.Body)
	if err != nil {
		return desired, err
	}
	encoded, err := text.JSON(replaceIDs(body, from, to))
	if err != nil {
		return desired, fmt.Errorf("body: %w", err)
	}
	desired.ID = move(desired.ID)
	desired.Owner, desired.Body = desired.ID.Owner(), json.RawMessage(encoded)
	for _, list := range []*[]resource.Reference{&desired.References, &desired.DependsOn} {
		moved := make([]resource.Reference, len(*list))
		for i, reference := range *list {
			moved[i] = resource.Reference{ID: move(reference.ID), APIVersion: reference.APIVersion}
		}
		if len(moved) > 0 {
			*list = moved
		}
	}
	return desired, nil
}

// replaceIDs replaces IDs at or in a place in all texts of a value.
func replaceIDs(body any, from, to resource.ID) any {
	return jsontree.Edit(body, func(_ string, value any) (any, jsontree.Next) {
		if text, isText := value.(string); isText {
			value = replaceID(text, from, to)
		}
		return value, jsontree.Inside
	})
}

func replaceID(text string, from, to resource.ID) string {
	old := from.String()
	if len(text) < len(old) || !strings.EqualFold(text[:len(old)], old) || len(text) > len(old) && text[len(old)] != '/' {
		return text
	}
	return to.String() + text[len(old):]
}
