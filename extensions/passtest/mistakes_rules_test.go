package passtest_test

import "strings"

// ruleFile returns a file with one rule of a Kusto cluster, and one test of it.
func ruleFile(lines ...string) string {
	return "rules:\n  - name: r\n    type: Microsoft.Kusto/clusters\n    " + strings.Join(lines, "\n    ") +
		"\ntests:\n  - {name: t, rule: r, observed: {properties: {state: Stopped}}, want: block}\n"
}

// cond is a right condition, why a right message.
const (
	cond = `when: observed.properties.state == "Stopped"`
	why  = "block: the cluster is stopped"
)

// ruleMistakes are those of authors of rules.
func ruleMistakes() map[string]mistake {
	check := func(file, at, says string) mistake {
		return mistake{by: "`armature rules check`", when: inCheck, rules: file, at: `r\.yaml:` + at + `: `, says: says}
	}
	test := func(file, at, says string) mistake {
		return mistake{by: "`armature rules test`", when: inTest, rules: file, at: `r\.yaml:` + at, says: says}
	}
	// file is a file of one rule of a type, with the lines after its type.
	file := func(resourceType string, lines ...string) string {
		return "rules:\n  - name: r\n    type: " + resourceType + "\n    " + strings.Join(lines, "\n    ") + "\n"
	}
	const (
		pools  = "Microsoft.Batch/batchAccounts/pools"
		thingy = "Contoso.Things/things"
		cases  = "tests:\n  - {name: t, rule: r, "
		envID  = group + "/providers/Microsoft.App/managedEnvironments/e"
	)
	return map[string]mistake{
		"a misspelt word of busy":                        check(file(pools, "path: properties.allocationState", "busy: [Resizng]"), `5:\d+`, `"Resizng" is no published value of properties.allocationState \(did you mean Resizing\?\)`),
		"a misspelt path of busy":                        check(file(pools, "path: properties.allocationStat", "busy: [Resizing]"), `4:\d+`, `Microsoft.Batch/batchAccounts/pools has no properties.allocationStat \(did you mean allocationState\?\)`),
		"a misspelt word of stopped":                     check(file("Microsoft.Kusto/clusters", "stopped: Stoped"), `4:\d+`, `"Stoped" is no published value of [^\n]* \(did you mean Stopped\?\)`),
		"a misspelt word of among":                       check(ruleFile(`when: among(text(observed, "properties.state"), ["stopd", "Startng"])`, why), `4:\d+`, `"Startng" is no published value of [^\n]* \(did you mean Starting\?\)`),
		"a condition that lets nothing be created":       check(ruleFile(`when: state(observed) != "Succeeded"`, why), `4:\d+`, `the condition is true for every resource that does not exist yet, so that none is ever created`),
		"a pre-rule whose tests know no creation":        test(file(thingy, "when: observed.a != desired.a", "block: x")+cases+"desired: {a: x}, observed: {a: x}, want: pass}\n", `\d+`, `blocks it while it does not exist`),
		"a misspelt property of a read resource":         check(file("Microsoft.App/containerApps", "at: pre", "read: {env: desired.properties.environmentId}", "when: env.properties.staticIpp == null", "block: x")+cases+"desired: {properties: {environmentId: "+envID+"}}, reads: {env: {}}, want: block}\n", `6:\d+`, `Microsoft.App/managedEnvironments has no properties.staticIpp \(did you mean staticIp\?\)`),
		"a payload rule sets what Azure sets":            check(ruleFile(`set: {properties.state: '"Running"'}`), `4:\d+`, `properties.state of Microsoft.Kusto/clusters is set by Azure`),
		"a masked value in a message of a rule":          check(file(thingy, "when: observed.a == 1", "block: 'key ${observed.properties.apiKey}'"), `5:\d+`, `properties.apiKey of Contoso.Things/things is a secret by its name or its type`),
		"a masked value in a condition of a rule":        test(file(thingy, "when: observed.properties.apiKey == 'x'", "block: b")+cases+"observed: {properties: {apiKey: x}}, want: block}\n", `\d+`, `got pass[^\n]*want block`),
		"a read that the rule never makes":               test(file(thingy, "at: pre", "read: {env: desired.env}", "when: env.a == 1", "block: b")+cases+"reads: {env: {a: 2}}, want: pass}\n", `\d+`, `the rule did not read env, although the test states it under reads`),
		"a path of IDs that the type does not have":      check(file("Microsoft.Cdn/profiles/afdEndpoints/routes", "read: {domains: {each: 'desired.properties.customDomain[*].id'}}"), `4:\d+`, `Microsoft.Cdn/profiles/afdEndpoints/routes has no properties.customDomain \(did you mean customDomains\?\)`),
		"a path of IDs that leads to objects":            check(file("Microsoft.Cdn/profiles/afdEndpoints/routes", "read: {domains: {each: 'desired.properties.customDomains[*]'}}"), `4:\d+`, `is no text, and so no ID`),
		"a list that is read like a body":                check(file(pools, "read: {pools: {list: "+pools+"}}", "when: state(pools) == ''", "block: b"), `5:\d+`, `pools is a list of resources and has no properties`),
		"a misspelt property of a resource in a list":    check(file(pools, "read: {pools: {list: "+pools+"}}", "when: pools.exists(p, p.properties.vmSiz == 'x')", "block: b"), `5:\d+`, `Microsoft.Batch/batchAccounts/pools has no properties.vmSiz \(did you mean vmSize\?\)`),
		"more bodies in a test than the rule reads":      test(file(thingy, "at: pre", "read: {envs: {each: 'desired.envs[*]'}}", "when: envs.exists(e, e.a == 1)", "block: b")+cases+"desired: {envs: ["+envID+"]}, reads: {envs: [{a: 0}, {a: 1}]}, want: pass}\n", `\d+`, `the test states 2 resources under reads for envs, and the rule read 1`),
		"a rule that reads its own resource":             check(file(thingy, "at: pre", "read: {self: id}"), `5:\d+`, `read self names the resource itself`),
		"text() of a number":                             check(ruleFile(`when: text(observed, "sku.capacity") == "3"`, why), `4:\d+`, `sku.capacity of Microsoft.Kusto/clusters is no text, so that text\(\) is always ""`),
		"a forced owner rule":                            test(file(thingy, "at: owner", "when: owner.a == 1", "block: b")+cases+"owner: {a: 1}, forced: true, want: block}\n", `\d+`, `got pass[^\n]*want block`),
		"a busy word of another rule is overlooked":      test("rules:\n  - {name: b, type: Contoso.Things/envs, path: properties.x, busy: Baking}\n  - {name: r, type: "+thingy+", at: pre, read: {env: desired.env}}\n"+cases+"desired: {env: "+strings.Replace(envID, "Microsoft.App/managedEnvironments", "Contoso.Things/envs", 1)+"}, reads: {env: {properties: {x: Baking}}}, want: pass}\n", `\d+`, `is not ready: properties.x is`),
		"a syntax error in a condition":                  check(ruleFile("when: observed.properties.state ==", why), `4:\d+`, `Syntax error`),
		"an unknown function":                            check(ruleFile("when: stat(observed) == \"x\"", why), `4:\d+`, `undeclared reference to 'stat'[^\n]*`),
		"an unknown variable":                            check(ruleFile("when: obsrved.properties.state == \"x\"", why), `4:\d+`, `undeclared reference to 'obsrved'[^\n]*`),
		"a condition that is no truth value":             check(ruleFile(`when: 'state(observed)'`, why), `4:\d+`, `the expression has type string, want bool`),
		"the resource in an owner rule":                  check(ruleFile("at: owner", cond, why), `5:\d+`, `undeclared reference to 'observed'[^\n]*`),
		"a misspelt field":                               check(ruleFile("whem: 'true'", why), `4:\d+`, `unknown field "whem"( \(did you mean when\?\))?`),
		"a misspelt type of a rule":                      check(strings.Replace(ruleFile(cond, why), "Kusto/clusters", "Kusto/clustrs", 1), `3:\d+`, `unknown type Microsoft.Kusto/clustrs \(did you mean Microsoft.Kusto/clusters\?\)`),
		"an api-version in the type of a rule":           check(strings.Replace(ruleFile(cond, why), "Kusto/clusters", "Kusto/clusters@2023-08-15", 1), `3:\d+`, `"Microsoft.Kusto/clusters@2023-08-15" is not a resource type`),
		"a misspelt property":                            check(ruleFile(`when: observed.properties.stat == "Stopped"`, why), `4:\d+`, `Microsoft.Kusto/clusters has no properties.stat \(did you mean state\?\)`),
		"a state word in the wrong case":                 check(ruleFile(`when: observed.properties.state == "stopped"`, why), `4:\d+`, `Azure writes "Stopped"[^;\n]*`),
		"a state word that Azure does not use":           check(ruleFile(`when: observed.properties.state == "Stoped"`, why), `4:\d+`, `"Stoped" is no published value of observed.properties.state \(did you mean Stopped\?\)`),
		"a malformed path in text()":                     check(ruleFile(`when: text(observed, "properties..state") == "Stopped"`, why), `4:\d+`, `parse path "properties..state": a name is empty`),
		"a condition that is always true":                check(ruleFile("when: 'true'", why), `4:\d+`, `the condition is always true`),
		"two rules with one name":                        check(strings.Replace(ruleFile(cond, why), "tests:", "  - name: r\n    type: Microsoft.Kusto/clusters\n    when: observed == null\n    block: x\ntests:", 1), `\d+:\d+`, `rule r is defined twice`),
		"two rules with one condition":                   check(strings.Replace(ruleFile(cond, why), "tests:", "  - name: s\n    type: Microsoft.Kusto/clusters\n    "+cond+"\n    block: x\ntests:", 1), `\d+:\d+`, `rule s has the same condition as rule r`),
		"a number compared with a whole number":          check(ruleFile("when: number(observed.properties.n, 0) > 3", why), `4:\d+`, `no matching overload[^\n]*`),
		"a condition that begins with an unquoted !":     check(ruleFile("when: !forced && observed == null", why), `4:\d+`, `quote an expression that begins with !, which is a tag in YAML`),
		"a message whose ${ is not closed":               check(ruleFile(cond, "block: the cluster ${name is stopped"), `5:\d+`, `\$\{ is not closed by \}`),
		"an unknown name in a message":                   check(ruleFile(cond, "block: the cluster ${nam} is stopped"), `5:\d+`, `undeclared reference to 'nam'[^\n]*`),
		"an unknown severity":                            check(ruleFile(cond, why, "severity: Fatal"), `6:\d+`, `severity must be Info, Warning or Error, not "Fatal"`),
		"an unknown retry class of a rule":               check(ruleFile(cond, why, "retry: Sometimes"), `6:\d+`, `retry must be Fast, Slow, VerySlow or None`),
		"a reason of two words in a rule":                check(ruleFile(cond, why, "reason: two words"), `6:\d+`, `reason must be one word such as ChangeFreeze, not "two words"`),
		"a block after the PUT":                          check(ruleFile("at: post", cond, why), `6:\d+`, `a rule at post needs fail, not block: the PUT is done`),
		"a test for no rule":                             check(strings.Replace(ruleFile(cond, why), "rule: r", "rule: q", 1), `7:\d+`, `test "t" refers to rule "q", which does not exist`),
		"a rule without a test":                          check(strings.Split(ruleFile(cond, why), "tests:")[0], `2:\d+`, `rule r has no test`),
		"a rule that its tests never see applied":        check(strings.NewReplacer("want: block", "want: pass", "Stopped}}", "Running}}").Replace(ruleFile(cond, why)), `\d+:\d+`, `rule r applies in none of its tests`),
		"a condition that does not apply where it ought": test(strings.Replace(ruleFile(cond, why), "Stopped}}", "Stopping}}", 1), `\d+`, `got pass[^\n]*want block`),
		"an absent value compared by size":               test(ruleFile("when: observed.properties.n > 3.0", why), `\d+`, `no such overload[^\n]*`),
	}
}
