package rules_test

import (
	"strings"
	"testing"

	"github.com/armature-io/armature/extensions/rules"
)

// warned returns the warnings for a rule file.
func warned(t *testing.T, text string) string {
	t.Helper()
	_, warnings, err := rules.Check(write(t, map[string]string{"r.yaml": text}))
	if err != nil {
		t.Fatal(err)
	}
	return warnings.Error()
}

// cluster returns a file with one tested rule for a Kusto cluster.
func cluster(lines ...string) string {
	return "rules:\n  - name: r\n    type: Microsoft.Kusto/clusters\n    " + strings.Join(lines, "\n    ") +
		"\ntests:\n  - {name: t, rule: r, want: block}\n"
}

// route returns a file with one rule for a route of Front Door.
func route(lines ...string) string {
	return "rules:\n  - name: r\n    type: Microsoft.Cdn/profiles/afdEndpoints/routes\n    " + strings.Join(lines, "\n    ") + "\n"
}

// pool returns a file with one rule for a pool that reads the other pools.
func pool(lines ...string) string {
	return "rules:\n  - name: r\n    type: Microsoft.Batch/batchAccounts/pools\n    read: {pools: {list: Microsoft.Batch/batchAccounts/pools}}\n    " + strings.Join(lines, "\n    ") + "\n"
}

