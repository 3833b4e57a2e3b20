package activities

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/armature-io/armature/activities/contents"
	"github.com/armature-io/armature/arm"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/secrets"
)

// PlanDeletionInput is a resource that a user wants to delete.
type PlanDeletionInput struct {
	ID resource.ID `json:"id"`
	// Desired is the spec of a manifest, nil if only the workflow of the resource knows it.
	Desired *resource.Desired `json:"desired,omitempty"`
	// EndScope allows to end a scope, as resource.EndsScope reports.
	EndScope bool `json:"endScope,omitempty"`
}

// PlanDeletionResult has the facts on which a deletion depends. It judges none of them: only
// the client knows the other resources of the deletion.
type PlanDeletionResult struct {
	// Managed is set if a workflow manages the resource, with the spec of Generation. Deleting
	// is set if it deletes the resource already.
	Managed    bool            `json:"managed,omitempty"`
	Generation int64           `json:"generation,omitempty"`
	Deleting   bool            `json:"deleting,omitempty"`
	Policy     resource.Policy `json:"policy,omitempty"`
	APIVersion string          `json:"apiVersion,omitempty"`
	// Observed names the setting of the worker that allows no DELETE, "" if none forbids it.
	Observed string `json:"observed,omitempty"`
	// Exists is set if Azure shows the resource. Another one of the same name has another
	// Identity, as far as its type shows it.
	Exists   bool              `json:"exists,omitempty"`
	Identity resource.Identity `json:"identity,omitempty"`
	// Closed is set if Azure refuses reads of it or of its contents for now, as below a stopped
	// owner.
	Closed bool `json:"closed,omitempty"`
	// Locks are the management locks at, above and below it.
	Locks []Lock `json:"locks,omitempty"`
	// Denied are the reasons that the credential may not delete it: a missing right, and deny
	// assignments.
	Denied []string `json:"denied,omitempty"`
	// Scope is why the end of a whole scope is not allowed, "" for all other resources.
	Scope string `json:"scope,omitempty"`
	// Found are the contents that no manifest names.
	contents.Found
	// Dependents are the managed resources that need it, and More is set if there are others.
	Dependents []Dependent `json:"dependents,omitempty"`
	More       bool        `json:"more,omitempty"`
	// Restore is how Azure can restore the data after the deletion, and Within how long it
	// keeps it; both are "" if that is not known.
	Restore string `json:"restore,omitempty"`
	Within  string `json:"within,omitempty"`
	// Settings are those of the manifest about its deletion.
	Settings resource.Deletion `json:"settings,omitzero"`
	// Lock is the spec of a management lock, with which it is put back.
	Lock *resource.Desired `json:"lock,omitempty"`
	// Unknown are the questions without an answer, each with the reason.
	Unknown []string `json:"unknown,omitempty"`
}

// Dependent is a managed resource that needs another one.
type Dependent struct {
	ID     resource.ID     `json:"id"`
	Policy resource.Policy `json:"policy,omitempty"`
	// Deleting is set while it is being deleted, Released on top if ARM deletes it only with
	// its owner.
	Deleting bool `json:"deleting,omitempty"`
	Released bool `json:"released,omitempty"`
}

// deletionPlan is one attempt of PlanDeletion.
type deletionPlan struct {
	*Activities
	request contents.Request
	result  PlanDeletionResult
}

// PlanDeletion answers everything that can be asked before a DELETE. It never writes. A
// question without an answer is in Unknown.
func (a *Activities) PlanDeletion(ctx context.Context, in PlanDeletionInput) (PlanDeletionResult, error) {
	heartbeat := startHeartbeat[readProgress](ctx)
	defer heartbeat.stop()
	requests, cancel := requestContext(ctx)
	defer cancel()
	p := &deletionPlan{Activities: a}
	memory, managed, err := a.Memory.ReadMemory(requests, in.ID)
	if err != nil {
		if retry := countTransient(heartbeat, err); retry != nil {
			return PlanDeletionResult{}, retry
		}
		p.unknown("its workflow", err)
	}
	desired := in.Desired
	if managed && memory.Desired != nil {
		applied := *memory.Desired
		if desired != nil {
			applied.APIVersion = desired.APIVersion
		}
		desired = &applied
	}
	if desired == nil {
		return p.result, nil
	}
	p.result.Managed, p.result.Generation, p.result.Deleting = managed, memory.Generation, memory.Deleting
	p.result.Policy, p.result.APIVersion, p.result.Observed = desired.Policy, desired.APIVersion, a.observed.Setting(desired.Labels)
	if desired.Policy.Detaches() {
		return p.result, nil
	}
	p.request = contents.Request{
		ID: desired.ID, APIVersion: desired.APIVersion, Credential: desired.Credential, Stated: desired.Body, EndScope: in.EndScope,
	}
	p.ask(withCredential(requests, desired.Credential, desired.ID), desired)
	return p.result, nil
}

