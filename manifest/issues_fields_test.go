package manifest

import (
	"fmt"
	"strings"
	"testing"
)

// labels returns count labels with values of size bytes.
func labels(count, size int) string {
	var b strings.Builder
	for i := range count {
		fmt.Fprintf(&b, "k%d: %s, ", i, strings.Repeat("v", size))
	}
	return b.String()
}

func TestFieldIssues(t *testing.T) {
	runIssues(t, map[string]issueCase{
		"BrokenYAML": {
			reason: "a syntax error has its line",
			yaml:   "type: a\n  name: b\n",
			want:   "m.yaml:2: broken YAML: mapping values are not allowed in this context; check indentation, quotes and brackets of this line and of those before it",
		},
		"BrokenFlow": {
			reason: "a bracket that is never closed",
			yaml:   account + "body: {a: [1, 2}\n",
			want:   "m.yaml:3: broken YAML: did not find expected ',' or ']'; check indentation, quotes and brackets of this line and of those before it",
		},
		"NotMapping": {
			reason: "a list is not a manifest",
			yaml:   "- a\n- b\n",
			want:   "m.yaml:1:1: is no manifest: that is a mapping with the fields type, name, alias, owner, body, reconcile, labels, outputs, export; found a list; correct it, or move the file elsewhere",
		},
		"UnknownField": {
			reason: "a misspelt field suggests a similar one",
			yaml:   account + "bodi: {}\nbody: {}\n",
			want:   "m.yaml:4:1: bodi: unknown field; did you mean body?",
		},
		"UnknownFarField": {
			reason: "an unknown field without a similar one lists all fields",
			yaml:   account + "body: {}\nspec: {}\n",
			want:   "m.yaml:5:1: spec: unknown field; allowed: type, name, alias, owner, body, reconcile, labels, outputs, export",
		},
		"UnknownReconcileField": {
			reason: "so do the fields of reconcile",
			yaml:   account + "body: {}\nreconcile: {intervall: 1h, zzz: 1}\n",
			want: "m.yaml:5:13: reconcile.intervall: unknown field; did you mean interval?\n" +
				"m.yaml:5:28: reconcile.zzz: unknown field; allowed: policy, adopt, recreate, interval, ignore, initial, enforce, put, dependsOn, waitFor, timeout, credential, delete, validation",
		},
		"CredentialOfAnotherForm": {
			reason: "a name that the configuration refuses is refused here",
			yaml:   account + "body: {}\nreconcile:\n  credential: Prod/1\n",
			want:   `m.yaml:6:15: reconcile.credential: "Prod/1" is not a credential name; write the name of a credential of the worker's config: lower-case letters, digits and dashes`,
		},
		"CredentialOfAnotherKind": {
			reason: "a list is not the name of a credential",
			yaml:   account + "body: {}\nreconcile:\n  credential: [prod]\n",
			want:   "m.yaml:6:15: reconcile.credential: found a list; write the name of a credential of the worker's config: lower-case letters, digits and dashes",
		},
		"Words": {
			reason: "an unknown word would be taken for the default",
			yaml:   account + "body: {}\nreconcile:\n  adopt: newer\n  recreate: [never]\n  put: 1\n",
			want: `m.yaml:6:10: reconcile.adopt: unknown value "newer"; allowed: always, as-is, never, only` + "\n" +
				"m.yaml:7:13: reconcile.recreate: found a list; allowed: always, never, on-immutable\n" +
				"m.yaml:8:8: reconcile.put: found a number; allowed: default, merge, replace, patch",
		},
		"NoType": {
			reason: "the type is required",
			yaml:   "name: a\nowner: " + group + "\nbody: {}\n",
			want:   "m.yaml:1:1: type: is missing or not a text; write type: Provider.Namespace/type@api-version",
		},
		"NoVersion": {
			reason: "an api-version is required",
			yaml:   "type: Microsoft.Storage/storageAccounts\nname: a\nowner: " + group + "\nbody: {}\n",
			want:   "m.yaml:1:1: type: \"Microsoft.Storage/storageAccounts\" has no api-version; write it like Microsoft.Storage/storageAccounts@2023-08-15",
		},
		"BadVersion": {
			reason: "an api-version is a date",
			yaml:   "type: Microsoft.Storage/storageAccounts@latest\nname: a\nowner: " + group + "\nbody: {}\n",
			want:   "m.yaml:1:1: type: \"latest\" is not an api-version; write a date like 2023-08-15 or 2023-08-15-preview",
		},
		"BadType": {
			reason: "a type has a provider",
			yaml:   "type: storageAccounts@2021-04-01\nname: a\nowner: " + group + "\nbody: {}\n",
			want:   "m.yaml:1:1: type: \"storageAccounts@2021-04-01\" is not a resource type; write it like Microsoft.Kusto/clusters@2023-08-15",
		},
		"Subscription": {
			reason: "a PUT does not create a subscription",
			yaml:   "type: Microsoft.Resources/subscriptions@2022-12-01\nname: a\nbody: {}\n",
			want:   "m.yaml:1:1: type: Microsoft.Resources/subscriptions cannot be created by a manifest; use it as owner",
		},
		"NoName": {
			reason: "the name is required",
			yaml:   "type: Microsoft.Storage/storageAccounts@2021-04-01\nowner: " + group + "\nbody: {}\n",
			want:   "m.yaml:1:1: name: is missing; write the resource's name",
		},
		"NumericName": {
			reason: "YAML reads digits as a number",
			yaml:   "type: Microsoft.Storage/storageAccounts@2021-04-01\nname: 2021\nowner: " + group + "\nbody: {}\n",
			want:   "m.yaml:2:1: name: found a number; a name is a text, write it in quotes",
		},
		"DotsName": {
			reason: "a cleaned path would address another resource",
			yaml:   "type: Microsoft.Storage/storageAccounts@2021-04-01\nname: ..\nowner: " + group + "\nbody: {}\n",
			want:   "m.yaml:2:1: name: \"..\" cannot be part of a resource ID: the segment \"..\" is not allowed",
		},
		"PercentName": {
			reason: "an escape would address another resource",
			yaml:   "type: Microsoft.Storage/storageAccounts@2021-04-01\nname: a%2fb\nowner: " + group + "\nbody: {}\n",
			want:   "m.yaml:2:1: name: \"a%2fb\" cannot be part of a resource ID: the segment \"a%2fb\" contains '%'; / \\ ? # % and control characters are not allowed",
		},
		"QueryName": {
			reason: "a question mark ends the path",
			yaml:   "type: Microsoft.Storage/storageAccounts@2021-04-01\nname: a?b\nowner: " + group + "\nbody: {}\n",
			want:   "m.yaml:2:1: name: \"a?b\" cannot be part of a resource ID: the segment \"a?b\" contains '?'; / \\ ? # % and control characters are not allowed",
		},
		"EmptySegment": {
			reason: "an empty segment in a chain",
			yaml:   "type: Microsoft.Network/virtualNetworks/subnets@2020-11-01\nname: v//s\nbody: {}\n",
			want:   "m.yaml:2:1: name: \"v//s\" cannot be part of a resource ID: a segment is empty",
		},
		"NoBody": {
			reason: "the body is required",
			yaml:   account,
			want:   "m.yaml:1:1: body: is missing; write body: {} for a resource without properties",
		},
		"ListBody": {
			reason: "a body is a mapping, write it like body: {location: westus2}",
			yaml:   account + "body: [a]\n",
			want:   "m.yaml:4:7: body: found a list; a body is a mapping, write it like body: {location: westus2}",
		},
		"MarkerBody": {
			reason: "a body is not a marker",
			yaml:   account + "body: {$secret: env:X}\n",
			want:   "m.yaml:4:7: body: a body is a mapping of properties; found a $secret",
		},
		"Policy": {
			reason: "an unknown policy",
			yaml:   account + "body: {}\nreconcile: {policy: mange}\n",
			want:   "m.yaml:5:21: reconcile.policy: unknown value \"mange\"; allowed: manage, observe, detach-on-delete, protect",
		},
		"IntervalBelow": {
			reason: "one pass per second would use up the budget",
			yaml:   account + "body: {}\nreconcile: {interval: 30s}\n",
			want:   "m.yaml:5:23: reconcile.interval: 30s is below the minimum of 1m; write 0 to disable it",
		},
		"IntervalUnit": {
			reason: "5 would be 5 ns",
			yaml:   account + "body: {}\nreconcile: {interval: 5}\n",
			want:   "m.yaml:5:23: reconcile.interval: 5 has no unit; write a duration like 30m or 1h",
		},
		"IntervalDays": {
			reason: "Go's durations have no days",
			yaml:   account + "body: {}\nreconcile: {interval: 7d}\n",
			want:   "m.yaml:5:23: reconcile.interval: \"7d\" is not a duration; use the units h, m and s, for example 1h30m",
		},
		"IntervalNegative": {
			reason: "a duration is not negative",
			yaml:   account + "body: {}\nreconcile: {interval: -1h}\n",
			want:   "m.yaml:5:23: reconcile.interval: -1h is negative; write a duration like 30m or 1h",
		},
		"TimeoutZero": {
			reason: "0 would time out every operation",
			yaml:   account + "body: {}\nreconcile: {timeout: 0s}\n",
			want:   "m.yaml:5:22: reconcile.timeout: 0s is not a valid timeout; write a duration like 6h",
		},
		"IgnorePath": {
			reason: "a path must be valid",
			yaml:   account + "body: {}\nreconcile: {ignore: [a..b, 'l[x', 5]}\n",
			want: "m.yaml:5:22: reconcile.ignore[0]: parse path \"a..b\": a name is empty; write it like a.b, list[*].c, list[name=x].c or tags['a.b/c']\n" +
				"m.yaml:5:28: reconcile.ignore[1]: parse path \"l[x\": [ is not closed by ]; write it like a.b, list[*].c, list[name=x].c or tags['a.b/c']\n" +
				"m.yaml:5:35: reconcile.ignore[2]: found a number; a path is a text like properties.x",
		},
		"IgnoreText": {
			reason: "ignore is a list",
			yaml:   account + "body: {}\nreconcile: {ignore: properties.x}\n",
			want:   "m.yaml:5:21: reconcile.ignore: found a text; write a list of paths like properties.x",
		},
		"ReconcileList": {
			reason: "reconcile is a mapping",
			yaml:   account + "body: {}\nreconcile: [manage]\n",
			want:   "m.yaml:5:12: reconcile: found a list; write a mapping of policy, adopt, recreate, interval, ignore, initial, enforce, put, dependsOn, waitFor, timeout, credential, delete, validation",
		},
		"LabelNumber": {
			reason: "a label is a text",
			yaml:   account + "body: {}\nlabels: {team: 5, 'a=b': x}\n",
			want: "m.yaml:5:10: labels.team: found a number; a label is a text, write it in quotes\n" +
				"m.yaml:5:19: labels.a=b: a label name must not be empty or contain =, comma, white space or control characters; write it like team or team.example/part",
		},
		"LabelsLong": {
			reason: "the server terminates a workflow with long search attributes",
			yaml:   account + "body: {}\nlabels: {" + labels(20, 100) + "}\n",
			want:   "m.yaml:5:9: labels: the labels take 2131 bytes (as a list of k=v); at most 1500 are allowed: use fewer or shorter labels",
		},
		"LabelLong": {
			reason: "a keyword has at most 255 characters",
			yaml:   account + "body: {}\nlabels: {" + labels(1, 254) + "}\n",
			want:   "m.yaml:5:10: labels.k0: the label is longer than 255 bytes (as k=v); make it shorter",
		},
	})
}
