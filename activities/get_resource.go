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

// Expectation is what a read after a write waits for.
type Expectation string

// The expectations: a plain read accepts any result; after an accepted PUT an absent resource is
// read again for RereadWindow, after a DELETE a present one.
const (
	ExpectAny     Expectation = ""
	ExpectPresent Expectation = "present"
	ExpectAbsent  Expectation = "absent"
)

func (e Expectation) isMet(exists bool) bool {
	return e == ExpectAny || exists == (e == ExpectPresent)
}

// GetResourceInput is the resource to read.
type GetResourceInput struct {
	resource.Target
	Expect   Expectation `json:"expect,omitempty"`
	Repeated Repeated    `json:"repeated,omitzero"`
	// Deleted is set after a DELETE of this workflow that ended well: a doubtful 404 is an
	// absence then.
	Deleted bool `json:"deleted,omitempty"`
	// Existed is set once a read of this workflow showed the resource: its absence needs a
	// second proof.
	Existed bool `json:"existed,omitempty"`
	// Replaced are the values from before the last write; nil if a read that shows them may be
	// newer than the write.
	Replaced *Replaced `json:"replaced,omitempty"`
	// WithoutBody leaves Observed out: a deletion does not compare.
	WithoutBody bool `json:"withoutBody,omitempty"`
	// Identity is the last one that PostCheck found. An absent resource is searched by it. In a
	// deletion, with WithoutBody, it belongs to the resource to delete: another resource under
	// the same ID is a verdict.
	Identity resource.Identity `json:"identity,omitempty"`
}

// GetResourceResult is the observed resource, masked.
type GetResourceResult struct {
	// Verdict stops the pass if Azure refused the read.
	Verdict resource.Verdict `json:"verdict"`
	Exists  bool             `json:"exists"`
	// ExistenceOnly is set if the type has no GET: Observed may have an ID and a name only.
	ExistenceOnly bool `json:"existenceOnly,omitempty"`
	// Observed is one JSON object, nil if the resource is absent.
	Observed json.RawMessage `json:"observed,omitempty"`
	// Completed are the parts of the target in Observed that came from other requests.
	Completed []string `json:"completed,omitempty"`
	// State lists the provisioning state and the other states of the resource
	// ("Succeeded, Running"), "" if ARM shows none. InFlight is the provisioning state if it
	// means an operation in flight.
	State    string `json:"state,omitempty"`
	InFlight string `json:"inFlight,omitempty"`
	// OverdueExempt is set in a state in which the resource is never overdue.
	OverdueExempt bool `json:"overdueExempt,omitempty"`
	// Moved is the new ID of an absent resource that was moved, else zero.
	Moved resource.ID `json:"moved,omitzero"`
	// ETag and Identity are set only with WithoutBody, if ARM shows them.
	ETag     string            `json:"etag,omitempty"`
	Identity resource.Identity `json:"identity,omitempty"`
	// Leaf is set for a type on which nothing depends.
	Leaf   bool      `json:"leaf,omitempty"`
	ReadAt time.Time `json:"readAt"`
}

// readProgress is the progress that an attempt of a read records for the next one.
type readProgress struct {
	lastAnswer
	TransientErrors int `json:"transientErrors,omitempty"`
	// Since is the time at which a read first contradicted the expectation.
	Since time.Time `json:"since,omitzero"`
	// Doubt is the response that may mean an absence.
	Doubt doubt `json:"doubt,omitzero"`
}

// resourceReader reads resources for histories: masked, and absent only with a proof.
type resourceReader struct {
	*requestMaker
	report                       reporter
	rereadWindow, rereadInterval time.Duration
	// overdueStates are the states in which a resource is never overdue.
	overdueStates []string
}

// startedAt is requestMaker.startedAt.
func (r *resourceReader) startedAt(at time.Time) *resourceReader {
	started := *r
	started.requestMaker = r.requestMaker.startedAt(at)
	return &started
}

// GetResource is step 2: it returns the resource as ARM shows it, masked. The resource is absent
// only with a proof (arm.IsAbsent) or, if ARM has none, after the same response over
// RereadWindow. As a local activity it is a look, which may fail with LookDeferred.
func (a *Activities) GetResource(ctx context.Context, in GetResourceInput) (GetResourceResult, error) {
	if isLook(ctx) {
		return a.look(ctx, in)
	}
	return a.get(ctx, in)
}

// get reads the resource, and notes whether a look suffices for it.
func (a *Activities) get(ctx context.Context, in GetResourceInput) (GetResourceResult, error) {
	ctx = withCredential(ctx, in.Credential, in.ID)
	heartbeat := startHeartbeat[readProgress](ctx)
	defer heartbeat.stop()
	begun := a.now()
	result, err := a.resourceReader.startedAt(a.options.StartTime(ctx)).getResource(ctx, in, heartbeat)
	a.looks.note(in.ID, a.now().Sub(begun), result, err)
	return result, err
}

