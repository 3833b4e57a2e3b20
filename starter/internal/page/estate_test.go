package page

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/starter/internal/backend"
	"github.com/armature-io/armature/starter/internal/cli"
	"github.com/armature-io/armature/workflows"
)

// TestRequests counts the requests to Temporal of one minute.
func TestRequests(t *testing.T) {
	for browsers, reason := range map[int]string{0: "no page is visible", 1: "one page", 5: "browsers share the lists"} {
		t.Run(fmt.Sprint(browsers), func(t *testing.T) {
			w := newWorld(record(t, cluster, workflows.PhaseReady))
			b := w.visit(t)
			if browsers > 0 {
				b.get("/")
			}
			for range 12 {
				w.pass(5 * time.Second)
				for range browsers {
					b.get("/")
					b.get("/graph")
				}
			}
			sent := len(w.lists) + w.around
			if sent > 30 || (sent == 0) != (browsers == 0) || w.asked > 0 {
				t.Errorf("%s: %d lists, %d others, %d for one resource", reason, len(w.lists), w.around, w.asked)
			}
		})
	}
}

func TestChangesReplaceRecords(t *testing.T) {
	w := newWorld(record(t, cluster, workflows.PhaseReady), record(t, database, workflows.PhaseReady), record(t, network, workflows.PhaseReady))
	b := w.visit(t)
	b.get("/")
	ended := record(t, network, workflows.PhaseDeleting)
	ended.Running = false
	earlier := record(t, database, workflows.PhaseReady)
	later := record(t, database, workflows.PhaseBlocked, because("ReconciliationBlocked"))
	later.Started = w.clock()
	earlier.Running = false
	w.listed = []backend.Record{later, earlier, ended}
	w.pass(changesEvery)
	state := b.server.estate.look(t.Context())
	var got []string
	for _, r := range state.records {
		got = append(got, r.DisplayName()+" "+string(r.Phase))
	}
	if text := strings.Join(got, ", "); text != "adx Ready, adx/telemetry Blocked" {
		t.Errorf("the estate is %s", text)
	}
	if query := w.lists[1]; !strings.Contains(query, "ReconcileSince >= '2026-11-21T11:59:30Z'") {
		t.Errorf("the second list asks %s", query)
	}
	w.listed = []backend.Record{}
	w.pass(allEvery)
	if left := len(b.server.estate.look(t.Context()).records); left != 0 || w.lists[2] != runningQuery {
		t.Errorf("after %s %d records are left, asked by %s", allEvery, left, w.lists[2])
	}
}

func TestTemporalAway(t *testing.T) {
	w := newWorld(record(t, cluster, workflows.PhaseReady))
	b := w.visit(t)
	b.get("/")
	w.err = errors.New("no response within 30s")
	w.pass(time.Minute)
	page := b.get("/").Body.String()
	for _, want := range []string{"Temporal does not answer", "no response within 30s", "2026-11-21T12:00:00Z", "adx"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not say %q:\n%s", want, page)
		}
	}
	sent := len(w.lists)
	b.get("/")
	if len(w.lists) != sent {
		t.Error("a second look asks at once")
	}
	for path, want := range map[string]string{"?id=" + cluster: "message of adx", "?id=" + network: "This page cannot be shown now", "/history?id=" + cluster: `<p class="note bad">no response`} {
		if page := b.get("/resource" + path).Body.String(); !strings.Contains(page, want) || !strings.Contains(page, "no response within 30s") || w.asked > 0 {
			t.Errorf("the page %s asks Temporal %d times and does not say %q:\n%s", path, w.asked, want, page)
		}
	}
	w.err = nil
	w.pass(changesEvery)
	if page := b.get("/").Body.String(); strings.Contains(page, "Temporal does not answer") {
		t.Errorf("the page does not see that Temporal is back:\n%s", page)
	}
	first := newWorld()
	first.err = errors.New("refused")
	if page := first.visit(t).get("/").Body.String(); !strings.Contains(page, "Nothing to show yet") || !strings.Contains(page, "refused") {
		t.Errorf("without any state the page is\n%s", page)
	}
}

func TestNoPermission(t *testing.T) {
	for name, tc := range map[string]struct {
		reason string
		err    error
		want   string
	}{
		"denied":      {reason: "another attempt does not help", err: &backend.ServerError{Err: cli.Failed("use namespace default: permission denied by Temporal; ask for access")}, want: "Temporal refuses to show more."},
		"unreachable": {reason: "another attempt helps", err: &backend.ServerError{Err: cli.Unreachable("reach Temporal: connection refused")}, want: "Temporal does not answer."},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(record(t, cluster, workflows.PhaseReady))
			b := w.visit(t)
			b.get("/")
			w.err = tc.err
			w.pass(time.Minute)
			if page := b.get("/").Body.String(); !strings.Contains(page, tc.want) || !strings.Contains(page, tc.err.Error()) || !strings.Contains(page, "adx") {
				t.Errorf("%s: the page does not say %q with the last state:\n%s", tc.reason, tc.want, page)
			}
		})
	}
}

func TestNoWorker(t *testing.T) {
	w := newWorld(record(t, cluster, workflows.PhaseReady))
	w.workers[0].Last = w.now.Add(-time.Hour)
	if page := w.visit(t).get("/").Body.String(); !strings.Contains(page, "No worker polls the task queue armature") {
		t.Errorf("the page is\n%s", page)
	}
}
