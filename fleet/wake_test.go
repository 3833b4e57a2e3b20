package fleet

import (
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/internal/payload"
	"github.com/armature-io/armature/internal/searchattr"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/workflows"
	"github.com/google/go-cmp/cmp"
	"go.temporal.io/api/serviceerror"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

func change(t *testing.T, id, state string) activities.Change {
	return activities.Change{ID: parse(t, id), State: state, At: noon}
}

// TestAttributeNames checks that the queries use search attributes of the workflow.
func TestAttributeNames(t *testing.T) {
	t.Parallel()
	known := workflows.SearchAttributes()
	for _, name := range []string{searchattr.ReconcileWaitingFor, searchattr.ReconcileNeeds, searchattr.ReconcilePhase, searchattr.ReconcileReason} {
		if _, ok := known[name]; !ok {
			t.Errorf("unknown search attribute %s", name)
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
		t.Errorf("woke %d; want the resources that wait for the cluster, whatever the case of its ID, and no error for the ended run (-want +got):\n%s", woken, diff)
	}
	for _, got := range s.signals {
		if got.name != workflows.WakeSignal || !got.wake.At.Equal(noon) {
			t.Errorf("signal %+v, want %s with the time of the change", got, workflows.WakeSignal)
		}
	}
}

// TestWakeSeveralChanges checks that a resource that waits for two others receives both
// changes when they change at the same time. Otherwise it would act on an outdated reading.
func TestWakeSeveralChanges(t *testing.T) {
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

// TestWakeLatestChange checks that of concurrent changes of one resource the latest is
// sent, in whatever order they arrive.
func TestWakeLatestChange(t *testing.T) {
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
	if diff := cmp.Diff([]string{"d0001 c Ready"}, s.signaled()); diff != "" || woken[1].count != 1 {
		t.Errorf("woke %v (-want +got):\n%s", woken, diff)
	}
}

// TestWakeStorm checks the number of requests in a storm of wakes: a namespace allows 10
// lists per second for all its clients.
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
			t.Errorf("1,000 concurrent wakes sent %d list requests and %d signals, want 10 of 100 keys each, and 1", s.pages, woken)
		}
		for _, query := range s.queries {
			if keys := strings.Count(query, "', '") + 1; keys != maxBatch {
				t.Errorf("a query has %d keys, want %d", keys, maxBatch)
			}
		}
		// Two immediately, then four per second.
		if took := time.Since(start); took < 2*time.Second || took > 3*time.Second {
			t.Errorf("10 lists took %s, want 2 to 3 s: four per second of the only worker", took)
		}
	})
}

func TestWakeManyConcurrently(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t)
		for i := range 2500 {
			s.add(run{id: database(i), waits: []string{clusterText}})
		}
		f := New(direct{server: s}, Options{})
		var all sync.WaitGroup
		var mu sync.Mutex
		total := 0
		for range 50 { // 50 wakes of one resource share one query
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
		signaled := map[string]int{}
		for _, got := range s.signals {
			signaled[got.workflowID]++
		}
		if total != 2500 || len(signaled) != 2500 || len(s.signals) != 2500 {
			t.Errorf("counted %d, woke %d workflows with %d signals, want each of 2,500 once", total, len(signaled), len(s.signals))
		}
	})
}

// TestWakeDespiteFailedSignal checks that a workflow that refuses a signal does not
// prevent the other wakes, and that the error is returned.
func TestWakeDespiteFailedSignal(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	for i := range 200 {
		s.add(run{id: database(i), waits: []string{clusterText}})
	}
	s.broken[parse(t, database(0)).WorkflowID()] = serviceerror.NewInvalidArgument("too many signals")
	_, err := New(direct{server: s}, Options{}).Wake(t.Context(), change(t, clusterText, "Ready"))
	if err == nil || !strings.Contains(err.Error(), "too many signals") || !strings.Contains(err.Error(), "d0000") {
		t.Errorf("got %v, want an error with the ID", err)
	}
	if len(s.signals) != 199 {
		t.Errorf("%d of the 199 others received a signal", len(s.signals))
	}
}

// TestWakeErrorOfOneChange checks that a signal that fails is an error of its own change
// only: the other changes of the batch are not announced again.
func TestWakeErrorOfOneChange(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.add(run{id: database(1), waits: []string{clusterText}}, run{id: database(2), waits: []string{groupText}})
	s.broken[parse(t, database(2)).WorkflowID()] = serviceerror.NewInvalidArgument("too many signals")
	f := s.dial()
	var all sync.WaitGroup
	for id, fails := range map[string]bool{clusterText: false, groupText: true} {
		all.Go(func() {
			if woken, err := f.Wake(t.Context(), change(t, id, "Ready")); (err != nil) != fails || (woken == 1) == fails {
				t.Errorf("the wake of %s sent %d signals and returned %v", id, woken, err)
			}
		})
	}
	all.Wait()
	if s.pages != 1 {
		t.Errorf("%d lists: the changes were not in one batch", s.pages)
	}
}

