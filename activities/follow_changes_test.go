package activities

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/armature-io/armature/activities/feed"
	"github.com/armature-io/armature/arm"
	"github.com/armature-io/armature/resource"
)

// readings is a source of which each reading is scripted; the last one repeats.
type readings struct {
	now   func() time.Time
	steps []func(progress feed.Progress) (feed.Batch, error)
	calls int
	froms []time.Time
}

func (r *readings) Name() string { return feed.SourceGraph }

func (r *readings) Read(_ context.Context, progress feed.Progress) (feed.Batch, error) {
	step := r.steps[min(r.calls, len(r.steps)-1)]
	r.calls++
	r.froms = append(r.froms, progress.Through)
	batch, err := step(progress)
	if batch.Next.Through.IsZero() {
		batch.Next.Through = r.now()
	}
	return batch, err
}

// reported records the reports by the name of the resource.
type reported struct {
	mu     sync.Mutex
	sent   []string
	failed error
	state  FeedState
	known  bool
}

func (r *reported) Report(_ context.Context, id resource.ID, reports Reports) (bool, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.failed != nil {
		err := r.failed
		r.failed = nil
		return false, err
	}
	for _, change := range reports.Changes {
		r.sent = append(r.sent, id.Name()+" by "+change.Name)
	}
	return true, nil
}

func (r *reported) ReportParts(context.Context, resource.ID, []string, Reports) (int, error) {
	return 0, nil
}

func (r *reported) ReportAll(context.Context, Reports) (int, error) { return 0, nil }

func (r *reported) FeedState(string) (FeedState, bool) { return r.state, r.known }

func nothing(feed.Progress) (feed.Batch, error) { return feed.Batch{}, nil }

func fails(err error) func(feed.Progress) (feed.Batch, error) {
	return func(feed.Progress) (feed.Batch, error) { return feed.Batch{}, err }
}

// following returns a world with a feed that reads every two minutes of its clock.
func following(t *testing.T, steps ...func(feed.Progress) (feed.Batch, error)) (*world, *readings, *reported) {
	t.Helper()
	source, sent := &readings{steps: steps}, &reported{}
	var w *world
	w = newWorld(t, func(s *setup) {
		source.now = func() time.Time { return s.options.Now() }
		s.options.FeedSources = map[string]feed.Source{arm.CredentialDefaultName: source}
		s.options.FeedInterval = 2 * time.Minute
		s.options.Pause = func(_ context.Context, delay time.Duration) bool {
			w.advance(delay)
			return true
		}
	})
	w.acts.Feeds = sent
	return w, source, sent
}

