// Package purge removes what Azure keeps of a deleted resource, and adds to a DELETE what its
// manifest states. The steps decide whether anything may be written.
package purge

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
	"github.com/armature-io/armature/internal/extensionhost"
	"github.com/armature-io/armature/resource"
)

// keptVisibleAfter is how long a list of deleted resources may lag behind a DELETE.
const keptVisibleAfter = 2 * time.Minute

// Purger knows how the types are purged.
type Purger struct {
	Client   *arm.Client
	Registry *extensionhost.Registry
}

// Progress is what is known of a purge so far.
type Progress struct {
	// AbsentFor is the time since the resource was first absent, Sent is set once ARM accepted
	// the purge.
	AbsentFor time.Duration
	Sent      bool
}

// Send looks for what Azure keeps of a deleted resource and requests its purge once. The
// verdict blocks until Azure keeps nothing; accepted reports that ARM accepted the purge now.
func (p Purger) Send(ctx context.Context, desired resource.Desired, progress Progress) (verdict resource.Verdict, accepted bool, err error) {
	id := desired.ID
	way := p.Registry.Facts(id.Type()).Purge
	if !way.Known() || way.Parameter != "" {
		return resource.Proceed("purged with the DELETE"), false, nil
	}
	kept, err := way.Kept(id, locationOf(desired))
	if err != nil {
		return resource.Proceed("not purged: its manifest states no location"), false, nil //nolint:nilerr // nothing else would change that
	}
	body, err := p.Client.Get(ctx, kept, way.APIVersion)
	if failure, ok := errors.AsType[*arm.Error](err); ok && failure.Status == http.StatusNotFound {
		if !progress.Sent && progress.AbsentFor < keptVisibleAfter {
			return wait("Azure does not show the deleted resource yet"), false, nil
		}
		if progress.Sent {
			return resource.Proceed("purged"), false, nil
		}
		return resource.Proceed("Azure keeps nothing of it"), false, nil
	}
	if err != nil {
		return resource.Verdict{}, false, err
	}
	if verdict, decided := decide(way, id, body.Body, progress.Sent); decided {
		return verdict, false, nil
	}
	if way.Action != "" {
		_, err = p.Client.Post(ctx, kept, way.Action, way.APIVersion, nil)
	} else {
		_, err = p.Client.Delete(ctx, kept, way.APIVersion, arm.DeleteOptions{})
	}
	if failure, ok := errors.AsType[*arm.Error](err); ok && failure.Status == http.StatusConflict {
		return wait("another operation on the deleted resource is in progress"), false, nil
	}
	if err != nil {
		return resource.Verdict{}, false, err
	}
	return wait("Azure accepted the purge"), true, nil
}

// decide returns the verdict if the kept resource is not to be purged: it has another
// ID, it is protected, or its purge is in progress.
func decide(way extensions.Purge, id resource.ID, body []byte, sent bool) (resource.Verdict, bool) {
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
		return wait("the purge is in progress"), true
	}
	return resource.Verdict{}, false
}

// wait is the verdict of a purge that is not done.
func wait(message string) resource.Verdict {
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

// Check blocks the deletion of a type for which no purge is known, where the
// manifest states one: the user relies on it.
func (p Purger) Check(desired resource.Desired) *resource.Verdict {
	if p.Registry.Facts(desired.ID.Type()).Purge.Known() || !desired.Deletion.Purge {
		return nil
	}
	return new(resource.Fail(resource.ReasonFailed, resource.RetryVerySlow, fmt.Sprintf(
		"the manifest of %s states reconcile.delete.purge, and no purge of %s is known; remove that and apply, then delete again",
		desired.ID.Short(), desired.ID.Type())))
}

// Query returns the parameters of the DELETE of a resource: the parameters of its manifest,
// and the one that purges at once.
func (p Purger) Query(desired resource.Desired) map[string]string {
	query := maps.Clone(desired.Deletion.Query)
	if parameter := p.Registry.Facts(desired.ID.Type()).Purge.Parameter; parameter != "" && desired.Deletion.Purge {
		if query == nil {
			query = map[string]string{}
		}
		query[parameter] = "true"
	}
	return query
}

// Text returns what the manifest adds to a DELETE, "" for nothing.
func (p Purger) Text(desired resource.Desired) string {
	query := p.Query(desired)
	if len(query) == 0 {
		return ""
	}
	parameters := make([]string, 0, len(query))
	for _, name := range slices.Sorted(maps.Keys(query)) {
		parameters = append(parameters, name+"="+query[name])
	}
	return ", sent with " + strings.Join(parameters, "&") + " (reconcile.delete)"
}
