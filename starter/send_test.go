package starter

import (
	"fmt"
	"strings"
	"testing"

	"github.com/armature-io/armature/starter/internal/cli"
	"github.com/armature-io/armature/workflows"
)

// TestSendOutput verifies what the commands write that send something, in the order in
// which a user might type them.
func TestSendOutput(t *testing.T) {
	clusterWorkflow, databaseWorkflow := strings.ToLower(cluster), strings.ToLower(database)
	changed := func(value any) map[string]any { return map[string]any{clusterWorkflow: value, databaseWorkflow: value} }
	steps := []struct {
		answers map[string]any
		args    []string
		// exit is the exit code.
		exit int
	}{
		{map[string]any{clusterWorkflow: workflows.ApplyResult{Generation: 1, Changed: true}, databaseWorkflow: workflows.ApplyResult{Generation: 2, Changed: true}}, []string{"apply", "-f", "DIR"}, cli.ExitOK},
		{changed(workflows.ApplyResult{Generation: 2}), []string{"apply", "-f", "DIR"}, cli.ExitOK},
		{changed(workflows.ApplyResult{Generation: 3, Changed: true, Paused: true}), []string{"apply", "-f", "DIR"}, cli.ExitOK},
		{changed(workflows.ReconcileResult{Pass: 5}), []string{"reconcile", "-l", "stack=prod"}, cli.ExitOK},
		{changed(workflows.ReconcileResult{Pass: 5, Paused: true}), []string{"reconcile", "adx", "--force", "--reason", "INC-42"}, cli.ExitOK},
		{changed(workflows.PauseResult{Changed: true}), []string{"pause", "--all", "--reason", "INC-42"}, cli.ExitOK},
		{changed(workflows.PauseResult{}), []string{"pause", "adx"}, cli.ExitOK},
		{changed(workflows.PauseResult{Changed: true}), []string{"resume", "-l", "team=data"}, cli.ExitOK},
		{changed(workflows.PauseResult{}), []string{"resume", "adx/telemetry"}, cli.ExitOK},
		{changed(workflows.DeleteResult{Changed: true}), []string{"delete", "-f", "DIR"}, cli.ExitOK},
		{changed(workflows.DeleteResult{}), []string{"delete", "adx"}, cli.ExitOK},
		{changed(workflows.DeleteResult{Changed: true, Detached: true}), []string{"delete", "--all", "--yes"}, cli.ExitOK},
		{nil, []string{"delete", "--all"}, cli.ExitBadInput},
		{nil, []string{"pause", "unknown"}, cli.ExitFailed},
		{nil, []string{"pause", group}, cli.ExitFailed},
		{nil, []string{"describe", "-l", "stack=none"}, cli.ExitFailed},
	}
	var all strings.Builder
	for _, step := range steps {
		w := sampleWorld(t)
		w.temporal.answers = step.answers
		folder := adx(t)
		args := make([]string, len(step.args))
		for i, arg := range step.args {
			args[i] = strings.ReplaceAll(arg, "DIR", folder)
		}
		if code := w.run(args...); code != step.exit {
			t.Errorf("%q: exit code %d, want %d: %s", step.args, code, step.exit, w.err)
		}
		out := strings.Join(sortedLines(w.out.String()), "\n")
		if out != "" {
			out += "\n"
		}
		fmt.Fprintf(&all, "$ armature %s\n%s%s\n", strings.Join(step.args, " "), out, w.err)
	}
	golden(t, "send.txt", all.String())
}
