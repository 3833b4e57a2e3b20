package rules_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/armature-io/armature/extensions/extensiontest"
	"github.com/armature-io/armature/extensions/rules"
	"github.com/armature-io/armature/internal/extensionhost"
	"github.com/armature-io/armature/resource"
)

// ids returns a body in JSON with the IDs of environments under envs.
func envIDs(numbers ...int) string {
	var items []string
	for _, n := range numbers {
		items = append(items, fmt.Sprintf(`{"id":"%sContoso.Things/environments/e%d"}`, group, n))
	}
	return `{"envs":[` + strings.Join(items, ",") + `]}`
}

// upTo returns the numbers from 1 to n.
func upTo(n int) []int {
	numbers := make([]int, n)
	for i := range numbers {
		numbers[i] = i + 1
	}
	return numbers
}

// TestReadsOfMany holds what a condition sees of the resources whose IDs stand at a path, and of
// lists: each is an element, one that is absent is null, and a part of them is never taken for all.
func TestReadsOfMany(t *testing.T) {
	const (
		ready   = `{"properties":{"provisioningState":"Succeeded","tier":"A"}}`
		each    = "read: {envs: {each: 'desired.envs[*].id'}}"
		anyEach = "read: {envs: {each: 'desired.envs[*].id', waitFor: nothing}}"
		env     = group + "Contoso.Things/environments/e"
		list    = "read: {others: {list: Contoso.Things/parents/children}}"
		sibling = parentID + "/children/c"
	)
	two := map[string]string{env + "1": ready, env + "2": ready}
	item := func(n int, tier string) string {
		return fmt.Sprintf(`{"id":"%s%d","name":"c%d","properties":{"tier":"%s","apiKey":"hunter2"}}`, sibling, n, n, tier)
	}
	many := make([]string, 0, 101)
	for n := range 102 {
		many = append(many, item(n, "A"))
	}
	cases := map[string]struct {
		reason  string
		rule    []string
		desired string
		others  map[string]string
		lists   map[string][]string
		action  resource.Action
		verdict resource.Reason
		message string
		waits   []string
	}{
		"all": {
			reason: "nothing blocks", rule: []string{each, `when: '!envs.all(e, e.properties.tier == "A") || size(envs) != 2'`, "block: x"},
			desired: envIDs(1, 2), others: two, action: resource.ActionProceed,
		},
		"some": {
			reason: "the block waits for each", rule: []string{each, `when: envs.exists(e, e.properties.tier == "A")`, `block: '${envs.filter(e, e.properties.tier == "A").map(e, e.properties.tier)}'`},
			desired: envIDs(1, 2), others: two, action: resource.ActionBlock, message: `["A","A"]`, waits: []string{env + "1", env + "2"},
		},
		"absent": {
			reason: "it waits by itself, as for one resource", rule: []string{each}, desired: envIDs(1, 3), others: two, action: resource.ActionBlock,
			verdict: resource.ReasonReferenceNotFound, message: `The resource "e3" (Contoso.Things/environments), which this check reads as envs, does not exist in Azure`, waits: []string{env + "1", env + "3"},
		},
		"tolerated": {
			reason: "an absent one is null, and has no properties", rule: []string{anyEach, `when: size(envs) == 3 && envs.filter(e, e == null).size() == 1 && envs[1] == null && envs.filter(e, e.properties.tier == "A").size() == 2`, "block: x"},
			desired: envIDs(1, 3, 2), others: two, action: resource.ActionBlock, message: "x", waits: []string{env + "1", env + "3", env + "2"},
		},
		"twice": {
			reason: "a resource is one element", rule: []string{each, "when: size(envs) == 2", "block: x"}, desired: envIDs(1, 2, 1), others: two,
			action: resource.ActionBlock, message: "x", waits: []string{env + "1", env + "2"},
		},
		"not set": {
			reason: "no ID is nothing to read", rule: []string{each, "when: size(envs) == 1", "block: x"}, desired: `{"envs":[{"id":""},{},{"id":null},{"id":"` + env + `1"}]}`, others: two,
			action: resource.ActionBlock, message: "x", waits: []string{env + "1"},
		},
		"none": {
			reason: "an empty list", rule: []string{each, "when: envs == []", "block: x"}, desired: `{}`, action: resource.ActionBlock, message: "x",
		},
		"reference": {
			reason: "a $ref that is not resolved yet is the resource itself", rule: []string{each}, desired: `{"envs":[{"id":{"$ref":"` + env + `7","path":"id"}}]}`,
			action: resource.ActionBlock, verdict: resource.ReasonReferenceNotFound, message: `"e7"`, waits: []string{env + "7"},
		},
		"no ID": {
			reason: "the path is named", rule: []string{each}, desired: `{"envs":[{"id":7}]}`, action: resource.ActionError, message: "read envs: desired.envs[*].id: the ID is not a text but 7",
		},
		"max": {
			reason: "a part of them decides nothing", rule: []string{each}, desired: envIDs(upTo(17)...), action: resource.ActionError, verdict: resource.ReasonCheckFailed,
			message: "read envs: 17 resources stand at desired.envs[*].id, and max is 16: a check that sees a part of them must not decide; raise max (to 32 at most)",
		},
		"a higher max": {
			reason: "the author chose it", rule: []string{"read: {envs: {each: 'desired.envs[*].id', max: 17, waitFor: nothing}}"}, desired: envIDs(upTo(17)...), action: resource.ActionProceed,
		},
		"siblings": {
			reason: "without the resource itself", rule: []string{list, `when: others.exists(o, o.properties.tier == "B")`, "block: '${others.map(o, o.name)}'"}, desired: `{}`,
			lists: map[string][]string{parentID + "/children": {item(1, "A"), item(2, "B"), item(3, "A")}}, action: resource.ActionBlock, message: `["c2","c3"]`, waits: []string{sibling + "2", sibling + "3"},
		},
		"no siblings": {
			reason: "their parent may get some", rule: []string{list, "when: size(others) == 0", "block: x"}, desired: `{}`,
			lists: map[string][]string{parentID + "/children": {item(1, "B")}}, action: resource.ActionBlock, message: "x", waits: []string{parentID},
		},
		"masked": {
			reason: "as all that is read", rule: []string{list, "when: 'true'", "block: 'key ${others[0].properties.apiKey}'"}, desired: `{}`,
			lists: map[string][]string{parentID + "/children": {item(2, "B")}}, action: resource.ActionBlock, message: "key (masked) ", waits: []string{sibling + "2"},
		},
		"children": {
			reason: "of the resource", rule: []string{"read: {parts: {list: Contoso.Things/parents/children/parts}}", "when: sum(parts.map(p, p.n)) == 5.0", "block: x"}, desired: `{}`,
			lists: map[string][]string{childID + "/parts": {`{"name":"a","n":2}`, `{"name":"b","n":3}`, `{"name":"c","n":"x"}`}}, action: resource.ActionBlock, message: "x",
			waits: []string{childID + "/parts/a", childID + "/parts/b", childID + "/parts/c"},
		},
		"children of the owner": {
			reason: "of another type", rule: []string{"read: {rules: {list: Contoso.Things/parents/rules}}", "when: size(rules) == 1", "block: x"}, desired: `{}`,
			lists: map[string][]string{parentID + "/rules": {`{"name":"a"}`}}, action: resource.ActionBlock, message: "x", waits: []string{parentID + "/rules/a"},
		},
		"in the group": {
			reason: "types without a parent are in it", rule: []string{"read: {nets: {list: Contoso.Net/networks}}", "when: size(nets) == 1", "block: x"}, desired: `{}`,
			lists: map[string][]string{strings.TrimSuffix(group, "/") + "/Contoso.Net/networks": {`{"name":"n"}`}}, action: resource.ActionBlock, message: "x", waits: []string{group + "Contoso.Net/networks/n"},
		},
		"a long list": {
			reason: "a part of it decides nothing", rule: []string{list, "when: 'false'", "block: x"}, desired: `{}`, lists: map[string][]string{parentID + "/children": many},
			action: resource.ActionError, verdict: resource.ReasonCheckFailed, message: "read others: p1 has more than 100 resources of type Contoso.Things/parents/children, or more than 5 pages of them",
		},
		"one more than max": {
			reason: "the resource itself is not in it", rule: []string{list, "when: 'false'", "block: x"}, desired: `{}`, lists: map[string][]string{parentID + "/children": append(many[2:], many[0])},
			action: resource.ActionError, message: "read others: p1 has more than 100 resources",
		},
		"just not too long": {
			reason: "the resource itself does not count", rule: []string{list, "when: size(others) != 100", "block: x"}, desired: `{}`, lists: map[string][]string{parentID + "/children": many[1:]},
			action: resource.ActionProceed,
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			set := load(t, one(append([]string{"at: pre"}, c.rule...)...))
			got := registry(t, set).PreCheck(t.Context(), extensionhost.Request{
				Object: extensiontest.Object(t, childID, c.desired, ""), Owner: extensiontest.Object(t, parentID, "", `{}`),
				Resolver: &extensiontest.Resolver{Resources: c.others, Lists: c.lists},
			})
			if got.Action != c.action || c.verdict != "" && got.Reason != c.verdict || !strings.Contains(got.Message, c.message) || !cmp.Equal(texts(got.WaitingFor), c.waits) {
				t.Errorf("%s: got %s %s %q waiting for %v", c.reason, got.Action, got.Reason, got.Message, got.WaitingFor)
			}
		})
	}
}

