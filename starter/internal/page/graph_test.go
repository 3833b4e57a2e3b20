package page

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/starter/internal/backend"
	"github.com/armature-io/armature/workflows"
	"github.com/google/go-cmp/cmp"
)

func TestGraph(t *testing.T) {
	blocked := resource.ReasonReconciliationBlocked
	lock := cluster + "/providers/Microsoft.Authorization/locks/keep"
	records := []backend.Record{
		record(t, group, workflows.PhaseReady),
		record(t, cluster, workflows.PhaseOperating, because(resource.ReasonReconciling), labeled("stack=prod"), func(r *backend.Record) { r.Policy = resource.PolicyProtect }),
		record(t, database, workflows.PhaseBlocked, because(blocked), waitsFor(t, cluster)),
		record(t, network, workflows.PhaseReady, func(r *backend.Record) { r.Needs = []string{workflows.WaitingKey(mustID(t, cluster))} }),
		record(t, lock, workflows.PhaseReady),
	}
	cases := map[string]struct {
		reason       string
		records      []backend.Record
		filter       Filter
		nodes, edges []string
		rest         int
	}{
		"root causes": {
			reason: "the cause and what waits for it", records: records, rest: 3,
			nodes: []string{"adx Operating protected data", "adx/telemetry Blocked data"}, edges: []string{"adx/telemetry blocked adx"},
		},
		"nothing blocked": {
			reason: "everything", records: records[:1], nodes: []string{"rg1 Ready"},
		},
		"around": {
			reason: "neighbors in both directions; the group, which has everything in it, is not followed", records: records, filter: Filter{Of: cluster},
			nodes: []string{"adx Operating protected data", "adx/telemetry Blocked data", "keep Ready lock", "rg1 Ready", "vnet1 Ready"},
			edges: []string{"adx/telemetry blocked adx", "keep owner adx", "vnet1 needs adx"},
		},
		"around an unmanaged one": {
			reason: "its owner is shown, and the state says that nothing manages it", records: records, filter: Filter{Of: cluster + "/databases/absent"},
			nodes: []string{"adx/absent not managed"}, rest: 5,
		},
		"phase":            {reason: "a filter of the overview", records: records, filter: Filter{Phase: "Blocked"}, nodes: []string{"adx/telemetry Blocked data"}},
		"label":            {reason: "a filter of the overview", records: records, filter: Filter{Label: "stack=prod"}, nodes: []string{"adx Operating protected data"}},
		"search of a type": {reason: "words are searched everywhere", records: records, filter: Filter{Query: "VIRTUAL network"}, nodes: []string{"vnet1 Ready"}},
		"search of reason": {reason: "words are searched everywhere", records: records, filter: Filter{Query: "reconciliationblocked"}, nodes: []string{"adx/telemetry Blocked data"}},
		"search of label":  {reason: "words are searched everywhere", records: records, filter: Filter{Query: "stack=prod"}, nodes: []string{"adx Operating protected data"}},
		"no match":         {reason: "an empty graph", records: records, filter: Filter{Query: "nothing"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			state := &snapshot{taskQueue: "armature", workers: []backend.Poller{{}}}
			state.index(tc.records)
			g, err := newGraph(t.Context(), state, tc.filter, time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC))
			if err != nil {
				t.Fatal(err)
			}
			var nodes, edges []string
			names := map[string]string{}
			for _, n := range g.Nodes {
				nodes = append(nodes, strings.TrimSpace(n.Name+" "+n.State.Text+" "+strings.Join(n.Marks, " ")))
				names[n.Key] = n.Name
			}
			for _, e := range g.Edges {
				edges = append(edges, fmt.Sprintf("%s %s %s", names[e.From], e.Kind, names[e.To]))
			}
			slices.Sort(nodes)
			slices.Sort(edges)
			rest := 0
			for _, r := range g.Rest {
				rest += r.N
			}
			if diff := cmp.Diff(tc.nodes, nodes) + cmp.Diff(tc.edges, edges); diff != "" || rest != tc.rest {
				t.Errorf("%s: %d not shown, want %d (-want +got):\n%s", tc.reason, rest, tc.rest, diff)
			}
		})
	}
}

func TestGraphIsBounded(t *testing.T) {
	var records []backend.Record
	for i := range 500 {
		records = append(records, record(t, fmt.Sprintf("%s/databases/db%03d", cluster, i), workflows.PhaseBlocked, waitsFor(t, cluster)))
	}
	b := newWorld(append(records, record(t, cluster, workflows.PhaseFailed))...).visit(t)
	for _, path := range []string{"/graph", "/graph?phase=Blocked", "/graph?of=" + cluster} {
		page := b.get(path).Body.String()
		if n := strings.Count(page, `<li id="n-`); n != maxNodes {
			t.Errorf("%s shows %d nodes, want %d", path, n, maxNodes)
		}
		if !strings.Contains(page, "Not in the graph") {
			t.Errorf("%s does not count the rest", path)
		}
	}
}
