package fleet

import (
	"cmp"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/workflows"
	gocmp "github.com/google/go-cmp/cmp"
	"go.temporal.io/api/serviceerror"
)

const farText = "/subscriptions/11111111-2222-3333-4444-555555555555/resourceGroups/far/providers/Contoso.Things/things/t"

// summaries returns the names of the listed dependents with their state.
func summaries(found activities.Dependents) []string {
	names := []string{}
	for _, m := range found.Listed {
		name := m.ID.Name()
		if m.Deleting {
			name += " deleting"
		}
		if m.Released {
			name += " released"
		}
		if m.Policy != resource.PolicyManage {
			name += " " + string(m.Policy)
		}
		names = append(names, name)
	}
	return names
}

//guard:what-is-below-is-found
func TestDependents(t *testing.T) {
	t.Parallel()
	needs := []string{clusterText}
	waiting := run{id: database(1), needs: needs, phase: workflows.PhaseDeleting, reason: resource.ReasonWaitingForOwnerDelete}
	cases := map[string]struct {
		reason  string
		of      string // the cluster if empty
		observe string
		runs    []run
		listed  []string
		holding int
	}{
		"None":  {reason: "no resource needs it", runs: []run{{id: farText}}, listed: []string{}},
		"Child": {reason: "a resource that needs it blocks its deletion", runs: []run{{id: database(1), needs: needs}}, listed: []string{"d0001"}, holding: 1},
		"Deleting": {
			reason: "a dependent blocks until its own deletion has ended", runs: []run{{id: database(1), needs: needs, phase: workflows.PhaseDeleting, reason: "Deleting"}},
			listed: []string{"d0001 deleting"}, holding: 1,
		},
		"Released": {reason: "a child that ARM deletes with its owner does not block", runs: []run{waiting}, listed: []string{"d0001 deleting released"}},
		"ReleasedElsewhere": {
			reason:  "ARM does not delete a resource elsewhere with it, whatever that waits for",
			runs:    []run{{id: farText, needs: needs, phase: workflows.PhaseDeleting, reason: resource.ReasonWaitingForOwnerDelete}},
			listed:  []string{"t deleting released"},
			holding: 1,
		},
		"Deleted": {
			reason: "a run that only notifies its dependents of the deletion does not block",
			runs:   []run{{id: database(1), needs: needs, phase: workflows.PhaseDeleting, reason: resource.ReasonDeleted}}, listed: []string{},
		},
		"Detached": {
			reason: "a detached resource does not block", listed: []string{},
			runs: []run{{id: database(1), needs: needs, phase: workflows.PhaseDeleting, reason: resource.ReasonDetached}},
		},
		"CodeOfARM": {
			reason: "without a deletion, Deleted is an error code of ARM", listed: []string{"d0001"}, holding: 1,
			runs: []run{{id: database(1), needs: needs, phase: workflows.PhaseNotReady, reason: resource.ReasonDeleted}},
		},
		"BelowUnmanaged": {
			reason: "the database is unmanaged, and what is in it would be deleted with the cluster",
			runs:   []run{{id: database(1) + "/scripts/s", needs: []string{database(1)}}}, listed: []string{"s"}, holding: 1,
		},
		"BelowUnmanagedKept": {
			reason: "a cascade must see what is to stay in Azure", listed: []string{"s detach-on-delete"}, holding: 1,
			runs: []run{{id: database(1) + "/scripts/s", needs: []string{database(1)}, policy: resource.PolicyDetachOnDelete}},
		},
		"ObservedInGroup": {
			reason: "a cascade must see what the setting of the worker keeps", of: groupText, observe: "stack=crowd",
			runs:   []run{{id: database(1), needs: []string{clusterText}, labels: []string{"stack=crowd"}}, {id: clusterText + "2", needs: []string{groupText}, labels: []string{"stack=quiet"}}},
			listed: []string{"d0001 observe", "c2"}, holding: 2,
		},
		"BelowUnmanagedInGroup": {
			reason: "a resource group holds everything in it", of: groupText,
			runs: []run{{id: database(1), needs: []string{clusterText}}}, listed: []string{"d0001"}, holding: 1,
		},
		"BelowManaged": {
			reason: "the database holds back what is in it, and is named alone", listed: []string{"d0001"}, holding: 1,
			runs: []run{{id: database(1) + "/scripts/s", needs: []string{database(1)}}, {id: database(1), needs: []string{clusterText}}},
		},
		"BelowEachOther": {
			reason: "the upper one of two below an unmanaged child is named", listed: []string{"p"}, holding: 1,
			runs: []run{{id: database(1) + "/scripts/p/parts/q"}, {id: database(1) + "/scripts/p"}},
		},
		"LongName": {
			reason: "the ID of its workflow is cut and hashed",
			runs:   []run{{id: database(1) + "/scripts/" + strings.Repeat("s", 120), needs: []string{database(1)}}}, listed: []string{strings.Repeat("s", 120)}, holding: 1,
		},
		"OtherName": {
			reason: "a longer name is another resource", runs: []run{{id: clusterText + "2/databases/d/scripts/s", needs: []string{clusterText + "2/databases/d"}}}, listed: []string{},
		},
		"Twice": {
			reason: "both lists show a child, which counts once", runs: []run{{id: database(1), needs: []string{clusterText, groupText}}}, listed: []string{"d0001"}, holding: 1,
		},
		"Itself": {reason: "a resource does not depend on itself", runs: []run{{id: clusterText, needs: needs}}, listed: []string{}},
		"Order": {
			reason:  "dependents that refuse a cascade come first, then those that block, then the released",
			runs:    []run{waiting, {id: database(2), needs: needs}, {id: database(3), needs: needs, policy: resource.PolicyDetachOnDelete}},
			listed:  []string{"d0003 detach-on-delete", "d0002", "d0001 deleting released"},
			holding: 2,
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newServer(t)
			s.add(c.runs...)
			var err error
			if s.observed, err = resource.ParseObserved(c.observe); err != nil {
				t.Fatal(err)
			}
			found, err := s.dial().Dependents(t.Context(), parse(t, cmp.Or(c.of, clusterText)))
			if err != nil {
				t.Fatal(err)
			}
			if diff := gocmp.Diff(c.listed, summaries(found)); diff != "" || found.Blocking != c.holding || found.More {
				t.Errorf("%s: %d block it (more %t), want %d; listed (-want +got):\n%s", c.reason, found.Blocking, found.More, c.holding, diff)
			}
		})
	}
}

