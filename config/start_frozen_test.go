package config_test

import (
	"strings"
	"testing"

	"github.com/armature-io/armature/config"
)

// TestObserve checks the forms of what is observed.
func TestObserve(t *testing.T) {
	cases := map[string]struct {
		reason, file, variable string
		args                   []string
		want                   config.Observe
		invalid                bool
	}{
		"None":       {reason: "off by default"},
		"BareFlag":   {reason: "--observe alone is everything", args: []string{"--observe"}, want: config.ObserveAll},
		"TruthValue": {reason: "YAML reads true as a truth value", file: "observe: true\n", want: config.ObserveAll},
		"False":      {reason: "and false", file: "observe: false\n"},
		"Selector":   {reason: "a label", file: "observe: stack=crowd\n", want: "stack=crowd"},
		"Several":    {reason: "a selector has commas, so semicolons separate them", variable: "stack=crowd,env=prod; stack=data", want: "stack=crowd,env=prod; stack=data"},
		"NoPair":     {reason: "a name alone selects nothing", variable: "crowd", invalid: true},
		"Quotes":     {reason: "labels have no quotes", variable: "stack='crowd'", invalid: true},
		"Empty":      {reason: "an empty selector would match everything", variable: "stack=crowd;", invalid: true},
		"Negation":   {reason: "selectors know no negation", variable: "stack!=crowd", invalid: true},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			clean(t)
			args := c.args
			if c.file != "" {
				args = append(args, "--config="+write(t, "worker.yaml", c.file))
			}
			if c.variable != "" {
				t.Setenv("ARMATURE_OBSERVE", c.variable)
			}
			got, err := config.Load(args)
			switch {
			case c.invalid && (err == nil || !strings.Contains(err.Error(), "observe")):
				t.Errorf("loaded %q without an error: %s", got.Observe, c.reason)
			case !c.invalid && err != nil:
				t.Errorf("%s: %v", c.reason, err)
			case !c.invalid && got.Observe != c.want:
				t.Errorf("observe %q: %s", got.Observe, c.reason)
			}
		})
	}
}

// TestStartFrozen checks the forms in which a start gets its name, and the flags that need
// no value.
func TestStartFrozen(t *testing.T) {
	cases := map[string]struct {
		reason, file, variable string
		args                   []string
		want                   config.Start
		readOnly, invalid      bool
	}{
		"None":           {reason: "off by default"},
		"BareFlag":       {reason: "--start-frozen alone is every start", args: []string{"--start-frozen"}, want: config.StartAlways},
		"Name":           {reason: "a name freezes once", args: []string{"--start-frozen=restore-1"}, want: "restore-1"},
		"Variable":       {reason: "as every key", variable: "2026-11-22", want: "2026-11-22"},
		"Date":           {reason: "YAML reads a date as a time", file: "start-frozen: 2026-11-22\n", want: "2026-11-22"},
		"TruthValue":     {reason: "YAML reads true as a truth value", file: "start-frozen: true\n", want: config.StartAlways},
		"False":          {reason: "and false", file: "start-frozen: false\n"},
		"FalseVariable":  {reason: "as a text, too", variable: "false"},
		"Invalid":        {reason: "a name with spaces is a mistake of quotes", variable: "after the restore", invalid: true},
		"Number":         {reason: "a number would lose its form", file: "start-frozen: 1e3\n", invalid: true},
		"ReadOnly":       {reason: "a truth value needs no value as a flag", args: []string{"--read-only"}, readOnly: true},
		"NotReadOnly":    {reason: "and takes one", file: "read-only: true\n", args: []string{"--read-only=false"}},
		"ReadOnlyOfFile": {reason: "in the file", file: "read-only: true\n", readOnly: true},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			clean(t)
			args := c.args
			if c.file != "" {
				args = append(args, "--config="+write(t, "worker.yaml", c.file))
			}
			if c.variable != "" {
				t.Setenv("ARMATURE_START_FROZEN", c.variable)
			}
			got, err := config.Load(args)
			switch {
			case c.invalid && (err == nil || !strings.Contains(err.Error(), "start-frozen")):
				t.Errorf("loaded %q without an error: %s", got.StartFrozen, c.reason)
			case !c.invalid && err != nil:
				t.Errorf("%s: %v", c.reason, err)
			case !c.invalid && (got.StartFrozen != c.want || got.ReadOnly != c.readOnly):
				t.Errorf("start-frozen %q, read-only %t: %s", got.StartFrozen, got.ReadOnly, c.reason)
			}
		})
	}
}