// getResource is GetResource as part of an activity.
func (r *resourceReader) getResource(ctx context.Context, in GetResourceInput, heartbeat *heartbeater[readProgress]) (GetResourceResult, error) {
	result, masked, err := r.readOnce(ctx, in.Target)
	if err == nil && !result.Exists {
		err = r.confirmAbsence(ctx, in, result)
	}
	if err != nil && arm.DoubtOf(err) != "" {
		result, err = r.judgeDoubt(ctx, in, heartbeat, err)
	}
	if err == nil && in.WithoutBody && result.Exists {
		err = r.compareIdentity(ctx, in, &result, masked, heartbeat)
	}
	switch {
	case isNotYet(err):
		return GetResourceResult{}, err
	case err != nil:
		return r.getFailed(ctx, in, heartbeat, err)
	case result.Verdict.Stops():
		r.report("GetResource", result.Verdict)
		return result, nil
	}
	if err := r.awaitExpected(in, result, masked, heartbeat); err != nil {
		return GetResourceResult{}, err
	}
	r.cacheReading(ctx, in.Target, result, masked)
	if !result.Exists && len(in.Identity) > 0 && !in.WithoutBody {
		if result.Moved, err = r.findMoved(ctx, in.Target, in.Identity, heartbeat); err != nil {
			if isNotYet(err) {
				return GetResourceResult{}, err
			}
			return r.getFailed(ctx, in, heartbeat, err)
		}
	}
	if !in.WithoutBody {
		result.ETag = "" // a PUT is preceded by a read of its own
	} else {
		r.bodies.Drop(result.Observed)
		result.Observed = nil
	}
	return result, nil
}

// compareIdentity fills in the identity of a resource that is being deleted. If the deletion
// began with another resource, the verdict stops the pass. A resource group whose time of
// creation the list of groups does not show now may be another one.
func (r *resourceReader) compareIdentity(ctx context.Context, in GetResourceInput, result *GetResourceResult, masked map[string]any, heartbeat *heartbeater[readProgress]) error {
	requests, cancel := requestContext(ctx)
	defer cancel()
	found, err := incarnationOf(requests, r.client, in.ID, masked, result.ETag)
	if err != nil {
		return helper("whether it was created again is not known", err)
	}
	result.Identity = found
	member := in.Identity.Differs(found)
	switch {
	case member != "":
		result.Verdict = resource.Block(resource.ReasonCreatedAgain, fmt.Sprintf(
			"%s was deleted and created again since its deletion began: %s was %s and is %s. It stays. To delete it too, run armature delete %s; to leave it in Azure, run armature forget %s",
			in.ID.Short(), member, in.Identity[member], found[member], in.ID, in.ID))
	case in.Identity[groupCreated] != "" && found[groupCreated] == "" && r.sinceFirst(heartbeat) < r.rereadWindow:
		return notYet("the list of resource groups does not show "+in.ID.Short()+", so it may have been created again; both are read again", r.rereadInterval)
	case in.Identity[groupCreated] != "" && found[groupCreated] == "":
		result.Verdict = resource.Block(resource.ReasonCheckFailed, fmt.Sprintf(
			"the list of resource groups does not show %s, so whether it was created again since its deletion began is not known; it is read again", in.ID.Short()))
	}
	return nil
}

// readOnce makes one request, and one for each part of the target. It also returns the masked body.
// Its error is that of a request; a response that cannot be decoded is a verdict.
func (r *resourceReader) readOnce(ctx context.Context, target resource.Target) (GetResourceResult, map[string]any, error) {
	started := r.now()
	requests, cancel := requestContext(ctx)
	defer cancel()
	response, err := r.client.Get(requests, target.ID, target.APIVersion)
	if err != nil && !arm.IsAbsent(err) {
		return GetResourceResult{}, nil, err
	}
	result := GetResourceResult{Verdict: resource.Proceed(""), ReadAt: started, Leaf: r.registry.Leaf(target.ID.Type())}
	if err != nil {
		result.Verdict = absenceVerdict(target.ID, err)
		return result, nil, nil
	}
	body, err := resource.DecodeBody(response.Body)
	if err == nil && body != nil {
		if result.Completed, err = r.complete(requests, target, body); err != nil {
			return GetResourceResult{}, nil, err
		}
	}
	masked, err := r.observe(ctx, target, response, body, &result)
	if err != nil {
		return GetResourceResult{Verdict: resource.Fail(resource.ReasonFailed, resource.RetrySlow, err.Error())}, nil, nil
	}
	return result, masked, nil
}

// cacheReading caches a reading for the resources that wait for this one.
func (r *resourceReader) cacheReading(ctx context.Context, target resource.Target, result GetResourceResult, masked map[string]any) {
	r.lookup.Cache(ctx, target.ID, target.APIVersion, masked, result.ReadAt)
	r.report("GetResource", result.Verdict)
}

