package rules_test

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/armature-io/armature/extensions/extensiontest"
	"github.com/armature-io/armature/extensions/rules"
	"github.com/armature-io/armature/internal/extensionhost"
	"github.com/armature-io/armature/resource"
)

const (
	group    = "/subscriptions/00000000-0000-0000-0000-000000000001/resourceGroups/rg1/providers/"
	parentID = group + "Contoso.Things/parents/p1"
	childID  = parentID + "/children/c1"
)

// write puts rule files into a folder.
func write(t *testing.T, files map[string]string) string {
	t.Helper()
	folder := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

// load loads one valid file.
func load(t *testing.T, text string) *rules.Set {
	t.Helper()
	set, _, err := rules.Load(filepath.Join(write(t, map[string]string{"r.yaml": text}), "r.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	return set
}

func registry(t *testing.T, set *rules.Set) *extensionhost.Registry {
	t.Helper()
	r, err := extensionhost.New(set.Entry())
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// one returns a file with one rule.
func one(lines ...string) string {
	return "rules:\n  - name: r\n    type: Contoso.Things/parents/children\n    " + strings.Join(lines, "\n    ") + "\n"
}

func TestExpressions(t *testing.T) {
	const observed = `{"Tags":{"a.b/c":"x"},"properties":{"provisioningState":"Updating","count":3,"big":9007199254740993,"ratio":0.5,"list":[{"name":"n","v":1}],"none":null}}`
	cases := map[string]struct {
		reason, when string
		want         bool
	}{
		"select":           {"a plain selection", `observed.properties.provisioningState == "Updating"`, true},
		"case":             {"property names ignore case", `observed.Properties.PROVISIONINGSTATE == "Updating"`, true},
		"absent":           {"an absent property is null", `observed.properties.state == null`, true},
		"absent deep":      {"at any depth", `observed.a.b.c.d == null`, true},
		"absent text":      {"null is not a text", `observed.properties.state == "Stopped"`, false},
		"null is absent":   {"null is absent", `has(observed.properties.none)`, false},
		"has":              {"has is there", `has(observed.properties.count)`, true},
		"has deep":         {"has of an absent parent", `has(observed.x.y)`, false},
		"index":            {"an index beyond the list", `observed.properties.list[7].v == null`, true},
		"key":              {"a key with a point", `observed.tags["a.b/c"] == "x"`, true},
		"absent key":       {"an absent key", `observed.tags["b"] == null`, true},
		"in":               {"a key in an object", `"TAGS" in observed`, true},
		"int":              {"numbers are exact", `observed.properties.big == 9007199254740993`, true},
		"double":           {"and fractions", `observed.properties.ratio < 1.0`, true},
		"compare":          {"and compare", `observed.properties.count >= 3`, true},
		"number":           {"a number with a fallback", `number(observed.properties.absent, 7) == 7.0`, true},
		"at":               {"paths of manifests", `at(observed, "properties.list[name=n].v") == 1`, true},
		"text":             {"a text or none", `text(observed, "properties.count") == ""`, true},
		"state":            {"the state", `state(observed) == "Updating" && state(desired) == "" && state(owner) == ""`, true},
		"among":            {"ignoring case", `among(state(observed), ["creating", "UPDATING"])`, true},
		"among null":       {"null is in no list", `among(observed.x, ["a"])`, false},
		"inFlight":         {"what the word means", `inFlight(state(observed)) && !broken(state(observed)) && broken("Failed")`, true},
		"items":            {"lists", `items(observed.properties.list).exists(i, i.name == "n")`, true},
		"sum":              {"of numbers alone", `sum([observed.properties.count, observed.properties.ratio, "x", null]) == 3.5 && sum(observed.x) == 0.0`, true},
		"items of nothing": {"of nothing", `items(observed.x.y).exists(i, true)`, false},
		"macros":           {"all the macros", `items(observed.properties.list).filter(i, i.v == 1).map(i, i.name) == ["n"]`, true},
		"desired":          {"the manifest", `desired.sku.name == "A"`, true},
		"owner":            {"the owner", `owner.kind == "web" && ownerName == "p1" && ownerID.endsWith("/p1")`, true},
		"names":            {"the resource", `name == "c1" && id.contains("/children/")`, true},
		"time":             {"the time", `now > timestamp("2026-01-01T00:00:00Z") && now.getHours("Europe/Berlin") >= 0`, true},
		"strings":          {"CEL's own strings", `state(observed).lowerAscii().startsWith("up")`, true},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			set := load(t, one("at: pre", "when: |-", "  "+c.when, "block: it holds"))
			got := registry(t, set).PreCheck(t.Context(), extensionhost.Request{
				Object: extensiontest.Object(t, childID, `{"sku":{"name":"A"}}`, observed), Owner: extensiontest.Object(t, parentID, "", `{"kind":"web"}`),
			})
			if holds := got.Action == resource.ActionBlock && got.Message == "it holds"; holds != c.want {
				t.Errorf("%s: got %s %q, want %v", c.reason, got.Action, got.Message, c.want)
			}
		})
	}
}

func TestMessagesAndOptions(t *testing.T) {
	set := load(t, one("at: post", `when: observed.properties.n > 1`, `fail: 'Wait for ${name}: ${observed.properties.n} of ${"}" + quote(text(observed, "properties.s"))} ${observed.x}'`,
		"reason: NotEnough", "severity: Info", "retry: VerySlow"))
	got := registry(t, set).PostCheck(t.Context(), extensionhost.Request{Object: extensiontest.Object(t, childID, `{}`, `{"properties":{"n":2,"s":"a"}}`)})
	want := resource.Verdict{
		Action: resource.ActionFailure, Reason: "NotEnough", Severity: resource.SeverityInfo, Class: resource.RetryVerySlow,
		Message: `Wait for c1: 2 of }"a" null`, Origin: got.Origin, Seen: "observed.properties.n is 2",
	}
	if !strings.HasPrefix(got.Origin, "rule r (") || !strings.HasSuffix(got.Origin, "r.yaml:2)") {
		t.Errorf("origin %q, want the rule with its file and line", got.Origin)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestIssues(t *testing.T) {
	cases := map[string]struct {
		reason, text string
		want         []string
	}{
		"type error":        {"checked at load", one(`when: observed.x + 1 == "a" && "a" + 1`, "block: x"), []string{`r.yaml:4:40: when: found no matching overload for '_+_'`}},
		"not a truth":       {"a condition is true or false", one(`when: '"text"'`, "block: x"), []string{`r.yaml:4:12: when: the expression has type string, want bool`}},
		"syntax":            {"a syntax error has its position", one("when: observed.x ==", "block: x"), []string{`r.yaml:4:24: when: Syntax error`}},
		"literal block":     {"in a block too", one("when: |", "  true &&", "  nothing", "block: x"), []string{`r.yaml:6:7: when: undeclared reference to 'nothing'`}},
		"message":           {"messages are checked", one("when: 'true'", "block: a ${desired.x} ${what} b"), []string{`r.yaml:5:29: the message: undeclared reference to 'what'`}},
		"open message":      {"and closed", one("when: 'true'", "block: a ${desired.x"), []string{`r.yaml:5:14: the message: ${ is not closed by }`}},
		"owner sees owner":  {"an owner rule has no resource", one("at: owner", "when: observed.x == 1", "block: x"), []string{`r.yaml:5:11: when: undeclared reference to 'observed'`}},
		"unknown field":     {"a misspelt field", one("wen: 'true'", "block: x"), []string{`r.yaml:4:5: unknown field "wen" (did you mean when?)`, "has no condition"}},
		"twice":             {"a name means one rule", one("when: 'true'", "block: x") + one("when: 'true'", "block: x")[len("rules:\n"):], []string{`r.yaml:6:11: rule r is defined twice, first in`}},
		"no message":        {"a rule needs a message", one("when: 'true'"), []string{"has no message"}},
		"two messages":      {"block and fail exclude each other", one("when: 'true'", "block: x", "fail: y"), []string{"either block or fail, not both"}},
		"fail before":       {"fail is for post", one("at: pre", "when: 'true'", "fail: y"), []string{"r.yaml:6:11: a rule at pre needs block"}},
		"block after":       {"block is for owner and pre", one("at: post", "when: 'true'", "block: y"), []string{"a rule at post needs fail"}},
		"at":                {"five points", one("at: never", "when: 'true'", "block: y"), []string{`at must be owner, pre, post, error or payload, not "never"`}},
		"severity":          {"three severities", one("when: 'true'", "block: y", "severity: Fatal"), []string{`severity must be Info, Warning or Error, not "Fatal"`}},
		"retry":             {"four classes", one("when: 'true'", "block: y", "retry: soon"), []string{"retry must be Fast, Slow, VerySlow or None"}},
		"reason":            {"one word", one("when: 'true'", "block: y", "reason: two words"), []string{"reason must be one word"}},
		"type":              {"no type", "rules:\n  - name: r\n    type: clusters\n    when: 'true'\n    block: x\n", []string{`"clusters" is not a resource type`}},
		"no rules":          {"an empty file", "", []string{"the file has no rules"}},
		"no list":           {"a mapping for a list", "rules: {a: b}\n", []string{"rules must be a list"}},
		"no YAML":           {"no YAML", "rules: [\n", []string{"r.yaml:"}},
		"test of nothing":   {"a test names a rule", one("when: 'true'", "block: x") + "tests:\n  - {name: t, rule: other, want: pass}\n", []string{`refers to rule "other", which does not exist`}},
		"only before a PUT": {"onlyBeforePut", one("at: owner", "when: 'true'", "block: x", "onlyBeforePut: true"), []string{"onlyBeforePut is only valid at pre"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			_, _, err := rules.Load(write(t, map[string]string{"r.yaml": c.text}))
			if err == nil {
				t.Fatalf("%s: accepted", c.reason)
			}
			for _, part := range c.want {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("%s: error\n%s\nwant %s", c.reason, err, part)
				}
			}
		})
	}
}

func TestAllIssuesAtOnce(t *testing.T) {
	folder := write(t, map[string]string{"a.yaml": one("when: oops", "block: x"), "b.yaml": one("when: 1", "block: x"), "c.txt": "no rules"})
	_, _, err := rules.Load(folder)
	if err == nil || !strings.Contains(err.Error(), "a.yaml:4:11") || !strings.Contains(err.Error(), "b.yaml:4:11") || !strings.Contains(err.Error(), "is defined twice") {
		t.Errorf("got %v", err)
	}
}

func TestUnknownTypeIsAWarning(t *testing.T) {
	text := "rules:\n  - name: r\n    type: Microsoft.Kusto/cluster\n    when: 'true'\n    block: x\n"
	_, warnings, err := rules.Load(write(t, map[string]string{"r.yaml": text}))
	if err != nil || len(warnings) != 1 || !strings.Contains(warnings[0].String(), "r.yaml:3:11: warning: unknown type Microsoft.Kusto/cluster (did you mean Microsoft.Kusto/clusters?)") {
		t.Errorf("got %v, %v", warnings, err)
	}
}

// TestCost: a rule that would take 10^9 units is stopped and named.
func TestCost(t *testing.T) {
	thousand := "[" + strings.Repeat("1,", 999) + "1]"
	set := load(t, one("when: |", "  "+thousand+".all(a, "+thousand+".all(b, "+thousand+".all(c, a + b + c > 0)))", "block: x"))
	got := registry(t, set).PreCheck(t.Context(), extensionhost.Request{Object: extensiontest.Object(t, childID, `{}`, `{}`)})
	if got.Action != resource.ActionError || got.Reason != resource.ReasonCheckFailed || !strings.Contains(got.Message, "rule r (") || !strings.Contains(got.Message, "cost limit") {
		t.Errorf("got %s %s %q", got.Action, got.Reason, got.Message)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if got := registry(t, set).PreCheck(ctx, extensionhost.Request{Object: extensiontest.Object(t, childID, `{}`, `{}`)}); got.Action != resource.ActionError {
		t.Errorf("a step that is over: got %+v", got)
	}
}

func TestReload(t *testing.T) {
	folder := write(t, map[string]string{"r.yaml": one("when: 'true'", "block: first")})
	set, _, err := rules.Load(folder)
	if err != nil {
		t.Fatal(err)
	}
	r := registry(t, set)
	says := func() string {
		return r.PreCheck(t.Context(), extensionhost.Request{Object: extensiontest.Object(t, childID, `{}`, `{}`)}).Message
	}
	held := set.Links("Contoso.Things/parents/children")
	change := func(text string) (bool, error) {
		if err := os.WriteFile(filepath.Join(folder, "r.yaml"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		changed, _, err := set.Reload()
		return changed, err
	}
	if changed, err := change(one("when: 'true'", "block: first")); changed || err != nil {
		t.Errorf("the same text: %v, %v", changed, err)
	}
	if changed, err := change(one("when: oops", "block: second")); changed || err == nil || says() != "first" {
		t.Errorf("invalid rules keep the old ones: %v, %v, %q", changed, err, says())
	}
	if changed, err := change(one("when: 'true'", "block: third")); !changed || err != nil || says() != "third" {
		t.Errorf("a good text: %v, %v, %q", changed, err, says())
	}
	if len(held) != 1 || set.Len() != 1 {
		t.Errorf("a step keeps the rules that it began with: %v", held)
	}
	if err := os.Remove(filepath.Join(folder, "r.yaml")); err != nil {
		t.Fatal(err)
	}
	if _, _, err := set.Reload(); err == nil || says() != "third" {
		t.Errorf("an empty folder keeps the old rules: %v, %q", err, says())
	}
}

// lines is a log that tests wait on.
type lines struct{ c chan string }

func (l lines) Write(p []byte) (int, error) {
	l.c <- string(p)
	return len(p), nil
}

func TestWatch(t *testing.T) {
	folder := write(t, map[string]string{"r.yaml": one("when: 'true'", "block: first")})
	set, _, err := rules.Load(folder)
	if err != nil {
		t.Fatal(err)
	}
	said := lines{make(chan string, 100)}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	changed := make(chan string, 100)
	go set.Watch(ctx, time.Millisecond, slog.New(slog.NewTextHandler(said, nil)), func() { changed <- set.Fingerprint() })
	before := set.Fingerprint()
	for _, step := range []struct{ text, want string }{
		{one("when: oops", "block: x"), "keeping the old ones"},
		{one("when: 'true'", "block: first"), "valid again"},
		{one("when: 'true'", "block: second"), "rules reloaded"},
	} {
		temporary := filepath.Join(t.TempDir(), "next")
		if err := os.WriteFile(temporary, []byte(step.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(temporary, filepath.Join(folder, "r.yaml")); err != nil {
			t.Fatal(err)
		}
		select {
		case line := <-said.c:
			for strings.Contains(line, "unknown type") {
				line = <-said.c
			}
			if !strings.Contains(line, step.want) {
				t.Errorf("log has %s, want %q", line, step.want)
			}
		case <-time.After(5 * time.Second):
			t.Fatalf("no message, want %q", step.want)
		}
	}
	select {
	case now := <-changed:
		if now == before || len(changed) > 0 {
			t.Errorf("the fingerprint was %s and is %s after %d changes, want another one after one change", before, now, 1+len(changed))
		}
	case <-time.After(5 * time.Second):
		t.Fatal("changed was not called")
	}
}
