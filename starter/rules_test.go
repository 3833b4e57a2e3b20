package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/armature-io/armature/starter/internal/cli"
)

func TestRules(t *testing.T) {
	const rule = "rules:\n  - name: r\n    type: Microsoft.Kusto/clusters\n    when: observed.a == 1\n    block: wait for ${name}\n"
	const passing = "tests:\n  - {name: it waits, rule: r, observed: {a: 1}, want: block, message: wait for cluster1}\n"
	const failing = "tests:\n  - {name: it waits, rule: r, observed: {a: 2}, want: block}\n"
	cases := map[string]struct {
		reason         string
		file, command  string
		code           int
		stdout, stderr string
	}{
		"good":          {"a file that a worker takes", rule, "check", cli.ExitOK, "r.yaml: 1 rule, no issues", ""},
		"type error":    {"line and column", strings.Replace(rule, "observed.a == 1", "observed.a + 1", 1), "check", cli.ExitBadInput, "", "r.yaml:4:11: when: the expression has type"},
		"unknown name":  {"line and column", strings.Replace(rule, "observed.a", "obsrved.a", 1), "check", cli.ExitBadInput, "", "r.yaml:4:11: when: undeclared reference to 'obsrved'"},
		"unknown field": {"a suggestion", strings.Replace(rule, "block:", "blok:", 1), "check", cli.ExitBadInput, "", `unknown field "blok" (did you mean block?)`},
		"duplicate":     {"both places", rule + rule[len("rules:\n"):], "check", cli.ExitBadInput, "", "is defined twice, first in"},
		"unknown type":  {"a warning refuses nothing", strings.Replace(rule, "clusters", "clustrs", 1), "check", cli.ExitOK, "no issues", "r.yaml:3:11: warning"},
		"passes":        {"cases beside the rules", rule + passing, "test", cli.ExitOK, "1 test passed", ""},
		"fails":         {"a wrong case is exit code 1", rule + failing, "test", cli.ExitFailed, "FAIL  it waits (", "1 test of 1 failed"},
		"no tests":      {"nothing tested is no success", rule, "test", cli.ExitFailed, "", "there are no tests"},
		"invalid":       {"tests of a invalid file", strings.Replace(rule, "when", "wen", 1), "test", cli.ExitBadInput, "", "would not load"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld()
			path := filepath.Join(manifests(t, map[string]string{"r.yaml": c.file}), "r.yaml")
			if code := w.run("rules", c.command, path); code != c.code {
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