func TestLint(t *testing.T) {
	cases := map[string]struct{ reason, text, want string }{
		"lower-case word":     {"CEL compares case", cluster(`when: state(observed) == "updating"`, "block: x"), `r.yaml:4:30: warning: when: Azure writes "Updating", and == compares letters with their case; write among(state(observed), ["Updating"])`},
		"not that word":       {"and blocks always", cluster(`when: state(observed) != "succeeded"`, "block: x"), `Azure writes "Succeeded"`},
		"the other way round": {"either side", cluster(`when: '"stopped" == observed.properties.state'`, "block: x"), `Azure writes "Stopped"`},
		"a list of words":     {"in compares too", cluster(`when: text(observed, "properties.state") in ["Starting", "stopping"]`, "block: x"), `r.yaml:4:62: warning: when: Azure writes "Stopping"`},
		"lowered":             {"lower never gives capitals", cluster(`when: lower(state(observed)) == "Updating"`, "block: x"), `lower(state(observed)) is in lower case and never "Updating"; compare it with "updating"`},
		"misspelt word":       {"the nearest published value", cluster(`when: observed.properties.state == "Stoped"`, "block: x"), `"Stoped" is no published value of observed.properties.state (did you mean Stopped?)`},
		"unpublished state": {
			"usual words", "rules:\n  - name: r\n    type: Microsoft.Sql/servers\n    when: observed.properties.state == \"ready\"\n    block: x\n", `Azure writes "Ready"`,
		},
		"absent property":   {"the nearest name", cluster(`when: observed.properties.stat == "x"`, "block: x"), `r.yaml:4:11: warning: when: Microsoft.Kusto/clusters has no properties.stat (did you mean state?)`},
		"absent in a text":  {"literal paths", cluster(`when: text(desired, "sku.nam") == "x"`, "block: x"), `Microsoft.Kusto/clusters has no sku.nam (did you mean name?)`},
		"absent in message": {"messages too", cluster(`when: observed == null`, "block: 'a ${desired.skuu.name}'"), `r.yaml:5:17: warning: the message: Microsoft.Kusto/clusters has no skuu (did you mean sku?)`},
		"absent in owner": {
			"of the owner's type", "rules:\n  - name: r\n    type: Microsoft.Kusto/clusters/databases\n    at: owner\n    when: owner.properties.stae == null\n    block: x\n",
			`Microsoft.Kusto/clusters has no properties.stae (did you mean state?)`,
		},
		"absent in a read": {
			"of the type of a composed ID", "rules:\n  - name: r\n    type: Microsoft.Kusto/clusters/databases\n    at: pre\n    read: {twin: '${ownerID}/databases/other'}\n    when: twin.properties.sizze == null\n    block: x\n",
			"Microsoft.Kusto/clusters/databases has no properties.sizze",
		},
		"absent in set": {"changed paths", cluster("set: {properties.engineTyp: '\"V3\"'}"), "Microsoft.Kusto/clusters has no properties.engineTyp (did you mean engineType?)"},
		"absent in a named read": {
			"of the type of the ID in a test", "rules:\n  - {name: r, type: Microsoft.App/containerApps, at: pre, read: {env: desired.properties.environmentId}, when: env.properties.staticIpp == null, block: x}\n" +
				"tests:\n  - {name: t, rule: r, desired: {properties: {environmentId: " + group + "Microsoft.App/managedEnvironments/e}}, reads: {env: {}}, want: block}\n",
			"Microsoft.App/managedEnvironments has no properties.staticIpp (did you mean staticIp?)",
		},
		"absent in a computed read": {
			"of the type of the ID for example names", "rules:\n  - {name: r, type: Microsoft.Kusto/clusters/databases/dataConnections, at: pre, read: {cluster: 'ownerID.split(\"/databases/\")[0]'}, when: cluster.properties.stat == null, block: x}\n",
			"Microsoft.Kusto/clusters has no properties.stat (did you mean state?)",
		},
		"absent at each": {
			"of the rule's own type", route("read: {domains: {each: 'desired.properties.customDomain[*].id'}}"), "r.yaml:4:28: warning: each: Microsoft.Cdn/profiles/afdEndpoints/routes has no properties.customDomain (did you mean customDomains?)",
		},
		"objects at each":      {"an object is no ID", route("read: {domains: {each: 'desired.properties.customDomains[*]'}}"), "is no text, and so no ID; name the property with the ID, such as desired.properties.customDomains[*].id"},
		"absent in an element": {"of the type of the list", pool(`when: pools.exists(p, p.properties.vmSiz == "x")`, "block: x"), "r.yaml:5:27: warning: when: Microsoft.Batch/batchAccounts/pools has no properties.vmSiz (did you mean vmSize?)"},
		"absent after a filter": {
			"of the elements that it leaves", pool(`when: 'true || pools.filter(p, p != null).all(q, text(q, "properties.vmSiz") == "")'`, "block: x"), "Microsoft.Batch/batchAccounts/pools has no properties.vmSiz (did you mean vmSize?)",
		},
		"word of an element":   {"in the letters of Azure", pool(`when: pools.exists(p, p.properties.allocationState == "resizing")`, "block: x"), `Azure writes "Resizing"`},
		"masked in an element": {"as in a body", pool("when: size(pools) == 1", "block: '${pools.map(p, p.properties.deploymentConfiguration.virtualMachineConfiguration.containerConfiguration.containerRegistries[0].password)}'"), "is a secret by its name or its type"},
		"absent in an element of each": {
			"of the type of the IDs in a test", "rules:\n  - {name: r, type: Microsoft.App/containerApps, at: pre, read: {envs: {each: 'desired.properties.x[*]'}}, when: 'envs.exists(e, e.properties.staticIpp == null)', block: x}\n" +
				"tests:\n  - {name: t, rule: r, desired: {properties: {x: [" + group + "Microsoft.App/managedEnvironments/e]}}, reads: {envs: [{}]}, want: block}\n",
			"Microsoft.App/managedEnvironments has no properties.staticIpp (did you mean staticIp?)",
		},
		"a list as a body":     {"it has no state", pool(`when: state(pools) == ""`, "block: x"), "r.yaml:5:11: warning: when: pools is a list of resources and has no properties; ask one of them: pools.exists(x, state(x) == ...)"},
		"unknown list":         {"nearest name", strings.Replace(pool("when: size(pools) == 1", "block: x"), "{list: Microsoft.Batch/batchAccounts/pools}", "{list: Microsoft.Batch/batchAccounts/pool}", 1), "unknown type Microsoft.Batch/batchAccounts/pool (did you mean Microsoft.Batch/batchAccounts/pools?)"},
		"set by Azure":         {"a PUT cannot set it", cluster("set: {properties.state: '\"Running\"'}"), "properties.state of Microsoft.Kusto/clusters is set by Azure"},
		"misspelt busy word":   {"no resource is ever busy", "rules:\n  - name: r\n    type: Microsoft.Batch/batchAccounts/pools\n    path: properties.allocationState\n    busy: [Resizng, Stopping]\n", `r.yaml:5:12: warning: "Resizng" is no published value of properties.allocationState (did you mean Resizing?)`},
		"misspelt busy path":   {"no resource has it", "rules:\n  - name: r\n    type: Microsoft.Batch/batchAccounts/pools\n    path: properties.allocationStat\n    busy: Resizing\n", "r.yaml:4:11: warning: Microsoft.Batch/batchAccounts/pools has no properties.allocationStat (did you mean allocationState?)"},
		"misspelt stopped":     {"on both default paths", "rules:\n  - name: r\n    type: Microsoft.Kusto/clusters\n    stopped: Stoped\n", `"Stoped" is no published value of properties.provisioningState or properties.state (did you mean Stopped?)`},
		"never created":        {"an absent resource has no state", cluster(`when: state(observed) != "Succeeded"`, "block: x"), "r.yaml:4:11: warning: the condition is true for every resource that does not exist yet"},
		"never created either": {"a forced pass is no way out", cluster(`when: '!forced && observed.properties.state == null && true'`, "block: x"), "so that none is ever created; begin it with observed != null &&"},
		"masked in a message":  {"by its name", cluster("when: observed == null", "block: 'the key is ${observed.properties.languageExtensions.accessKey}'"), "a worker shows a mask in its place"},
		"masked in a read":     {"what is read is masked too", "rules:\n  - {name: r, type: Contoso.Things/parents/children, at: pre, read: {twin: '${ownerID}/children/other'}, when: twin != null, block: 'key ${quote(text(twin, \"properties.list[name=a].apiKey\"))}'}\n", "properties.list[name=a].apiKey of Contoso.Things/parents/children is a secret"},
		"misspelt among":       {"among ignores case, and compares words", cluster(`when: among(observed.properties.state, ["STOPPED", "Startng"])`, "block: x"), `"Startng" is no published value of observed.properties.state (did you mean Starting?)`},
		"text of a number":     {"it is always empty", cluster(`when: text(observed, "sku.capacity") == "3"`, "block: x"), `sku.capacity of Microsoft.Kusto/clusters is no text, so that text() is always ""`},
		"a read of itself":     {"it does not exist before its creation", "rules:\n  - name: r\n    type: Contoso.Things/parents/children\n    at: pre\n    read: {self: id}\n", "warning: read self names the resource itself"},
		"two points":           {"a malformed path", cluster(`when: text(observed, "properties..state") == ""`, "block: x"), `parse path "properties..state": a name is empty`},
		"open bracket":         {"a malformed path", cluster(`when: at(observed, "l[name=") == null`, "block: x"), `[ is not closed by ]`},
		"malformed in map":     {"inside a loop", cluster(`when: items(observed.zones).exists(z, text(z, "a..b") == "")`, "block: x"), "a name is empty"},
		"no test":              {"nothing shows that it works", one("when: observed == null", "block: x"), "r.yaml:2:1: warning: rule r has no test"},
		"test that never fires": {
			"only its silence is tested", one("when: observed == null", "block: x") + "tests:\n  - {name: t, rule: r, observed: {}, want: pass}\n", "rule r applies in none of its tests; add one with want: block",
		},
		"same condition": {
			"one of them is a slip", one("when: observed == null", "block: x") + "  - name: s\n    type: contoso.things/Parents/children\n    when: (observed==null)\n    block: y\n", "rule s has the same condition as rule r (",
		},
		"a wrong want":     {"the rule can never give it", one("when: observed == null", "block: x") + "tests:\n  - {name: t, rule: r, want: fail}\n", "want of a test of rule r, which is at pre, must be block or pass"},
		"always true":      {"no resource gets a PUT", one("when: 'true'", "block: x"), "r.yaml:4:11: warning: the condition is always true"},
		"always true by x": {"whatever the body", one("when: 'true || observed.x == 1'", "block: x"), "the condition is always true"},
		"always false":     {"it never applies", one("when: '1 > 2 && observed.x == 1'", "block: x"), "the condition is always false"},
		"unknown type":     {"nearest name", strings.Replace(cluster("when: observed == null", "block: x"), "Kusto/clusters", "Cache/rediss", 1), "unknown type Microsoft.Cache/rediss (did you mean Microsoft.Cache/redis?)"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if got := warned(t, c.text); !strings.Contains(got, c.want) {
				t.Errorf("%s: warnings\n%s\nwant %s", c.reason, got, c.want)
			}
		})
	}
}

