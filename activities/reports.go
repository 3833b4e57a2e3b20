package activities

import (
	"context"
	"time"

	"github.com/armature-io/armature/resource"
)

// Reports are what the feed of changes sends to a resource.
type Reports struct {
	// Changes are what Azure reported, oldest first.
	Changes []resource.ReportedChange `json:"changes,omitempty"`
	// RereadWindow is how long after a change a read may still be older than it.
	RereadWindow time.Duration `json:"rereadWindow,omitempty"`
	// Unfollowed is set if changes may have come without a report: a wait that is longer than
	// without a feed is shortened.
	Unfollowed bool `json:"unfollowed,omitempty"`
}

// FeedState is how far the feed of a credential has come, for workers, doctor and people.
type FeedState struct {
	// Source is the source in the configuration.
	Source string `json:"source,omitempty"`
	// Through is the time before which all changes were delivered.
	Through time.Time `json:"through,omitzero"`
	// Following is what Follows was last.
	Following bool `json:"following,omitempty"`
	// Refused is why the source refuses the credential, Failed why the last reading failed
	// otherwise; "" if it did not. They have no secrets.
	Refused string `json:"refused,omitempty"`
	Failed  string `json:"failed,omitempty"`
	// Poisoned counts the reports that could not be read.
	Poisoned int `json:"poisoned,omitempty"`
	// Gaps counts the times at which the source no longer had all changes.
	Gaps int `json:"gaps,omitempty"`
}

// maxFeedLag is how far a feed may be behind. Its state in Temporal is up to followTime old.
const maxFeedLag = 15 * time.Minute

// Follows reports whether every change before about now was, or will soon be, delivered. It is
// the condition for long intervals.
func (s FeedState) Follows(now time.Time) bool {
	return s.Source != "" && s.Refused == "" && !s.Through.IsZero() && now.Sub(s.Through) <= maxFeedLag
}

// Feeds deliver reports to the workflows of resources.
type Feeds interface {
	// Report signals the workflow of a resource, and returns false where nothing manages it.
	Report(ctx context.Context, id resource.ID, reports Reports) (bool, error)
	// ReportParts signals the workflows of the children of a resource of the types, relative to
	// its own, and returns their number.
	ReportParts(ctx context.Context, id resource.ID, types []string, reports Reports) (int, error)
	// ReportAll signals the workflows of all resources that are Ready, and returns their number.
	ReportAll(ctx context.Context, reports Reports) (int, error)
	// FeedState returns the state of the feed of a credential as the worker last read it, and
	// false if it has none or could not read it lately.
	FeedState(credential string) (FeedState, bool)
}
