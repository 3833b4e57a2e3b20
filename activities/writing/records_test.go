package writing

import (
	"testing"
	"time"
)

func minute(n int) time.Time { return time.Date(2026, 11, 20, 10, n, 0, 0, time.UTC) }

func TestStatements(t *testing.T) {
	cases := map[string]struct {
		reason   string
		recorded Statement
		own      Statement
		newer    bool
	}{
		"SameApply":     {reason: "the PUT of a pass is repeated", recorded: statementOf(3, minute(3), false), own: statementOf(3, minute(3), false)},
		"LaterApply":    {reason: "a later apply was written", recorded: statementOf(4, minute(4), false), own: statementOf(3, minute(3), false), newer: true},
		"NewerOwn":      {reason: "this is the later apply", recorded: statementOf(3, minute(3), false), own: statementOf(4, minute(4), false)},
		"OtherWorkflow": {reason: "another workflow counts from 1: the time decides", recorded: statementOf(7, minute(3), false), own: statementOf(1, minute(5), false)},
		"OldWorkflow":   {reason: "and the older one stays older with a higher generation", recorded: statementOf(1, minute(5), false), own: statementOf(7, minute(3), false), newer: true},
		"Milliseconds":  {reason: "a record keeps milliseconds", recorded: statementOf(3, minute(3), false), own: statementOf(3, minute(3).Add(400*time.Microsecond), false)},
		"GenerationsUp": {reason: "at the same time the generations decide", recorded: statementOf(4, minute(3), false), own: statementOf(3, minute(3), false), newer: true},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if got := c.recorded.newer(c.own); got != c.newer {
				t.Errorf("newer %t, want %t: %s", got, c.newer, c.reason)
			}
		})
	}
}
