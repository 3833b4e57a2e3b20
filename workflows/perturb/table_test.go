package perturb

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/armature-io/armature/internal/testonly/cells"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/workflows"
)

// harness names the harness of the cells of this package.
const harness = "test environment"

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
	counts.Add(column, harness, c.kind.name, c.disturbance.name)
}

// sampled returns which cells run: a tenth without PERTURB, and a hundredth with -short.
func sampled(t *testing.T) func(name string) bool {
	t.Helper()
	if testing.Short() {
		return cells.Selected(t, 100)
	}
	return cells.Selected(t, 10)
}

// TestTable runs the cells of the table.
func TestTable(t *testing.T) {
	runs := sampled(t)
	counts := &cells.Tally{}
	t.Run(harness, func(t *testing.T) {
		for _, k := range kinds() {
			undisturbed, err := runCell(k, nil)
			if err != nil {
				t.Fatal(err)
			}
			if len(undisturbed.violations) > 0 {
				t.Errorf("%s, undisturbed: %s", k.name, strings.Join(undisturbed.violations, "\n"))
				continue
			}
			for _, c := range cellsOf(k, undisturbed) {
				name := c.name()
				c.count(counts, cells.All)
				if !runs(name) {
					continue
				}
				c.count(counts, cells.Run)
				t.Run(name, func(t *testing.T) {
					t.Parallel()
					disturbed, err := runCell(k, c)
					if err != nil {
						t.Fatal(err)
					}
					if !disturbed.world.fired && c.point.isBeside() {
						c.count(counts, cells.Missed)
						t.Log("the run did not reach the point")
					}
					for _, violation := range disturbed.compare(undisturbed) {
						t.Error(violation)
					}
				})
			}
		}
	})
	t.Log("\n" + counts.String())
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
	world      *world
	points     []point
	resources  map[string]any
	secrets    map[string][]string
	status     workflows.Status
	writes     map[string]int
	violations []string
}

