package starter

import (
	"encoding/json"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/internal/text"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/starter/internal/backend"
	"github.com/armature-io/armature/workflows"
)

// hostile is a text with everything that could act on a terminal or a CI system.
const hostile = "a\x1b[2J\x1b]0;PWN\x07\u009b31m\u202e\u2066\u200b\ufeff\U000e0041\r\n::error file=a::x\n##vso[task.x]##[error]\x00\x7f\u2028\tz"

// ownSequences match what Armature writes on a terminal.
var ownSequences = regexp.MustCompile(`\x1b\[(?:3[1-6]|0)m|(?:\x1b\[[0-9]+A\r)?\x1b\[J`)

// ciCommand matches what a CI system would run.
var ciCommand = regexp.MustCompile(`(?im)^[\s\p{Z}]*::|##\[|##vso\[`)

// checkHarmless checks that an output acts on nothing; own means that Armature's sequences
// are allowed.
func checkHarmless(t *testing.T, what, output string, own bool) {
	t.Helper()
	if own {
		output = ownSequences.ReplaceAllString(output, "")
	}
	for _, r := range output {
		if r != '\n' && r != '\t' && text.IsUnsafe(r) {
			t.Errorf("%s contains %q:\n%q", what, r, output)
			return
		}
	}
	if found := ciCommand.FindString(output); found != "" {
		t.Errorf("%s contains the command %q:\n%q", what, found, output)
	}
}

// hostileStatus returns a status in which every text is the given one.
func hostileStatus(t *testing.T, s string) workflows.Status {
	t.Helper()
	status := blockedStatus(t)
	status.Name, status.Credential, status.Operation = s, s, s
	status.Condition.Reason, status.Condition.Message = resource.Reason(s), s
	status.Labels = map[string]string{s: s}
	status.Kept, status.Owned = []string{s}, []string{s}
	status.Differences = []resource.Difference{{Path: s, Observed: s, Desired: s}}
	status.Decisions = []workflows.Decision{{At: noon(), Count: 1, Step: s, Action: resource.Action(s), Reason: resource.Reason(s), Message: s}}
	return status
}

// outputWorld returns a world in which every text is the given one.
func outputWorld(t *testing.T, s string) *world {
	t.Helper()
	w := newWorld()
	w.temporal.manage(t, database, hostileStatus(t, s))
	w.temporal.change(t, database, func(r *backend.Record) { r.Name, r.Labels, r.Reason = s, []string{s}, resource.Reason(s) })
	w.temporal.stuckStep = s
	w.temporal.freezes = []workflows.Freeze{{Selector: s, By: s, Reason: s, Since: noon()}}
	w.temporal.plans = map[string]activities.PlanResourceResult{"adx": {
		Action: activities.PlanUpdate, Reason: resource.Reason(s), Message: s, Warnings: []string{s}, Drops: []string{s}, Held: s, Findings: activities.Findings{Owned: []string{s}, Kept: []string{s}, Foreign: []string{s}},
		Differences: []resource.Difference{{Path: s, Observed: s, Desired: s, Rule: s}},
	}}
	return w
}

// outputCommands are command lines that show texts of others.
func outputCommands(t *testing.T) map[string][]string {
	t.Helper()
	return map[string][]string{
		"get": {"get"}, "wide": {"get", "-o", "wide"}, "get.json": {"get", "-o", "json"}, "get.yaml": {"get", "-o", "yaml"},
		"describe": {"describe", database}, "describe-wide": {"describe", database, "-o", "wide"}, "describe.json": {"describe", database, "-o", "json"}, "describe.yaml": {"describe", database, "-o", "yaml"},
		"why": {"why", database}, "why.json": {"why", database, "-o", "json"}, "why.yaml": {"why", "-o", "yaml"},
		"plan": {"plan", "-f", labelledAdx(t)}, "plan-wide": {"plan", "-o", "wide", "-f", labelledAdx(t)}, "plan.json": {"plan", "-o", "json", "-f", labelledAdx(t)}, "plan.yaml": {"plan", "-o", "yaml", "-f", labelledAdx(t)},
		"wait": {"wait", database, "--timeout", "1s"}, "fault": {"describe", "no\x1b[2J\u202e"}, "flag": {"get", "--no\x1b[2J"}, "value": {"get", "-o", "a\x1b[2J\n::error::x"},
		"file": {"validate", "-f", "no\x1b[2J\n::error::x"}, "github": {"validate", "-o", "junit", "-f", "no\x1b[2J\n::error::x"},
	}
}

