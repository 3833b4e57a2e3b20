package activities

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/armature-io/armature/activities/feed"
	"github.com/armature-io/armature/arm"
	"github.com/armature-io/armature/internal/extensionhost"
	"github.com/armature-io/armature/internal/text"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/secrets"
)

// followers know which resources a feed follows.
type followers struct {
	feeds    Feeds
	sources  map[string]feed.Source
	client   *arm.Client
	registry *extensionhost.Registry
}

// follow reports whether the feed that reads the changes of a resource follows, and reports every
// change of its type.
func (f *followers) follow(desired resource.Desired, now time.Time) bool {
	if f.feeds == nil || len(f.sources) == 0 {
		return false
	}
	ctx := withCredential(context.Background(), desired.Credential, desired.ID)
	state, known := f.feeds.FeedState(cmp.Or(f.client.ConnectionName(ctx, desired.ID), arm.CredentialDefaultName))
	return known && state.Follows(now) && f.registry.Facts(desired.ID.Type()).ReportedBy(state.Source)
}

// followedInterval is the interval of a resource whose changes a feed reports.
const followedInterval = 24 * time.Hour

// interval returns the time until the next routine pass of a resource that is Ready: that of the
// manifest, or a day if the manifest states none and every change of what it sets comes as a
// report. Values of secrets and of other resources, and exports, change without one.
func (f *followers) interval(desired resource.Desired, now time.Time) time.Duration {
	if !desired.DefaultInterval || len(desired.Exports) > 0 || len(desired.References) > 0 ||
		slices.ContainsFunc(desired.SecretRefs, secrets.Unpinned) || !f.follow(desired, now) {
		return desired.Interval
	}
	return max(desired.Interval, followedInterval)
}

// FeedCheck is the beginning of the name of the checks of feeds; the name of a credential follows.
const FeedCheck = "feed of credential "

// findings returns what Diagnose reports about the feeds.
func (f *followers) findings(now time.Time) []Finding {
	var found []Finding
	for _, credential := range slices.Sorted(maps.Keys(f.sources)) {
		state, known := f.feeds.FeedState(credential)
		found = append(found, feedFinding(FeedCheck+credential, state, known, now))
	}
	return found
}

// feedFinding reports whether a feed follows.
func feedFinding(check string, state FeedState, known bool, now time.Time) Finding {
	const hourly = "; resources are read at the interval of their manifests meanwhile"
	finding := Finding{Check: check, State: FindingOK}
	switch {
	case !known:
		finding.State, finding.Message = FindingWarn, "this worker has not read its state lately"+hourly
		finding.Advice = "run armature doctor again in a minute; if this persists, read the worker's log"
	case state.Refused != "":
		finding.State, finding.Message = FindingError, state.Source+" refuses the credential: "+state.Refused+hourly
		finding.Advice = "give it the right to read the source (docs/config-reference.md#the-feed-of-changes)"
	case state.Through.IsZero():
		finding.State, finding.Message = FindingWarn, "it has read nothing yet"+hourly
		finding.Advice = "run armature doctor again in a minute"
	case !state.Follows(now):
		finding.State = FindingError
		finding.Message = fmt.Sprintf("%s is %s behind: %s%s", state.Source, text.Duration(now.Sub(state.Through)), cmp.Or(state.Failed, "no worker reads it"), hourly)
		finding.Advice = "read the worker's log; what was missed is read later, as long as the source keeps it"
	default:
		finding.Message = fmt.Sprintf("%s: all changes until %s were delivered", state.Source, text.Time(state.Through))
		if state.Gaps > 0 {
			finding.Message += fmt.Sprintf("; %d times the source no longer had all changes, and the waits of a day were shortened", state.Gaps)
		}
		if state.Poisoned > 0 {
			finding.State = FindingWarn
			finding.Message += fmt.Sprintf("; %d messages could not be read and were dropped", state.Poisoned)
			finding.Advice = "find out what else writes into the queue"
		}
	}
	return finding
}