// What is right gets no warning.
func TestLintIsSilent(t *testing.T) {
	for name, text := range map[string]string{
		"words":     cluster(`when: among(state(observed), ["updating"]) || state(observed) == "Updating" || lower(state(observed)) == "updating"`, "block: x"),
		"paths":     cluster(`when: observed.properties.state == "Stopped" && observed.tags["a.b"] == "x" && observed.tags.x == null && desired.sku.name != null`, "block: x"),
		"old paths": cluster(`when: items(observed.properties.trustedExternalTenants).exists(x, x.value == "") && observed.systemData.createdBy != null`, "block: '${name} of ${ownerName}'"),
		"times":     cluster(`when: now.getDayOfWeek("Europe/Berlin") == 5`, "block: x"),
		"a read":    cluster("at: pre", "read: {other: desired.tags.other}"),
		"a list":    pool(`when: pools.exists(p, p.properties.vmSize == "x") && pools.filter(p, state(p) == "").size() > 1`, "block: '${pools.map(p, p.name)}'") + "tests:\n  - {name: t, rule: r, reads: {pools: [{}, {properties: {vmSize: x}}]}, want: block}\n",
		"loops":     pool(`when: pools.exists(p, p.properties.vmSize == "x") && items(desired.properties.applicationPackages).exists(p, p.anything == 1)`, "block: x") + "tests:\n  - {name: t, rule: r, want: block}\n",
		"created":   cluster(`when: observed != null && state(observed) != "Succeeded"`, "block: x"),
		"a body":    cluster(`when: state(observed) != desired.tags.state`, "block: x"),
		"a public":  "rules:\n  - {name: r, type: Microsoft.Cdn/profiles/customDomains, at: post, when: observed.properties.hostName == null, fail: '${observed.properties.validationProperties.validationToken}'}\ntests:\n  - {name: t, rule: r, observed: {}, want: fail}\n",
		"own words": "rules:\n  - {name: r, type: Microsoft.Batch/batchAccounts/pools, path: properties.allocationState, busy: [resizing, Draining]}\ntests:\n  - {name: t, rule: r, observed: {properties: {allocationState: Resizing}}, want: busy}\n",
	} {
		t.Run(name, func(t *testing.T) {
			if got := warned(t, text); got != "" {
				t.Errorf("got %s", got)
			}
		})
	}
	count, warnings, err := rules.Check(example)
	if err != nil || count != 15 {
		t.Errorf("%d rules, %v", count, err)
	}
	for _, warning := range warnings {
		if !strings.Contains(warning.String(), "has no test") && !strings.Contains(warning.String(), "applies in none of its tests") {
			t.Errorf("the example: %s", warning)
		}
	}
}

