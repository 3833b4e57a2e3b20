package fleet

import (
	"testing"
	"time"

	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/workflows"
	"github.com/google/go-cmp/cmp"
)

// tallied returns a run that lists show with a condition that became not Ready some time ago.
func tallied(n int, phase workflows.Phase, reason resource.Reason, actor, label string, ago time.Duration) run {
	summary := workflows.Summary{Phase: phase, Condition: resource.Condition{
		Ready: phase == workflows.PhaseReady, Reason: reason, Actor: actor, LastTransitionTime: sinceText.Add(-ago),
	}}
	r := run{id: database(n), phase: phase, reason: reason, summary: &summary}
	if label != "" {
		r.labels = []string{"stack=" + label, "team=a"}
	}
	return r
}

// estate has resources in each kind of state.
func estate(s *server) {
	s.add(
		tallied(1, workflows.PhaseReady, resource.ReasonSucceeded, "", "web", time.Hour),
		tallied(2, workflows.PhaseReady, resource.ReasonInSync, "", "db", time.Hour),
		tallied(3, workflows.PhaseBlocked, resource.ReasonWaitingForOwner, "", "db", time.Minute),
		tallied(4, workflows.PhaseBlocked, resource.ReasonWaitingForOwner, "", "web", 5*time.Minute),
		tallied(5, workflows.PhaseFailed, "BadBody", "you", "web", 2*time.Minute),
		tallied(6, workflows.PhasePaused, resource.ReasonPaused, "the user who paused it", "", 100*time.Hour),
	)
}

func TestTally(t *testing.T) {
	cases := map[string]struct {
		reason        string
		label         string
		want          map[Group]int
		counts, pages int
	}{
		"without a label": {
			reason: "the Ready ones, by far the most, are one count", counts: 1, pages: 1,
			want: map[Group]int{
				{Phase: workflows.PhaseReady, Class: EndedByNothing}:                                        2,
				{Phase: workflows.PhaseBlocked, Reason: resource.ReasonWaitingForOwner, Class: EndedByTime}: 2,
				{Phase: workflows.PhaseFailed, Reason: "BadBody", Class: EndedByPerson}:                     1,
				{Phase: workflows.PhasePaused, Reason: resource.ReasonPaused, Class: EndedByPerson}:         1,
			},
		},
		"by label": {
			reason: "a server does not count by labels, so all are listed", label: "stack", counts: 0, pages: 1,
			want: map[Group]int{
				{Phase: workflows.PhaseReady, Class: EndedByNothing, Label: "web"}:                                        1,
				{Phase: workflows.PhaseReady, Class: EndedByNothing, Label: "db"}:                                         1,
				{Phase: workflows.PhaseBlocked, Reason: resource.ReasonWaitingForOwner, Class: EndedByTime, Label: "db"}:  1,
				{Phase: workflows.PhaseBlocked, Reason: resource.ReasonWaitingForOwner, Class: EndedByTime, Label: "web"}: 1,
				{Phase: workflows.PhaseFailed, Reason: "BadBody", Class: EndedByPerson, Label: "web"}:                     1,
				{Phase: workflows.PhasePaused, Reason: resource.ReasonPaused, Class: EndedByPerson}:                       1,
			},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			s := newServer(t)
			estate(s)
			f := s.dial()
			f.options.Now = func() time.Time { return sinceText }
			got, err := f.Tally(t.Context(), c.label)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got.Groups); diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.reason, diff)
			}
			if diff := cmp.Diff(map[EndedBy]time.Duration{EndedByTime: 5 * time.Minute, EndedByPerson: 2 * time.Minute}, got.Oldest); diff != "" {
				t.Errorf("the oldest (-want +got): a paused resource does not count\n%s", diff)
			}
			if s.counts != c.counts || s.pages != c.pages {
				t.Errorf("%d counts and %d lists, want %d and %d: %s", s.counts, s.pages, c.counts, c.pages, c.reason)
			}
		})
	}
}

// A fleet that is not Ready as a whole does not become an endless list.
func TestTallyIsBounded(t *testing.T) {
	if testing.Short() {
		t.Skip("it lists a long fleet in one goroutine")
	}
	s := newServer(t)
	const more = 7
	for n := range maxTallied + more {
		s.add(run{id: database(n), phase: workflows.PhaseBlocked, reason: resource.ReasonWaitingForOwner})
	}
	f := s.dial()
	f.options.PageSize = 1000
	got, err := f.Tally(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	want := map[Group]int{
		{Phase: workflows.PhaseBlocked, Reason: resource.ReasonWaitingForOwner, Class: EndedByTime}: maxTallied,
		{Class: EndedByUnknown}: more,
	}
	if diff := cmp.Diff(want, got.Groups); diff != "" || s.pages != maxTallied/1000 {
		t.Errorf("%d lists, want %d (-want +got):\n%s", s.pages, maxTallied/1000, diff)
	}
}

func TestLeads(t *testing.T) {
	s := newServer(t)
	f := s.dial()
	if leads, checks, err := f.Leads(t.Context(), "1@b"); err != nil || leads || checks != 0 {
		t.Errorf("leads %t with %d checks, %v: Temporal has not seen a poll of this worker", leads, checks, err)
	}
	s.pollers = []string{"1@b checks=x", "1@a checks=x", "1@b checks=x"}
	for process, want := range map[string]bool{"1@a": true, "1@b": false} {
		if leads, checks, err := f.Leads(t.Context(), process); err != nil || leads != want || checks != 1 {
			t.Errorf("%s leads %t with %d checks, %v; want %t with 1: one of the workers counts for all", process, leads, checks, err, want)
		}
	}
	s.pollers = append(s.pollers, "2@c checks=y")
	if _, checks, err := f.Leads(t.Context(), "1@a"); err != nil || checks != 2 {
		t.Errorf("%d checks, %v; want 2: the workers have no version and differ", checks, err)
	}
}
