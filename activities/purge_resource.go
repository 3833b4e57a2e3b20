package activities

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/armature-io/armature/arm"
	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/resource"
)

// PurgeResourceInput is a deleted resource with a purge in its manifest.
type PurgeResourceInput struct {
	Desired resource.Desired `json:"desired"`
	PassFacts
	SignedDeletion
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

// keptVisibleAfter is how long a list of deleted resources may lag behind a DELETE.
const keptVisibleAfter = 2 * time.Minute

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
	stop := checkPolicy(in.Desired, "DELETE")
	if stop == nil {
		stop = a.fences().checkDeletionSigned(ctx, in.Desired, in.SignedDeletion)
	}
	if stop == nil {
		stop = a.fences().checkFreeze(ctx, in.Desired)
	}
	if stop != nil {
		return PurgeResourceResult{Verdict: a.report("PurgeResource", *stop)}, nil
	}
	requests, cancel := requestContext(ctx)
	defer cancel()
	requests = forWrites(requests, writeStep{
		fences: a.fences(), desired: in.Desired, PassFacts: in.PassFacts, deletion: &in.SignedDeletion, progress: heartbeat.content,
	})
	result, err := a.purge(requests, in)
	if stop, refused := refusedWrite(err); refused {
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

// purge looks for what Azure keeps of the resource and requests its purge once.
func (a *Activities) purge(ctx context.Context, in PurgeResourceInput) (PurgeResourceResult, error) {
	id := in.Desired.ID
	way := a.Registry.Facts(id.Type()).Purge
	if !way.Known() || way.Parameter != "" {
		return PurgeResourceResult{Verdict: resource.Proceed("purged with the DELETE")}, nil
	}
	kept, err := way.Kept(id, locationOf(in.Desired))
	if err != nil {
		return PurgeResourceResult{Verdict: resource.Proceed("not purged: its manifest states no location")}, nil //nolint:nilerr // nothing else would change that
	}
	body, err := a.Client.Get(ctx, kept, way.APIVersion)
	if failure, ok := errors.AsType[*arm.Error](err); ok && failure.Status == http.StatusNotFound {
		if !in.Sent && a.now(ctx).Sub(in.Since) < keptVisibleAfter {
			return PurgeResourceResult{Verdict: waitForPurge("Azure does not show the deleted resource yet")}, nil
		}
		if in.Sent {
			return PurgeResourceResult{Verdict: resource.Proceed("purged")}, nil
		}
		return PurgeResourceResult{Verdict: resource.Proceed("Azure keeps nothing of it")}, nil
	}
	if err != nil {
		return PurgeResourceResult{}, err
	}
	if verdict, decided := decidePurge(way, id, body.Body, in.Sent); decided {
		return PurgeResourceResult{Verdict: verdict}, nil
	}
	if way.Action != "" {
		_, err = a.Client.Post(ctx, kept, way.Action, way.APIVersion, nil)
	} else {
		_, err = a.Client.Delete(ctx, kept, way.APIVersion)
	}
	if failure, ok := errors.AsType[*arm.Error](err); ok && failure.Status == http.StatusConflict {
		return PurgeResourceResult{Verdict: waitForPurge("another operation on the deleted resource is in progress")}, nil
	}
	if err != nil {
		return PurgeResourceResult{}, err
	}
	return PurgeResourceResult{Verdict: waitForPurge("Azure accepted the purge"), Sent: true}, nil
}

// decidePurge returns the verdict if the kept resource is not to be purged: it has another
// ID, it is protected, or its purge is in progress.
func decidePurge(way extensions.Purge, id resource.ID, body []byte, sent bool) (resource.Verdict, bool) {
	var found struct {
		Properties map[string]any `json:"properties"`
	}
	if err := json.Unmarshal(body, &found); err != nil {
		return resource.Proceed("not purged: Azure returned no JSON for the deleted resource"), true
	}
	original, _ := found.Properties[way.Original].(string)
	until, _ := found.Properties["scheduledPurgeDate"].(string)
	switch {
	case way.Original != "" && !strings.EqualFold(original, id.String()):
		return resource.Proceed("not purged: the deleted resource of this name is " + original), true
	case found.Properties["purgeProtectionEnabled"] == true:
		return resource.Proceed(strings.TrimSpace("not purged: it has purge protection " + until)), true
	case sent:
		return waitForPurge("the purge is in progress"), true
	}
	return resource.Verdict{}, false
}

// waitForPurge is the verdict of a purge that is not done.
func waitForPurge(message string) resource.Verdict {
	verdict := resource.Block(resource.ReasonDeleting, "the resource is deleted and is being purged: "+message)
	verdict.Class = resource.RetryFast
	return verdict
}

// locationOf returns the location that a manifest states.
func locationOf(desired resource.Desired) string {
	var body struct {
		Location string `json:"location"`
	}
	_ = json.Unmarshal(desired.Body, &body) // a body without a text has none
	return body.Location
}

// checkPurge blocks the deletion of a type for which no purge is known, where the
// manifest states one: the user relies on it.
func (a *Activities) checkPurge(desired resource.Desired) *resource.Verdict {
	if a.Registry.Facts(desired.ID.Type()).Purge.Known() || !desired.Deletion.Purge {
		return nil
	}
	return new(resource.Fail(resource.ReasonFailed, resource.RetryVerySlow, fmt.Sprintf(
		"the manifest of %s states reconcile.delete.purge, and no purge of %s is known; remove that and apply, then delete again",
		desired.ID.Short(), desired.ID.Type())))
}

// deleteQuery returns the parameters of the DELETE of a resource: the parameters of its manifest,
// and the one that purges at once.
func (a *Activities) deleteQuery(desired resource.Desired) map[string]string {
	query := maps.Clone(desired.Deletion.Query)
	if parameter := a.Registry.Facts(desired.ID.Type()).Purge.Parameter; parameter != "" && desired.Deletion.Purge {
		if query == nil {
			query = map[string]string{}
		}
		query[parameter] = "true"
	}
	return query
}

// deletionText returns what the manifest adds to a DELETE, "" for nothing.
func (a *Activities) deletionText(desired resource.Desired) string {
	query := a.deleteQuery(desired)
	if len(query) == 0 {
		return ""
	}
	parameters := make([]string, 0, len(query))
	for _, name := range slices.Sorted(maps.Keys(query)) {
		parameters = append(parameters, name+"="+query[name])
	}
	return ", sent with " + strings.Join(parameters, "&") + " (reconcile.delete)"
}
