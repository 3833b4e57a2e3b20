package perturb

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/armature-io/armature/dev/internal/harness"
	"github.com/armature-io/armature/internal/testonly/cells"
	"github.com/armature-io/armature/resource"
)

// harnessName names the harness of the cells of this package.
const harnessName = "embedded server"

// sideBySide is the number of cells that run at once. Most of the time they wait for Temporal to
// notice a lost worker.
const sideBySide = 24

// binaries are built once.
var binaries harness.Binaries

func TestMain(m *testing.M) { harness.Main(m, &binaries) }

// cell is a cell of the table.
type cell struct {
	kind        *kind
	point       point
	disturbance disturbance
}

// name returns the name of the cell, without its harness.
func (c *cell) name() string { return cells.Name(c.kind.name, c.point, c.disturbance.name) }

// count counts the cell in a column.
func (c *cell) count(counts *cells.Tally, column string) {
	counts.Add(column, harnessName, c.kind.name, c.disturbance.name)
}

// TestTable runs the cells of the table: a tenth without PERTURB, and with -short none, only the
// undisturbed runs.
func TestTable(t *testing.T) {
	runs := cells.Selected(t, 10)
	if testing.Short() && os.Getenv(cells.Variable) == "" {
		runs = func(string) bool { return false }
	}
	world := harness.New(t, binaries, harness.Options{})
	counts := &cells.Tally{}
	t.Run(harnessName, func(t *testing.T) {
		slots := make(chan struct{}, sideBySide)
		var running sync.WaitGroup
		for k, kind := range kinds() {
			running.Go(func() { runKind(t, world, k, kind, runs, counts, slots) })
		}
		running.Wait()
	})
	t.Log("\n" + counts.String())
	if missed, run := counts.Count(cells.Missed, harnessName), counts.Count(cells.Run, harnessName); missed*4 > run {
		t.Errorf("%d of %d cells did not reach their point", missed, run)
	}
}

// runKind runs a kind undisturbed, and its cells.
func runKind(t *testing.T, world *harness.World, number int, k *kind, runs func(string) bool, counts *cells.Tally, slots chan struct{}) {
	var undisturbed *outcome
	t.Run(k.name, func(t *testing.T) {
		slots <- struct{}{}
		defer func() { <-slots }()
		o := newScene(t, world, k, nil, fmt.Sprintf("perturb%d-0", number)).run()
		for _, violation := range o.violations {
			t.Error(violation)
		}
		t.Logf("%s", o.timeline())
		undisturbed = o
	})
	if undisturbed == nil || len(undisturbed.violations) > 0 {
		return
	}
	var running sync.WaitGroup
	for i, c := range cellsOf(k, undisturbed) {
		name := c.name()
		c.count(counts, cells.All)
		if !runs(name) {
			continue
		}
		c.count(counts, cells.Run)
		running.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			t.Run(name, func(t *testing.T) {
				runCell(t, world, c, fmt.Sprintf("perturb%d-%d", number, i+1), undisturbed, counts)
			})
		})
	}
	running.Wait()
}

// runCell runs a cell.
func runCell(t *testing.T, world *harness.World, c *cell, group string, undisturbed *outcome, counts *cells.Tally) {
	s := newScene(t, world, c.kind, c, group)
	o := s.run()
	if !s.fired {
		c.count(counts, cells.Missed)
		t.Log("the run did not reach the point")
	}
	for _, violation := range o.compare(undisturbed) {
		t.Error(violation)
	}
}

// cellsOf returns the cells of a kind: each point of the undisturbed run with each disturbance.
func cellsOf(k *kind, undisturbed *outcome) (all []*cell) {
	for _, p := range undisturbed.points {
		for _, d := range disturbances() {
			if d.applies(k, p) {
				all = append(all, &cell{k, p, d})
			}
		}
	}
	return all
}

// outcome is what a run leaves.
type outcome struct {
	scene     *scene
	points    []point
	resources map[string]any
	// status has the reasons of the conditions by resource, writes the numbers of accepted writes.
	status     map[string]string
	writes     map[string]int
	violations []string
}

// compare returns how the end of a disturbed run contradicts that of the undisturbed one.
func (o *outcome) compare(undisturbed *outcome) []string {
	s, found := o.scene, slices.Clone(o.violations)
	violate := func(format string, args ...any) { found = append(found, fmt.Sprintf(format, args...)) }
	want := maps.Clone(undisturbed.resources)
	for i, r := range s.resources {
		id := s.relative(r.desired.ID.String())
		allowed := undisturbed.writes["PUT "+id]
		if s.fired {
			allowed += s.cell.disturbance.writes
		}
		if n := o.writes["PUT "+id]; n > allowed {
			violate("%d accepted PUTs of %s, want at most %d", n, id, allowed)
		}
		allowed = undisturbed.writes["DELETE "+id]
		if r.deleted {
			allowed = max(allowed, 1)
		}
		if s.isOrphaned(r) {
			allowed++ // it may be created again before its owner is deleted
		}
		if n := o.writes["DELETE "+id]; n > allowed {
			violate("%d accepted DELETEs of %s, want at most %d", n, id, allowed)
		}
		reason := undisturbed.status[id]
		body := want[id]
		switch {
		case r.held:
			want[id], reason = undisturbed.scene.before[id], string(resource.ReasonWaitingForDependents)
		case r.deleted:
			delete(want, id)
			reason = "Deleted"
		case s.isOrphaned(r):
			delete(want, id)
			if reason = "Deleted"; o.status[id] == string(resource.ReasonWaitingForOwner) {
				reason = o.status[id]
			}
		case s.kind.refusal != "" && o.status[id] == string(s.kind.refusal):
			want[id], reason = undisturbed.scene.before[id], o.status[id]
		case body == nil:
			body = undisturbed.scene.before[id]
			reason = "Succeeded"
			fallthrough
		default:
			for _, patch := range r.stated[min(len(r.stated), len(undisturbed.scene.resources[i].stated)):] {
				body = cells.Merged(cells.Stable(body).(map[string]any), cells.Decoded(patch))
			}
			want[id] = body
		}
		if o.status[id] != reason {
			violate("%s: condition %s, want %s", id, o.status[id], reason)
		}
	}
	if diff := cmp.Diff(want, o.resources); diff != "" {
		violate("resources at the end (-want +got):\n%s", diff)
	}
	if len(found) > 0 {
		violate("%s", o.timeline())
	}
	return found
}

// timeline prints the requests of a run to Azure, and its messages that were refused.
func (o *outcome) timeline() string {
	var b strings.Builder
	for _, q := range o.scene.Sim.Requests("") {
		fmt.Fprintf(&b, "%s %s %s %d %s\n", q.Time.Format("15:04:05"), q.Method, o.scene.shortPath(q.Path), q.Status, q.Code)
	}
	fmt.Fprintf(&b, "took %s; refused %v", time.Since(o.scene.start).Round(time.Second), o.scene.refused)
	return b.String()
}
