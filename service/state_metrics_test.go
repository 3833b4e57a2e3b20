package service

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/armature-io/armature/activities/writing"
	"github.com/armature-io/armature/fleet"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/workflows"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
)

// fakeTallier returns what it has.
type fakeTallier struct {
	mu                sync.Mutex
	tallies, readings int
	follows           bool
	err               error
	tally             fleet.Tally
	checks            int
	takes             time.Duration
}

func (f *fakeTallier) Leads(context.Context, string) (leads bool, checks int, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return !f.follows, f.checks, f.err
}

func (f *fakeTallier) Tally(context.Context, string) (fleet.Tally, error) {
	<-time.After(f.takes) // within a bubble
	f.mu.Lock()
	defer f.mu.Unlock()
	f.tallies++
	return f.tally, nil
}

func (f *fakeTallier) Spent(_ context.Context, budget string) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.readings++
	return map[string]int{writing.PutBudget: 30, writing.DisappearanceBudget: 7}[budget], nil
}

// set changes what it returns.
func (f *fakeTallier) set(change func(f *fakeTallier)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change(f)
}

// counts returns how many tallies and readings of budgets it was asked for.
func (f *fakeTallier) counts() (tallies, readings int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.tallies, f.readings
}

func someTally() fleet.Tally {
	return fleet.Tally{
		Groups: map[fleet.Group]int{
			{Phase: workflows.PhaseReady, Class: fleet.EndedByNothing, Label: "web"}:                                        40,
			{Phase: workflows.PhaseBlocked, Reason: resource.ReasonWaitingForOwner, Class: fleet.EndedByTime, Label: "web"}: 2,
			{Phase: workflows.PhaseFailed, Reason: "CodeOfSomeServer1", Class: fleet.EndedByPerson}:                         1,
			{Phase: workflows.PhaseFailed, Reason: "CodeOfSomeServer2", Class: fleet.EndedByPerson}:                         1,
			{Class: fleet.EndedByUnknown}: 3,
		},
		Oldest: map[fleet.EndedBy]time.Duration{fleet.EndedByTime: 90 * time.Second},
	}
}

const someSeries = `
# HELP armature_budget_left Resources that the workers of the task queue may still write within the hour without a user's request, by budget (put, disappearance); absent where a budget is unlimited.
# TYPE armature_budget_left gauge
armature_budget_left{budget="disappearance"} 0
armature_budget_left{budget="put"} 170
# HELP armature_oldest_not_ready_seconds How long the resource has not been Ready that has not been for the longest time, in seconds, by class; paused resources do not count.
# TYPE armature_oldest_not_ready_seconds gauge
armature_oldest_not_ready_seconds{class="time"} 90
# HELP armature_resources Managed resources, by phase, class (what ends the state: nothing, time, person, unknown), reason and the value of the label that metrics.label names. One worker of a task queue has these series.
# TYPE armature_resources gauge
armature_resources{class="nothing",label="web",phase="Ready",reason=""} 40
armature_resources{class="person",label="",phase="Failed",reason="other"} 2
armature_resources{class="time",label="web",phase="Blocked",reason="WaitingForOwner"} 2
armature_resources{class="unknown",label="",phase="unknown",reason=""} 3
# HELP armature_worker_checks Different fingerprints of links and rules among the live workers of the task queue and one deployment version, of the version with the most; more than 1 means that the worker that takes a task decides which checks run. One worker of a task queue has this series.
# TYPE armature_worker_checks gauge
armature_worker_checks 2
`

func budgetsOf() map[string]int {
	return map[string]int{writing.PutBudget: 200, writing.DisappearanceBudget: 5}
}