func texts(ids []resource.ID) []string {
	var found []string
	for _, id := range ids {
		found = append(found, id.String())
	}
	return found
}

// TestManyAtOtherPoints holds that rules at owner, post and payload read several resources too.
func TestManyAtOtherPoints(t *testing.T) {
	lists := &extensiontest.Resolver{Lists: map[string][]string{parentID + "/children": {`{"name":"c1"}`, `{"name":"c2"}`}}}
	owner := registry(t, load(t, one("at: owner", "read: {envs: {each: 'owner.envs[*].id'}}"))).CheckOwner(t.Context(), extensionhost.Request{
		Object: extensiontest.Object(t, childID, `{}`, ""), Owner: extensiontest.Object(t, parentID, "", envIDs(1)), Resolver: lists,
	})
	if owner.Action != resource.ActionBlock || len(owner.WaitingFor) != 2 {
		t.Errorf("owner rule: got %+v", owner)
	}
	listed := registry(t, load(t, one("at: owner", "read: {all: {list: Contoso.Things/parents/children}}", "when: size(all) == 2", "block: x"))).CheckOwner(t.Context(), extensionhost.Request{
		Object: extensiontest.Object(t, childID, `{}`, ""), Owner: extensiontest.Object(t, parentID, "", `{}`), Resolver: lists,
	})
	if listed.Action != resource.ActionBlock || len(listed.WaitingFor) != 3 {
		t.Errorf("owner rule with a list, of which it does not know its resource: got %+v", listed)
	}
	pre := registry(t, load(t, one("at: pre", "read: {envs: {each: 'owner.envs[*].id'}}"))).PreCheck(t.Context(), extensionhost.Request{
		Object: extensiontest.Object(t, childID, `{}`, ""), Owner: extensiontest.Object(t, parentID, "", envIDs(1)), Resolver: lists,
	})
	if pre.Action != resource.ActionBlock || len(pre.WaitingFor) != 2 {
		t.Errorf("pre rule with IDs of the owner, which it waits for too: got %+v", pre)
	}
	post := registry(t, load(t, one("at: post", "read: {envs: {each: 'observed.envs[*].id'}}"))).PostCheck(t.Context(), extensionhost.Request{
		Object: extensiontest.Object(t, childID, `{}`, envIDs(1, 2)), Resolver: lists,
	})
	if post.Action != resource.ActionFailure || len(post.WaitingFor) != 2 || post.Reason != resource.ReasonReferenceNotFound {
		t.Errorf("post rule: got %+v", post)
	}
	payload, verdict := registry(t, load(t, one("read: {others: {list: Contoso.Things/parents/children}}", "set: {n: size(others)}"))).Modify(t.Context(), extensionhost.Request{
		Object: extensiontest.Object(t, childID, `{}`, ""), Resolver: lists,
	}, map[string]any{})
	if verdict != nil || payload["n"] != int64(1) {
		t.Errorf("payload rule: got %v %+v", payload, verdict)
	}
	none := registry(t, load(t, one("at: pre", "read: {others: {list: Contoso.Things/parents/children}}", "when: size(others) > 0", "block: x"))).PreCheck(t.Context(), extensionhost.Request{
		Object: extensiontest.Object(t, childID, `{}`, ""), Resolver: refusing{make(chan string, 1)},
	})
	if none.Action != resource.ActionError || !strings.Contains(none.Message, "no resources can be listed here") {
		t.Errorf("a resolver without lists: got %+v", none)
	}
}