// TestDependentsConfirmed checks that a delayed list does not block a deletion:
// only the last child's wake starts another pass of the owner.
func TestDependentsConfirmed(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	for i := range 4 {
		s.add(run{id: database(i), needs: []string{clusterText}, phase: workflows.PhaseDeleting, reason: resource.ReasonDeleting})
	}
	// The list still contains the old states, the descriptions contain new ones.
	listed := s.listed
	s.add(
		run{id: database(0), ended: true},
		run{id: database(1), phase: workflows.PhaseDeleting, reason: resource.ReasonDeleted},
		run{id: database(2), phase: workflows.PhaseDeleting, reason: resource.ReasonWaitingForOwnerDelete},
	)
	delete(s.running, parse(t, database(3)).WorkflowID())
	s.listed = listed
	found, err := s.dial().Dependents(t.Context(), parse(t, clusterText))
	if err != nil {
		t.Fatal(err)
	}
	if diff := gocmp.Diff([]string{"d0002 deleting released"}, summaries(found)); diff != "" || found.Blocking != 0 {
		t.Errorf("%d block it, want none (-want +got):\n%s", found.Blocking, diff)
	}
}

// TestDependentsConfirmError checks that an error of a description is returned.
func TestDependentsConfirmError(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.add(run{id: database(1), needs: []string{clusterText}})
	s.broken[parse(t, database(1)).WorkflowID()] = serviceerror.NewInvalidArgument("shard unavailable")
	if _, err := s.dial().Dependents(t.Context(), parse(t, clusterText)); err == nil || !strings.Contains(err.Error(), "shard unavailable") {
		t.Errorf("got %v, want the error: the dependent may still exist", err)
	}
}

// TestDependentsWithoutMemo checks that a workflow without a memo is an error, so that it
// blocks the deletion of its owner.
func TestDependentsWithoutMemo(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.add(run{id: database(1), needs: []string{clusterText}, noMemo: true})
	_, err := s.dial().Dependents(t.Context(), parse(t, clusterText))
	if err == nil || !strings.Contains(err.Error(), "read memo of") || !strings.Contains(err.Error(), "databases/d0001") {
		t.Errorf("got %v, want an error with the ID", err)
	}
}