// TestStateMetrics checks the series while this worker counts, when another one does, and
// when Temporal does not respond for long.
func TestStateMetrics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newStateMetrics(time.Minute, "stack", budgetsOf(), time.Now)
		registry := prometheus.NewPedanticRegistry()
		registry.MustRegister(m)
		from := &fakeTallier{tally: someTally(), checks: 2}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go m.watch(ctx, from, "1@a", slog.New(slog.DiscardHandler))
		compare := func(want, reason string) {
			t.Helper()
			synctest.Wait()
			if err := testutil.GatherAndCompare(registry, strings.NewReader(want)); err != nil {
				t.Errorf("%s: %v", reason, err)
			}
		}
		compare("", "nothing was counted yet")
		<-time.After(firstTally + time.Second)
		compare(someSeries, "this worker counts")
		<-time.After(9 * time.Minute)
		if tallies, readings := from.counts(); tallies != 10 || readings != 2*2 {
			t.Errorf("%d counts and %d queries of two budgets in ten minutes, want 10 and 4", tallies, readings)
		}
		from.set(func(f *fakeTallier) { f.follows = true })
		<-time.After(time.Minute)
		compare("", "another worker has the series now")
		from.set(func(f *fakeTallier) { f.follows = false })
		<-time.After(time.Minute)
		compare(someSeries, "this worker counts again")
		from.set(func(f *fakeTallier) { f.err = errors.New("out of reach") })
		<-time.After(time.Minute)
		compare(someSeries, "one count failed")
		<-time.After(3 * time.Minute)
		compare("", "a count that is too old must not look like the present")
	})
}

// The log says once that the checks differ, and again after they did not.
func TestStateMetricsWarnOfChecks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newStateMetrics(time.Minute, "stack", budgetsOf(), time.Now)
		from := &fakeTallier{tally: someTally(), checks: 1}
		var said bytes.Buffer
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go m.watch(ctx, from, "1@a", slog.New(slog.NewTextHandler(&said, nil)))
		for step, want := range []struct{ checks, warnings int }{{1, 0}, {2, 1}, {3, 1}, {1, 1}, {2, 2}} {
			from.set(func(f *fakeTallier) { f.checks = want.checks })
			<-time.After(5 * time.Minute)
			synctest.Wait()
			if got := strings.Count(said.String(), "have different checks"); got != want.warnings {
				t.Errorf("step %d: %d warnings with %d fingerprints, want %d:\n%s", step, got, want.checks, want.warnings, &said)
			}
		}
	})
}

// A count of a large namespace takes time: it is repeated less often.
func TestStateMetricsPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newStateMetrics(time.Minute, "stack", budgetsOf(), time.Now)
		from := &fakeTallier{tally: someTally(), takes: time.Minute}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go m.watch(ctx, from, "1@a", slog.New(slog.DiscardHandler))
		<-time.After(time.Hour)
		if tallies, _ := from.counts(); tallies != 3 {
			t.Errorf("%d counts of a minute in an hour, want 3", tallies)
		}
		if registry := prometheus.NewRegistry(); registry.Register(m) != nil || testutil.CollectAndCount(m) == 0 {
			t.Error("the last count is not shown until the next one")
		}
	})
}

// The number of series does not grow with the values of a label.
func TestStateMetricsAreBounded(t *testing.T) {
	groups := map[fleet.Group]int{}
	for n := range 10 * maxLabelValues {
		groups[fleet.Group{Phase: workflows.PhaseReady, Class: fleet.EndedByNothing, Label: fmt.Sprint(n)}] = n + 1
	}
	got, total, sum := bounded(groups), 0, 0
	for _, n := range groups {
		total += n
	}
	for _, n := range got {
		sum += n
	}
	if len(got) != maxLabelValues+1 || sum != total {
		t.Errorf("%d series of %d resources, want %d of %d", len(got), sum, maxLabelValues+1, total)
	}
	if largest := (fleet.Group{Phase: workflows.PhaseReady, Class: fleet.EndedByNothing, Label: fmt.Sprint(10*maxLabelValues - 1)}); got[largest] == 0 {
		t.Error("the largest value is not a series of its own")
	}
}
