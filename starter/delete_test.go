package starter

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/starter/internal/backend"
	"github.com/armature-io/armature/starter/internal/cli"
	"github.com/armature-io/armature/starter/internal/wait"
	"github.com/armature-io/armature/workflows"
	"github.com/google/go-cmp/cmp"
)

func TestDelete(t *testing.T) {
	clusterWorkflow, databaseWorkflow := strings.ToLower(cluster), strings.ToLower(database)
	deleting := map[string]any{
		clusterWorkflow:  workflows.DeleteResult{Changed: true},
		databaseWorkflow: workflows.DeleteResult{Changed: true},
	}
	cases := map[string]struct {
		reason        string
		args          []string
		asks          bool
		answer        string
		errs          map[string]error
		code          int
		sent, started []string
		text          string
	}{
		"by name": {
			reason: "a message to the running workflow, no start",
			args:   []string{"delete", "adx/telemetry"}, sent: []string{"delete telemetry"}, text: "kusto database adx/telemetry  deletion requested",
		},
		"by manifest": {
			reason: "dependents first, and a workflow for what is not managed",
			args:   []string{"delete", "-f", "MANIFESTS"}, started: []string{"delete telemetry", "delete adx"}, text: "deletion requested",
		},
		"a terminal asks": {
			reason: "no is the default",
			args:   []string{"delete", "adx"}, asks: true, answer: "\n", code: cli.ExitFailed, text: "Delete 1 resource in Azure?",
		},
		"the answer is yes": {
			reason: "y continues",
			args:   []string{"delete", "adx"}, asks: true, answer: "y\n", sent: []string{"delete adx"},
		},
		"--yes": {
			reason: "the flag replaces the question",
			args:   []string{"delete", "adx", "--yes"}, asks: true, sent: []string{"delete adx"},
		},
		"ended meanwhile": {
			reason: "the workflow ended after the list",
			args:   []string{"delete", "adx"}, errs: map[string]error{clusterWorkflow: backend.ErrNotManaged}, code: cli.ExitFailed,
			sent: []string{"delete adx"}, text: "no longer managed",
		},
		"names and manifests": {
			reason: "one or the other",
			args:   []string{"delete", "adx", "-f", "MANIFESTS"}, code: cli.ExitBadInput, text: "cannot be combined",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := sampleWorld(t)
			w.temporal.answers, w.temporal.errs = deleting, tc.errs
			w.interactive, w.in = tc.asks, strings.NewReader(tc.answer)
			folder := adx(t)
			for i, arg := range tc.args {
				tc.args[i] = strings.ReplaceAll(arg, "MANIFESTS", folder)
			}
			if code := w.run(tc.args...); code != tc.code {
				t.Errorf("%s: exit code %d, want %d: %s", tc.reason, code, tc.code, w.err)
			}
			if diff := cmp.Diff(tc.sent, w.temporal.sent); diff != "" {
				t.Errorf("%s: sent (-want +got):\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.started, w.temporal.started); diff != "" {
				t.Errorf("%s: started (-want +got):\n%s", tc.reason, diff)
			}
			if !strings.Contains(w.out.String()+w.err.String(), tc.text) {
				t.Errorf("%s: output lacks %q:\n%s%s", tc.reason, tc.text, w.out, w.err)
			}
		})
	}
}

func TestDeleteDetached(t *testing.T) {
	w := sampleWorld(t)
	w.temporal.answers = map[string]any{strings.ToLower(cluster): workflows.DeleteResult{Changed: true, Detached: true}}
	if code := w.run("delete", "adx"); code != cli.ExitOK || !strings.Contains(w.out.String(), "it is kept in Azure") {
		t.Errorf("code %d; the output must not suggest that the resource is deleted:\n%s%s", code, w.out, w.err)
	}
}

