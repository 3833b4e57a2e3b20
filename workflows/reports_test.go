package workflows_test

import (
	"slices"
	"testing"
	"time"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/workflows"
)

// testRunID is the run ID of the test environment.
const testRunID = "default-test-run-id"

// reread is the reread window of the tests.
const reread = time.Minute

// reportAt sends reports after a delay from the start; the changes happened so long before.
func (r *run) reportAt(delay, before time.Duration, changes ...resource.ReportedChange) {
	r.RegisterDelayedCallback(func() {
		reports := activities.Reports{RereadWindow: reread}
		for _, change := range changes {
			change.At = r.Now().Add(-before)
			reports.Changes = append(reports.Changes, change)
		}
		r.SignalWorkflow(workflows.ReportSignal, reports)
	}, delay)
}

// reads returns the times of the reads, since the start of the run.
func (r *run) reads() func() []time.Duration {
	begin := r.Now()
	var at []time.Duration
	get := r.script.get
	r.script.get = func(in activities.GetResourceInput) activities.GetResourceResult {
		at = append(at, r.Now().Sub(begin).Round(time.Second))
		return get(in)
	}
	return func() []time.Duration { return at }
}

// TestReports shows when a resource that is Ready reads what Azure reported: the reads after the
// first one, of a resource whose routine pass is an hour or more away.
func TestReports(t *testing.T) {
	alice := resource.ReportedChange{Kind: resource.ChangeUpdate, ReportedAuthor: resource.ReportedAuthor{Name: "alice"}, Correlation: "another"}
	const when = 10 * time.Minute
	for name, tc := range map[string]struct {
		before  time.Duration
		own     bool
		repeats int
		never   bool // has the interval 0
		want    []time.Duration
	}{
		"a change of another writer, seen late":           {before: 2 * time.Minute, want: []time.Duration{when}},
		"one that a replica may not show yet":             {before: 20 * time.Second, want: []time.Duration{when, when + 40*time.Second}},
		"a report that comes three times":                 {before: 2 * time.Minute, repeats: 2, want: []time.Duration{when}},
		"an own write, read again once it is visible":     {before: 20 * time.Second, own: true, want: []time.Duration{when + 40*time.Second}},
		"an own write of which the report comes late":     {before: 9*time.Minute + 30*time.Second, own: true, want: []time.Duration{when}},
		"an own write, without routine passes":            {before: 20 * time.Second, own: true, never: true, want: []time.Duration{when + 40*time.Second}},
		"one that may not show yet, without them":         {before: 20 * time.Second, never: true, want: []time.Duration{when, when + 40*time.Second}},
		"an own write that was read after it was visible": {before: when + 2*reread, own: true},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRun(t)
			read := r.reads()
			spec := desired()
			spec.Interval = 1000 * time.Hour
			if tc.never {
				spec.Interval = 0
			}
			r.apply(spec)
			change := alice
			if tc.own {
				change.Correlation = testRunID
			}
			for range tc.repeats + 1 {
				r.reportAt(when, tc.before, change)
			}
			r.start(30 * time.Minute)
			got := read()[1:]
			if len(got) != len(tc.want) {
				t.Fatalf("reads at %v, want %v", got, tc.want)
			}
			for i := range got {
				if (got[i] - tc.want[i]).Abs() > 2*time.Second {
					t.Errorf("reads at %v, want %v", got, tc.want)
				}
			}
		})
	}
}

// A pass gets the reports, and those of own runs are marked: no author is looked for in them.
func TestReportsReachThePass(t *testing.T) {
	r := newRun(t)
	var got []resource.ReportedChange
	r.script.pre = func(in activities.PreCheckInput) resource.Verdict {
		got = in.Reported
		return resource.Verdict{Action: resource.ActionSkip, Reason: resource.ReasonInSync}
	}
	r.apply(desired())
	for i := range 12 {
		r.reportAt(time.Duration(10+i)*time.Minute, 2*time.Minute, resource.ReportedChange{Kind: resource.ChangeUpdate, Correlation: []string{"another", testRunID}[i%2]})
	}
	r.start(40 * time.Minute)
	if len(got) != resource.MaxReportedChanges {
		t.Fatalf("%d reports, want %d", len(got), resource.MaxReportedChanges)
	}
	for _, change := range got {
		if change.Own != (change.Correlation == testRunID) {
			t.Errorf("own %t for the run %s", change.Own, change.Correlation)
		}
	}
}

