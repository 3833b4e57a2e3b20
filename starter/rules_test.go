package starter

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/armature-io/armature/starter/internal/cli"
)

func TestRules(t *testing.T) {
	const rule = "rules:\n  - name: r\n    type: Microsoft.Kusto/clusters\n    when: observed.tags.a == 1\n    block: wait for ${name}\n"
	const passing = "tests:\n  - {name: it waits, rule: r, observed: {tags: {a: 1}}, want: block, message: wait for cluster1}\n"
	const failing = "tests:\n  - {name: it waits, rule: r, observed: {tags: {a: 2}}, want: block}\n"
	cases := map[string]struct {
		reason         string
		file, command  string
		code           int
		stdout, stderr string
	}{
		"good":          {"a file that a worker takes", rule + passing, "check", cli.ExitOK, "r.yaml: 1 rule, no issues", ""},
		"type error":    {"line and column", strings.Replace(rule, "observed.tags.a == 1", "observed.tags.a + 1", 1), "check", cli.ExitBadInput, "", "r.yaml:4:11: when: the expression has type"},
		"unknown name":  {"line and column", strings.Replace(rule, "observed.tags", "obsrved.tags", 1), "check", cli.ExitBadInput, "", "r.yaml:4:11: when: undeclared reference to 'obsrved'"},
		"unknown field": {"a suggestion", strings.Replace(rule, "block:", "blok:", 1), "check", cli.ExitBadInput, "", `unknown field "blok" (did you mean block?)`},
		"duplicate":     {"both places", rule + rule[len("rules:\n"):], "check", cli.ExitBadInput, "", "is defined twice, first in"},
		"unknown type":  {"a warning refuses nothing", strings.Replace(rule, "clusters", "clustrs", 1) + passing, "check", cli.ExitOK, "1 rule, 1 warning", "r.yaml:3:11: warning"},
		"strict":        {"a warning is an error", rule, "check --strict", cli.ExitBadInput, "1 rule, 1 warning", "rule r has no test"},
		"strict, good":  {"without one it passes", rule + passing, "check --strict", cli.ExitOK, "no issues", ""},
		"values":        {"what the condition saw", rule + failing, "test", cli.ExitFailed, "      observed.tags.a is 2", ""},
		"passes":        {"cases beside the rules", rule + passing, "test", cli.ExitOK, "1 test passed", ""},
		"fails":         {"a wrong case is exit code 1", rule + failing, "test", cli.ExitFailed, "FAIL  it waits (", "1 test of 1 failed"},
		"no tests":      {"nothing tested is no success", rule, "test", cli.ExitFailed, "", "there are no tests"},
		"invalid":       {"tests of a invalid file", strings.Replace(rule, "when", "wen", 1), "test", cli.ExitBadInput, "", "would not load"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld()
			path := filepath.Join(manifests(t, map[string]string{"r.yaml": c.file}), "r.yaml")
			if code := w.run(append(append([]string{"rules"}, strings.Fields(c.command)...), path)...); code != c.code {
				t.Errorf("%s: exit code %d, want %d", c.reason, code, c.code)
			}
			if !strings.Contains(w.out.String(), c.stdout) || !strings.Contains(w.err.String(), c.stderr) {
				t.Errorf("%s:\nstdout %s\nstderr %s", c.reason, w.out, w.err)
			}
		})
	}
	w := newWorld()
	if code := w.run("rules", "check", "nowhere.yaml"); code != cli.ExitBadInput || !strings.Contains(w.err.String(), "nowhere.yaml") {
		t.Errorf("a missing file: %d %s", code, w.err)
	}
}
