package activities

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"time"

	"github.com/armature-io/armature/activities/exporting"
	"github.com/armature-io/armature/activities/lookup"
	"github.com/armature-io/armature/activities/writing"
	"github.com/armature-io/armature/drift"
	"github.com/armature-io/armature/internal/extensionhost"
	"github.com/armature-io/armature/resource"
)

// PostCheckInput is the last read of the pass, with the facts about its PUT.
type PostCheckInput struct {
	Desired resource.Desired `json:"desired"`
	PassFacts
	Observed json.RawMessage `json:"observed,omitempty"`
	// Completed are the parts in Observed that came from other requests than the GET.
	Completed []string        `json:"completed,omitempty"`
	Memory    json.RawMessage `json:"baseline,omitempty"`
	// Put is set if this pass wrote the resource or verifies an AcceptedPut; Differences are
	// the reasons of the PUT. Adopted is set with it if nothing was written: the differences
	// are to stay.
	Put         bool                  `json:"put,omitempty"`
	Adopted     bool                  `json:"adopted,omitempty"`
	Differences []resource.Difference `json:"differences,omitempty"`
	// Sent is set if the pass sent a PUT. Kept and Secrets are results of PutResource.
	Sent    bool              `json:"sent,omitempty"`
	Kept    string            `json:"kept,omitempty"`
	Secrets map[string]string `json:"secrets,omitempty"`
	// Identity is the one that the workflow remembers.
	Identity resource.Identity `json:"identity,omitempty"`
	// Now is the time of the workflow.
	Now time.Time `json:"now,omitzero"`
}

// Findings name the values of a resource that no PUT changes, for users: at most 20 of each kind.
type Findings struct {
	// Kept are the paths at which Azure kept its own value against the last good PUT: they are
	// not corrected.
	Kept []string `json:"kept,omitempty"`
	// Owned are the values of the manifest that another owner moved, with the owner: a switch,
	// reconcile.initial, or a resource.
	Owned []string `json:"owned,omitempty"`
	// Foreign are the values outside of the manifest that changed since the last PUT, with their
	// paths.
	Foreign []string `json:"foreign,omitempty"`
	// Unverified are the paths of values of the manifest that no request shows.
	Unverified []string `json:"unverified,omitempty"`
}

// PostCheckResult decides whether the resource is Ready.
type PostCheckResult struct {
	Verdict resource.Verdict `json:"verdict"`
	// Memory replaces the baseline, if set.
	Memory json.RawMessage `json:"baseline,omitempty"`
	Findings
	// Identity replaces the one that the workflow remembers, if set.
	Identity resource.Identity `json:"identity,omitempty"`
	// Interval is the time to the next routine pass if that is longer than the manifest's.
	Interval time.Duration `json:"interval,omitempty"`
	// KeysDisabled is the property that makes the service reject its keys, "" if there is none
	// and for a resource without exports.
	KeysDisabled string `json:"keysDisabled,omitempty"`
}

// PostCheck is step 5, a local activity: it decides whether the resource is Ready. After a PUT it
// adds the differences that stayed to the baseline, Ready or not, so that later passes do not
// correct them.
func (a *Activities) PostCheck(ctx context.Context, in PostCheckInput) (PostCheckResult, error) {
	ctx = withCredential(ctx, in.Desired.Credential, in.Desired.ID)
	ctx, cancel := context.WithTimeout(withRunID(ctx), lookup.Timeout)
	defer cancel()
	facts := in.shared()
	ctx = a.forWrites(ctx, in.Desired, facts, writing.Step{TaskStarted: in.Now})
	a.noteChanges(in.Changes)
	defer a.bodies.Drop(in.Desired.Body, in.Observed)
	request, stop := a.requestMaker.startedAt(in.Now).requestWithOwner(ctx, in.Desired, facts, in.Observed, in.Memory)
	if stop != nil {
		return PostCheckResult{Verdict: a.report("PostCheck", *stop)}, nil
	}
	request.Object.Completed = in.Completed
	request.Hold, request.Force = in.Hold(), in.Force
	if a.options.Rotation && len(in.Secrets) > 0 {
		// The hashes of the sent values count, not those of the current ones.
		hashes := map[string]string{}
		maps.Copy(hashes, request.Secrets)
		maps.Copy(hashes, in.Secrets)
		request.Secrets = hashes
	}
	result := PostCheckResult{Verdict: withAge(request, a.Registry.PostCheck(ctx, request))}
	if identity := identityOf(in.Desired.ID.Type(), request.Object.Observed); identity != nil && !maps.Equal(identity, in.Identity) {
		result.Identity = identity
	}
	found := a.remember(ctx, in, request, &result)
	if !result.Verdict.Stops() {
		a.finishReady(ctx, request, found, in.Put, &result)
	}
	if interval := a.followers.interval(in.Desired, a.now()); interval > in.Desired.Interval {
		result.Interval = interval
	}
	if len(in.Desired.Exports) > 0 {
		result.KeysDisabled = exporting.KeysDisabled(request.Object.Observed)
	}
	result.Verdict = a.report("PostCheck", readerOf(request).withWrites(result.Verdict))
	return result, nil
}

