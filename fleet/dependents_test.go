package fleet

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/workflows"
	"github.com/google/go-cmp/cmp"
	"go.temporal.io/api/serviceerror"
)

const farText = "/subscriptions/11111111-2222-3333-4444-555555555555/resourceGroups/far/providers/Contoso.Things/things/t"

// shown are the names of the listed ones with what matters of them.
func shown(found activities.Dependents) []string {
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

func TestDependents(t *testing.T) {
	t.Parallel()
	needs := []string{clusterText}
	waiting := run{id: database(1), needs: needs, phase: workflows.PhaseDeleting, reason: resource.ReasonWaitingForOwnerDelete}
	cases := map[string]struct {
		reason  string
		runs    []run
		listed  []string
		holding int
	}{
		"None":  {reason: "nobody needs it", runs: []run{{id: database(1)}}, listed: []string{}},
		"Child": {reason: "who needs it holds it", runs: []run{{id: database(1), needs: needs}}, listed: []string{"d0001"}, holding: 1},
		"Going": {
			reason: "also while it goes", runs: []run{{id: database(1), needs: needs, phase: workflows.PhaseDeleting, reason: "Deleting"}},
			listed: []string{"d0001 deleting"}, holding: 1,
		},
		"Released": {reason: "what goes with it holds nothing up", runs: []run{waiting}, listed: []string{"d0001 deleting released"}},
		"ReleasedElsewhere": {
			reason:  "what is not in it does not go with it, whatever it waits for",
			runs:    []run{{id: farText, needs: needs, phase: workflows.PhaseDeleting, reason: resource.ReasonWaitingForOwnerDelete}},
			listed:  []string{"t deleting released"},
			holding: 1,
		},
		"Gone": {
			reason: "a run that only tells the others that it is gone holds nothing up",
			runs:   []run{{id: database(1), needs: needs, phase: workflows.PhaseDeleting, reason: resource.ReasonDeleted}}, listed: []string{},
		},
		"LetGo": {
			reason: "nor one that let go", listed: []string{},
			runs: []run{{id: database(1), needs: needs, phase: workflows.PhaseDeleting, reason: resource.ReasonDetached}},
		},
		"ACodeOfARM": {
			reason: "without a deletion, Deleted is a word of ARM", listed: []string{"d0001"}, holding: 1,
			runs: []run{{id: database(1), needs: needs, phase: workflows.PhaseNotReady, reason: resource.ReasonDeleted}},
		},
		"Itself": {reason: "nothing waits for itself", runs: []run{{id: clusterText, needs: needs}}, listed: []string{}},
		"Order": {
			reason:  "first who refuses a cascade, then who holds it, then the released",
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
			found, err := s.dial().Dependents(t.Context(), parse(t, clusterText))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.listed, shown(found)); diff != "" || found.Blocking != c.holding || found.More {
				t.Errorf("%s: %d hold it (more %t), want %d; listed (-want +got):\n%s", c.reason, found.Blocking, found.More, c.holding, diff)
			}
		})
	}
}

// TestDependentsLookTwice holds that a list which lags behind keeps nobody: the
// last child to go wakes its owner, and no other message comes.
func TestDependentsLookTwice(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	for i := range 4 {
		s.add(run{id: database(i), needs: []string{clusterText}, phase: workflows.PhaseDeleting, reason: resource.ReasonDeleting})
	}
	// The list says so still, the descriptions say other things.
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
	if diff := cmp.Diff([]string{"d0002 deleting released"}, shown(found)); diff != "" || found.Blocking != 0 {
		t.Errorf("%d hold it, want none (-want +got):\n%s", found.Blocking, diff)
	}
}

// A fault of the second look is no answer.
func TestDependentsLookFault(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.add(run{id: database(1), needs: []string{clusterText}})
	s.broken[parse(t, database(1)).WorkflowID()] = serviceerror.NewInvalidArgument("shard is away")
	if _, err := s.dial().Dependents(t.Context(), parse(t, clusterText)); err == nil || !strings.Contains(err.Error(), "shard is away") {
		t.Errorf("got %v, want the fault: what may hold it is not gone", err)
	}
}

// A workflow whose memo says nothing must hold its owner, not vanish.
func TestDependentsWithoutMemo(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.add(run{id: database(1), needs: []string{clusterText}, noMemo: true})
	_, err := s.dial().Dependents(t.Context(), parse(t, clusterText))
	if err == nil || !strings.Contains(err.Error(), "read memo of") || !strings.Contains(err.Error(), "databases/d0001") {
		t.Errorf("got %v, want an error that names the workflow", err)
	}
}

// TestDependentsOfMany holds the bounds: names, pages, descriptions.
func TestDependentsOfMany(t *testing.T) {
	t.Parallel()
	cases := map[string]struct{ runs, listed, holding, pages, described int }{
		"looked at": {runs: 10, listed: 10, holding: 10, pages: 1, described: 10},
		"counted":   {runs: 150, listed: 150, holding: 150, pages: 1},
		"pages":     {runs: 1500, listed: 1000, holding: 1500, pages: 6},
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

// Of many, too, those that are over do not count, although nobody looks at each.
func TestDependentsOverAmongMany(t *testing.T) {
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
		t.Errorf("%d hold it, %v; want the 20 that are not over", found.Blocking, err)
	}
}

// TestDependentsKeptAmongMany holds that one that refuses a cascade is named
// however many others there are: they would be told to go, and it not be asked.
func TestDependentsKeptAmongMany(t *testing.T) {
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
		t.Errorf("the first of %d named is %s, want the one that stays, of 1000", len(found.Listed), found.Listed[0].ID.Name())
	}
}

// TestDependentsOfSeveral holds that questions of a moment are one list, and that
// each gets its own answer.
func TestDependentsOfSeveral(t *testing.T) {
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
				got := shown(found)
				if err != nil || fmt.Sprint(got) != names {
					t.Errorf("%s: %v, %v; want %s", id, got, err, names)
				}
			})
		}
	}
	all.Wait()
	if s.pages != 1 || strings.Count(s.queries[0], "', '") != 2 {
		t.Errorf("%d lists, the first asks %s; want one with three keys", s.pages, s.queries[0])
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
				t.Errorf("got %+v, want its ID and its run", got)
			}
		})
	}
	s := newServer(t)
	if _, known, err := s.dial().Managed(t.Context(), parse(t, clusterText)); known || err != nil {
		t.Errorf("what nothing manages is known %t, %v", known, err)
	}
}
