package activities

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/armature-io/armature/arm"
	"github.com/armature-io/armature/drift"
	"github.com/armature-io/armature/resource"
	"go.temporal.io/sdk/activity"
)

// readProgress is what an attempt of a read leaves to the next.
type readProgress struct {
	seen
	Faults int `json:"faults,omitempty"`
	// Since is when the answer first contradicted the expectation.
	Since time.Time `json:"since,omitzero"`
}

// GetResource is step 2: the resource as ARM shows it, masked. Only an answer
// whose code says so means that it is absent.
func (a *Activities) GetResource(ctx context.Context, in GetResourceInput) (GetResourceResult, error) {
	ctx = as(ctx, in.Credential, in.ID)
	heart := startHeart[readProgress](ctx)
	defer heart.stop()
	return a.getResource(ctx, in, heart)
}

// getResource is GetResource as part of an activity.
func (a *Activities) getResource(ctx context.Context, in GetResourceInput, heart *heart[readProgress]) (GetResourceResult, error) {
	result, masked, err := a.readOnce(ctx, in)
	switch {
	case err != nil:
		return a.getFailed(ctx, in, heart, err)
	case result.Verdict.Stops():
		a.observed("GetResource", result.Verdict)
		return result, nil
	}
	if again := a.contradicts(in.Expect, result.Exists, heart); again != nil {
		return GetResourceResult{}, again
	}
	a.saw(ctx, in, result, masked)
	return result, nil
}

// readOnce makes one request. Its error is a refusal or a fault; an answer that
// cannot be read is a verdict.
func (a *Activities) readOnce(ctx context.Context, in GetResourceInput) (GetResourceResult, map[string]any, error) {
	started := a.now()
	requests, cancel := forARM(ctx)
	defer cancel()
	response, err := a.Client.Get(requests, in.ID, in.APIVersion)
	if err != nil && !arm.IsAbsent(err) {
		return GetResourceResult{}, nil, err
	}
	result := GetResourceResult{Verdict: resource.Proceed(""), ReadAt: started, Leaf: a.Registry.Leaf(in.ID.Type())}
	var masked map[string]any
	if err == nil {
		if masked, err = a.observe(ctx, in, response, &result); err != nil {
			return GetResourceResult{Verdict: resource.Fail(resource.ReasonFailed, resource.RetrySlow, err.Error())}, nil, nil
		}
	}
	return result, masked, nil
}

// saw takes over a reading: others may wait for the resource.
func (a *Activities) saw(ctx context.Context, in GetResourceInput, result GetResourceResult, masked map[string]any) {
	a.owners.readings.learn(in.ID, readAs{in.APIVersion, arm.CredentialName(ctx)}, masked, result.ReadAt)
	a.observed("GetResource", result.Verdict)
}

// observe masks the answer before it leaves the activity.
func (a *Activities) observe(ctx context.Context, in GetResourceInput, response arm.Response, result *GetResourceResult) (map[string]any, error) {
	body, err := resource.DecodeBody(response.Body)
	if err != nil || body == nil {
		return nil, fmt.Errorf("the answer to GET %s is no JSON object (ARM request ID %s)", in.ID, response.RequestID)
	}
	masked := a.Registry.Trim(in.ID.Type(), a.mask(ctx, body, hidden{in.Plain, in.Secret, in.SecretRefs}))
	if result.Observed, err = json.Marshal(masked); err != nil {
		return nil, fmt.Errorf("encode answer to GET %s: %w", in.ID, err)
	}
	if drift.Bounded(result.Observed) {
		a.bodies.keep(result.Observed, masked)
	}
	result.Exists = true
	object := resource.Object{Observed: masked}
	result.State, result.OverdueExempt = strings.Join(states(&object), ", "), a.overdueExempt(&object)
	if state := object.ProvisioningState(); a.Registry.InFlight(in.ID.Type(), state) {
		result.InFlight = state
	}
	return masked, nil
}

// statePaths are the properties that hold a resource's state: provisioningState
// for every type, and properties.state (Kusto, PostgreSQL), powerState (AKS) and
// operationalState (Application Gateway).
var statePaths = []string{"properties.provisioningState", "properties.state", "properties.powerState.code", "properties.operationalState"}

// states returns the distinct states of an object, in the order of statePaths.
func states(object *resource.Object) []string {
	var found []string
	for _, path := range statePaths {
		if state, _ := object.StringAt(path); state != "" && !slices.Contains(found, state) {
			found = append(found, state)
		}
	}
	return found
}

// getFailed gives faults a few more attempts, then says what is wrong.
func (a *Activities) getFailed(ctx context.Context, in GetResourceInput, heart *heart[readProgress], err error) (GetResourceResult, error) {
	progress := heart.progress()
	progress.Faults++
	values, _ := a.values(ctx, in.SecretRefs)
	of := attempted{id: in.ID, apiVersion: in.APIVersion, before: in.Repeated, values: values}
	verdict := a.judge(ctx, of, err, &progress.seen)
	heart.record(progress)
	if again, retry := fault(scrubbed("get", in.ID, err, values), progress.Faults); retry {
		return GetResourceResult{}, again
	}
	return GetResourceResult{Verdict: a.observed("GetResource", verdict)}, nil
}

// contradicts asks for another read when the answer contradicts a write that
// ARM accepted: ARM's reads may lag behind its writes.
func (a *Activities) contradicts(expect Expectation, exists bool, heart *heart[readProgress]) error {
	if expect.met(exists) {
		return nil
	}
	progress := heart.progress()
	if progress.Since.IsZero() {
		progress.Since = a.now()
		heart.record(progress)
	}
	if a.now().Sub(progress.Since) >= a.options.RereadWindow {
		return nil
	}
	return notYet(fmt.Sprintf("the resource is expected to be %s, and is not yet", expect), a.options.RereadInterval)
}

// hidden is what a manifest says about secrets: the paths that it states in
// plain, those where it has a $secret, and the references behind them.
type hidden struct {
	plain, secret, refs []string
}

// mask hides secret values: by name and form, where the manifest has a $secret,
// and wherever the answer repeats a value of one.
func (a *Activities) mask(ctx context.Context, observed map[string]any, h hidden) map[string]any {
	masked := a.Masker.MaskPaths(a.Masker.Mask(observed, h.plain), h.secret)
	if values, _ := a.values(ctx, h.refs); len(values) > 0 {
		masked = a.Masker.MaskValues(masked, values)
	}
	return masked
}

// values are the secrets behind references, to be masked in what ARM sends back;
// false when one of them cannot be had.
func (a *Activities) values(ctx context.Context, refs []string) (values []string, all bool) {
	all = true
	for _, ref := range refs {
		value, err := a.Secrets.ReadCached(ctx, ref)
		if err != nil {
			all = false
			continue
		}
		values = append(values, value)
	}
	return values, all
}

// attempt is the number of the attempt, from 1.
func attempt(ctx context.Context) int { return int(activity.GetInfo(ctx).Attempt) }