// remember renews the baseline, and returns the comparison with the new one.
func (a *Activities) remember(ctx context.Context, in PostCheckInput, request extensionhost.Request, result *PostCheckResult) drift.Result {
	options := request.Comparison()
	options.Answer = in.Observed
	found := drift.Compare(request.Object.Desired, request.Object.Observed, options)
	if a.renewBaseline(in, request, found, result.Verdict.Stops(), &options) {
		a.newer.remember(ctx, in, request, &options.Baseline)
		if encoded, err := json.Marshal(options.Baseline); err == nil && (in.Put || !bytes.Equal(encoded, in.Memory)) {
			result.Memory = encoded
			found = drift.Compare(request.Object.Desired, request.Object.Observed, options)
		}
	}
	result.Findings = findingsOf(request.Object, found, options)
	return found
}

// findingsOf returns the findings of a comparison other than differences.
func findingsOf(object *resource.Object, found drift.Result, options drift.Options) Findings {
	findings := Findings{
		Kept: found.Accepted[:min(len(found.Accepted), resource.MaxDifferences)], Owned: found.OwnedTexts(), Unverified: found.Unverified,
	}
	foreign, more := drift.Foreign(object.Desired, object.Observed, options)
	for _, value := range foreign {
		findings.Foreign = append(findings.Foreign, value.Path+": "+value.Observed)
	}
	if more > 0 {
		findings.Foreign[len(findings.Foreign)-1] = fmt.Sprintf("and %d more", more+1)
	}
	return findings
}

// finishReady names the values that Azure did not take, and runs the success handlers.
func (a *Activities) finishReady(ctx context.Context, request extensionhost.Request, found drift.Result, put bool, result *PostCheckResult) {
	switch text := found.NotTakenText(); {
	case text == "" && put && len(found.Accepted) > 0:
		result.Verdict.Message = "Ready, except values that Azure keeps or does not show: " + found.AcceptedText()
	case text != "":
		result.Verdict.Reason, result.Verdict.Severity = resource.ReasonChangeNotTaken, resource.SeverityWarning
		result.Verdict.Message = "Ready, but Azure accepted the PUT and " + text + "; it is not written again while nothing changes"
	}
	if text := found.UnverifiedText(); text != "" {
		result.Verdict.Message = cmp.Or(result.Verdict.Message, "Ready") + text
	}
	if failed := a.Registry.Success(ctx, request); failed != nil {
		result.Verdict = *failed
		return
	}
	switch held := extensionhost.HeldVerdict(request.Object.ID, found); {
	case put && result.Memory != nil && len(found.Differences) > 0:
		// The PUT changed the switch of these values, and carried them.
		result.Verdict = resource.Block(resource.ReasonReconciling, "the last PUT changed the owner of values, which are written next: "+found.Differences[0].Path)
		result.Verdict.Class = resource.RetryFast
	case held != nil:
		result.Verdict = *held
	}
}

// renewBaseline puts a new baseline into options after a PUT, and if the resource is in sync: at
// first contact, after an edit that matches Azure, or under another api-version. It reports
// whether it did. The baseline has no difference that an extension skipped, no state in
// between, and no values of a PUT that failed in Azure: such a PUT is sent again.
func (a *Activities) renewBaseline(in PostCheckInput, request extensionhost.Request, found drift.Result, notReady bool, options *drift.Options) bool {
	object := request.Object
	state := object.ProvisioningState()
	switch {
	case !object.Exists() || a.Registry.InFlight(in.Desired.ID.Type(), state) || notReady && resource.Broken(state):
		return false
	case in.Put:
		options.Put, options.Adopted, options.Reasons = true, in.Adopted, in.Differences
		options.Sent, options.Kept = in.Sent, drift.PathSet(in.Kept)
	case !found.InSync:
		return false
	default:
		options.Baseline = options.Baseline.WithoutEnded(found)
	}
	options.Baseline = drift.NewBaseline(object.Desired, object.Observed, *options)
	return true
}
