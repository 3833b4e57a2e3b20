package activities

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"strings"

	"github.com/armature-io/armature/drift"
	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/resource"
)

// PostCheck is step 5, a local activity: is the resource Ready? After a good PUT
// it remembers the differences that stayed, so that they are not fought.
func (a *Activities) PostCheck(ctx context.Context, in PostCheckInput) (PostCheckResult, error) {
	ctx = as(ctx, in.Desired.Credential, in.Desired.ID)
	ctx, cancel := context.WithTimeout(correlated(ctx), readBudget)
	defer cancel()
	a.owners.heard(in.Changes)
	defer a.bodies.forget(in.Desired.Body, in.Observed)
	request, stop := a.fullRequest(ctx, in.Desired, in.Observed, in.Memory)
	if stop != nil {
		return PostCheckResult{Verdict: a.observed("PostCheck", *stop)}, nil
	}
	if a.options.Rotation && len(in.Secrets) > 0 {
		// What was sent counts, not what a reference leads to since.
		seen := request.Secrets
		request.Secrets = maps.Clone(in.Secrets)
		for reference, sum := range seen {
			if _, sent := in.Secrets[reference]; !sent {
				request.Secrets[reference] = sum
			}
		}
	}
	result := PostCheckResult{Verdict: a.Registry.PostCheck(ctx, request)}
	if !result.Verdict.Stops() {
		a.succeeded(ctx, in, request, &result)
	}
	result.Verdict = a.observed("PostCheck", result.Verdict)
	return result, nil
}

// succeeded remembers, names what Azure did not take, and runs the handlers of
// a success.
func (a *Activities) succeeded(ctx context.Context, in PostCheckInput, request extensions.Request, result *PostCheckResult) {
	options := request.Comparison()
	found := drift.Compare(request.Object.Desired, request.Object.Observed, options)
	if a.remember(in, request, found, &options) {
		if encoded, err := json.Marshal(options.Baseline); err == nil && (in.Put || !bytes.Equal(encoded, in.Memory)) {
			result.Memory = encoded
			found = drift.Compare(request.Object.Desired, request.Object.Observed, options)
		}
	}
	result.Kept = found.Accepted[:min(len(found.Accepted), resource.MaxDifferences)]
	if len(found.NotTaken) > 0 {
		result.Verdict.Reason, result.Verdict.Severity = resource.ReasonChangeNotTaken, resource.SeverityWarning
		result.Verdict.Message = fmt.Sprintf("Ready, but Azure accepted the PUT and kept its own value of %s; it is not written again while nothing changes",
			strings.Join(found.NotTaken, ", "))
	}
	if failed := a.Registry.Success(ctx, request); failed != nil {
		result.Verdict = *failed
	}
}

// remember renews the memory after a PUT, and where a comparison finds the
// resource in sync: at first contact, after an edit that asks for what is there,
// under another api-version. A skip of an extension that overlooks a difference
// is not remembered, nor is a state in between.
func (a *Activities) remember(in PostCheckInput, request extensions.Request, found drift.Result, options *drift.Options) bool {
	object := request.Object
	switch {
	case !object.Exists() || a.Registry.InFlight(in.Desired.ID.Type(), object.ProvisioningState()):
		return false
	case in.Put:
		options.Put, options.Reasons = true, in.Differences
	case !found.InSync:
		return false
	}
	options.Baseline = drift.NewBaseline(object.Desired, object.Observed, *options)
	return true
}
