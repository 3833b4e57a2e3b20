package starter

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/extensions/rules"
	"github.com/armature-io/armature/internal/extensionhost"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/starter/internal/cli"
)

// TryChecks returns the prepared trial.
func (f *fakeTemporal) TryChecks(_ context.Context, workflowID string, in activities.TryChecksInput) (activities.TryChecksResult, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.runs, f.trials = append(f.runs, workflowID), append(f.trials, in)
	result := f.trial
	result.ID = in.ID
	return result, nil
}

const triedRule = `rules:
  - name: quota
    type: Microsoft.Kusto/clusters
    when: number(observed.properties.used, 0) >= 4.0
    block: full
    reason: Full
`

func TestRulesTry(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	file, recorded := filepath.Join(folder, "quota.yaml"), filepath.Join(folder, "tests.yaml")
	if err := os.WriteFile(file, []byte(triedRule), 0o600); err != nil {
		t.Fatal(err)
	}
	trial := activities.TryChecksResult{
		APIVersion: "2023-08-15", Observed: map[string]any{"properties": map[string]any{"used": 4.0}},
		Trials: []activities.CheckTrial{{Trial: rules.Trial{Rule: "quota", At: "pre", Result: "block", Trial: extensionhost.Trial{
			Link: "rule quota (quota.yaml:2)", Point: "PreReconcileCheck", Values: []string{"number(observed.properties.used, 0) is 4"},
			Verdict: resource.Verdict{Action: resource.ActionBlock, Reason: "Full", Message: "full"},
		}}}},
	}
	w := newWorld()
	w.temporal.trial = trial
	code := w.run("rules", "try", cluster+"@2023-08-15", "-f", file, "--record", recorded)
	out, errText := w.out.String(), w.err.String()
	if code != cli.ExitOK || !strings.Contains(out, "blocks (Full): full\n    number(observed.properties.used, 0) is 4") || !strings.Contains(errText, "wrote 1 test to ") {
		t.Errorf("exit %d\n%s%s", code, out, errText)
	}
	if in := w.temporal.trials[0]; in.APIVersion != "2023-08-15" || len(in.Rules) != 1 || string(in.Rules[0].Text) != triedRule {
		t.Errorf("sent %+v", in)
	}
	outcomes, _, err := rules.Test(t.Context(), folder)
	if err != nil || len(outcomes) != 1 || outcomes[0].Failure != "" {
		t.Errorf("the recorded test: %+v, %v", outcomes, err)
	}
	failed := trial
	failed.Trials[0].Verdict.Action = resource.ActionError
	cases := map[string]struct {
		args []string
		code int
		want string
	}{
		"a file that exists":   {[]string{cluster, "-f", file, "--record", recorded}, cli.ExitBadInput, "name a new file"},
		"a check that fails":   {[]string{cluster, "-f", file}, cli.ExitFailed, "1 check of 1 failed"},
		"no such rules":        {[]string{cluster, "-f", filepath.Join(folder, "none")}, cli.ExitBadInput, "check the path"},
		"tests without rules":  {[]string{cluster, "--record", "x"}, cli.ExitBadInput, "name their files with -f"},
		"no such resource":     {[]string{"nothing"}, cli.ExitFailed, "nothing"},
		"two of a kind of arg": {[]string{cluster, cluster}, cli.ExitBadInput, "arg"},
	}
	for name, c := range cases {
		w := newWorld()
		w.temporal.trial = failed
		code := w.run(append([]string{"rules", "try"}, c.args...)...)
		out, errText := w.out.String(), w.err.String()
		if code != c.code || !strings.Contains(out+errText, c.want) {
			t.Errorf("%s: exit %d, want %d with %q\n%s%s", name, code, c.code, c.want, out, errText)
		}
	}
}