// TestDependentsBounds checks the bounds of names, pages and descriptions.
func TestDependentsBounds(t *testing.T) {
	t.Parallel()
	cases := map[string]struct{ runs, listed, holding, pages, described int }{
		"confirmed": {runs: 10, listed: 10, holding: 10, pages: 2, described: 10},
		"counted":   {runs: 150, listed: 150, holding: 150, pages: 2},
		"pages":     {runs: 1500, listed: 1000, holding: 1500, pages: 12},
		"too many":  {runs: 6500, listed: 1000, holding: 5000, pages: 20},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newServer(t)
			for i := range c.runs {
				s.add(run{id: database(i), needs: []string{clusterText}})
			}
			found, err := New(direct{server: s}, Options{ListsPerSecond: 1000}).Dependents(t.Context(), parse(t, clusterText))
			if err != nil {
				t.Fatal(err)
			}
			if found.Blocking != c.holding || len(found.Listed) != c.listed || found.More != (c.runs > c.holding) || s.pages != c.pages || len(s.described) != c.described {
				t.Errorf("holding %d (more %t), %d listed, %d pages, %d described; want %+v",
					found.Blocking, found.More, len(found.Listed), s.pages, len(s.described), c)
			}
		})
	}
}

// TestDependentsEndedUnconfirmed checks that deleted resources do not count either when
// there are too many to describe each.
func TestDependentsEndedUnconfirmed(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	for i := range 40 {
		r := run{id: database(i), needs: []string{clusterText}}
		if i < 20 {
			r.phase, r.reason = workflows.PhaseDeleting, resource.ReasonDeleted
		}
		s.add(r)
	}
	found, err := New(direct{server: s}, Options{}).Dependents(t.Context(), parse(t, clusterText))
	if err != nil || found.Blocking != 20 {
		t.Errorf("%d block it, %v; want the 20 that still exist", found.Blocking, err)
	}
}

// TestDependentsProtectedListedFirst checks that a dependent that refuses a
// cascade is listed however many others there are. Otherwise the cascade would delete the
// others.
func TestDependentsProtectedListedFirst(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	for i := range 1200 {
		r := run{id: database(i), needs: []string{clusterText}}
		if i == 1199 {
			r.policy = resource.PolicyDetachOnDelete
		}
		s.add(r)
	}
	found, err := New(direct{server: s}, Options{}).Dependents(t.Context(), parse(t, clusterText))
	if err != nil {
		t.Fatal(err)
	}
	if found.Listed[0].ID.Name() != "d1199" || len(found.Listed) != 1000 {
		t.Errorf("the first of %d named is %s, want the protected one, of 1000", len(found.Listed), found.Listed[0].ID.Name())
	}
}

// TestDependentsBatched checks that concurrent calls share one list request, and that
// each receives its own result.
func TestDependentsBatched(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.add(
		run{id: database(1), needs: []string{clusterText}},
		run{id: clusterText, needs: []string{groupText}},
		run{id: farText, needs: []string{clusterText, groupText}},
	)
	f := s.dial()
	want := map[string]string{clusterText: "[d0001 t]", groupText: "[c t]", database(1): "[]"}
	var all sync.WaitGroup
	for id, names := range want {
		for range 2 {
			all.Go(func() {
				found, err := f.Dependents(t.Context(), parse(t, id))
				got := summaries(found)
				if err != nil || fmt.Sprint(got) != names {
					t.Errorf("%s: %v, %v; want %s", id, got, err, names)
				}
			})
		}
	}
	all.Wait()
	if s.pages != 2 || strings.Count(s.queries[0], "', '") != 2 || strings.Count(s.queries[1], "STARTS_WITH") != 3 {
		t.Errorf("%d lists, the queries are %s; want one with three keys and one with three beginnings", s.pages, s.queries)
	}
}

func TestManaged(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		run   run
		known bool
		want  activities.Managed
	}{
		"Ready":     {run{phase: workflows.PhaseReady}, true, activities.Managed{Ready: true, Idle: true}},
		"Operating": {run{phase: workflows.PhaseOperating}, true, activities.Managed{}},
		"Paused":    {run{phase: workflows.PhasePaused}, true, activities.Managed{Idle: true}},
		"Failed":    {run{phase: workflows.PhaseFailed}, true, activities.Managed{Idle: true}},
		"Blocked":   {run{phase: workflows.PhaseBlocked}, true, activities.Managed{}},
		"Deleting":  {run{phase: workflows.PhaseDeleting}, true, activities.Managed{Deleting: true}},
		"Released":  {run{phase: workflows.PhaseDeleting, reason: resource.ReasonWaitingForOwnerDelete}, true, activities.Managed{Deleting: true, Released: true}},
		"NoMemo":    {run{phase: workflows.PhaseReady, noMemo: true}, true, activities.Managed{Ready: true, Idle: true}},
		"Ended":     {run{phase: workflows.PhaseReady, ended: true}, false, activities.Managed{}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newServer(t)
			c.run.id, c.run.unlisted = clusterText, true
			s.add(c.run)
			got, known, err := s.dial().Managed(t.Context(), parse(t, clusterText))
			if err != nil || known != c.known {
				t.Fatalf("known %t, %v; want %t", known, err, c.known)
			}
			if got.Ready != c.want.Ready || got.Idle != c.want.Idle || got.Deleting != c.want.Deleting || got.Released != c.want.Released {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
			if c.known && (got.RunID != "run of c" || !got.ID.Equal(parse(t, clusterText))) {
				t.Errorf("got %+v, want its ID and run ID", got)
			}
		})
	}
	s := newServer(t)
	if _, known, err := s.dial().Managed(t.Context(), parse(t, clusterText)); known || err != nil {
		t.Errorf("known %t, %v; want an unmanaged resource not to be known", known, err)
	}
}