// TestFollowChanges follows a feed through its first reading, reports, refusals and delays: each
// row is one attempt.
func TestFollowChanges(t *testing.T) {
	refused := &arm.Error{Status: http.StatusForbidden, Code: "AuthorizationFailed", Message: "no right"}
	throttled := &arm.Error{Status: http.StatusTooManyRequests, Code: "RateLimiting", Message: "slow down", RetryAfter: 4 * time.Minute}
	change := func(feed.Progress) (feed.Batch, error) {
		return feed.Batch{Changes: []feed.Change{{ReportedChange: resource.ReportedChange{Kind: resource.ChangeUpdate, ReportedAuthor: resource.ReportedAuthor{Name: "alice"}}}}}, nil
	}
	for name, tc := range map[string]struct {
		steps []func(feed.Progress) (feed.Batch, error)
		// behind is how far the feed was before; it followed if that is less than 15 minutes.
		behind     time.Duration
		unfollowed bool
		following  bool
		refused    bool
		failed     string
		calls      int
		sent       []string
	}{
		"nothing changes":            {behind: time.Minute, steps: slices.Repeat([]func(feed.Progress) (feed.Batch, error){nothing}, 1), following: true, calls: 6},
		"a change":                   {behind: time.Minute, steps: []func(feed.Progress) (feed.Batch, error){change, nothing}, following: true, calls: 6, sent: []string{"c1 by alice"}},
		"it begins to follow":        {behind: time.Hour, steps: []func(feed.Progress) (feed.Batch, error){nothing}, following: true, calls: 1},
		"it is refused":              {behind: time.Minute, steps: []func(feed.Progress) (feed.Batch, error){nothing, fails(refused)}, unfollowed: true, refused: true, calls: 2},
		"it is throttled for a time": {behind: time.Minute, steps: []func(feed.Progress) (feed.Batch, error){fails(throttled), fails(throttled), nothing}, following: true, calls: 4},
		"it fails for long":          {behind: time.Minute, steps: []func(feed.Progress) (feed.Batch, error){fails(errors.New("connection reset"))}, unfollowed: false, following: true, failed: "connection reset", calls: 6},
		"it fails for too long":      {behind: 10 * time.Minute, steps: []func(feed.Progress) (feed.Batch, error){fails(errors.New("connection reset"))}, unfollowed: true, failed: "connection reset", calls: 4},
		"the source forgot":          {behind: time.Minute, steps: []func(feed.Progress) (feed.Batch, error){func(feed.Progress) (feed.Batch, error) { return feed.Batch{Gap: true}, nil }}, unfollowed: true, following: true, calls: 1},
	} {
		t.Run(name, func(t *testing.T) {
			w, source, sent := following(t)
			source.steps = tc.steps
			for i, step := range source.steps {
				source.steps[i] = func(p feed.Progress) (feed.Batch, error) {
					batch, err := step(p)
					for j := range batch.Changes {
						batch.Changes[j].ID, batch.Changes[j].At = id(t, clusterText), w.now()
					}
					return batch, err
				}
			}
			through := w.now().Add(-tc.behind)
			in := FollowChangesInput{Credential: arm.CredentialDefaultName, Progress: feed.Progress{Through: through}, State: FeedState{Source: feed.SourceGraph, Following: tc.behind < maxFeedLag}}
			got, err := run(w, w.acts.FollowChanges, in)
			must(t, err)
			if got.Unfollowed != tc.unfollowed || got.State.Following != tc.following || (got.State.Refused != "") != tc.refused || !strings.Contains(got.State.Failed, tc.failed) || tc.failed == "" && got.State.Failed != "" {
				t.Errorf("result %+v, want unfollowed %t, following %t, refused %t, failed %q", got, tc.unfollowed, tc.following, tc.refused, tc.failed)
			}
			if source.calls != tc.calls || !slices.Equal(sent.sent, tc.sent) {
				t.Errorf("%d readings and the reports %q, want %d and %q", source.calls, sent.sent, tc.calls, tc.sent)
			}
		})
	}
}

// A report that cannot be delivered is read again: the progress stays.
func TestFollowChangesDelivers(t *testing.T) {
	w, source, sent := following(t)
	change := feed.Change{ID: id(t, clusterText), ReportedChange: resource.ReportedChange{Kind: resource.ChangeUpdate, ReportedAuthor: resource.ReportedAuthor{Name: "bob"}}}
	done := 0
	source.steps = []func(feed.Progress) (feed.Batch, error){
		func(feed.Progress) (feed.Batch, error) {
			return feed.Batch{Changes: []feed.Change{change}, Done: func(context.Context) error { done++; return nil }}, nil
		},
	}
	sent.failed = errors.New("Temporal is away")
	begin := w.now().Add(-time.Minute)
	got, err := run(w, w.acts.FollowChanges, FollowChangesInput{Credential: arm.CredentialDefaultName, Progress: feed.Progress{Through: begin}, State: FeedState{Source: feed.SourceGraph, Following: true}})
	must(t, err)
	if !source.froms[0].Equal(begin) || !source.froms[1].Equal(begin) || source.froms[2].Equal(begin) {
		t.Errorf("readings from %v, want the first two from %s", source.froms, begin)
	}
	if len(sent.sent) != done || done != source.calls-1 || got.State.Failed != "" {
		t.Errorf("%d reports, %d acknowledged, %d readings, failed %q", len(sent.sent), done, source.calls, got.State.Failed)
	}
}

// Without a source on any worker the feed ends, and resources are notified.
func TestFollowChangesOff(t *testing.T) {
	w, _, _ := following(t, nothing)
	got, failures := finish(w, w.acts.FollowChanges, FollowChangesInput{Credential: "gone", State: FeedState{Source: feed.SourceGraph, Following: true}})
	if !got.Off || !got.Unfollowed || len(failures) != maxOffAttempts-1 {
		t.Errorf("result %+v after %d attempts, want off and unfollowed after %d", got, len(failures)+1, maxOffAttempts)
	}
}

