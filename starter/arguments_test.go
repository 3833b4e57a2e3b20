package starter

import (
	"slices"
	"strings"
	"testing"

	"github.com/armature-io/armature/starter/internal/cli"
	"github.com/armature-io/armature/workflows"
	"github.com/google/go-cmp/cmp"
)

// TestSelectionErrors verifies that every command that takes targets takes them
// by name, by ID, by labels and by --all, with the same refusals.
func TestSelectionErrors(t *testing.T) {
	refusals := map[string]struct {
		reason string
		args   []string
		text   string
	}{
		"name and labels":  {reason: "one or the other", args: []string{"adx", "-l", "stack=prod"}, text: "cannot be combined"},
		"name and all":     {reason: "one or the other", args: []string{"adx", "--all"}, text: "cannot be combined"},
		"labels and all":   {reason: "they contradict each other", args: []string{"-l", "stack=prod", "--all"}, text: "cannot be combined"},
		"no pair":          {reason: "shows the form", args: []string{"-l", "stack"}, text: `"stack" is not key=value`},
		"other operators":  {reason: "only equality is built", args: []string{"-l", "stack!=prod"}, text: "is not key=value"},
		"two values":       {reason: "no resource has both", args: []string{"-l", "a=b,a=c"}, text: `a cannot be both "b" and "c"`},
		"quotes":           {reason: "it becomes part of a query", args: []string{"-l", "a=b' OR 1=1"}, text: "quotes and backslashes"},
		"a variable unset": {reason: "an empty name chooses nothing", args: []string{""}, text: "a name is empty"},
		"a broken ID":      {reason: "it addresses another resource", args: []string{group + "/../rg2"}, text: ".."},
		"trailing comma":   {reason: "a part is missing", args: []string{"-l", "a=b,"}, text: `"" is not key=value`},
		"no target":        {reason: "a message to every resource needs --all", args: nil, text: "name "},
	}
	for _, command := range []string{"get", "describe", "why", "wait", "reconcile", "pause", "resume", "delete", "import"} {
		for name, tc := range refusals {
			open := command == "get" || command == "why" || command == "wait"
			if tc.args == nil && open {
				continue
			}
			t.Run(command+" "+name, func(t *testing.T) {
				w := sampleWorld(t)
				code := w.run(append([]string{command}, tc.args...)...)
				if code != cli.ExitBadInput || !strings.Contains(w.err.String(), tc.text) {
					t.Errorf("%s: exit code %d, want %d and %q: %s", tc.reason, code, cli.ExitBadInput, tc.text, w.err)
				}
				if len(w.temporal.sent) > 0 {
					t.Errorf("%s: sent %v", tc.reason, w.temporal.sent)
				}
			})
		}
	}
}

// TestSelectionSends verifies which resources a selector chooses, and that without a
// terminal --yes is required before many are deleted or lose a guard.
func TestSelectionSends(t *testing.T) {
	both := []string{"adx", "telemetry"}
	cases := map[string]struct {
		reason string
		args   []string
		asks   bool
		answer string
		code   int
		sent   []string
		text   string
	}{
		"pause by labels":         {reason: "harmless: not asked", args: []string{"pause", "-l", "team=data"}, sent: []string{"telemetry"}},
		"resume all":              {reason: "harmless: not asked", args: []string{"resume", "--all"}, sent: both},
		"reconcile all":           {reason: "a pass writes what apply would", args: []string{"reconcile", "--all"}, sent: both},
		"one thing twice":         {reason: "a resource gets one message", args: []string{"pause", "adx", cluster}, sent: []string{"adx"}},
		"delete by labels":        {reason: "there is no terminal to ask on", args: []string{"delete", "-l", "stack=prod"}, code: cli.ExitBadInput, text: "-l stack=prod deletes 2 resources, nothing was deleted"},
		"delete all":              {reason: "there is no terminal to ask on", args: []string{"delete", "--all"}, code: cli.ExitBadInput, text: "--all deletes 2 resources, nothing was deleted"},
		"delete labels, yes":      {reason: "answered", args: []string{"delete", "-l", "stack=prod", "--yes"}, sent: both},
		"delete labels, asked":    {reason: "the question lists the resources", args: []string{"delete", "-l", "team=data"}, asks: true, answer: "y\n", sent: []string{"telemetry"}, text: database},
		"delete all, refused":     {reason: "no is the default", args: []string{"delete", "--all"}, asks: true, answer: "\n", code: cli.ExitFailed, text: "nothing was deleted"},
		"force by labels":         {reason: "guards of many", args: []string{"reconcile", "-l", "stack=prod", "--force", "--reason", "x"}, code: cli.ExitBadInput, text: "skips the guards of 2 resources"},
		"force by name":           {reason: "it was named", args: []string{"reconcile", "adx", "--force", "--reason", "x"}, sent: []string{"adx"}},
		"drop baseline, all":      {reason: "writes of many", args: []string{"reconcile", "--all", "--drop-baseline"}, code: cli.ExitBadInput, text: "overwrites what Azure keeps in 2 resources"},
		"drop baseline, all, yes": {reason: "answered", args: []string{"reconcile", "--all", "--drop-baseline", "--yes"}, sent: both},
		"none has the labels":     {reason: "a typo in the selector is reported", args: []string{"pause", "-l", "stack=prdo"}, code: cli.ExitFailed, text: "no managed resource matches"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := sampleWorld(t)
			w.interactive, w.in = tc.asks, strings.NewReader(tc.answer)
			w.temporal.answers = map[string]any{strings.ToLower(cluster): workflows.DeleteResult{Changed: true}, strings.ToLower(database): workflows.DeleteResult{Changed: true}}
			if code := w.run(tc.args...); code != tc.code || !strings.Contains(w.out.String()+w.err.String(), tc.text) {
				t.Errorf("%s: exit code %d, want %d and %q:\n%s%s", tc.reason, code, tc.code, tc.text, w.out, w.err)
			}
			var sent []string
			for _, line := range w.temporal.sent {
				sent = append(sent, line[strings.LastIndex(line, " ")+1:])
			}
			slices.Sort(sent)
			if diff := cmp.Diff(tc.sent, sent); diff != "" {
				t.Errorf("%s: sent (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}
