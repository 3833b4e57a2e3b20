package activities

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/armature-io/armature/drift"
	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/resource"
)

// PostCheck is step 5, a local activity: is the resource Ready? After a good PUT
// it remembers the differences that stayed, so that they are not fought.
func (a *Activities) PostCheck(ctx context.Context, in PostCheckInput) (PostCheckResult, error) {
	ctx, cancel := context.WithTimeout(correlated(ctx), readBudget)
	defer cancel()
	a.owners.heard(in.Changes)
	request, stop := a.fullRequest(ctx, in.Desired, in.Observed, in.Memory)
	if stop != nil {
		return PostCheckResult{Verdict: a.observed("PostCheck", *stop)}, nil
	}
	result := PostCheckResult{Verdict: a.Registry.PostCheck(ctx, request)}
	if !result.Verdict.Stops() {
		a.succeeded(ctx, in, request, &result)
	}
	result.Verdict = a.observed("PostCheck", a.overdue(in.Desired.ID, result.Verdict, in.NotReadyFor, request.Object))
	return result, nil
}

// succeeded remembers, names what Azure did not take, and runs the handlers of
// a success.
func (a *Activities) succeeded(ctx context.Context, in PostCheckInput, request extensions.Request, result *PostCheckResult) {
	options := request.Comparison()
	if in.Put && request.Object.Exists() && !a.Registry.InFlight(in.Desired.ID.Type(), request.Object.ProvisioningState()) {
		for _, difference := range in.Differences {
			options.Reasons = append(options.Reasons, difference.Path)
		}
		options.Memory = drift.Remember(request.Object.Desired, request.Object.Observed, options)
		if encoded, err := json.Marshal(options.Memory); err == nil {
			result.Memory = encoded
		}
	}
	found := drift.Compare(request.Object.Desired, request.Object.Observed, options)
	if len(found.NotTaken) > 0 {
		result.Verdict.Reason, result.Verdict.Severity = resource.ReasonChangeNotTaken, resource.SeverityWarning
		result.Verdict.Message = fmt.Sprintf("Ready, but Azure accepted the PUT and kept its own value of %s; it is not written again while nothing changes",
			strings.Join(found.NotTaken, ", "))
	}
	if failed := a.Registry.Success(ctx, request); failed != nil {
		result.Verdict = *failed
	}
}
