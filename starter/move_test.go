package starter

import (
	"context"
	"strings"
	"testing"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/starter/internal/backend"
	"github.com/armature-io/armature/workflows"
)

func (f *fakeTemporal) Move(_ context.Context, _ string, in activities.MoveResourceInput) (activities.MoveResourceResult, error) {
	f.moved = append(f.moved, in)
	name := in.Old.Name()
	if !in.ID.IsZero() {
		name = in.ID.Name()
	}
	return f.moves[name], nil
}

// proven is the result of a proven move of a managed resource.
func proven(t *testing.T, old, place string) activities.MoveResourceResult {
	t.Helper()
	id := mustID(t, place)
	return activities.MoveResourceResult{
		Verdict: resource.Proceed(""), Identity: resource.Identity{"properties.clusterId": "1"},
		Desired: &resource.Desired{ID: id, Owner: id.Owner(), APIVersion: "2023-08-15", Labels: map[string]string{"stack": "prod"}},
		Carried: &activities.Carried{From: mustID(t, old), Memory: []byte(`{"body":"b"}`), Existed: true},
	}
}

func TestMove(t *testing.T) {
	const place = "/subscriptions/11111111-2222-3333-4444-555555555555/resourceGroups/rg2/providers/Microsoft.Kusto/clusters/adx"
	cases := map[string]struct {
		reason  string
		arrange func(t *testing.T, f *fakeTemporal)
		code    int
		started []string
		sent    []string
		output  string
	}{
		"with what is in it": {
			reason: "children go first, so that a crash leaves the owner with its proof",
			arrange: func(t *testing.T, f *fakeTemporal) {
				f.moves = map[string]activities.MoveResourceResult{"adx": proven(t, cluster, place), "telemetry": proven(t, database, place+"/databases/telemetry")}
			},
			started: []string{"apply telemetry", "apply adx"}, sent: []string{"forget telemetry", "forget adx"}, output: "continues at " + place + " (the same properties.clusterId)",
		},
		"refused": {
			reason: "without a proof nothing is sent",
			arrange: func(_ *testing.T, f *fakeTemporal) {
				f.moves = map[string]activities.MoveResourceResult{"adx": {Verdict: resource.Fail(resource.ReasonFailed, resource.RetryNone, "it is another resource")}}
			},
			code: 1, output: "it is another resource",
		},
		"old worker": {
			reason:  "a result without content carries nothing",
			arrange: func(_ *testing.T, f *fakeTemporal) { f.moves = nil },
			code:    1, output: "older than this armature",
		},
		"child refused": {
			reason: "what cannot go stays where it is, and the code says so",
			arrange: func(t *testing.T, f *fakeTemporal) {
				f.moves = map[string]activities.MoveResourceResult{"adx": proven(t, cluster, place), "telemetry": {Verdict: resource.Fail(resource.ReasonFailed, resource.RetryNone, "it does not exist")}}
			},
			code: 1, started: []string{"apply adx"}, sent: []string{"forget adx"}, output: "left: it does not exist",
		},
		"managed already": {
			reason: "the memory of the new place stays, the old one ends",
			arrange: func(t *testing.T, f *fakeTemporal) {
				f.moves = map[string]activities.MoveResourceResult{"adx": proven(t, cluster, place), "telemetry": proven(t, database, place+"/databases/telemetry")}
				f.errs = map[string]error{mustID(t, place).WorkflowID(): &backend.RefusedError{Kind: workflows.RefusedManaged, Text: "managed"}}
			},
			started: []string{"apply telemetry", "apply adx"}, sent: []string{"forget telemetry", "forget adx"}, output: "keeps its own memory",
		},
		"differs": {
			reason: "the resource waits for its changed manifest",
			arrange: func(t *testing.T, f *fakeTemporal) {
				paused := proven(t, cluster, place)
				paused.Carried.Paused = true
				paused.Differences = []resource.Difference{{Path: "tags.a", Observed: `"b"`, Desired: `"c"`}}
				f.moves = map[string]activities.MoveResourceResult{"adx": paused, "telemetry": proven(t, database, place+"/databases/telemetry")}
			},
			started: []string{"apply telemetry", "apply adx"}, sent: []string{"forget telemetry", "forget adx"}, output: `paused, because tags.a is "b" there, desired "c"`,
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld()
			w.temporal.manage(t, cluster, readyStatus())
			w.temporal.manage(t, database, readyStatus())
			c.arrange(t, w.temporal)
			code := w.run("move", "adx", place)
			if output := w.out.String() + w.err.String(); code != c.code || !strings.Contains(output, c.output) {
				t.Errorf("%s: exit code %d\n%s", c.reason, code, output)
			}
			if strings.Join(w.temporal.started, ",") != strings.Join(c.started, ",") || strings.Join(w.temporal.sent, ",") != strings.Join(c.sent, ",") {
				t.Errorf("%s: started %v, sent %v", c.reason, w.temporal.started, w.temporal.sent)
			}
		})
	}
}

func TestMoveNeedsID(t *testing.T) {
	w := newWorld()
	if code := w.run("move", "adx", "adx2"); code != 2 || !strings.Contains(w.err.String(), "must start with /") {
		t.Errorf("exit code %d\n%s", code, w.err)
	}
}
