package activities

import (
	"testing"
	"time"

	"github.com/armature-io/armature/resource"
)

// TestAuthors shows whom a verdict about drift names.
func TestAuthors(t *testing.T) {
	w, _, sent := following(t, nothing)
	w.acts.followers.feeds = sent
	sent.state, sent.known = FeedState{Source: "resource-graph", Through: w.now()}, true
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	by := func(name string, kind resource.ChangeKind, paths ...string) resource.ReportedChange {
		return resource.ReportedChange{At: at, Kind: kind, Paths: paths, ReportedAuthor: resource.ReportedAuthor{Name: name, Type: "User", Client: "Azure Portal"}}
	}
	own := by("worker", resource.ChangeUpdate, "properties.a")
	own.Own = true
	drift := resource.Verdict{Action: resource.ActionProceed, Reason: resource.ReasonDrift, Message: "properties.a is 1, desired 2",
		Differences: []resource.Difference{{Path: "properties.a"}}}
	reported := drift
	reported.Action, reported.Reason = resource.ActionBlock, resource.ReasonDriftDetected
	gone := resource.Verdict{Action: resource.ActionProceed, Reason: resource.ReasonNotFound, Create: true}
	for name, tc := range map[string]struct {
		verdict  resource.Verdict
		edited   bool
		existed  bool
		reported []resource.ReportedChange
		want     string
	}{
		"the last change of the path": {verdict: drift, reported: []resource.ReportedChange{by("alice", resource.ChangeUpdate, "properties.a"), by("bob", resource.ChangeUpdate, "properties.b")}, want: "changed by alice with Azure Portal at 2026-01-02 03:04:05Z"},
		"an event without paths":      {verdict: drift, reported: []resource.ReportedChange{by("alice", resource.ChangeUpdate)}, want: "changed by alice with Azure Portal at 2026-01-02 03:04:05Z"},
		"drift that is only reported": {verdict: reported, reported: []resource.ReportedChange{by("alice", resource.ChangeUpdate)}, want: "changed by alice with Azure Portal at 2026-01-02 03:04:05Z"},
		"another path":                {verdict: drift, reported: []resource.ReportedChange{by("bob", resource.ChangeUpdate, "properties.b")}, want: "Azure has not reported who changed it"},
		"an own write":                {verdict: drift, reported: []resource.ReportedChange{own}, want: "Azure has not reported who changed it"},
		"a deletion":                  {verdict: gone, existed: true, reported: []resource.ReportedChange{by("carol", resource.ChangeDelete), by("bob", resource.ChangeUpdate)}, want: "changed by carol with Azure Portal at 2026-01-02 03:04:05Z"},
		"a creation":                  {verdict: gone, reported: []resource.ReportedChange{by("carol", resource.ChangeDelete)}},
		"an edit of the manifest":     {verdict: drift, edited: true, reported: []resource.ReportedChange{by("alice", resource.ChangeUpdate)}},
		"a resource in sync":          {verdict: resource.Verdict{Action: resource.ActionSkip, Reason: resource.ReasonInSync}, reported: []resource.ReportedChange{by("alice", resource.ChangeUpdate)}},
	} {
		in := PreCheckInput{Desired: desired(t, clusterText, `{}`), Existed: tc.existed}
		in.Reported = tc.reported
		compare := comparer{w.acts.requestMaker, time.Minute}
		if got := compare.withAuthor(tc.verdict, in, !tc.edited); got.Detail() != tc.want {
			t.Errorf("%s: %q, want %q", name, got.Detail(), tc.want)
		}
	}
}
