package activities

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

// Doctor shows rules that could not be reloaded: the worker runs on, and would not start.
func TestDiagnoseRules(t *testing.T) {
	cases := map[string]struct {
		reason string
		state  *RulesState
		want   FindingState
		text   string
	}{
		"none":    {reason: "a worker without rules has no finding"},
		"valid":   {"the number and the place", &RulesState{Path: "/etc/rules", Count: 3}, FindingOK, "rules of /etc/rules in force: 3"},
		"invalid": {"the issue, and what a restart would do", &RulesState{Path: "/etc/rules", Count: 3, Err: errors.New("a.yaml:4:7: when: Syntax error")}, FindingWarn, "the 3 rules from before stay in force, and a worker that starts now would refuse them: a.yaml:4:7: when: Syntax error"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, func(s *setup) {
				if c.state != nil {
					s.options.Rules = func() RulesState { return *c.state }
				}
			})
			result, err := run(w, w.acts.Diagnose, DiagnoseInput{})
			must(t, err)
			i := slices.IndexFunc(result.Findings, func(f Finding) bool { return f.Check == "rules" })
			if (i >= 0) != (c.state != nil) {
				t.Fatalf("%s: got %+v", c.reason, result.Findings)
			}
			if i >= 0 && (result.Findings[i].State != c.want || !strings.Contains(result.Findings[i].Message, c.text)) {
				t.Errorf("%s: got %+v", c.reason, result.Findings[i])
			}
		})
	}
}