func TestHints(t *testing.T) {
	cases := map[string]struct{ reason, text, want string }{
		"function":      {"the nearest one", one(`when: stat(observed) == "a"`, "block: x"), "undeclared reference to 'stat' (in container '') (did you mean state?)"},
		"variable":      {"the nearest one", one("when: obsrved == null", "block: x"), "(did you mean observed?)"},
		"number":        {"a fraction is written with a point", one("when: number(observed.n, 0) > 3", "block: x"), "write the whole number with a point: 3.0"},
		"not":           {"a tag of YAML", one(`when: !forced && observed == null`, "block: x"), "r.yaml:4:"},
		"not, quoted":   {"the hint", one(`when: !forced && observed == null`, "block: x"), "quote an expression that begins with !"},
		"not alone":     {"a valid tag is reported too", one(`when: !forced`, "block: x"), "quote an expression that begins with !"},
		"set text":      {"a text needs quotes", one("at: payload", "set: {tags.env: prod}"), `a text needs quotes inside the quotes: '"text"'`},
		"read names":    {"a name of CEL", one("at: pre", "read: {state: desired.x}"), `"state" cannot name a resource that is read`},
		"five reads":    {"the budget of a step", one("at: pre", "read: {a: desired.a, b: desired.a, c: desired.a, d: desired.a, e: desired.a}"), "a rule reads at most 4 resources, not 5"},
		"no star":       {"one ID", one("at: pre", "read: {a: {each: desired.list.id}}"), "each has no [*] and leads to one ID: write [*] behind the list, or id in place of each"},
		"each of now":   {"no body", one("at: pre", "read: {a: {each: 'now[*].id'}}"), `each is a path of IDs in desired, observed, owner, such as desired.properties.domains[*].id, not "now[*].id"`},
		"each at owner": {"it sees the owner", one("at: owner", "read: {a: {each: 'desired.list[*].id'}}"), "each is a path of IDs in owner, such as owner.properties.domains[*].id"},
		"each path":     {"malformed", one("at: pre", "read: {a: {each: 'desired..list[*].id'}}"), "each: parse path"},
		"each and list": {"one of them", one("at: pre", "read: {a: {each: 'desired.l[*].id', list: Contoso.Things/parents/children}}"), "read a needs the ID of a resource"},
		"max of one":    {"one is one", one("at: pre", "read: {a: {id: desired.a, max: 3}}"), "max is only valid beside each and list"},
		"max of each":   {"its bound", one("at: pre", "read: {a: {each: 'desired.l[*].id', max: 33}}"), `max beside each must be a number from 1 to 32, not "33"`},
		"max of list":   {"its bound", one("at: pre", "read: {a: {list: Contoso.Things/parents/children, max: 0}}"), `max beside list must be a number from 1 to 500, not "0"`},
		"list of what":  {"a type", one("at: pre", "read: {a: {list: siblings}}"), `list: "siblings" is not a resource type`},
		"list elsewhere": {
			"neither below nor beside", one("at: pre", "read: {a: {list: Contoso.Things/others/children}}"), "list: Contoso.Things/others/children is not directly below Contoso.Things/parents/children, nor below a resource above it",
		},
		"list and wait": {"its condition tests", one("at: pre", "read: {a: {list: Contoso.Things/parents/children, waitFor: ready}}"), "waitFor is not valid beside list"},
		"list's fields": {"its elements have some", one("at: pre", "read: {a: {list: Contoso.Things/parents/children}}", "when: a.properties.x == 1", "block: x"), "does not support field selection"},
		"list and null": {"it is never null", one("at: pre", "read: {a: {each: 'desired.l[*].id'}}", "when: a == null", "block: x"), "no matching overload"},
		"wait for":      {"three words", one("at: pre", "read: {a: {id: desired.a, waitFor: ever}}"), `waitFor must be ready, provisioned or nothing, not "ever"`},
		"read at error": {"no resolver", one("at: error", "code: X", "retry: Slow", "read: {a: error.a}"), "read is not valid in a rule at error; it is valid at owner, pre, post, payload"},
		"code at pre":   {"only at error", one("at: pre", "when: 'true'", "block: x", "code: X"), "code is not valid in a rule at pre; it is valid at error"},
		"busy and when": {"facts have no condition", one("busy: X", "when: 'true'"), "when is not valid beside busy or stopped"},
		"start alone":   {"of a stopped one", one("busy: X", "start: now"), "start is only valid beside stopped"},
		"path":          {"of facts", one("busy: X", "path: a..b"), "a name is empty"},
		"nothing set":   {"a payload rule", one("at: payload", "when: 'true'"), "changes nothing"},
		"error for all": {"an error rule", one("at: error", "retry: Slow"), "matches nothing"},
		"error as is":   {"an error rule", one("at: error", "code: X"), "changes nothing"},
		"set id":        {"what identifies it", one("set: {id: '\"x\"'}"), "id is not part of what a PUT changes"},
		"message":       {"a read has its own", one("at: pre", "read: {a: desired.a}", "block: x"), "the message belongs to a condition"},
		"test read":     {"that the rule does not make", one("when: 'true'", "block: x") + "tests:\n  - {name: t, rule: r, want: block, reads: {a: {}}}\n", "rule r reads nothing as a"},
		"test id":       {"of another type", one("when: 'true'", "block: x") + "tests:\n  - {name: t, rule: r, want: block, id: " + envID + "}\n", "id has type Contoso.Things/environments"},
		"test now":      {"no time", one("when: 'true'", "block: x") + "tests:\n  - {name: t, rule: r, want: block, now: Monday}\n", "now must be a time such as"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			_, _, err := rules.Check(write(t, map[string]string{"r.yaml": c.text}))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: got %v, want %s", c.reason, err, c.want)
			}
		})
	}
}