func TestDeleteWait(t *testing.T) {
	w := newWorld()
	w.temporal.answers = map[string]any{strings.ToLower(cluster): workflows.DeleteResult{Changed: true}}
	status := readyStatus()
	status.Deleting, status.Phase = true, workflows.PhaseDeleting
	w.temporal.manage(t, cluster, status)
	polls := 0
	after := w.after
	w.after = func(d time.Duration) <-chan time.Time {
		if d == wait.PollInterval {
			if polls++; polls == 2 {
				w.temporal.end("Completed", workflows.Status{ID: mustID(t, cluster), Deleted: true, Phase: workflows.PhaseDeleting})
			}
		}
		return after(d)
	}
	if code := w.run("delete", "adx", "--wait"); code != cli.ExitOK {
		t.Fatalf("exit code %d: %s", code, w.err)
	}
	if !strings.Contains(w.out.String(), "1 resource deleted after 2s") {
		t.Errorf("it did not wait for the end of the workflow:\n%s", w.out)
	}
}

func TestDeleteWaitDetached(t *testing.T) {
	deleted := workflows.Status{Deleted: true, Condition: resource.Condition{Reason: resource.ReasonDeleted}}
	detached := workflows.Status{Deleted: true, Condition: resource.Condition{Reason: resource.ReasonDetached}}
	absent, deletedLater := deleted, deleted
	absent.Decisions = []workflows.Decision{{Step: workflows.DeleteUpdate, Message: "by ana@laptop"}}
	deletedLater.Decisions = append(slices.Clone(absent.Decisions), workflows.Decision{Step: "DeleteResource", Message: "ARM accepted the DELETE with status 202"})
	cases := map[string]struct {
		reason   string
		database workflows.Status
		want     string
	}{
		"absent": {
			reason: "the workflow found nothing to delete", database: absent,
			want: "1 resource absent (no DELETE was sent), 1 resource no longer managed (still in Azure) after",
		},
		"absent after a DELETE": {
			reason: "the DELETE of an earlier pass deleted it", database: deletedLater,
			want: "1 resource deleted, 1 resource no longer managed (still in Azure) after",
		},
		"alone":    {reason: "nothing was deleted", database: detached, want: "2 resources no longer managed (still in Azure) after"},
		"together": {reason: "each is counted as what it is", database: deleted, want: "1 resource deleted, 1 resource no longer managed (still in Azure) after"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld()
			w.temporal.manage(t, cluster, readyStatus())
			w.temporal.end("Completed", detached)
			w.temporal.manage(t, database, readyStatus())
			final := tc.database
			w.temporal.records[1].Running, w.temporal.records[1].Ended, w.temporal.records[1].Final = false, "Completed", &final
			if code := w.run("delete", "-f", adx(t), "--wait"); code != cli.ExitOK {
				t.Fatalf("exit code %d: %s", code, w.err)
			}
			if !strings.Contains(w.out.String(), tc.want) {
				t.Errorf("%s: output lacks %q:\n%s", tc.reason, tc.want, w.out)
			}
		})
	}
}

func TestPauseAndResume(t *testing.T) {
	cases := map[string]struct {
		reason  string
		args    []string
		changed bool
		sent    string
		text    string
	}{
		"pause":  {reason: "a pause is confirmed", args: []string{"pause", "adx", "--reason", "INC-42"}, changed: true, sent: "pause adx", text: "kusto cluster adx  paused"},
		"paused": {reason: "a second pause is no error", args: []string{"pause", "adx"}, sent: "pause adx", text: "already paused"},
		"resume": {reason: "a resume is confirmed", args: []string{"resume", "adx"}, changed: true, sent: "resume adx", text: "kusto cluster adx  resumed"},
		"active": {reason: "a resume without a pause is no error", args: []string{"resume", "adx"}, sent: "resume adx", text: "was not paused"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := sampleWorld(t)
			w.temporal.answers = map[string]any{strings.ToLower(cluster): workflows.PauseResult{Changed: tc.changed}}
			if code := w.run(tc.args...); code != cli.ExitOK {
				t.Errorf("%s: exit code %d: %s", tc.reason, code, w.err)
			}
			if diff := cmp.Diff([]string{tc.sent}, w.temporal.sent); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
			if !strings.Contains(w.out.String(), tc.text) {
				t.Errorf("%s: output lacks %q:\n%s", tc.reason, tc.text, w.out)
			}
		})
	}
}
