package starter

import (
	"context"
	"strings"
	"testing"

	"github.com/armature-io/armature/starter/internal/backend"
	"github.com/armature-io/armature/starter/internal/cli"
	"github.com/armature-io/armature/workflows"
	"github.com/google/go-cmp/cmp"
)

func TestApplyOutput(t *testing.T) {
	clusterWorkflow, databaseWorkflow := strings.ToLower(cluster), strings.ToLower(database)
	cases := map[string]struct {
		reason  string
		answers map[string]any
		errs    map[string]error
		code    int
		lines   []string
		stderr  string
	}{
		"new": {
			reason: "generation 1 is a creation",
			answers: map[string]any{
				clusterWorkflow:  workflows.ApplyResult{Generation: 1, Changed: true},
				databaseWorkflow: workflows.ApplyResult{Generation: 1, Changed: true},
			},
			lines: []string{"kusto cluster adx  now managed (generation 1)", "kusto database adx/telemetry  now managed (generation 1)"},
		},
		"changed and not": {
			reason: "the vocabulary of kubectl",
			answers: map[string]any{
				clusterWorkflow:  workflows.ApplyResult{Generation: 3, Changed: true},
				databaseWorkflow: workflows.ApplyResult{Generation: 1},
			},
			lines: []string{"kusto cluster adx  configured (generation 3)", "kusto database adx/telemetry  unchanged (generation 1)"},
		},
		"paused": {
			reason: "the result states that nothing starts during a pause",
			answers: map[string]any{
				clusterWorkflow:  workflows.ApplyResult{Generation: 2, Changed: true, Paused: true},
				databaseWorkflow: workflows.ApplyResult{Generation: 1},
			},
			lines: []string{
				"kusto cluster adx  configured (generation 2); the resource is paused: nothing starts until `armature resume`",
				"kusto database adx/telemetry  unchanged (generation 1)",
			},
		},
		"refused": {
			reason:  "a refusal shows the validator's message and stops nothing else",
			answers: map[string]any{databaseWorkflow: workflows.ApplyResult{Generation: 1, Changed: true}},
			errs:    map[string]error{clusterWorkflow: &backend.RefusedError{Kind: workflows.RefusedDeleting, Text: "adx is being deleted"}},
			code:    cli.ExitFailed, lines: []string{"kusto database adx/telemetry  now managed (generation 1)"},
			stderr: "kusto cluster adx  refused: adx is being deleted",
		},
		"no worker": {
			reason: "the message names the queue and the next action",
			errs: map[string]error{
				clusterWorkflow:  &backend.NoWorkerError{TaskQueue: "armature"},
				databaseWorkflow: &backend.NoWorkerError{TaskQueue: "armature"},
			},
			code: cli.ExitUnreachable, stderr: "no worker responds on task queue armature; start a worker",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld()
			w.temporal.answers, w.temporal.errs = tc.answers, tc.errs
			if code := w.run("apply", "-f", adx(t)); code != tc.code {
				t.Errorf("%s: exit code %d, want %d: %s", tc.reason, code, tc.code, w.err)
			}
			got := sortedLines(w.out.String())
			if diff := cmp.Diff(tc.lines, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
			if !strings.Contains(w.err.String(), tc.stderr) {
				t.Errorf("%s: stderr lacks %q:\n%s", tc.reason, tc.stderr, w.err)
			}
		})
	}
}

// sortedLines returns the lines of a text, sorted: results arrive in any order.
func sortedLines(text string) []string {
	if text == "" {
		return nil
	}
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if len(lines) == 2 && lines[0] > lines[1] {
		lines[0], lines[1] = lines[1], lines[0]
	}
	return lines
}

