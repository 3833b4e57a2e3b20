package starter

import (
	"strings"

	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/starter/internal/cli"
)

// badIDs are names that would address another resource, or none.
func badIDs() map[string]badInput {
	named := func(reason, name string) badInput {
		return file(reason, strings.Replace(badAccount, "name: acc", "name: "+name, 1)+"body: {}\n")
	}
	return map[string]badInput{
		"ID with dots":           named("a cleaned path addresses another resource", "'..'"),
		"ID with a question":     named("a query would be cut off", "'acc?api-version=1'"),
		"ID with a percent":      named("it would be decoded", "'a%2fb'"),
		"ID with a backslash":    named("some servers read it as a slash", `'a\b'`),
		"ID with a fragment":     named("it would be cut off", "'acc#x'"),
		"ID with a newline":      named("it would split a header", `"a\nb"`),
		"ID of nothing":          named("an empty segment is swallowed", "''"),
		"ID with another in it":  named("more segments than the type has", "a/b"),
		"owner no ID":            file("a path without a subscription", strings.Replace(badAccount, group, "/resourceGroups/rg1", 1)+"body: {}\n"),
		"owner climbing":         file("a cleaned path addresses another group", strings.Replace(badAccount, group, group+"/../rg2", 1)+"body: {}\n"),
		"owner of another type":  file("a cluster contains no subnets", "type: Microsoft.Network/virtualNetworks/subnets@2023-05-01\nname: s\nowner: "+cluster+"\nbody: {}\n"),
		"subscription by name":   file("a display name is no ID", strings.Replace(badAccount, "11111111-2222-3333-4444-555555555555", "prod", 1)+"body: {}\n"),
		"subscription flag":      {reason: "the flag has the same rules", files: map[string]string{"m.yaml": "type: Microsoft.Resources/resourceGroups@2021-04-01\nname: g\nbody: {}\n"}, args: []string{"apply", "-f", "DIR", "--subscription", "prod"}},
		"resource group flag":    {reason: "the flag has the same rules", files: map[string]string{"m.yaml": badAccount + "body: {}\n"}, args: []string{"apply", "-f", "DIR", "--resource-group", "a/b"}},
		"a subscription made":    file("no manifest makes one", "type: Microsoft.Resources/subscriptions@2021-04-01\nname: s\nowner: /\nbody: {}\n"),
		"two with one ID":        {reason: "they would fight; IDs ignore case", files: map[string]string{"a.yaml": badAccount + "body: {}\n", "b.yaml": strings.Replace(badAccount, "acc", "ACC", 1) + "body: {}\n"}},
		"owner cycle":            file("owners cannot own each other", "type: Contoso.Web/marks@2022-04-01\nname: a\nowner: b\nbody: {}\n---\ntype: Contoso.Web/marks@2022-04-01\nname: b\nowner: a\nbody: {}\n"),
		"an ambiguous reference": file("two resources have the name", badAccount+"body: {x: {$ref: adx}}\n---\ntype: Microsoft.Kusto/clusters@2023-08-15\nname: adx\nowner: "+group+"\nbody: {}\n---\ntype: Microsoft.Network/virtualNetworks@2023-05-01\nname: adx\nowner: "+group+"\nbody: {}\n"),
	}
}

// badBodies are bodies that ARM or Temporal would refuse, or that would publish
// a secret.
func badBodies() map[string]badInput {
	body := func(reason, text string) badInput { return file(reason, badAccount+"body: "+text+"\n") }
	secret := func(reason, text string) badInput {
		tc := body(reason, text)
		tc.hides = badSecret
		return tc
	}
	return map[string]badInput{
		"body NaN":                 body("JSON cannot write it", "{x: .nan, y: -.inf}"),
		"body octal":               body("010 is 8 or 10", "{x: 010}"),
		"body number huge":         body("it would become another number", "{x: 1e999}"),
		"body over the limit":      body("Temporal refuses large payloads", "{x: '"+strings.Repeat("x", resource.MaxBodyBytes)+"'}"),
		"body with another name":   body("it would contradict the manifest", "{name: other}"),
		"body with another type":   body("it would contradict the manifest", "{type: Microsoft.Kusto/clusters}"),
		"secret literal":           secret("the history would contain it", "{properties: {adminPassword: "+badSecret+"}}"),
		"secret without source":    secret("a slip must not print it", "{properties: {adminPassword: {$secret: "+badSecret+"}}}"),
		"secret of a foreign path": secret("paths outside the folder are not readable", "{properties: {key: {$secret: 'file:../"+badSecret+"'}}}"),
		"secret in a tag":          body("tags are not secret", "{tags: {key: {$secret: 'env:X'}}}"),
		"secret with more":         body("it is the only key", "{properties: {key: {$secret: 'env:X', other: 1}}}"),
		"secret no variable":       body("shell syntax is not supported", "{properties: {key: {$secret: 'env:$X'}}}"),
		"reference unknown":        body("no manifest has this name", "{x: {$ref: nowhere}}"),
		"reference a number":       body("the wrong kind", "{x: {$ref: 5}}"),
		"reference with more":      body("it is alone or with path", "{x: {$ref: acc, pth: a.b}}"),
		"reference no path":        body("a path must parse", "{x: {$ref: '"+cluster+"@2023-08-15', path: 'a..b'}}"),
		"reference to itself":      body("it would wait for itself", "{x: {$ref: acc}}"),
		"reference of a version":   body("a version is a date", "{x: {$ref: '"+cluster+"@latest'}}"),
	}
}

// badSets are manifests that are valid alone and invalid together.
func badSets() map[string]badInput {
	net := "type: Microsoft.Network/virtualNetworks@2023-05-01\nname: net\nowner: " + group + "\n"
	return map[string]badInput{
		"set cycle":  file("neither can be first", badAccount+"body: {x: {$ref: net}}\n---\n"+net+"body: {x: {$ref: acc}}\n"),
		"set inline": file("two writers of one subnet", net+"body: {properties: {subnets: [{name: a}]}}\n---\ntype: Microsoft.Network/virtualNetworks/subnets@2023-05-01\nname: a\nowner: net\nbody: {}\n"),
		"set of many faults": {reason: "all issues of all files at once", files: map[string]string{
			"a.yaml": "type: Microsoft.Kusto/clusters\nname: a\nbody: {}\n", "b.yaml": "tpye: Microsoft.Kusto/clusters\n", "c.yaml": "type: [\n",
		}},
		"set for a deletion": {reason: "the same check before a deletion", files: map[string]string{"m.yaml": "tpye: Microsoft.Kusto/clusters\n"}, args: []string{"delete", "--yes", "-f", "DIR"}},
		"set for a wait":     {reason: "the same check before a wait", files: map[string]string{"m.yaml": "tpye: Microsoft.Kusto/clusters\n"}, args: []string{"wait", "-f", "DIR"}},
		"set for a plan":     {reason: "a plan's codes are its own", files: map[string]string{"m.yaml": "tpye: Microsoft.Kusto/clusters\n"}, args: []string{"plan", "-f", "DIR"}, code: cli.ExitFailed},
		"set for a prune":    {reason: "a later prune would not know it", files: map[string]string{"m.yaml": badAccount + "body: {}\n"}, args: []string{"apply", "-f", "DIR", "--prune", "-l", "stack=prod"}},
	}
}
