package page

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/starter/internal/backend"
	"github.com/armature-io/armature/workflows"
	"github.com/google/go-cmp/cmp"
)

// written adds a last write to a record.
func written(at time.Time, verb string, paths int, by string) func(*backend.Record) {
	return func(r *backend.Record) {
		if r.Summary == nil {
			r.Summary = &workflows.Summary{Phase: r.Phase, Condition: resource.Condition{Reason: r.Reason}}
		}
		r.Summary.LastWrite = workflows.WriteNote{At: at, Verb: verb, Paths: paths, By: by}
	}
}

func since(at time.Time) func(*backend.Record) { return func(r *backend.Record) { r.Since = at } }

func TestParseSince(t *testing.T) {
	now := time.Date(2026, 11, 21, 9, 30, 0, 0, time.FixedZone("", 3600))
	for stated, want := range map[string]string{
		"18:00": "2026-11-20T18:00:00Z", "08:30": "2026-11-21T08:30:00Z", "08:31": "2026-11-20T08:31:00Z", "24h": "2026-11-20T08:30:00Z",
		"2026-11-20": "2026-11-20T00:00:00Z", "2026-11-20T18:00:00+01:00": "2026-11-20T17:00:00Z",
	} {
		if got, err := parseSince(stated, now); err != nil || got.UTC().Format(time.RFC3339) != want {
			t.Errorf("%s is %s, want %s (%v)", stated, got, want, err)
		}
	}
	for _, bad := range []string{"yesterday", "25:00", "-1h"} {
		if got, err := parseSince(bad, now); err == nil {
			t.Errorf("%s is %s", bad, got)
		}
	}
}

// TestChanges answers "what changed overnight, by whom?".
func TestChanges(t *testing.T) {
	evening := time.Date(2026, 11, 20, 18, 0, 0, 0, time.UTC)
	at := func(hours int) time.Time { return evening.Add(time.Duration(hours) * time.Hour) }
	views := backend.ListedViews([]backend.Record{
		record(t, cluster, workflows.PhaseReady, since(at(-5)), written(at(3), "correct", 2, "")),
		record(t, database, workflows.PhaseReady, since(at(4)), written(at(2), "update", 1, "ann@laptop")),
		record(t, network, workflows.PhaseBlocked, since(at(5)), because(resource.ReasonThrottled), written(at(-1), "create", 0, "bob@ci")),
		record(t, group, workflows.PhaseReady, since(at(-24))),
	})
	gone := record(t, cluster+"/databases/gone", workflows.PhaseDeleting, since(at(6)), because(resource.ReasonDeleting), written(at(6), "update", 0, "bob@ci"))
	gone.Running, gone.Ended, gone.EndedAt = false, "Completed", at(7)
	recreated := record(t, database, workflows.PhaseDeleting, since(at(6)))
	recreated.Running, recreated.Ended, recreated.EndedAt = false, "Completed", at(7)
	request := overviewRequest{since: "18:00", from: evening, ended: []backend.Record{gone, recreated}, now: at(15)}
	lines := func(c Changes) []string {
		var lines []string
		for _, change := range c.List {
			lines = append(lines, strings.TrimSpace(strings.Join([]string{change.At.Format("15:04"), change.Name, change.State.Text, change.Reason, change.Write}, " | ")))
		}
		return lines
	}
	want := []string{
		"01:00 | adx/gone | Deleted | Deleting | updated, requested by bob@ci",
		"23:00 | vnet1 | Blocked | Throttled |",
		"22:00 | adx/telemetry | Ready |  | updated 1 value, requested by ann@laptop",
		"21:00 | adx | Ready |  | corrected 2 values, because of drift",
	}
	changes := newChanges(views, request)
	if diff := cmp.Diff(want, lines(changes)); diff != "" {
		t.Errorf("since the evening (-want +got):\n%s", diff)
	}
	if last := lines(newChanges(views, overviewRequest{now: at(15)})); len(last) != 4 || !strings.Contains(last[0], "vnet1 | Blocked | Throttled | created, requested by bob@ci") {
		t.Errorf("the last changes are\n%s", strings.Join(last, "\n"))
	}
	for _, choice := range changes.Choices {
		if choice.Chosen != (choice.Text == "since 18:00Z") {
			t.Errorf("%s is chosen: %t", choice.Text, choice.Chosen)
		}
	}
}

// TestSincePage checks the address, and what it costs.
func TestSincePage(t *testing.T) {
	w := newWorld(record(t, cluster, workflows.PhaseReady))
	gone := record(t, database, workflows.PhaseDeleting)
	gone.Running, gone.Ended, gone.EndedAt = false, "Completed", w.now.Add(-time.Hour)
	written(w.now.Add(-2*time.Hour), "update", 0, "<b>ann")(&gone)
	w.listed = []backend.Record{gone}
	b := w.visit(t)
	for range 5 {
		page := b.get("/?since=18:00&label=").Body.String()
		for _, want := range []string{"Changed since", "2026-11-20T18:00:00Z", "adx/telemetry", "Deleted", "updated, requested by &lt;b&gt;ann", "2026-11-21T10:00:00Z"} {
			if !strings.Contains(page, want) {
				t.Fatalf("the page does not say %q:\n%s", want, page)
			}
		}
	}
	if len(w.lists) != 2 || !strings.Contains(w.lists[1], "CloseTime >= '2026-11-20T18:00:00Z'") {
		t.Errorf("five looks ask %q", w.lists)
	}
	w.pass(aroundEvery)
	w.err = errors.New("no response within 30s")
	sent := len(w.lists)
	if page := b.get("/?since=18:00").Body.String(); !strings.Contains(page, "Deleted resources may be missing: no response within 30s") || !strings.Contains(page, "adx/telemetry") || len(w.lists) != sent+1 {
		t.Errorf("without Temporal %d lists are asked for, and the page is\n%s", len(w.lists)-sent, page)
	}
	if answer := b.get("/?since=yesterday"); answer.Code != 404 || !strings.Contains(answer.Body.String(), "must be a duration such as 24h") {
		t.Errorf("a wrong time answers %d:\n%s", answer.Code, answer.Body)
	}
}
