package activities

import (
	"context"
	"time"

	"github.com/armature-io/armature/activities/purge"
	"github.com/armature-io/armature/activities/writing"
	"github.com/armature-io/armature/resource"
)

// PurgeResourceInput is a deleted resource with a purge in its manifest.
type PurgeResourceInput struct {
	Desired resource.Desired `json:"desired"`
	PassFacts
	writing.SignedDeletion
	// Since is when the resource was first absent, Sent is set once ARM accepted the
	// purge.
	Since time.Time `json:"since,omitzero"`
	Sent  bool      `json:"sent,omitempty"`
}

// PurgeResourceResult is the outcome of a purge. It blocks until Azure keeps nothing of
// the resource.
type PurgeResourceResult struct {
	Verdict resource.Verdict `json:"verdict"`
	// Sent is set when ARM accepted the purge.
	Sent bool `json:"sent,omitempty"`
}

// PurgeResource purges what Azure keeps of a resource that its workflow deleted. It
// obeys policies and freezes as the DELETE does. It purges only the remains of this very
// resource: names are unique in all of Azure, and another resource may have had it. It
// may be repeated.
func (a *Activities) PurgeResource(ctx context.Context, in PurgeResourceInput) (PurgeResourceResult, error) {
	ctx = withCredential(ctx, in.Desired.Credential, in.Desired.ID)
	heartbeat := startHeartbeat[readProgress](ctx)
	defer heartbeat.stop()
	if err := checkWorkerStop(ctx); err != nil {
		return PurgeResourceResult{}, err
	}
	if stop := a.checks().CheckDeletion(ctx, in.Desired, in.SignedDeletion); stop != nil {
		return PurgeResourceResult{Verdict: a.report("PurgeResource", *stop)}, nil
	}
	requests, cancel := requestContext(ctx)
	defer cancel()
	requests = a.forWrites(requests, in.Desired, in.PassFacts, writing.Step{Deletion: &in.SignedDeletion, Progress: heartbeat.content})
	result := PurgeResourceResult{}
	var err error
	result.Verdict, result.Sent, err = a.purger().Send(requests, in.Desired, purge.Progress{Sent: in.Sent, AbsentFor: a.options.StartTime(ctx).Sub(in.Since)})
	if stop, blocked := writing.Blocked(err); blocked {
		return PurgeResourceResult{Verdict: a.report("PurgeResource", stop)}, nil
	}
	if err != nil {
		values, _ := a.secretValues(ctx, in.Desired.WithSecrets().SecretRefs)
		if retry := countTransient(heartbeat, scrubError("purge", in.Desired.ID, err, values)); retry != nil {
			return PurgeResourceResult{}, retry
		}
		request := failedRequest{id: in.Desired.ID, apiVersion: in.Desired.APIVersion, repeated: in.Repeated, values: values}
		result.Verdict = a.failureVerdict(ctx, request, err, &lastAnswer{})
		result.Verdict.Message = "the resource is deleted, and its purge failed: " + result.Verdict.Message
	}
	result.Verdict = a.report("PurgeResource", result.Verdict)
	return result, nil
}

// purger returns what knows the purges of the types.
func (a *Activities) purger() purge.Purger {
	return purge.Purger{Client: a.Client, Registry: a.Registry}
}