// ask asks Azure and Temporal about a resource that a DELETE would delete.
func (p *deletionPlan) ask(ctx context.Context, desired *resource.Desired) {
	id := p.request.ID
	if strings.EqualFold(id.Type(), resource.TypeLock) {
		p.result.Lock = desired
	}
	recreation := p.Registry.Facts(id.Type()).Recreation
	p.result.Restore, p.result.Within, p.result.Settings = restoreText(recreation, id), recreation.Within, desired.Deletion
	if p.askExistence(ctx); !p.result.Exists {
		return
	}
	p.askRights(ctx)
	var err error
	if p.result.Locks, err = locksOf(ctx, p.Client, id); err != nil {
		p.unknown("the management locks", err)
	}
	// Managed contents are dependents: whether they are deleted too is known to the client.
	looker := contents.Looker{Client: p.Client, Registry: p.Registry, IsDeleting: p.isManaged}
	if scope, err := looker.CheckScope(ctx, p.request); err != nil {
		p.unknown("the scope that it ends", err)
	} else if scope != nil {
		p.result.Scope = scope.Message
	}
	if p.result.Found, err = looker.Find(ctx, p.request); err != nil {
		p.unknownUnlessClosed("its contents", err)
	}
	p.askDependents(ctx)
}

// askExistence reads the resource. A resource of a type without GET counts as existing.
func (p *deletionPlan) askExistence(ctx context.Context) {
	id := p.request.ID
	response, err := p.Client.Get(ctx, id, p.request.APIVersion)
	if arm.IsAbsent(err) {
		return
	}
	p.result.Exists = true
	if err != nil {
		p.unknownUnlessClosed("its state", err)
		return
	}
	body, err := resource.DecodeBody(response.Body)
	if err != nil {
		p.unknown("its state", err)
		return
	}
	if p.result.Identity, err = incarnationOf(ctx, p.Client, id, body, response.ETag); err != nil {
		p.unknown("when it was created", err)
	}
}

// askRights asks whether the credential may send the DELETE. Rights are inherited, so those
// at the resource group or subscription count first. Resources outside subscriptions have no
// such list.
func (p *deletionPlan) askRights(ctx context.Context) {
	id := p.request.ID
	container := containerOf(id)
	if container.IsZero() {
		return
	}
	action := strings.ToLower(id.Type()) + "/delete"
	if strings.EqualFold(id.Type(), resource.TypeResourceGroup) {
		action = strings.ToLower(resource.TypeSubscription) + "/resourcegroups/delete"
	}
	granted, err := p.Client.Permissions(ctx, container)
	if err == nil && !granted.Allow(action) && !container.Equal(id) {
		granted, err = p.Client.Permissions(ctx, id)
	}
	if err != nil {
		p.unknown("the rights of the credential", err)
	} else if !granted.Allow(action) {
		p.result.Denied = append(p.result.Denied, "the credential has no right to "+action)
	}
	denials, err := p.Client.DenyAssignments(ctx, container)
	if err != nil {
		p.unknown("the deny assignments", err)
		return
	}
	for _, denial := range denials {
		scope, err := resource.ParseID(denial.Scope)
		applies := err == nil && (scope.Equal(id) || Contains(scope, id) && !denial.OnlyScope || Contains(id, scope))
		text := fmt.Sprintf("deny assignment %q on %s", denial.Name, denial.Scope)
		switch {
		case !applies || !denial.Denies(action):
		case denial.Uncertain:
			p.result.Unknown = append(p.result.Unknown, "whether "+text+" applies to the credential")
		default:
			p.result.Denied = append(p.result.Denied, text+" denies "+action)
		}
	}
	slices.Sort(p.result.Denied)
}

func (p *deletionPlan) askDependents(ctx context.Context) {
	found, err := p.Fleet.Dependents(ctx, p.request.ID)
	if err != nil {
		p.unknown("the managed resources that need it", err)
		return
	}
	p.result.More = found.More
	for _, dependent := range found.Listed {
		if !dependent.Gone {
			p.result.Dependents = append(p.result.Dependents, Dependent{ID: dependent.ID, Policy: dependent.Policy, Deleting: dependent.Deleting, Released: dependent.Released})
		}
	}
	slices.SortFunc(p.result.Dependents, func(a, b Dependent) int { return strings.Compare(a.ID.Key(), b.ID.Key()) })
}

// unknownUnlessClosed records a question without an answer, or that Azure refuses it for now.
func (p *deletionPlan) unknownUnlessClosed(question string, err error) {
	if failure, ok := errors.AsType[*arm.Error](err); ok && failure.Class == arm.ClassConflict {
		p.result.Closed = true
		return
	}
	p.unknown(question, err)
}

// unknown records a question without an answer.
func (p *deletionPlan) unknown(question string, err error) {
	p.result.Unknown = append(p.result.Unknown, question+": "+secrets.Scrub(err.Error(), nil))
}

// containerOf returns the resource group of a resource, else its subscription, else the zero
// ID.
func containerOf(id resource.ID) resource.ID {
	subscription := resource.ID{}
	for at := id; !at.IsZero(); at = at.Owner() {
		if strings.EqualFold(at.Type(), resource.TypeResourceGroup) {
			return at
		}
	}
	if id.Subscription() != "" {
		subscription, _ = resource.ParseID("/subscriptions/" + id.Subscription()) // it is part of an ID
	}
	return subscription
}

// touches reports whether a scope is a resource, contains it, or is in it.
func touches(scope, id resource.ID) bool {
	return scope.Equal(id) || Contains(scope, id) || Contains(id, scope)
}