// TestApplyRetries verifies that single timeouts among many results do not end an apply:
// the worker is busy, and every message may be repeated.
func TestApplyRetries(t *testing.T) {
	for name, tc := range map[string]struct {
		reason string
		// silent is how often message 1 times out; busy means that a worker polls
		// each time; first means that it is sent first.
		silent      int
		busy, first bool
		code, tries int
	}{
		"busy":               {reason: "the second try succeeds", silent: 1, code: cli.ExitOK, tries: 3},
		"missing":            {reason: "the tries are bounded", silent: 99, code: cli.ExitUnreachable, tries: 1 + backend.MaxAttempts},
		"no worker, first":   {reason: "without a worker one try is enough", silent: 99, first: true, code: cli.ExitUnreachable, tries: 1},
		"overloaded":         {reason: "a worker polls and has handled no message yet", silent: 2, busy: true, first: true, code: cli.ExitOK, tries: 4},
		"overloaded forever": {reason: "the tries are bounded", silent: 99, busy: true, first: true, code: cli.ExitUnreachable, tries: backend.MaxAttempts},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld()
			tries, silent := 0, 0
			records := []backend.Record{backend.RecordOf(mustID(t, cluster)), backend.RecordOf(mustID(t, database))}
			waves := [][]int{{0}, {1}}
			if tc.first {
				waves = [][]int{{1}, {0}}
			}
			err := w.sendWaves(t.Context(), records, waves, 1, func(_ context.Context, i int) (string, error) {
				tries++
				if i == 1 && silent < tc.silent {
					silent++
					return "", &backend.NoWorkerError{TaskQueue: "armature", Busy: tc.busy, Waited: backend.DefaultWorkerTimeout}
				}
				return "created", nil
			})
			if got := cli.ExitCode(err); got != tc.code || tries != tc.tries {
				t.Errorf("%s: exit code %d after %d messages, want %d after %d", tc.reason, got, tries, tc.code, tc.tries)
			}
			if tc.busy && err != nil && !strings.Contains(err.Error(), "--worker-timeout") {
				t.Errorf("%s: error %v", tc.reason, err)
			}
		})
	}
}

// TestApplyRetriesWhileOthersComplete verifies that one message may time out more
// often than its tries allow, as long as others complete.
func TestApplyRetriesWhileOthersComplete(t *testing.T) {
	const others, silent = 8, 2 * backend.MaxAttempts
	records := make([]backend.Record, 1+others)
	wave := make([]int, len(records))
	for i := range records {
		records[i], wave[i] = backend.RecordOf(mustID(t, cluster)), i
	}
	begun, proceed := make(chan struct{}, others), make(chan struct{})
	timeouts := 0
	// Two at a time: the next of the others begins when the last one was answered.
	err := newWorld().sendWaves(t.Context(), records, [][]int{wave}, 2, func(ctx context.Context, i int) (string, error) {
		switch {
		case i > 0:
			begun <- struct{}{}
			select {
			case <-proceed:
			case <-ctx.Done():
			}
			return "created", nil
		case timeouts == 0:
			<-begun
		case timeouts == silent || timeouts == silent+1:
			timeouts++ // no message completes meanwhile: the first tries of a new count
			return "", &backend.NoWorkerError{TaskQueue: "armature"}
		case timeouts == silent+2:
			close(proceed)
			return "created", nil
		}
		timeouts++
		proceed <- struct{}{}
		<-begun
		return "", &backend.NoWorkerError{TaskQueue: "armature"}
	})
	if err != nil || timeouts != silent+2 {
		t.Errorf("%v after %d timeouts", err, timeouts)
	}
}

func TestApplyInput(t *testing.T) {
	w := newWorld()
	w.in = strings.NewReader("type: Microsoft.Resources/resourceGroups@2021-04-01\nname: rg1\nbody: {location: westus2}\n")
	w.temporal.answers = map[string]any{strings.ToLower(group): workflows.ApplyResult{Generation: 1, Changed: true}}
	code := w.run("apply", "-f", "-", "--once", "--subscription", "11111111-2222-3333-4444-555555555555")
	if code != cli.ExitOK {
		t.Fatalf("exit code %d: %s", code, w.err)
	}
	input, ok := w.temporal.inputs[0].(workflows.ApplyInput)
	if !ok || !input.Once || input.By != "ana@laptop" || !input.Desired.ID.Equal(mustID(t, group)) {
		t.Errorf("input is %+v: --once, the user, and the flags' subscription must reach the workflow", w.temporal.inputs[0])
	}
}

func TestApplyInterrupted(t *testing.T) {
	w := newWorld()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if code := run(ctx, w.app, []string{"apply", "-f", adx(t)}); code != cli.ExitFailed || !strings.Contains(w.err.String(), "continue") {
		t.Errorf("code %d: %s; the message after Ctrl-C must state that what was sent continues", code, w.err)
	}
}