// TestFollowedInterval shows which resources are read once a day.
func TestFollowedInterval(t *testing.T) {
	w, _, sent := following(t, nothing)
	w.acts.followers.feeds = sent
	manifest := func(change func(*resource.Desired)) resource.Desired {
		d := desired(t, clusterText, `{}`)
		d.DefaultInterval = true
		if change != nil {
			change(&d)
		}
		return d
	}
	follows := FeedState{Source: feed.SourceGraph, Through: w.now()}
	for name, tc := range map[string]struct {
		state   FeedState
		unknown bool
		change  func(*resource.Desired)
		want    time.Duration
	}{
		"followed":                {state: follows, want: 24 * time.Hour},
		"an interval of its own":  {state: follows, change: func(d *resource.Desired) { d.DefaultInterval = false }, want: time.Hour},
		"a type that is not sure": {state: follows, change: func(d *resource.Desired) { d.ID = id(t, thingText) }, want: time.Hour},
		"a secret of a variable":  {state: follows, change: func(d *resource.Desired) { d.SecretRefs = []string{"env:A"} }, want: time.Hour},
		"the newest secret":       {state: follows, change: func(d *resource.Desired) { d.SecretRefs = []string{"keyvault:https://kv.vault.azure.net/secrets/a"} }, want: time.Hour},
		"a version of a secret": {state: follows, change: func(d *resource.Desired) {
			d.SecretRefs = []string{"keyvault:https://kv.vault.azure.net/secrets/a/0123456789abcdef0123456789abcdef"}
		}, want: 24 * time.Hour},
		"an export":              {state: follows, change: func(d *resource.Desired) { d.Exports = make([]resource.Export, 1) }, want: time.Hour},
		"a value of another":     {state: follows, change: func(d *resource.Desired) { d.References = make([]resource.Reference, 1) }, want: time.Hour},
		"a late feed":            {state: FeedState{Source: feed.SourceGraph, Through: w.now().Add(-16 * time.Minute)}, want: time.Hour},
		"a refused feed":         {state: FeedState{Source: feed.SourceGraph, Through: w.now(), Refused: "no right"}, want: time.Hour},
		"a feed that is unknown": {state: follows, unknown: true, want: time.Hour},
		"another source":         {state: FeedState{Source: "another", Through: w.now()}, want: time.Hour},
	} {
		sent.state, sent.known = tc.state, !tc.unknown
		if got := w.acts.followers.interval(manifest(tc.change), w.now()); got != tc.want {
			t.Errorf("%s: interval %s, want %s", name, got, tc.want)
		}
	}
}

// TestFeedFindings shows what doctor says about a feed.
func TestFeedFindings(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 0, 0, 0, time.UTC)
	for name, tc := range map[string]struct {
		state FeedState
		known bool
		want  FindingState
		text  string
	}{
		"not read":     {want: FindingWarn, text: "has not read its state"},
		"new":          {known: true, state: FeedState{Source: "resource-graph"}, want: FindingWarn, text: "read nothing yet"},
		"follows":      {known: true, state: FeedState{Source: "resource-graph", Through: now.Add(-time.Minute)}, want: FindingOK, text: "all changes until 2026-01-02 02:59:00Z were delivered"},
		"refused":      {known: true, state: FeedState{Source: "resource-graph", Through: now, Refused: "AuthorizationFailed"}, want: FindingError, text: "refuses the credential: AuthorizationFailed"},
		"throttled":    {known: true, state: FeedState{Source: "resource-graph", Through: now.Add(-20 * time.Minute), Failed: "RateLimiting"}, want: FindingError, text: "20m behind: RateLimiting"},
		"nobody reads": {known: true, state: FeedState{Source: "resource-graph", Through: now.Add(-2 * time.Hour)}, want: FindingError, text: "2h behind: no worker reads it"},
		"forgot":       {known: true, state: FeedState{Source: "resource-graph", Through: now, Gaps: 2}, want: FindingOK, text: "2 times the source no longer had all changes"},
		"poisoned":     {known: true, state: FeedState{Source: "queue", Through: now, Poisoned: 3}, want: FindingWarn, text: "3 messages could not be read"},
	} {
		got := feedFinding("feed", tc.state, tc.known, now)
		if got.State != tc.want || !strings.Contains(got.Message, tc.text) || (got.State == FindingOK) != (got.Advice == "") {
			t.Errorf("%s: %+v, want %s with %q", name, got, tc.want, tc.text)
		}
	}
}