// TestGuardOutputIsInert checks that no command passes on what acts on a terminal or a CI
// system, on a terminal with colors and in a pipe, and that documents lose nothing.
//
//guard:texts-are-data
func TestGuardOutputIsInert(t *testing.T) {
	for name, args := range outputCommands(t) {
		for _, terminal := range []bool{false, true} {
			w := outputWorld(t, hostile)
			w.terminal, w.color = terminal, terminal
			w.after = func(time.Duration) <-chan time.Time { return time.After(time.Millisecond) }
			w.run(args...)
			checkHarmless(t, name+": standard output", w.out.String(), terminal)
			checkHarmless(t, name+": standard error", w.err.String(), false)
			checkDocument(t, name, w.out.Bytes(), hostile)
		}
	}
}

// TestGuardWatchIsInert checks a list that is redrawn.
//
//guard:texts-are-data
func TestGuardWatchIsInert(t *testing.T) {
	for _, terminal := range []bool{false, true} {
		w := outputWorld(t, hostile)
		w.terminal, w.color = terminal, terminal
		w.temporal.end("Completed", hostileStatus(t, hostile))
		w.run("get", database, "--watch")
		checkHarmless(t, "standard output", w.out.String(), terminal)
		checkHarmless(t, "standard error", w.err.String(), false)
	}
}

// checkDocument checks that the output of a command for programs can be read and has a
// text as it is. The sentences of why are on one line in every format.
func checkDocument(t *testing.T, name string, output []byte, s string) {
	t.Helper()
	var (
		items any
		err   error
	)
	switch filepath.Ext(name) {
	case ".json":
		err = json.Unmarshal(output, &items)
	case ".yaml":
		err = yaml.Unmarshal(output, &items)
	default:
		return
	}
	if err != nil || !strings.HasPrefix(name, "why") && !contains(items, s) {
		t.Errorf("%s loses something: %v\n%s", name, err, output)
	}
}

// contains reports whether a document has a text.
func contains(value any, s string) bool {
	switch value := value.(type) {
	case string:
		return value == s
	case []any:
		return slices.ContainsFunc(value, func(item any) bool { return contains(item, s) })
	case map[string]any:
		for _, member := range value {
			if contains(member, s) {
				return true
			}
		}
	}
	return false
}

// TestCompletionsAreData checks that a shell neither runs a name nor takes a part of one
// for a description, an offer or a directive.
//
//guard:texts-are-data
func TestCompletionsAreData(t *testing.T) {
	w := newWorld()
	for _, name := range []string{"good", "of two words", "$(touch pwned)", "`touch pwned`", "a;touch pwned"} {
		w.temporal.manage(t, cluster+"/databases/"+name, readyStatus())
	}
	for i, name := range []string{"a\nb", "a\tb", "a\x1b[2J", "\u202eb"} {
		id := cluster + "/databases/hidden" + string(rune('0'+i))
		w.temporal.manage(t, id, readyStatus())
		w.temporal.change(t, id, func(r *backend.Record) { r.ID, r.Name, r.Labels = resource.ID{}, name, []string{"k=" + name} })
	}
	got := completed(w, "describe", "")
	want := []string{"adx/good", "adx/of two words"}
	if slices.Sort(got); !slices.Equal(got, want) {
		t.Errorf("offered %q, want %q", got, want)
	}
}
