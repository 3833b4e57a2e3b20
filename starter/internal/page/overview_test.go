package page

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/starter/internal/backend"
	"github.com/armature-io/armature/workflows"
	"github.com/google/go-cmp/cmp"
)

// brief returns the causes of an overview as lines.
func brief(page Overview) []string {
	var lines []string
	for _, list := range []struct {
		name   string
		causes []Cause
	}{{"acts", page.Acts}, {"waits", page.Waits}} {
		for _, c := range list.causes {
			line := fmt.Sprintf("%s: %s: %s %s", list.name, c.Who, c.Subject.Name, c.Subject.State.Text)
			if c.Holds > 0 {
				line += fmt.Sprintf(" holds %d", c.Holds)
			}
			if c.Many > 1 {
				line += fmt.Sprintf(" and %d like it", c.Many-1)
			}
			lines = append(lines, line)
		}
	}
	return lines
}

func TestCauses(t *testing.T) {
	other := group + "/providers/Microsoft.Kusto/clusters/other"
	audit := cluster + "/databases/audit"
	blocked := resource.ReasonReconciliationBlocked
	cases := map[string]struct {
		reason   string
		records  []backend.Record
		workers  bool
		want     []string
		headline string
	}{
		"nothing blocked": {
			reason: "no cause", workers: true, records: []backend.Record{record(t, cluster, workflows.PhaseReady)}, headline: "Everything is Ready",
		},
		"operation": {
			reason: "Azure works: no one has to act", workers: true, headline: "Nothing needs a person",
			records: []backend.Record{record(t, cluster, workflows.PhaseOperating, because(resource.ReasonReconciling)), record(t, database, workflows.PhaseBlocked, because(blocked), waitsFor(t, cluster))},
			want:    []string{"waits: no one has to act: adx Operating holds 1"},
		},
		"failed cluster first": {
			reason: "the cause that holds up most is first, and one that time ends comes after those of persons", workers: true, headline: "2 causes need a person",
			records: []backend.Record{
				record(t, other, workflows.PhaseFailed, because("SkuNotAvailable")),
				record(t, cluster, workflows.PhaseFailed, because(resource.ReasonSecretNotFound)),
				record(t, database, workflows.PhaseBlocked, because(blocked), waitsFor(t, cluster)), record(t, audit, workflows.PhaseBlocked, because(blocked), waitsFor(t, cluster)),
				record(t, network, workflows.PhaseBlocked, because(resource.ReasonThrottled)),
			},
			want: []string{"acts: the operator of the worker: adx Failed holds 2", "acts: the owner of the manifest: other Failed", "waits: no one has to act: vnet1 Blocked"},
		},
		"not managed": {
			reason: "nothing says what it waits for but that it is not managed", workers: true, headline: "1 cause needs a person",
			records: []backend.Record{record(t, database, workflows.PhaseBlocked, because(resource.ReasonReferenceNotFound), waitsFor(t, other))},
			want:    []string{"acts: the owner of the manifests: something that is not managed  holds 1"},
		},
		"owner not managed": {
			reason: "an owner has its ID in that of the child", workers: true, headline: "1 cause needs a person",
			records: []backend.Record{record(t, database, workflows.PhaseBlocked, because(resource.ReasonWaitingForOwner), waitsFor(t, cluster))},
			want:    []string{"acts: the team that creates it, or the owner of a manifest that names it: adx not managed holds 1"},
		},
		"cycle": {
			reason: "its resources wait for each other", workers: true, headline: "1 cause needs a person",
			records: []backend.Record{
				record(t, cluster, workflows.PhaseBlocked, because(resource.ReasonReferenceNotReady), waitsFor(t, other)),
				record(t, other, workflows.PhaseBlocked, because(resource.ReasonReferenceNotReady), waitsFor(t, cluster)),
			},
			want: []string{"acts: the owner of the manifest: adx, other  holds 2"},
		},
		"frozen": {
			reason: "two that are alike are one cause", workers: true, headline: "1 cause needs a person",
			records: []backend.Record{record(t, cluster, workflows.PhaseBlocked, because(resource.ReasonFrozen)), record(t, network, workflows.PhaseBlocked, because(resource.ReasonFrozen))},
			want:    []string{"acts: the user who froze it: adx Blocked and 1 like it"},
		},
		"no worker": {
			reason: "without a worker nothing else matters", headline: "1 cause needs a person",
			records: []backend.Record{record(t, cluster, workflows.PhaseBlocked, because(resource.ReasonThrottled))},
			want:    []string{"acts: the operator of the workers: adx Blocked?"},
		},
		"paused": {
			reason: "the user who paused it resumes it", workers: true, headline: "1 cause needs a person",
			records: []backend.Record{record(t, cluster, workflows.PhasePaused, because(resource.ReasonPaused))},
			want:    []string{"acts: the user who paused it: adx Paused"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			state := &snapshot{taskQueue: "armature"}
			state.index(tc.records)
			if tc.workers {
				state.workers = []backend.Poller{{Identity: "worker-1"}}
			}
			page, err := newOverview(t.Context(), state, overviewRequest{now: time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, brief(page)); diff != "" || page.Headline != tc.headline {
				t.Errorf("%s: headline %q, want %q (-want +got):\n%s", tc.reason, page.Headline, tc.headline, diff)
			}
		})
	}
}

func TestGroups(t *testing.T) {
	state := &snapshot{taskQueue: "armature"}
	state.index([]backend.Record{
		record(t, cluster, workflows.PhaseReady, labeled("env=prod", "team=data")), record(t, database, workflows.PhaseFailed, labeled("env=prod")),
		record(t, network, workflows.PhaseReady, labeled("env=test")), record(t, group, workflows.PhaseReady),
	})
	page, err := newOverview(t.Context(), state, overviewRequest{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, g := range page.Groups {
		line := g.Name + ":"
		for _, c := range g.Counts {
			line += fmt.Sprintf(" %s %d", c.Text, c.N)
		}
		got = append(got, line)
	}
	want := []string{"without env: Failed 0 Ready 1", "prod: Failed 1 Ready 1", "test: Failed 0 Ready 1"}
	if diff := cmp.Diff(want, got); diff != "" || page.By != "env" {
		t.Errorf("by %s (-want +got):\n%s", page.By, diff)
	}
	if other, err := newOverview(t.Context(), state, overviewRequest{by: "team"}); err != nil || other.By != "team" || len(other.Groups) != 2 {
		t.Errorf("by team: %v, %v", other.Groups, err)
	}
}

func TestFreezes(t *testing.T) {
	w := newWorld(record(t, cluster, workflows.PhaseReady))
	w.freezes = []workflows.Freeze{{Selector: "stack=prod", By: "ann@laptop", Reason: "INC-42", Since: w.now.Add(-time.Hour)}}
	page := w.visit(t).get("/").Body.String()
	for _, want := range []string{"Writes are frozen", "stack=prod", "INC-42", "by ann@laptop (unverified)", "armature unfreeze -l stack=prod", "2026-11-21T11:00:00Z"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
}

// TestFilteredOverview checks the parts of an overview of which the address names a part.
func TestFilteredOverview(t *testing.T) {
	other := group + "/providers/Microsoft.Kusto/clusters/other"
	state := &snapshot{taskQueue: "armature", workers: []backend.Poller{{Identity: "worker-1"}}}
	state.index([]backend.Record{
		record(t, cluster, workflows.PhaseFailed, because("SkuNotAvailable"), labeled("env=prod", "team=data")),
		record(t, database, workflows.PhaseBlocked, because(resource.ReasonReconciliationBlocked), waitsFor(t, cluster), labeled("env=test")),
		record(t, other, workflows.PhaseFailed, because("QuotaExceeded"), labeled("env=prod")),
	})
	cases := map[string]struct {
		reason   string
		filter   Filter
		want     []string
		headline string
		phases   string
	}{
		"label":     {reason: "the cause is elsewhere, and holds up a resource of the label", filter: Filter{Label: "env=test"}, want: []string{"acts: the owner of the manifest: adx Failed holds 1"}, headline: "1 cause needs a person", phases: "/graph?label=env%3Dtest&phase=Blocked"},
		"two":       {reason: "all labels of a selector", filter: Filter{Label: "env=prod,team=data"}, want: []string{"acts: the owner of the manifest: adx Failed holds 1"}, headline: "1 cause needs a person", phases: "/graph?label=env%3Dprod%2Cteam%3Ddata&phase=Failed"},
		"reason":    {reason: "the link of an alert", filter: Filter{Reason: "QuotaExceeded"}, want: []string{"acts: the owner of the manifest: other Failed"}, headline: "1 cause needs a person", phases: "/graph?phase=Failed&reason=QuotaExceeded"},
		"no match":  {reason: "an alert that is over", filter: Filter{Reason: "Held"}, headline: "Nothing matches"},
		"no filter": {reason: "everything", want: []string{"acts: the owner of the manifest: adx Failed holds 1", "acts: the owner of the manifest: other Failed"}, headline: "2 causes need a person", phases: "/graph?phase=Failed /graph?phase=Blocked"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			page, err := newOverview(t.Context(), state, overviewRequest{filter: tc.filter, now: time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)})
			if err != nil {
				t.Fatal(err)
			}
			var phases []string
			for _, count := range page.Phases {
				phases = append(phases, count.Href)
			}
			if diff := cmp.Diff(tc.want, brief(page)); diff != "" || page.Headline != tc.headline || strings.Join(phases, " ") != tc.phases {
				t.Errorf("%s: headline %q, phases %q (-want +got):\n%s", tc.reason, page.Headline, phases, diff)
			}
			if (page.Reset != "") != !tc.filter.IsEmpty() {
				t.Errorf("%s: the way back is %q", tc.reason, page.Reset)
			}
		})
	}
}