// observe fills in the result from a response and its body, masked before it leaves the activity.
// body is nil if the response is no JSON object.
func (r *resourceReader) observe(
	ctx context.Context, target resource.Target, response arm.Response, body map[string]any, result *GetResourceResult,
) (masked map[string]any, err error) {
	if body == nil {
		return nil, fmt.Errorf("the answer to GET %s is no JSON object (ARM request ID %s)", target.ID, response.RequestID)
	}
	masked = r.registry.Trim(target.ID.Type(), r.mask(ctx, body, target))
	if result.Observed, err = json.Marshal(masked); err != nil {
		return nil, fmt.Errorf("encode answer to GET %s: %w", target.ID, err)
	}
	if drift.Bounded(result.Observed) {
		r.bodies.Put(result.Observed, masked)
	}
	object := resource.Object{Observed: masked}
	result.Exists, result.ExistenceOnly, result.ETag = true, response.ExistenceOnly, response.ETag
	result.State, result.OverdueExempt = strings.Join(states(&object), ", "), r.overdueExempt(&object)
	if state := object.ProvisioningState(); r.registry.InFlight(target.ID.Type(), state) {
		result.InFlight = state
	}
	return masked, nil
}

// statePaths lead to the states of a resource: provisioningState for every type,
// properties.state (Kusto, PostgreSQL), powerState (AKS) and operationalState (Application
// Gateway).
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

// getFailed returns the error that makes Temporal retry a transient failure. Any other failure, or
// one too many, is a verdict.
func (r *resourceReader) getFailed(ctx context.Context, in GetResourceInput, heartbeat *heartbeater[readProgress], err error) (GetResourceResult, error) {
	if arm.IsSelfThrottled(err) && isLook(ctx) {
		return GetResourceResult{}, deferred("the request budget has nothing left at once")
	}
	values, _ := r.secretValues(ctx, in.SecretRefs)
	request := failedRequest{id: in.ID, apiVersion: in.APIVersion, repeated: in.Repeated, values: values}
	progress := heartbeat.progress()
	progress.TransientErrors++
	verdict := r.failureVerdict(ctx, request, err, &progress.lastAnswer)
	heartbeat.send(progress)
	if retry := retryTransient(scrubError("get", in.ID, err, values), progress.TransientErrors); retry != nil {
		return GetResourceResult{}, retry
	}
	return GetResourceResult{Verdict: r.report("GetResource", verdict)}, nil
}

// countTransient counts a failure of a read and returns the error that makes Temporal retry it,
// nil if it is to be a verdict.
func countTransient(heartbeat *heartbeater[readProgress], err error) error {
	progress := heartbeat.progress()
	progress.TransientErrors++
	heartbeat.send(progress)
	return retryTransient(err, progress.TransientErrors)
}

// awaitExpected returns the error that makes Temporal read again if a read is older than an
// accepted write or the end of its operation, because ARM's reads may lag. After RereadWindow it
// returns nil: the read counts.
func (r *resourceReader) awaitExpected(in GetResourceInput, result GetResourceResult, masked map[string]any, heartbeat *heartbeater[readProgress]) error {
	older := r.olderThanWrite(in.Expect, in.Replaced, result, masked)
	if older == "" || r.sinceFirst(heartbeat) >= r.rereadWindow {
		return nil
	}
	return notYet(older, r.rereadInterval)
}

// olderThanWrite returns the reason for which a read is older than an accepted write, "" if it may
// be newer.
func (r *resourceReader) olderThanWrite(expect Expectation, before *Replaced, result GetResourceResult, masked map[string]any) string {
	switch {
	case !expect.isMet(result.Exists):
		return fmt.Sprintf("the resource is expected to be %s, and is not yet", expect)
	case expect == ExpectPresent && result.InFlight != "":
		return "the operation ended, and the resource is still " + result.InFlight
	case r.showsReplaced(before, result.ETag, masked):
		return "the read shows the values from before the last write: " + strings.Join(before.Paths[:min(len(before.Paths), 3)], ", ")
	}
	return ""
}

// sinceFirst returns the time since its first call in this activity, over all attempts.
func (r *resourceReader) sinceFirst(heartbeat *heartbeater[readProgress]) time.Duration {
	progress := heartbeat.progress()
	if progress.Since.IsZero() {
		progress.Since = r.now()
		heartbeat.send(progress)
	}
	return r.now().Sub(progress.Since)
}

// mask hides secrets: by name and form, at the paths that the manifest marks as secret, and
// wherever a body repeats the value of a $secret.
func (s *secretReader) mask(ctx context.Context, observed map[string]any, target resource.Target) map[string]any {
	masked := s.masker.MaskPaths(s.masker.Mask(target.ID.Type(), observed, target.Plain), target.Secret)
	if values, _ := s.secretValues(ctx, target.SecretRefs); len(values) > 0 {
		masked = s.masker.MaskValues(masked, values)
	}
	return masked
}

// secretValues returns the values behind $secret references, for masking. all is false if one of
// them cannot be read.
func (s *secretReader) secretValues(ctx context.Context, refs []string) (values []string, all bool) {
	all = true
	for _, ref := range refs {
		value, err := s.resolver.ReadCached(ctx, ref)
		if err != nil {
			all = false
			continue
		}
		values = append(values, value)
	}
	return values, all
}

// attemptNumber returns the number of the attempt, from 1.
func attemptNumber(ctx context.Context) int { return int(activity.GetInfo(ctx).Attempt) }