// TestWaitsAreBounded holds that a verdict waits for no more resources than a workflow has keys
// for, and for those that are not ready first.
func TestWaitsAreBounded(t *testing.T) {
	items := make([]string, 0, 60)
	for n := range 60 {
		state := "Succeeded"
		if n >= 50 {
			state = "Updating"
		}
		items = append(items, fmt.Sprintf(`{"name":"x%d","properties":{"provisioningState":%q}}`, n, state))
	}
	got := registry(t, load(t, one("at: pre", "read: {others: {list: Contoso.Things/parents/children}}", "when: size(others) > 0 && owner != null", "block: x"))).PreCheck(t.Context(), extensionhost.Request{
		Object: extensiontest.Object(t, childID, `{}`, ""), Owner: extensiontest.Object(t, parentID, "", `{}`),
		Resolver: &extensiontest.Resolver{Lists: map[string][]string{parentID + "/children": items}},
	})
	waits := texts(got.WaitingFor)
	if len(waits) != 32 || waits[0] != parentID || waits[1] != parentID+"/children/x50" || waits[10] != parentID+"/children/x59" || waits[11] != parentID+"/children/x0" {
		t.Errorf("waits for %d: %v", len(waits), waits)
	}
}

// TestRequestsOfAPass holds that the rules of a type share the requests of a pass: the rule that
// exceeds them is named by the lint, and fails if it needs more than its share.
func TestRequestsOfAPass(t *testing.T) {
	rule := func(name, read string) string {
		return "  - {name: " + name + ", type: Contoso.Things/parents/children, at: pre, read: {x: " + read + "}, when: 'false', block: x}\n"
	}
	const a, b, c, listed = "{each: 'desired.envs[*].id', max: 32, waitFor: nothing}", "{each: 'desired.b[*].id', max: 30}", "{each: 'desired.envs[*].id', max: 31, waitFor: nothing}", "{list: Contoso.Things/parents/children}"
	cases := map[string]struct {
		reason, text, desired string
		warning, fault        string
	}{
		"enough":        {reason: "62 of 64", text: rule("a", a) + rule("b", b), desired: envIDs(upTo(32)...)},
		"shared":        {reason: "two rules that read the same IDs share the readings", text: rule("a", a) + rule("b", b) + rule("c", c), desired: envIDs(upTo(31)...)},
		"another point": {reason: "the PUT is between them", text: rule("a", a) + rule("b", b) + strings.NewReplacer("at: pre", "at: post", "block", "fail").Replace(rule("c", c)), warning: "read x takes up to 31 requests and has 2:"},
		"another type":  {reason: "no pass has both", text: rule("a", a) + rule("b", b) + strings.ReplaceAll(rule("c", "{each: 'desired.c[*].id', max: 9}"), "parents", "others")},
		"too many": {
			reason: "the list has no requests left", text: rule("a", a) + rule("b", b) + rule("l", listed), desired: `{}`,
			warning: "read x takes up to 5 requests and has 2: the rules of Contoso.Things/parents/children share the 64 requests of a pass in the order of the files, and rule l fails if it needs more; lower max",
			fault:   "read x: it takes 5 requests and has 2: the rules of a type share the 64 requests of a pass in the order of the files; lower max in their reads",
		},
		"few are needed": {
			reason: "it may be more and is not", text: rule("a", a) + rule("b", b) + rule("d", "{each: 'desired.d[*].id', max: 3}"), desired: `{"d":[{"id":""}]}`, warning: "read x takes up to 3 requests and has 2",
		},
		"more are needed": {
			reason: "the third has no request", text: rule("a", a) + rule("b", b) + rule("d", "{each: 'desired.envs[*]', max: 3}"), desired: `{"envs":["` + envID + `1","` + envID + `2","` + envID + `3"]}`,
			warning: "read x takes up to 3 requests and has 2", fault: "it takes 3 requests and has 2",
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			folder := write(t, map[string]string{"r.yaml": "rules:\n" + c.text})
			_, warnings, err := rules.Check(folder)
			if err != nil || strings.Contains(warnings.Error(), "requests") != (c.warning != "") || !strings.Contains(warnings.Error(), c.warning) {
				t.Errorf("%s: %v, warnings\n%v\nwant %q", c.reason, err, warnings, c.warning)
			}
			set, _, err := rules.Load(filepath.Join(folder, "r.yaml"))
			if err != nil {
				t.Fatal(err)
			}
			got := registry(t, set).PreCheck(t.Context(), extensionhost.Request{Object: extensiontest.Object(t, childID, c.desired, ""), Resolver: &extensiontest.Resolver{}})
			if failed := got.Action == resource.ActionError; failed != (c.fault != "") || failed && (!strings.Contains(got.Message, c.fault) || !strings.Contains(got.Origin, "rule ")) {
				t.Errorf("%s: got %s %q of %s, want %q", c.reason, got.Action, got.Message, got.Origin, c.fault)
			}
		})
	}
}