// runCell runs a kind, undisturbed without a cell.
func runCell(k *kind, c *cell) (*outcome, error) {
	w, err := newWorld(k, c)
	if err != nil {
		return nil, err
	}
	w.run()
	o := &outcome{world: w, resources: w.snapshot(), secrets: map[string][]string{}, writes: map[string]int{}}
	for _, s := range w.sim.VaultSecrets() {
		for _, version := range s.Versions {
			state := "another value"
			if version.Value == w.key() {
				state = "the value"
			}
			o.secrets[s.Name] = append(o.secrets[s.Name], state)
		}
	}
	for _, q := range w.sim.Requests() {
		switch {
		case q.Status >= http.StatusMultipleChoices:
		case q.Method == http.MethodPut, q.Method == http.MethodPatch:
			o.writes["PUT "+strings.ToLower(q.ID)]++
		case q.Method == http.MethodDelete:
			o.writes["DELETE "+strings.ToLower(q.ID)]++
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	o.points, o.status, o.violations = w.points, w.status, w.violations
	return o, nil
}

// key returns the first key of a storage account, "" for another resource. Each creation has its own.
func (w *world) key() string {
	request, recorder := httptest.NewRequest(http.MethodPost, w.kind.desired.ID.String()+"/listKeys?api-version="+w.kind.desired.APIVersion, http.NoBody), httptest.NewRecorder()
	w.sim.ServeHTTP(recorder, request)
	var list struct{ Keys []struct{ Value string } }
	if json.Unmarshal(recorder.Body.Bytes(), &list) != nil || len(list.Keys) == 0 {
		return ""
	}
	return list.Keys[0].Value
}

// snapshot returns the bodies of all resources by ID.
func (w *world) snapshot() map[string]any {
	all := map[string]any{}
	for _, r := range w.sim.Resources("", "") {
		all[strings.ToLower(r.ID)] = cells.Stable(map[string]any(r.Body))
	}
	return all
}

// compare returns how the end of a disturbed run contradicts that of the undisturbed one.
func (o *outcome) compare(undisturbed *outcome) []string {
	w, found := o.world, slices.Clone(o.violations)
	violate := func(format string, args ...any) { found = append(found, fmt.Sprintf(format, args...)) }
	if !w.fired && !w.cell.point.isBeside() {
		violate("the point was not reached")
	}
	own := strings.ToLower(w.kind.desired.ID.String())
	for key, n := range o.writes {
		allowed := undisturbed.writes[key]
		switch {
		case key == "PUT "+own:
			allowed += w.cell.disturbance.writes
			if w.kind.overridden && w.cell.disturbance.unknown && w.cell.point.sendsPut() {
				allowed++
			}
		case key == "DELETE "+own && w.user.deleted && !undisturbed.status.Deleted:
			allowed++
		}
		if n > allowed {
			violate("%d accepted %s, want at most %d", n, key, allowed)
		}
	}
	if ends := w.user.forgotten || w.user.deleted; ends != w.completed {
		violate("the workflow ended: %t, want %t", w.completed, ends)
	}
	if w.user.forgotten {
		return found
	}
	endings := w.endings(undisturbed)
	at := slices.IndexFunc(endings, func(e ending) bool {
		return cmp.Equal(e.resources, o.resources) && e.reason == o.status.Condition.Reason
	})
	if at < 0 {
		at = max(slices.IndexFunc(endings, func(e ending) bool { return cmp.Equal(e.resources, o.resources) }), 0)
	}
	if diff := cmp.Diff(endings[at].resources, o.resources); diff != "" {
		violate("resources at the end (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(undisturbed.secrets, o.secrets); diff != "" && !w.user.deleted {
		violate("secrets at the end (-want +got):\n%s", diff)
	}
	switch got := o.status; {
	case got.InPass:
		violate("a pass still runs: %+v", got.Condition)
	case got.Condition.Reason != endings[at].reason && !w.staysKept():
		violate("condition %s: %s; want %s", got.Condition.Reason, got.Condition.Message, endings[at].reason)
	}
	if diff := cmp.Diff(undisturbed.status.Kept, o.status.Kept); diff != "" && !w.user.deleted && !w.staysKept() {
		violate("values that Azure keeps (-want +got):\n%s", diff)
	}
	if len(found) > 0 {
		violate("%s", o.timeline())
	}
	return found
}

// ending is a permitted end: the resources in Azure, and the reason of the condition.
type ending struct {
	resources map[string]any
	reason    resource.Reason
}

// endings returns the permitted ends, the usual one first.
func (w *world) endings(undisturbed *outcome) []ending {
	own := strings.ToLower(w.kind.desired.ID.String())
	others := maps.Clone(undisturbed.resources)
	maps.DeleteFunc(others, func(id string, _ any) bool {
		return id == own || w.user.deleted && strings.HasPrefix(id, own+"/")
	})
	if w.user.deleted {
		return []ending{{others, resource.ReasonDeleted}}
	}
	with := func(body any, reason resource.Reason, patches ...[]string) ending {
		copied, exists := cells.Stable(body).(map[string]any)
		if !exists {
			copied = map[string]any{}
		}
		for _, patch := range slices.Concat(patches...) {
			copied = cells.Merged(copied, cells.Decoded(patch))
		}
		all := maps.Clone(others)
		all[own] = copied
		return ending{all, reason}
	}
	before, after, reason := undisturbed.world.before[own], undisturbed.resources[own], undisturbed.status.Condition.Reason
	usual := with(after, reason, w.user.stated, w.user.foreign)
	switch {
	case after == nil:
		return []ending{with(before, resource.ReasonSucceeded, w.user.stated, w.user.foreign)}
	case w.staysKept():
		return []ending{with(after, reason, w.user.stated, w.user.foreign, []string{w.user.mayStay}), usual}
	case w.kind.refusal != "":
		// The approval of a replacement is for one pass: if that does not come to the DELETE, the
		// resource stays as it is, also with changes of others, and the condition names the refusal.
		// A resource that was replaced has no values of others.
		return []ending{
			usual, with(after, reason, w.user.stated),
			with(before, w.kind.refusal, w.user.foreign, slices.DeleteFunc([]string{w.user.mayStay}, func(patch string) bool { return patch == "" })),
		}
	}
	return []ending{usual}
}

// staysKept reports whether a change of another client counts as Azure's own choice.
func (w *world) staysKept() bool { return w.user.mayStay != "" && len(w.status.Kept) > 0 }

// timeline prints requests and decisions of a run.
func (o *outcome) timeline() string {
	var b strings.Builder
	for _, q := range o.world.sim.Requests() {
		fmt.Fprintf(&b, "%10s %s %s %d %s\n", q.Time.Sub(begin).Round(time.Millisecond), q.Method, cells.ShortPath(q.Path), q.Status, q.Code)
	}
	for _, d := range o.status.Decisions {
		fmt.Fprintf(&b, "%10s pass %d %s %s %s (%d) %s\n", d.At.Sub(begin).Round(time.Millisecond), d.Pass, d.Step, d.Action, d.Reason, d.Count, d.Message)
	}
	fmt.Fprintf(&b, "end: %s %s %s; next %s; refused %v; runs %d", o.status.Phase, o.status.Condition.Reason, o.status.Condition.Message, o.status.NextTry.Sub(begin), o.world.user.refused, o.world.runs)
	return b.String()
}
