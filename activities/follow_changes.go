package activities

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"sync/atomic"
	"time"

	"go.temporal.io/sdk/activity"
	"golang.org/x/sync/errgroup"

	"github.com/armature-io/armature/activities/feed"
	"github.com/armature-io/armature/arm"
	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/internal/text"
	"github.com/armature-io/armature/secrets"
)

const (
	// followTime is how long one attempt follows a feed: then its workflow stores the progress.
	followTime = 10 * time.Minute
	// progressInterval is the longest time between two heartbeats while nothing changes.
	progressInterval = 2 * time.Minute
	// maxOffAttempts attempts, offRetry apart, end on workers without the source before the feed
	// ends: a rollout replaces workers one after the other.
	maxOffAttempts = 10
	offRetry       = 30 * time.Second
	// maxReportsAtOnce bounds the signals that are sent at a time.
	maxReportsAtOnce = 16
	// maxFeedError bounds the text of an error in a FeedState.
	maxFeedError = 300
)

// FollowChangesInput is what is known of a feed.
type FollowChangesInput struct {
	// Credential is the name of the credential that reads the source.
	Credential string        `json:"credential"`
	Progress   feed.Progress `json:"progress,omitzero"`
	State      FeedState     `json:"state,omitzero"`
}

// FollowChangesResult is what is known of it later.
type FollowChangesResult struct {
	Progress feed.Progress `json:"progress,omitzero"`
	State    FeedState     `json:"state,omitzero"`
	// Unfollowed is set if changes may have come without a report: the feed has a gap, or
	// stopped to follow.
	Unfollowed bool `json:"unfollowed,omitempty"`
	// Off is set if the worker has no source for the credential any more.
	Off bool `json:"off,omitempty"`
}

// FollowChanges reads a source of changes again and again, and signals the resources that
// changed. A report counts as delivered once its resource has the signal, so an attempt that dies
// delivers some reports twice and loses none. It returns after ten minutes, when the worker stops,
// and as soon as there is
// news of its state: it begins or stops to follow, or drops the first message that is none.
func (a *Activities) FollowChanges(ctx context.Context, in FollowChangesInput) (FollowChangesResult, error) {
	source := a.options.FeedSources[in.Credential]
	switch {
	case source == nil && activity.GetInfo(ctx).Attempt < maxOffAttempts:
		return FollowChangesResult{}, notYet("this worker has no source of changes for the credential; another one may", offRetry)
	case source == nil:
		return FollowChangesResult{Off: true, Unfollowed: in.State.Source != ""}, nil
	}
	f := &follower{Activities: a, source: source, result: FollowChangesResult{Progress: in.Progress, State: in.State}}
	if activity.HasHeartbeatDetails(ctx) {
		_ = activity.GetHeartbeatDetails(ctx, &f.result.Progress) // of another version: the input counts
	}
	f.result.State.Source, f.result.State.Through = source.Name(), f.result.Progress.Through
	return f.follow(arm.WithCredential(withRunID(ctx), in.Credential)), nil
}

// follower is one attempt.
type follower struct {
	*Activities
	source feed.Source
	result FollowChangesResult
	// sent is when the last heartbeat was sent.
	sent time.Time
}

func (f *follower) follow(ctx context.Context) FollowChangesResult {
	begun, state := f.now(), &f.result.State
	for {
		before := *state
		wait := f.read(ctx)
		state.Following = state.Follows(f.now())
		f.result.Unfollowed = before.Following && !state.Following || before.Gaps != state.Gaps
		news := before.Following != state.Following || before.Refused != state.Refused || before.Gaps != state.Gaps || before.Poisoned == 0 && state.Poisoned > 0
		if news || f.now().Sub(begun) >= followTime || ctx.Err() != nil || !f.options.Pause(ctx, wait) {
			return f.result
		}
	}
}

// read reads and delivers once, and returns how long to wait.
func (f *follower) read(ctx context.Context) time.Duration {
	state := &f.result.State
	batch, err := f.source.Read(ctx, f.result.Progress)
	if err == nil {
		_, err = f.deliver(ctx, batch.Changes)
	}
	if err == nil && batch.Done != nil {
		err = batch.Done(ctx)
	}
	if err != nil {
		return f.failed(err)
	}
	state.Refused, state.Failed = "", ""
	state.Poisoned += batch.Poisoned
	if batch.Gap {
		state.Gaps++
	}
	f.result.Progress, state.Through = batch.Next, batch.Next.Through
	if len(batch.Changes) > 0 || f.now().Sub(f.sent) >= progressInterval {
		activity.RecordHeartbeat(ctx, f.result.Progress)
		f.sent = f.now()
	}
	return f.options.FeedInterval
}

// failed records an error, and returns how long to wait before the next reading.
func (f *follower) failed(err error) time.Duration {
	message := text.Cut(secrets.Scrub(err.Error(), nil), maxFeedError)
	wait := f.options.FeedInterval
	f.result.State.Refused, f.result.State.Failed = "", message
	if refused, ok := errors.AsType[*arm.Error](err); ok {
		wait = max(wait, refused.RetryAfter)
		if refused.Status == http.StatusUnauthorized || refused.Status == http.StatusForbidden {
			f.result.State.Refused, f.result.State.Failed = message, ""
		}
	}
	return wait
}

// deliver signals the resources that the changes may have changed, and returns the number of the
// signals.
func (f *follower) deliver(ctx context.Context, changes []feed.Change) (int, error) {
	var total atomic.Int64
	var all errgroup.Group
	all.SetLimit(maxReportsAtOnce)
	for _, target := range feed.Targets(changes, f.Registry.Facts) {
		all.Go(func() error {
			reports := Reports{Changes: target.Reports, RereadWindow: f.options.RereadWindow}
			sent, err := f.Feeds.Report(ctx, target.ID, reports)
			if sent {
				total.Add(1)
			}
			if err != nil || !target.Parts {
				return err
			}
			parts, err := f.Feeds.ReportParts(ctx, target.ID, inlineTypes(f.Registry.Facts(target.ID.Type())), reports)
			total.Add(int64(parts))
			return err
		})
	}
	err := all.Wait()
	return int(total.Load()), err
}

// inlineTypes returns the types of the children that the body of a resource lists.
func inlineTypes(facts extensions.Facts) []string {
	var found []string
	for _, list := range facts.InlineLists {
		found = append(found, list.Types...)
	}
	return slices.Compact(found)
}

// ReportUnfollowedInput names the feed that does not follow.
type ReportUnfollowedInput struct {
	Credential string `json:"credential"`
}

// ReportUnfollowedResult counts the resources that were notified.
type ReportUnfollowedResult struct {
	Notified int `json:"notified"`
}

// ReportUnfollowed notifies every resource that is Ready that a feed does not follow: those that wait
// longer than without a feed wait less. Resources of other feeds are notified too, because no list has
// the credential of a resource.
func (a *Activities) ReportUnfollowed(ctx context.Context, in ReportUnfollowedInput) (ReportUnfollowedResult, error) {
	notified, err := a.Feeds.ReportAll(ctx, Reports{Unfollowed: true})
	a.Log.Warn("the feed of changes does not follow, intervals are shortened", "credential", in.Credential, "resources", notified)
	return ReportUnfollowedResult{Notified: notified}, err
}