// TestCasesOfMany holds what a test of a rule states for several resources.
func TestCasesOfMany(t *testing.T) {
	const (
		head = "rules:\n  - {name: r, type: Contoso.Things/parents/children, at: pre, "
		each = head + `read: {envs: {each: "desired.envs[*].id"}}, when: 'envs.exists(e, e.tier == "B")', block: "${envs.map(e, e.tier)}"}` + "\ntests:\n  - {name: t, rule: r, desired: {envs: [{id: " + group + "Contoso.Things/environments/e1}, {id: " + group + "Contoso.Things/environments/e2}]}, "
		list = head + `read: {others: {list: Contoso.Things/parents/children}}, when: 'size(others) == 1', block: "${others[0].properties.apiKey}"}` + "\ntests:\n  - {name: t, rule: r, "
	)
	cases := map[string]struct{ reason, text, want string }{
		"each":                    {"in the order of the IDs", each + "reads: {envs: [{tier: A}, {tier: B}]}, want: block, message: '[\"A\",\"B\"]'}\n", ""},
		"one is absent":           {"null", each + "reads: {envs: [{tier: B}, null]}, want: block, reason: ReferenceNotFound}\n", ""},
		"fewer":                   {"the others are absent", each + "reads: {envs: [{tier: B}]}, want: block, reason: ReferenceNotFound}\n", ""},
		"more":                    {"nothing reads the third", each + "reads: {envs: [{tier: A}, {tier: A}, {tier: B}]}, want: pass}\n", "the test states 3 resources under reads for envs, and the rule read 2"},
		"not read":                {"no IDs", strings.Replace(each, "desired: {envs:", "desired: {other:", 1) + "reads: {envs: [{tier: A}]}, want: pass}\n", "the rule did not read envs, although the test states it under reads"},
		"values of a failure":     {"the list is none of the shown values", each + "reads: {envs: [{tier: A}, {tier: A}]}, want: block}\n", `got pass "", want block`},
		"a body for several":      {"a list is needed", each + "reads: {envs: {tier: A}}, want: pass}\n", "rule r reads several resources as envs: state a list of bodies"},
		"a list for one":          {"a body is needed", head + "read: {env: desired.env}}\ntests:\n  - {name: t, rule: r, reads: {env: [{a: 1}]}, want: pass}\n", "rule r reads one resource as env: state its body, not a list"},
		"a list for nothing":      {"the rule has no such read", head + "read: {env: desired.env}}\ntests:\n  - {name: t, rule: r, reads: {envs: [{a: 1}]}, want: pass}\n", "rule r reads nothing as envs"},
		"null in a list":          {"a list shows what exists", list + "reads: {others: [null]}, want: pass}\n", "others has the resources of a list, which are all there: leave null out"},
		"list":                    {"masked as on a worker", list + "reads: {others: [{name: c2, properties: {apiKey: hunter2}}]}, want: block, message: hunter2}\n", `message "(masked) `},
		"list without itself":     {"children1 is the example name", strings.Replace(list, "size(others) == 1", `size(others) == 1 && others[0].name == "x"`, 1) + "reads: {others: [{name: children1}, {name: x}]}, want: block}\n", ""},
		"empty list":              {"of a test that states none", list + "want: pass}\n", ""},
		"a list that is stated":   {"and empty", list + "reads: {others: []}, want: pass}\n", ""},
		"a list that is not read": {"the rule does not run in a forced pass", strings.Replace(list, "at: pre", "at: owner", 1) + "owner: {}, forced: true, reads: {others: []}, want: pass}\n", "the rule did not read others"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			outcomes, _, err := rules.Test(t.Context(), write(t, map[string]string{"r.yaml": c.text}))
			got := fmt.Sprint(err)
			if err == nil {
				got = ""
				for _, outcome := range outcomes {
					got += outcome.Failure
				}
			}
			if c.want == "" && got != "" || !strings.Contains(got, c.want) {
				t.Errorf("%s: the failure is %q, want %q", c.reason, got, c.want)
			}
		})
	}
}