// TestFollowedInterval shows that a post-check may lengthen the interval of the manifest, and that
// the end of the feed shortens the wait again, without a read at once.
func TestFollowedInterval(t *testing.T) {
	for name, tc := range map[string]struct {
		unfollowed time.Duration
		from, to   time.Duration
	}{
		"followed":                {from: 24 * time.Hour * 3 / 4, to: 48 * time.Hour * 5 / 4},
		"unfollowed at once":      {unfollowed: 2 * time.Minute, from: 45 * time.Minute, to: 77 * time.Minute},
		"unfollowed after a time": {unfollowed: 3 * time.Hour, from: 3 * time.Hour, to: 3*time.Hour + 20*time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRun(t)
			read := r.reads()
			r.script.post = func(activities.PostCheckInput) activities.PostCheckResult {
				return activities.PostCheckResult{Verdict: resource.Verdict{Action: resource.ActionSuccess}, Interval: 24 * time.Hour}
			}
			r.apply(desired())
			r.at(time.Minute, workflows.ReconcileUpdate, workflows.ReconcileInput{}) // after the spread of the first wait
			if tc.unfollowed > 0 {
				r.RegisterDelayedCallback(func() { r.SignalWorkflow(workflows.ReportSignal, activities.Reports{Unfollowed: true}) }, tc.unfollowed)
			}
			r.start(50 * time.Hour)
			if got := read()[2]; got < tc.from || got > tc.to {
				t.Errorf("the next routine read is %s after the start, want %s to %s", got, tc.from, tc.to)
			}
		})
	}
}

// TestSteadyDays counts the reads of a resource that nothing changes, in ten days: one a day with a
// feed, one an hour without.
func TestSteadyDays(t *testing.T) {
	const days = 10
	for interval, want := range map[time.Duration][2]int{24 * time.Hour: {8, 14}, 0: {190, 320}} {
		r := newRun(t)
		r.script.post = func(activities.PostCheckInput) activities.PostCheckResult {
			return activities.PostCheckResult{Verdict: resource.Verdict{Action: resource.ActionSuccess}, Interval: interval}
		}
		r.apply(desired())
		r.start(days * 24 * time.Hour)
		if n := r.count("GetResource"); n < want[0] || n > want[1] {
			t.Errorf("with an interval of %s: %d reads in %d days, want %d to %d", interval, n, days, want[0], want[1])
		}
	}
}

// The log of decisions names the paths of a change if the source has any, and its author.
func TestReportsAreLogged(t *testing.T) {
	r := newRun(t)
	alice := resource.ReportedAuthor{Name: "alice", Type: "User"}
	status := r.statusAt(40 * time.Minute)
	r.apply(desired())
	r.reportAt(10*time.Minute, 2*time.Minute, resource.ReportedChange{Kind: resource.ChangeUpdate, ReportedAuthor: alice, Paths: []string{"tags.a"}})
	r.reportAt(20*time.Minute, 2*time.Minute, resource.ReportedChange{Kind: resource.ChangeDelete, ReportedAuthor: alice})
	r.start(50 * time.Minute)
	var got []string
	for _, decision := range status.Decisions {
		if decision.Step == workflows.ReportSignal {
			got = append(got, decision.Message)
		}
	}
	want := []string{"update of tags.a by alice at 2026-01-02 03:08:00Z", "delete by alice at 2026-01-02 03:18:00Z"}
	if !slices.Equal(got, want) {
		t.Errorf("decisions %q, want %q", got, want)
	}
}
