package starter

import (
	"slices"
	"strings"
	"testing"

	"github.com/armature-io/armature/starter/internal/backend"
	"github.com/armature-io/armature/starter/internal/cli"
	"github.com/armature-io/armature/workflows"
	"github.com/google/go-cmp/cmp"
)

func TestUndo(t *testing.T) {
	clusterWorkflow, databaseWorkflow := strings.ToLower(cluster), strings.ToLower(database)
	refused := func(kind, text string) map[string]error {
		return map[string]error{clusterWorkflow: &backend.RefusedError{Kind: kind, Text: text}}
	}
	cases := map[string]struct {
		reason string
		args   []string
		asks   bool
		answer any
		errs   map[string]error
		code   int
		sent   []string
		text   string
	}{
		"abort": {args: []string{"delete", "--abort", "adx"}, sent: []string{"abort adx"}, text: "adx  deletion taken back\n"},
		"abort of a cascade": {
			reason: "the owner would request it again", args: []string{"delete", "--abort", "adx/telemetry"}, sent: []string{"abort telemetry"},
			answer: workflows.AbortResult{DeletedWith: mustID(t, cluster)}, text: "run `armature delete --abort adx` too",
		},
		"abort by manifests": {
			reason: "nothing is started", args: []string{"delete", "--abort", "-f", "MANIFESTS"}, sent: []string{"abort adx", "abort telemetry"},
		},
		"abort without a question": {reason: "it keeps what is there", args: []string{"delete", "--abort", "--all"}, asks: true, sent: []string{"abort adx", "abort telemetry"}},
		"abort of no deletion": {
			reason: "repeating it is no error", args: []string{"delete", "--abort", "adx"}, errs: refused(workflows.RefusedNotDeleted, "no"), sent: []string{"abort adx"},
			text: "is not being deleted",
		},
		"abort too late": {
			reason: "the message says why", args: []string{"delete", "--abort", "adx"}, errs: refused(workflows.RefusedDeleting, "Azure may have accepted the DELETE"),
			sent: []string{"abort adx"}, code: cli.ExitFailed, text: "refused: Azure may have accepted the DELETE",
		},
		"abort of what is gone": {
			reason: "the others are taken back", args: []string{"delete", "--abort", "-f", "MANIFESTS"}, errs: map[string]error{clusterWorkflow: backend.ErrNotManaged},
			sent: []string{"abort adx", "abort telemetry"}, code: cli.ExitFailed, text: "it is not managed",
		},
		"abort and cascade": {
			reason: "the end of a deletion deletes nothing", args: []string{"delete", "--abort", "--cascade", "adx"}, code: cli.ExitBadInput, text: "omit --cascade",
		},
		"forget": {args: []string{"forget", "adx", "--reason", "INC-1"}, sent: []string{"forget adx"}, text: "no longer managed; it is left as it is in Azure"},
		"forget while busy": {
			reason: "one request is still in progress", args: []string{"forget", "adx"}, answer: workflows.ForgetResult{Busy: true}, sent: []string{"forget adx"},
			text: "once the request in progress has ended",
		},
		"forget all": {reason: "a query may choose too much", args: []string{"forget", "--all"}, code: cli.ExitBadInput, text: "add --yes"},
		"forget all, agreed": {
			reason: "the flag is the consent", args: []string{"forget", "--all", "--yes"}, sent: []string{"forget adx", "forget telemetry"},
		},
		"forget nothing": {reason: "without names it needs a selection", args: []string{"forget"}, code: cli.ExitBadInput, text: "name the resources"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := sampleWorld(t)
			w.temporal.errs, w.interactive = tc.errs, tc.asks
			if tc.answer != nil {
				w.temporal.answers = map[string]any{clusterWorkflow: tc.answer, databaseWorkflow: tc.answer}
			}
			folder := adx(t)
			for i, arg := range tc.args {
				tc.args[i] = strings.ReplaceAll(arg, "MANIFESTS", folder)
			}
			if code := w.run(tc.args...); code != tc.code {
				t.Errorf("%s: exit code %d, want %d: %s", tc.reason, code, tc.code, w.err)
			}
			slices.Sort(w.temporal.sent) // they are sent at the same time
			if diff := cmp.Diff(tc.sent, w.temporal.sent); diff != "" || len(w.temporal.started) > 0 {
				t.Errorf("%s: started %v, sent (-want +got):\n%s", tc.reason, w.temporal.started, diff)
			}
			if !strings.Contains(w.out.String()+w.err.String(), tc.text) {
				t.Errorf("%s: output lacks %q:\n%s%s", tc.reason, tc.text, w.out, w.err)
			}
		})
	}
}

// TestApplyTakesADeletionBack checks that an apply reports that it ended a deletion, and
// that a delete by manifest brings its api-version.
func TestApplyTakesADeletionBack(t *testing.T) {
	w := sampleWorld(t)
	w.temporal.answers = map[string]any{
		strings.ToLower(cluster):  workflows.ApplyResult{Generation: 1, TakenBack: true},
		strings.ToLower(database): workflows.ApplyResult{Generation: 1},
	}
	if code := w.run("apply", "-f", adx(t)); code != cli.ExitOK {
		t.Fatalf("exit code %d: %s", code, w.err)
	}
	if got := strings.Count(w.out.String(), "unchanged (generation 1); deletion taken back"); got != 1 {
		t.Errorf("%d resources report that their deletion was taken back, want one:\n%s", got, w.out)
	}
	w.temporal.answers, w.temporal.inputs = nil, nil
	w.run("delete", "-f", adx(t))
	for _, input := range w.temporal.inputs {
		if sent, ok := input.(workflows.DeleteInput); !ok || sent.APIVersion == "" || sent.APIVersion != sent.Desired.APIVersion {
			t.Errorf("sent %+v, want the api-version of the manifest", input)
		}
	}
	if len(w.temporal.inputs) != 2 {
		t.Errorf("%d messages, want two", len(w.temporal.inputs))
	}
}