// TestOperating checks that a run whose operation has no phase yet waits for it, and that the
// operation of a DELETE is none of a PUT.
func TestOperating(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		phase   workflows.Phase
		pending string
		want    bool
	}{
		"shown":     {workflows.PhaseOperating, "CheckOwner", true},
		"not shown": {workflows.PhaseReady, "PollOperation", true},
		"reads":     {workflows.PhaseReady, "GetResource", false},
		"deleting":  {workflows.PhaseDeleting, "PollOperation", false},
	} {
		s := newServer(t)
		s.add(run{id: clusterText, unlisted: true, phase: c.phase})
		s.pending = pendingOf(c.pending)
		if got, _, err := s.dial().Managed(t.Context(), parse(t, clusterText)); err != nil || got.Operating != c.want {
			t.Errorf("%s: operating %t, %v; want %t", name, got.Operating, err, c.want)
		}
	}
}

// TestManagedSummary shows the Ready condition as the run wrote it, with labels and generation.
func TestManagedSummary(t *testing.T) {
	t.Parallel()
	became := sinceText.Add(-time.Hour)
	cases := map[string]struct {
		reason string
		ready  bool
		since  time.Time
	}{
		"Ready":   {"the summary has the time at which it became Ready", true, became},
		"Changed": {"a pass runs: the summary is of before, and the attributes are newer", false, sinceText},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newServer(t)
			s.add(run{
				id: clusterText, phase: workflows.PhaseReady, reason: resource.ReasonSucceeded, labels: []string{"stack=prod", "team=data=x"},
				summary: &workflows.Summary{Generation: 4, Condition: resource.Condition{Ready: c.ready, LastTransitionTime: became}},
			})
			got, known, err := s.dial().Managed(t.Context(), parse(t, clusterText))
			if err != nil || !known || got.Reason != resource.ReasonSucceeded || got.Generation != 4 || !got.Since.Equal(c.since) ||
				got.Labels["stack"] != "prod" || got.Labels["team"] != "data=x" {
				t.Errorf("%s: %+v, %v; want since %s", c.reason, got, err, c.since)
			}
		})
	}
}

// TestManagedStopped checks when the deletion of a stack stops because of one resource.
func TestManagedStopped(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		why    string
		phase  workflows.Phase
		reason resource.Reason
		next   time.Duration
		inPass bool
		want   bool
	}{
		"refused":       {why: "Azure refuses the DELETE", phase: workflows.PhaseDeleting, reason: "RequestDisallowedByPolicy", next: time.Hour, want: true},
		"soon":          {why: "time ends it", phase: workflows.PhaseDeleting, reason: "AnotherOperationInProgress", next: 30 * time.Second},
		"in a pass":     {why: "another DELETE may have been accepted since", phase: workflows.PhaseDeleting, reason: "ScopeLocked", next: time.Hour, inPass: true},
		"waits":         {why: "a guard waits for others", phase: workflows.PhaseDeleting, reason: resource.ReasonWaitingForDependents, next: time.Hour},
		"created again": {why: "a person must act", phase: workflows.PhaseDeleting, reason: resource.ReasonCreatedAgain, next: time.Hour, want: true},
		"not deleted":   {why: "its PUT is refused", phase: workflows.PhaseFailed, reason: "RequestDisallowedByPolicy", next: time.Hour},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newServer(t)
			if c.inPass {
				s.task = time.Now()
			}
			s.add(run{id: clusterText, phase: c.phase, reason: c.reason, summary: &workflows.Summary{
				RetryWithin: c.next, Condition: resource.Condition{Reason: c.reason},
			}})
			got, known, err := s.dial().Managed(t.Context(), parse(t, clusterText))
			if err != nil || !known || got.Stopped != c.want {
				t.Errorf("stopped %t, %v; want %t: %s", got.Stopped, err, c.want, c.why)
			}
		})
	}
}