func TestWakeError(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.listErr = serviceerror.NewInvalidArgument("visibility unavailable")
	f := s.dial()
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() {
			if _, err := f.Wake(t.Context(), change(t, database(i), "Ready")); err == nil || !strings.Contains(err.Error(), "visibility unavailable") {
				t.Errorf("caller %d got %v, want the error of the batch", i, err)
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
	woken, err := f.WakeDeleting(t.Context(), change(t, database(1), "Deleted"), []resource.ID{parse(t, clusterText), parse(t, groupText), parse(t, database(9))})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"c d0001 Deleted"}, s.signaled()); diff != "" || woken != 1 || s.pages != 0 {
		t.Errorf("woke %d with %d lists, want only the resource that is being deleted, even if visibility lacks it (-want +got):\n%s", woken, s.pages, diff)
	}
}

// TestWakeFallen checks that what fell with a replaced resource gets the change, and the
// approval to be created again as an update of its own.
func TestWakeFallen(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.add(run{id: database(1), phase: workflows.PhaseReady}, run{id: database(2), phase: workflows.PhaseReady})
	s.refusals = map[string]string{parse(t, database(2)).WorkflowID(): workflows.RefusedNotManaged}
	woken, err := s.dial().WakeFallen(t.Context(), change(t, clusterText, "replaced"), []resource.ID{parse(t, database(1)), parse(t, database(2)), parse(t, database(9))})
	if err != nil || woken != 2 {
		t.Fatalf("woke %d (%v), want those that are managed", woken, err)
	}
	var approved []string
	for _, sent := range s.updates {
		var in workflows.ReconcileInput
		if err := payload.DataConverter().FromPayload(sent.args[0], &in); err != nil {
			t.Fatal(err)
		}
		if sent.name != workflows.ReconcileUpdate || !in.Recreate || in.Order != nil {
			t.Errorf("update %s %+v, want an approval", sent.name, in)
		}
		approved = append(approved, sent.workflowID)
	}
	slices.Sort(approved)
	if diff := cmp.Diff([]string{parse(t, database(1)).WorkflowID(), parse(t, database(2)).WorkflowID()}, approved); diff != "" {
		t.Errorf("approved (-want +got):\n%s", diff)
	}
	s.updateErr = serviceerror.NewPermissionDenied("no right", "")
	if _, err := s.dial().WakeFallen(t.Context(), change(t, clusterText, "again"), []resource.ID{parse(t, database(1))}); err == nil {
		t.Error("an approval that was not sent is no error, so nobody repeats it")
	}
}

// TestWakeDeletingBatched checks that children that end at the same time send their owner
// one signal, with the latest change.
func TestWakeDeletingBatched(t *testing.T) {
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
	woken, err := f.wakeDeletingAll(t.Context(), targets)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"c d0030 Deleted"}, s.signaled()); diff != "" || woken[30].count != 1 || len(s.described) != 1 {
		t.Errorf("%d descriptions, want 1; want the latest change (-want +got):\n%s", len(s.described), diff)
	}
}

func TestWakeDeletingError(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.add(run{id: clusterText, phase: workflows.PhaseDeleting}, run{id: groupText, phase: workflows.PhaseDeleting})
	s.broken[parse(t, groupText).WorkflowID()] = serviceerror.NewInternal("shard unavailable")
	f, lost := New(direct{server: s}, Options{}), change(t, database(1), "Deleted")
	results, err := f.wakeDeletingAll(t.Context(), []target{{parse(t, groupText), lost}, {parse(t, clusterText), lost}})
	if err != nil || results[1].err != nil || results[0].err == nil || !strings.Contains(results[0].err.Error(), "shard unavailable") {
		t.Errorf("got %v and %+v, want the error for the one that failed, so that only it is retried", err, results)
	}
	if diff := cmp.Diff([]string{"c d0001 Deleted"}, s.signaled()); diff != "" {
		t.Errorf("the error of one must not prevent the other wake (-want +got):\n%s", diff)
	}
}

func TestAwaited(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.add(run{id: database(1), phase: workflows.PhaseBlocked, waits: []string{clusterText}}, run{id: database(3), waits: []string{database(4)}})
	f := s.dial()
	var all sync.WaitGroup
	for id, want := range map[string]bool{clusterText: true, strings.ToUpper(clusterText[:15]) + clusterText[15:]: true, groupText: false, database(2): false} {
		all.Go(func() {
			if awaited, err := f.Awaited(t.Context(), parse(t, id)); err != nil || awaited != want {
				t.Errorf("%s is awaited: %t, %v; want %t", id, awaited, err, want)
			}
		})
	}
	all.Wait()
	if s.pages != 1 {
		t.Errorf("%d lists, want 1", s.pages)
	}
	s.mu.Lock()
	s.listErr = serviceerror.NewInvalidArgument("no such attribute")
	s.mu.Unlock()
	if awaited, err := f.Awaited(t.Context(), parse(t, groupText)); err == nil {
		t.Errorf("a list that failed shows %t, want an error", awaited)
	}
}
