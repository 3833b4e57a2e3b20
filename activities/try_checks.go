package activities

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/armature-io/armature/arm"
	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/extensions/rules"
	"github.com/armature-io/armature/internal/extensionhost"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/secrets"
)

// TryChecksInput is an existing resource, and what to try with it.
type TryChecksInput struct {
	ID resource.ID `json:"id"`
	// APIVersion is the version to read it with; "" is that of its manifest, or else the newest
	// stable one that the subscription offers.
	APIVersion string `json:"apiVersion,omitempty"`
	// Rules are the rule files to try; without them the checks of the worker are tried.
	Rules []rules.Source `json:"rules,omitempty"`
}

// TryChecksResult is what the checks of a resource decide, and what they saw.
type TryChecksResult struct {
	// Verdict stops the trial.
	Verdict resource.Verdict `json:"verdict"`
	ID      resource.ID      `json:"id"`
	// APIVersion is the version of the read, and Generation that of the manifest, 0 for a
	// resource that Armature does not manage.
	APIVersion string `json:"apiVersion,omitempty"`
	Generation int64  `json:"generation,omitempty"`
	// Now is the time of the trial.
	Now time.Time `json:"now,omitzero"`
	// Labels, Desired, Observed and Owner are what the checks saw, with secrets masked; a body
	// is nil where there is none.
	Labels   map[string]string `json:"labels,omitempty"`
	Desired  map[string]any    `json:"desired,omitempty"`
	Observed map[string]any    `json:"observed,omitempty"`
	Owner    map[string]any    `json:"owner,omitempty"`
	// Trials are in the order of the files, or of the chains of the worker.
	Trials []CheckTrial `json:"trials,omitempty"`
}

// CheckTrial is what one check decided, with the age of what it read, for example "c1 read 3s
// ago".
type CheckTrial struct {
	rules.Trial
	Ages string `json:"ages,omitempty"`
}

// TryChecks reads a resource, and runs each rule of the input, or each check of the worker, by
// itself. It sees what a pass sees, and sends nothing but GET requests.
func (a *Activities) TryChecks(ctx context.Context, in TryChecksInput) (TryChecksResult, error) {
	heartbeat := startHeartbeat[readProgress](ctx)
	defer heartbeat.stop()
	memory, managed, err := a.readMemory(ctx, in.ID)
	desired := resource.Desired{ID: in.ID, APIVersion: in.APIVersion}
	if managed && memory.Desired != nil {
		desired = memory.Desired.WithSecrets()
	}
	ctx = withCredential(ctx, desired.Credential, in.ID)
	i := importRun{resourceReader: a.resourceReader.startedAt(a.options.StartTime(ctx)), fleet: a.Fleet, memories: a.Memory, heartbeat: heartbeat}
	requests, cancel := requestContext(ctx)
	defer cancel()
	if err == nil && desired.APIVersion == "" {
		desired.APIVersion, err = i.newestVersion(requests, in.ID)
	}
	result := TryChecksResult{ID: in.ID, APIVersion: desired.APIVersion, Generation: memory.Generation, Now: i.now(), Labels: desired.Labels}
	if err != nil {
		failed, retry := i.importFailed(ctx, ImportResourceResult{ID: in.ID, APIVersion: desired.APIVersion}, err)
		result.Verdict = failed.Verdict
		return result, retry
	}
	if desired.APIVersion == "" {
		result.Verdict = noVersion(in.ID)
		return result, nil
	}
	got, err := i.getResource(ctx, GetResourceInput{Target: i.target(desired), Identity: memory.Identity}, heartbeat)
	if err == nil {
		err = i.awaitBudget(heartbeat, got.Verdict)
	}
	if err != nil || got.Verdict.Stops() {
		result.Verdict = got.Verdict
		return result, err
	}
	if stop := i.try(requests, in, desired, got.Observed, memory.Memory, &result); stop != nil {
		result.Verdict = *stop
	}
	return result, nil
}

// try runs the checks. A verdict means that they could not run.
func (i *importRun) try(ctx context.Context, in TryChecksInput, desired resource.Desired, observed, memory json.RawMessage, result *TryChecksResult) *resource.Verdict {
	first, stop := i.seenRequest(ctx, desired, observed, memory)
	if stop != nil {
		return stop
	}
	result.Desired, result.Observed = first.Object.Desired, first.Object.Observed
	if first.Owner.Exists() {
		result.Owner = first.Owner.Observed
	}
	// Each check has a reader of its own, which knows what it read.
	var reader *stepReader
	next := func() extensionhost.Request {
		request, _ := i.seenRequest(ctx, desired, observed, memory)
		reader = readerOf(request)
		request.Client, request.Log = readingClient{request.Client}, nil // the log has the verdicts of passes
		return request
	}
	tried := func(trial rules.Trial) {
		result.Trials = append(result.Trials, CheckTrial{Trial: trial, Ages: reader.ages()})
		reader = nil
	}
	if len(in.Rules) == 0 {
		for _, link := range i.registry.Links(in.ID.Type()) {
			i.registry.Try(ctx, link, next, func(trial extensionhost.Trial) { tried(rules.Trial{Trial: trial}) })
		}
		return nil
	}
	set, _, err := rules.Parse(in.Rules)
	if err == nil {
		err = set.Try(ctx, i.registry, in.ID.Type(), next, tried)
	}
	if err != nil {
		return new(resource.Fail(resource.ReasonCheckFailed, resource.RetryNone, secrets.Scrub(err.Error(), nil)))
	}
	return nil
}

// seenRequest returns what the checks of a pass would get.
func (i *importRun) seenRequest(ctx context.Context, desired resource.Desired, observed, memory json.RawMessage) (extensionhost.Request, *resource.Verdict) {
	if desired.Body != nil {
		return i.requestWithOwner(ctx, desired, PassFacts{}, observed, memory)
	}
	request := i.requestWithoutBody(desired, PassFacts{})
	var err error
	if request.Object.Observed, err = i.bodies.Decode("observed", observed); err != nil {
		return request, new(resource.Fail(resource.ReasonFailed, resource.RetrySlow, err.Error()))
	}
	i.addOwner(ctx, &request, desired)
	return request, nil
}

// readingClient is the client of a link on trial. Outside of a step that writes every write is
// refused; list actions, which a pass may send, return secrets.
type readingClient struct{ extensions.ARMClient }

// Post refuses the action.
func (readingClient) Post(_ context.Context, id resource.ID, action, _ string, _ []byte) (arm.Operation, error) {
	return arm.Operation{}, extensions.NotYet(fmt.Sprintf("it would send POST %s of %s; a trial sends GET requests only", action, id.Short()),
		extensions.WithReason(resource.ReasonCheckFailed))
}
