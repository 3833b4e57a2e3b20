package starter

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/starter/internal/backend"
	"github.com/armature-io/armature/starter/internal/cli"
	"github.com/armature-io/armature/workflows"
	"github.com/google/go-cmp/cmp"
)

// TestOneErrorStopsNothing sends each message to the resources of a selector while one
// of them fails: the others receive it, and the errors come at the end.
func TestOneErrorStopsNothing(t *testing.T) {
	clusterWorkflow, databaseWorkflow := strings.ToLower(cluster), strings.ToLower(database)
	deleted := workflows.Status{Deleted: true, Condition: resource.Condition{Reason: resource.ReasonDeleted}}
	detached := workflows.Status{Deleted: true, Condition: resource.Condition{Reason: resource.ReasonDetached}}
	failing := errors.New("shard unavailable")
	cases := map[string]struct {
		reason string
		args   []string
		err    error
		ended  *workflows.Status
		code   int
		text   string
	}{
		"delete":            {"the group of the others is gone meanwhile", []string{"delete", "-l", "stack=prod", "--cascade", "--yes"}, failing, nil, cli.ExitFailed, "kusto cluster adx  failed: shard unavailable"},
		"pause":             {"each resource is paused", []string{"pause", "-l", "stack=prod"}, failing, nil, cli.ExitFailed, "1 of 2 resources were not reached"},
		"resume":            {"as for a pause", []string{"resume", "--all"}, failing, nil, cli.ExitFailed, "not reached"},
		"reconcile":         {"as for a pause", []string{"reconcile", "-l", "stack=prod"}, failing, nil, cli.ExitFailed, "not reached"},
		"forget":            {"as for a pause", []string{"forget", "-l", "stack=prod", "--yes"}, failing, nil, cli.ExitFailed, "not reached"},
		"abort":             {"as for a pause", []string{"delete", "--abort", "-l", "stack=prod"}, failing, nil, cli.ExitFailed, "not reached"},
		"names":             {"names are a selection too", []string{"pause", "adx", "adx/telemetry"}, failing, nil, cli.ExitFailed, "not reached"},
		"stuck":             {"another resource has a worker", []string{"pause", "-l", "stack=prod"}, &backend.NoWorkerError{TaskQueue: "armature"}, nil, cli.ExitUnreachable, "its workflow task fails"},
		"gone, delete":      {"what the deletion asks for is done", []string{"delete", "-l", "stack=prod", "--yes"}, backend.ErrNotManaged, &deleted, cli.ExitOK, "kusto cluster adx  already deleted"},
		"gone, by name":     {"as with a selector", []string{"delete", "adx", "adx/telemetry"}, backend.ErrNotManaged, &deleted, cli.ExitOK, "already deleted"},
		"forgotten, delete": {"the resource is still in Azure", []string{"delete", "-l", "stack=prod", "--yes"}, backend.ErrNotManaged, &detached, cli.ExitFailed, "failed: it is no longer managed"},
		"gone, forget":      {"nothing manages it", []string{"forget", "-l", "stack=prod", "--yes"}, backend.ErrNotManaged, &detached, cli.ExitOK, "already no longer managed"},
		"gone, pause":       {"the selector does not choose it any more", []string{"pause", "-l", "stack=prod"}, backend.ErrNotManaged, &deleted, cli.ExitOK, "no longer managed; skipped"},
		"gone, pause name":  {"the user chose it", []string{"pause", "adx", "adx/telemetry"}, backend.ErrNotManaged, &deleted, cli.ExitFailed, "nothing was started"},
		"gone, abort":       {"it could not be kept", []string{"delete", "--abort", "-l", "stack=prod"}, backend.ErrNotManaged, &deleted, cli.ExitFailed, "refused: it is not managed"},
		"ending": {
			"a workflow refuses while its management ends", []string{"delete", "-l", "stack=prod", "--yes"},
			&backend.RefusedError{Kind: workflows.RefusedNotManaged, Text: "no"}, &deleted, cli.ExitOK, "already deleted",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := sampleWorld(t)
			w.temporal.errs = map[string]error{clusterWorkflow: tc.err}
			w.temporal.answers = map[string]any{databaseWorkflow: map[string]any{"changed": true}}
			if name == "stuck" {
				w.temporal.described = "its workflow task fails (attempt 3)"
			}
			if tc.ended != nil {
				w.temporal.ended = map[string]workflows.Status{clusterWorkflow: *tc.ended}
			}
			if code := w.run(tc.args...); code != tc.code {
				t.Errorf("%s: exit code %d, want %d: %s", tc.reason, code, tc.code, w.err)
			}
			reached := slices.ContainsFunc(w.temporal.sent, func(sent string) bool { return strings.HasSuffix(sent, " telemetry") })
			if output := w.out.String() + w.err.String(); !reached || !strings.Contains(output, tc.text) {
				t.Errorf("%s: sent %v; output lacks %q:\n%s", tc.reason, w.temporal.sent, tc.text, output)
			}
		})
	}
}

// TestServerErrorEndsSending sends nothing more once Temporal is away: every message
// would fail.
func TestServerErrorEndsSending(t *testing.T) {
	w := newWorld()
	for i := range 200 {
		w.temporal.manage(t, group+"/providers/Microsoft.Kusto/clusters/c"+strings.Repeat("x", i), readyStatus())
	}
	away := &backend.ServerError{Err: cli.Unreachable("reach Temporal: connection refused")}
	w.temporal.errs = map[string]error{}
	for _, r := range w.temporal.records {
		w.temporal.errs[r.WorkflowID] = away
	}
	if code := w.run("pause", "--all"); code == cli.ExitOK || len(w.temporal.sent) > backend.MaxParallel {
		t.Errorf("exit code %d, %d messages were sent:\n%s", code, len(w.temporal.sent), w.err)
	}
}

// TestRefusalsComeAtTheEnd verifies that the problems follow the results, in the order of
// the resources.
func TestRefusalsComeAtTheEnd(t *testing.T) {
	w := sampleWorld(t)
	refusal := &backend.RefusedError{Kind: workflows.RefusedProtected, Text: "it is protected"}
	w.temporal.errs = map[string]error{strings.ToLower(cluster): refusal, strings.ToLower(database): errors.New("shard unavailable")}
	if code := w.run("delete", "--all", "--yes"); code != cli.ExitFailed {
		t.Errorf("exit code %d", code)
	}
	want := "kusto cluster adx  refused: it is protected\nkusto database adx/telemetry  failed: shard unavailable\n" +
		"armature: 1 of 2 resources were not reached (see above); 1 refused; the others were accepted; repeat the command for the rest\n"
	if diff := cmp.Diff(want, w.err.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
