package fleet

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/searchattr"
	"github.com/armature-io/armature/workflows"
	"github.com/google/go-cmp/cmp"
	"go.temporal.io/api/serviceerror"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

func change(t *testing.T, id, state string) activities.Change {
	return activities.Change{ID: parse(t, id), State: state, At: noon}
}

// TestAttributeNames holds that the lists go by what the workflow writes.
func TestAttributeNames(t *testing.T) {
	t.Parallel()
	known := workflows.SearchAttributes()
	for _, name := range []string{searchattr.ReconcileWaitingFor, searchattr.ReconcileNeeds, searchattr.ReconcilePhase, searchattr.ReconcileReason} {
		if _, ok := known[name]; !ok {
			t.Errorf("the workflow writes no search attribute %s", name)
		}
	}
}

func TestWake(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.add(
		run{id: database(1), phase: workflows.PhaseBlocked, waits: []string{clusterText}},
		run{id: database(2), phase: workflows.PhaseBlocked, waits: []string{groupText, strings.ToUpper(clusterText[:15]) + clusterText[15:]}},
		run{id: database(3), phase: workflows.PhaseBlocked, waits: []string{groupText}},
		run{id: database(4), phase: workflows.PhaseReady},
		run{id: database(5), phase: workflows.PhaseBlocked, waits: []string{clusterText}, ended: true},
	)
	woken, err := s.dial().Wake(t.Context(), change(t, clusterText, "Ready"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"d0001 c Ready", "d0002 c Ready"}, s.signaled()); diff != "" || woken != 2 {
		t.Errorf("woke %d; want those who wait for the cluster in any case of its ID, and no error for the one that ended (-want +got):\n%s", woken, diff)
	}
	for _, got := range s.signals {
		if got.name != workflows.WakeSignal || !got.wake.At.Equal(noon) {
			t.Errorf("signal %+v, want %s with the time of the change", got, workflows.WakeSignal)
		}
	}
}

// TestWakeOfSeveral holds that who waits for two resources which change in one
// moment hears of both: of the other one it would act on a reading from before.
func TestWakeOfSeveral(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.add(run{id: database(1), waits: []string{clusterText, groupText}}, run{id: database(2), waits: []string{groupText}})
	f := s.dial()
	var all sync.WaitGroup
	for _, id := range []string{clusterText, groupText} {
		all.Go(func() {
			if _, err := f.Wake(t.Context(), change(t, id, "Ready")); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if diff := cmp.Diff([]string{"d0001 c Ready", "d0001 rg Ready", "d0002 rg Ready"}, s.signaled()); diff != "" || s.pages != 1 {
		t.Errorf("%d lists, want 1; signals (-want +got):\n%s", s.pages, diff)
	}
}

// TestWakeTellsTheLatestChange holds that of two changes of one resource in a
// moment the later one is told, in whatever order they come.
func TestWakeTellsTheLatestChange(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.add(run{id: database(1), waits: []string{clusterText}})
	f := New(direct{server: s}, Options{})
	later := change(t, clusterText, "Ready")
	later.At = noon.Add(time.Second)
	woken, err := f.wakeAll(t.Context(), []activities.Change{change(t, clusterText, "Creating"), later, change(t, clusterText, "Updating")})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"d0001 c Ready"}, s.signaled()); diff != "" || woken[1] != 1 {
		t.Errorf("woke %v (-want +got):\n%s", woken, diff)
	}
}

// TestWakeStorm holds how many requests a storm costs: a namespace allows 10
// lists a second to all its clients.
func TestWakeStorm(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t)
		s.add(run{id: database(0), waits: []string{database(7)}})
		f := New(direct{server: s}, Options{})
		start := time.Now()
		var all sync.WaitGroup
		var mu sync.Mutex
		woken := 0
		for i := range 1000 {
			all.Go(func() {
				n, err := f.Wake(t.Context(), change(t, database(i), "Ready"))
				if err != nil {
					t.Error(err)
				}
				mu.Lock()
				defer mu.Unlock()
				woken += n
			})
		}
		all.Wait()
		if s.pages != 10 || woken != 1 {
			t.Errorf("1,000 wakes of a moment made %d list requests and %d signals, want 10 of 100 keys each, and 1", s.pages, woken)
		}
		for _, query := range s.queries {
			if keys := strings.Count(query, "', '") + 1; keys != maxBatch {
				t.Errorf("a query names %d keys, want %d", keys, maxBatch)
			}
		}
		// Two at once, then two a second.
		if took := time.Since(start); took < 4*time.Second || took > 5*time.Second {
			t.Errorf("10 lists took %s, want 4 to 5 s: two a second for each worker", took)
		}
	})
}

