package rules_test

import (
	"strings"
	"testing"

	"github.com/armature-io/armature/extensions/rules"
)

// failures runs the tests of a file and returns how each failed, with what it saw.
func failures(t *testing.T, text string) []string {
	t.Helper()
	outcomes, _, err := rules.Test(t.Context(), write(t, map[string]string{"r.yaml": text}))
	if err != nil {
		t.Fatal(err)
	}
	var failed []string
	for _, outcome := range outcomes {
		failed = append(failed, strings.Join(append([]string{outcome.Failure}, outcome.Seen...), "\n"))
	}
	return failed
}

// A test of a rule states everything that its expressions see.
func TestCaseInputs(t *testing.T) {
	text := `rules:
  - name: calendar
    type: Contoso.Things/parents/children
    when: now.getDayOfWeek() == 5 && labels.team == "blue" && ownerName == "p7" && name == "c7" && id.startsWith(ownerID)
    block: not on a Friday, ${name} of ${ownerName}
    reason: Friday
  - name: reads
    type: Contoso.Things/parents/children
    at: post
    read: {env: desired.env, twin: "${ownerID}/children/twin"}
    when: env.tier != twin.tier
    fail: ${env.tier} and ${twin.tier}
  - name: capacity
    type: Contoso.Things/parents
    at: error
    code: Full
    retry: None
    reason: NoRoom
    advice: wait
  - name: tag
    type: Contoso.Things/parents
    at: payload
    when: labels.team != null
    set: {tags.team: labels.team}
  - name: facts
    type: Contoso.Things/parents
    busy: [Baking]
    stopped: ["Off"]
tests:
  - name: a Friday
    rule: calendar
    now: 2026-01-02T12:00:00Z
    labels: {team: blue}
    id: ` + strings.Replace(childID, "/p1/children/c1", "/p7/children/c7", 1) + `
    owner: {}
    want: block
    message: not on a Friday, c7 of p7
    reason: Friday
  - {name: an owner by name, rule: calendar, ownerName: p7, owner: {}, now: 2026-01-02T12:00:00Z, labels: {team: blue}, want: pass}
  - {name: different, rule: reads, desired: {env: ` + envID + `}, reads: {env: {tier: a}, twin: {tier: b}}, owner: {}, want: fail, message: a and b}
  - {name: unready, rule: reads, desired: {env: ` + envID + `}, reads: {env: {tier: a}, twin: {properties: {provisioningState: Updating}}}, owner: {}, want: fail, reason: ReferenceNotReady}
  - {name: absent, rule: reads, desired: {env: ` + envID + `}, reads: {env: null}, owner: {}, want: fail, reason: ReferenceNotFound}
  - {name: full, rule: capacity, error: {code: full, message: no, status: 409}, want: None, reason: NoRoom, message: no. wait}
  - {name: another, rule: capacity, error: {code: Other}, want: pass}
  - {name: tagged, rule: tag, labels: {team: x}, payload: {tags: {a: b}, n: 1}, want: {tags: {a: b, team: x}, n: 1}}
  - {name: untagged, rule: tag, payload: {tags: {a: b}}, want: {tags: {a: b}}}
  - {name: busy, rule: facts, observed: {properties: {state: baking}}, want: busy}
  - {name: stopped, rule: facts, observed: {properties: {state: off}}, want: stopped}
  - {name: neither, rule: facts, observed: {properties: {state: On}}, want: pass}
`
	for i, failure := range failures(t, text) {
		if failure != "" {
			t.Errorf("case %d: %s", i, failure)
		}
	}
	wrong := strings.NewReplacer("want: busy", "want: stopped", "team: x}, n: 1}}", "team: y}, n: 1}}", "want: None", "want: Slow", "reason: ReferenceNotFound", "reason: Other").Replace(text)
	wrongs := 0
	for _, failure := range failures(t, wrong) {
		if failure != "" {
			wrongs++
		}
	}
	if wrongs != 4 {
		t.Errorf("%d of 4 wrong cases failed", wrongs)
	}
}

// A failed test shows the values that the condition compared.
func TestFailedCaseShowsValues(t *testing.T) {
	got := failures(t, one(`when: '!forced && among(text(observed, "properties.state"), ["Starting"]) && items(observed.list).exists(i, i.x > 1) && size(name) == 3'`, "block: x")+
		"tests:\n  - {name: t, rule: r, observed: {properties: {state: Stopped}, list: [{x: 1}]}, want: block}\n")
	for _, want := range []string{`got pass "", want block`, `forced is false`, `text(observed, "properties.state") is "Stopped"`, `observed.list is [{"x":1}]`, `name is "children1"`, `i.x`} {
		if has := strings.Contains(got[0], want); has != (want != "i.x") {
			t.Errorf("%q: %v in\n%s", want, has, got[0])
		}
	}
}

// A condition over the limit shows what it costs.
func TestCostOfACase(t *testing.T) {
	if testing.Short() {
		t.Skip("the race detector takes a minute for the cost limit")
	}
	fifty, thousand := "["+strings.Repeat("1,", 49)+"1]", "["+strings.Repeat("1,", 999)+"1]"
	for name, c := range map[string]struct{ when, want string }{
		"some": {fifty + ".all(a, " + thousand + ".all(b, a + b > 0))", "the condition costs "},
		"huge": {thousand + ".all(a, " + thousand + ".all(b, " + thousand + ".all(c, a + b + c > 0)))", "the condition costs over 800000 units"},
	} {
		t.Run(name, func(t *testing.T) {
			got := failures(t, one("when: |-", "  "+c.when, "block: x")+"tests:\n  - {name: t, rule: r, want: block}\n")
			if !strings.Contains(got[0], "over the cost limit of 200000 units") || !strings.Contains(got[0], c.want) {
				t.Errorf("got %s", got[0])
			}
		})
	}
}
