package rules_test

import (
	"strings"
	"testing"
)

// TestCasesSeeWhatAWorkerSees holds that a test of a rule is no greener than a worker: secrets
// are masked, facts about types count, what is stated is read, and a resource that does not
// exist yet can be created.
func TestCasesSeeWhatAWorkerSees(t *testing.T) {
	const (
		head     = "rules:\n  - {name: r, type: Contoso.Things/parents/children, "
		envRead  = "read: {env: desired.env}, when: env.tier == 'A', block: tier A, at: pre}\ntests:\n  - {name: t, rule: r, "
		stated   = "desired: {env: " + envID + "}, "
		appEnv   = "/subscriptions/00000000-0000-0000-0000-000000000001/resourceGroups/rg1/providers/Microsoft.App/managedEnvironments/e"
		apiKey   = "when: observed.properties.apiKey != null, block: 'the key is ${observed.properties.apiKey}', at: pre}\ntests:\n  - {name: t, rule: r, "
		waits    = "when: state(observed) != 'Succeeded', block: wait, at: pre}\ntests:\n  - {name: t, rule: r, observed: {properties: {provisioningState: Succeeded}}, want: pass}\n"
		cdnToken = "rules:\n  - {name: r, type: Microsoft.Cdn/profiles/customDomains, at: post, when: 'true', fail: 'publish ${observed.properties.validationProperties.validationToken}'}\ntests:\n" +
			"  - {name: t, rule: r, observed: {properties: {validationProperties: {validationToken: abc}}}, want: fail, message: publish abc}\n"
	)
	cases := map[string]struct{ reason, text, want string }{
		"a secret in the message":  {"a worker masks it", head + apiKey + "observed: {properties: {apiKey: hunter2}}, want: block, message: the key is hunter2}\n", `message "the key is (masked) `},
		"a public value":           {"a fact of the type says that it is no secret", cdnToken, ""},
		"a secret of another":      {"what is read is masked too", head + "read: {env: desired.env}, when: env.apiKey == 'x', block: b, at: pre}\ntests:\n  - {name: t, rule: r, " + stated + "reads: {env: {apiKey: x}}, want: block}\n", `got pass "", want block`},
		"a secret of the owner":    {"so is the owner", head + "when: owner.apiKey == 'x', block: b, at: owner}\ntests:\n  - {name: t, rule: r, owner: {apiKey: x}, want: block}\n", `got pass "", want block`},
		"a busy word of a type":    {"what is read is not ready by the facts of its type", head + "read: {env: desired.env}, at: pre}\ntests:\n  - {name: t, rule: r, desired: {env: " + appEnv + "}, reads: {env: {properties: {provisioningState: UpgradeRequested}}}, want: pass}\n", `is not ready: properties.provisioningState is`},
		"a busy word of this file": {"the rules of one file hold together", "rules:\n  - {name: busy, type: Contoso.Things/environments, path: properties.x, busy: Baking}\n" + strings.TrimPrefix(head, "rules:\n") + "read: {env: desired.env}, at: pre}\ntests:\n  - {name: t, rule: r, " + stated + "reads: {env: {properties: {x: baking}}}, want: pass}\n", `is not ready: properties.x is`},
		"a read that is not made":  {"its ID is not set", head + envRead + "reads: {env: {tier: B}}, want: pass}\n", "the rule did not read env, although the test states it"},
		"a read that is made":      {"its ID is set", head + envRead + stated + "reads: {env: {tier: B}}, want: pass}\n", ""},
		"a rule that never runs":   {"a forced pass checks no owner", head + "when: 'true', block: b, at: owner}\ntests:\n  - {name: t, rule: r, owner: {}, forced: true, want: block}\n", `got pass "", want block`},
		"no creation":              {"an absent resource has no state", head + waits, `blocks it while it does not exist ("wait")`},
		"no creation, as stated":   {"a test may state it", head + waits + "  - {name: u, rule: r, observed: null, want: block}\n", ""},
		"a creation":               {"the condition begins with observed", head + strings.Replace(waits, "when: ", "when: observed != null && ", 1), ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got := strings.TrimSpace(strings.Join(failures(t, c.text), "\n"))
			if c.want == "" && got != "" || !strings.Contains(got, c.want) {
				t.Errorf("%s: the failures are %q, want %q", c.reason, got, c.want)
			}
		})
	}
}