func TestWakeManyOfOneMoment(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	for i := range 2500 {
		s.add(run{id: database(i), waits: []string{clusterText}})
	}
	f := s.dial()
	var all sync.WaitGroup
	var mu sync.Mutex
	total := 0
	for range 50 { // 50 wakes of one resource are one
		all.Go(func() {
			woken, err := f.Wake(t.Context(), change(t, clusterText, "Ready"))
			if err != nil {
				t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			total += woken
		})
	}
	all.Wait()
	if s.pages != 10 || len(s.queries) != 1 {
		t.Errorf("%d queries with %d pages, want one of ten pages", len(s.queries), s.pages)
	}
	told := map[string]int{}
	for _, got := range s.signals {
		told[got.workflowID]++
	}
	if total != 2500 || len(told) != 2500 || len(s.signals) != 2500 {
		t.Errorf("counted %d, told %d workflows with %d signals, want each of 2,500 once", total, len(told), len(s.signals))
	}
}

// TestWakeGoesOnWithoutTheBrokenOne holds that a workflow which takes no signal
// does not keep the others asleep, and that the fault is told.
func TestWakeGoesOnWithoutTheBrokenOne(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	for i := range 200 {
		s.add(run{id: database(i), waits: []string{clusterText}})
	}
	s.broken[parse(t, database(0)).WorkflowID()] = serviceerror.NewInvalidArgument("too many signals")
	_, err := New(direct{server: s}, Options{}).Wake(t.Context(), change(t, clusterText, "Ready"))
	if err == nil || !strings.Contains(err.Error(), "too many signals") || !strings.Contains(err.Error(), "d0000") {
		t.Errorf("got %v, want an error that names the workflow", err)
	}
	if len(s.signals) != 199 {
		t.Errorf("%d of the 199 others were told", len(s.signals))
	}
}

func TestWakeFault(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.listFails = serviceerror.NewInvalidArgument("visibility is away")
	f := s.dial()
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() {
			if _, err := f.Wake(t.Context(), change(t, database(i), "Ready")); err == nil || !strings.Contains(err.Error(), "visibility is away") {
				t.Errorf("caller %d got %v: the fault of a batch is the fault of each", i, err)
			}
		})
	}
	all.Wait()
}

func TestWakeDeleting(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.add(
		run{id: clusterText, phase: workflows.PhaseDeleting, unlisted: true},
		run{id: groupText, phase: workflows.PhaseReady},
	)
	f := s.dial()
	told, err := f.WakeDeleting(t.Context(), change(t, database(1), "Deleted"), []resource.ID{parse(t, clusterText), parse(t, groupText), parse(t, database(9))})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"c d0001 Deleted"}, s.signaled()); diff != "" || told != 1 || s.pages != 0 {
		t.Errorf("told %d with %d lists, want only the one that is being deleted, whether visibility shows it or not (-want +got):\n%s", told, s.pages, diff)
	}
}

// TestWakeDeletingTogether holds that children which end together are one signal
// to their owner, with the change that it cannot know yet.
func TestWakeDeletingTogether(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.add(run{id: clusterText, phase: workflows.PhaseDeleting})
	f := New(direct{server: s}, Options{})
	var targets []target
	for i := range 50 {
		c := change(t, database(i), "Deleted")
		c.At = noon.Add(-time.Duration((i+20)%50) * time.Second)
		targets = append(targets, target{parse(t, clusterText), c})
	}
	told, err := f.wakeDeletingAll(t.Context(), targets)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"c d0030 Deleted"}, s.signaled()); diff != "" || !told[30] || len(s.described) != 1 {
		t.Errorf("%d descriptions, want 1; want the latest change (-want +got):\n%s", len(s.described), diff)
	}
}

func TestWakeDeletingFault(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.add(run{id: clusterText, phase: workflows.PhaseDeleting}, run{id: groupText, phase: workflows.PhaseDeleting})
	s.broken[parse(t, groupText).WorkflowID()] = serviceerror.NewInternal("shard is away")
	_, err := New(direct{server: s}, Options{}).wakeDeletingAll(t.Context(), []target{
		{parse(t, groupText), change(t, database(1), "Deleted")}, {parse(t, clusterText), change(t, database(1), "Deleted")},
	})
	if err == nil || !strings.Contains(err.Error(), "shard is away") {
		t.Errorf("got %v, want the fault, so that it is tried again", err)
	}
	if diff := cmp.Diff([]string{"c d0001 Deleted"}, s.signaled()); diff != "" {
		t.Errorf("the fault of one must not keep the other asleep (-want +got):\n%s", diff)
	}
}

func TestBatcher(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		sizes := map[int]int{}
		c := batcher[int, string]{delay: time.Second, maxCalls: 3, run: func(_ context.Context, in []int) ([]string, error) {
			mu.Lock()
			sizes[len(in)]++
			mu.Unlock()
			out := make([]string, len(in))
			for i, n := range in {
				out[i] = fmt.Sprint("answer ", n)
			}
			<-time.After(time.Minute) // in fake time: a batch that takes long
			return out, nil
		}}
		ctx, cancel := context.WithTimeoutCause(t.Context(), 10*time.Second, fmt.Errorf("the worker stops"))
		defer cancel()
		var all sync.WaitGroup
		for n := range 4 {
			all.Go(func() {
				got, err := c.do(t.Context(), n)
				if err != nil || got != fmt.Sprint("answer ", n) {
					t.Errorf("call %d got %q, %v: not its own part", n, got, err)
				}
			})
			synctest.Wait()
		}
		all.Go(func() {
			if _, err := c.do(ctx, 4); err == nil || !strings.Contains(err.Error(), "the worker stops") {
				t.Errorf("who gives up got %v, want its own cause", err)
			}
		})
		all.Wait()
		if diff := cmp.Diff(map[int]int{3: 1, 2: 1}, sizes); diff != "" {
			t.Errorf("want a batch of three, the bound, and one of two: who gave up took nobody along; sizes (-want +got):\n%s", diff)
		}
		// A call that comes while a batch runs is in the next.
		if got, err := c.do(t.Context(), 5); err != nil || got != "answer 5" {
			t.Errorf("a late call got %q, %v", got, err)
		}
	})
}
