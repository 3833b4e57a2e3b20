package starter

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const (
	// badAccount is a manifest without its body.
	badAccount = "type: Microsoft.Storage/storageAccounts@2021-04-01\nname: acc\nowner: " + group + "\n"
	badSecret  = "hunter22-plain"
)

// badFiles are files without manifests.
func badFiles() map[string]badInput {
	return map[string]badInput{
		"file binary":            {reason: "an archive is no manifest", files: map[string]string{"m.yaml": "\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\xff\x01\x02\x03"}},
		"file empty":             {reason: "0 bytes", files: map[string]string{"m.yaml": ""}},
		"file with comments":     {reason: "nothing but comments", files: map[string]string{"m.yaml": "# to be written\n---\n# still\n"}},
		"file of 50 MB":          {reason: "no manifest is that large", make: large},
		"file UTF-16":            {reason: "an editor of another system saved it", files: map[string]string{"m.yaml": "\xff\xfet\x00y\x00p\x00e\x00:\x00 \x00a\x00\n\x00"}},
		"file Latin-1":           {reason: "another character set", files: map[string]string{"m.yaml": "type: Microsoft.Storage/storageAccounts@2021-04-01\nname: caf\xe9\nbody: {}\n"}},
		"file missing":           {reason: "a typo in the path", args: []string{"apply", "-f", "DIR/nothing.yaml"}},
		"file of another kind":   {reason: "a Bicep file is no manifest", files: map[string]string{"main.bicep": "param location string = 'westus2'\nresource a 'b@c' = {\n  name: 'x'\n}\n"}, args: []string{"apply", "-f", "DIR/main.bicep"}},
		"file of Kubernetes":     {reason: "another tool's manifest", files: map[string]string{"m.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\n"}},
		"folder empty":           {reason: "the wrong folder", args: []string{"apply", "-f", "DIR"}},
		"folder without YAML":    {reason: "the wrong folder", files: map[string]string{"README.md": "# x"}},
		"folder that links back": {reason: "a loop of links must end", make: symlink("loop", "")},
		"link to itself":         {reason: "a loop of links must end", make: symlink("m.yaml", "m.yaml"), args: []string{"apply", "-f", "DIR/m.yaml"}},
		"link to nothing":        {reason: "a link that is broken", make: symlink("m.yaml", "gone.yaml")},
		"folder as a file":       {reason: "a folder called like a file", make: folderNamedAsFile},
		"stdin empty":            {reason: "the command before the pipe failed", args: []string{"apply", "-f", "-"}},
		"stdin broken":           {reason: "stdin has lines too", args: []string{"apply", "-f", "-"}, stdin: "type: a\n  name: b\n"},
		"an empty path":          {reason: "a shell variable is not set", args: []string{"apply", "-f", ""}},
	}
}

func large(t *testing.T, dir string) {
	t.Helper()
	f, err := os.Create(filepath.Join(dir, "m.yaml"))
	if err == nil {
		err = f.Truncate(50 << 20)
	}
	if err != nil || f.Close() != nil {
		t.Fatal(err)
	}
}

func folderNamedAsFile(t *testing.T, dir string) {
	t.Helper()
	if err := os.Mkdir(filepath.Join(dir, "m.yaml"), 0o700); err != nil {
		t.Fatal(err)
	}
}

// badYAML are YAML and JSON files that must be refused.
func badYAML() map[string]badInput {
	bomb := "a: &a [x,x,x,x,x,x,x,x,x,x]\n"
	for c := 'b'; c < 'i'; c++ {
		bomb += fmt.Sprintf("%c: &%c [%s]\n", c, c, strings.TrimSuffix(strings.Repeat("*"+string(c-1)+",", 10), ","))
	}
	return map[string]badInput{
		"YAML indentation":      file("the line of a syntax error", "type: a\n  name: b\n"),
		"YAML tab":              file("tabs are not indentation", "type: a\nname: b\nbody:\n\tlocation: x\n"),
		"YAML unclosed":         file("a bracket is not closed", "type: [\n"),
		"YAML quote":            file("a quote is not closed", "type: a\nname: 'b\nbody: {}\n"),
		"YAML CRLF":             file("lines of another system keep their numbers", "type: a@b\r\nname: b\r\nbody: {}\r\nnmae: x\r\n"),
		"YAML BOM":              file("a mark at the beginning changes no line", "\ufefftype: a@b\nname: b\nbody: {}\n"),
		"YAML key twice":        file("the second would win silently", badAccount+"body:\n  location: a\n  location: b\n"),
		"YAML bomb":             file("a small file becomes a large tree", badAccount+"body: {}\nreconcile: {}\nlabels: {}\n---\ntype: A.B/c@2020-01-01\n"+bomb),
		"YAML alias of itself":  file("a tree without end", badAccount+"body: &a {x: *a}\n"),
		"YAML unknown alias":    file("an undefined anchor", badAccount+"body: *nowhere\n"),
		"YAML nesting":          file("deeper than any manifest", badAccount+"body: {x: "+strings.Repeat("[", 5000)+strings.Repeat("]", 5000)+"}\n"),
		"YAML tag":              file("no objects of a language", badAccount+"body: {x: !!python/object/apply:os.system ['ls']}\n"),
		"YAML key of a list":    file("a key is a text", badAccount+"body: {[a, b]: c}\n"),
		"YAML two documents":    file("each has its own lines", badAccount+"body: {}\n---\nname: b\nbody: {}\n"),
		"YAML merge of a text":  file("a merge key takes mappings", badAccount+"body: {<<: x}\n"),
		"YAML control bytes":    file("they move a terminal's cursor", "type: \"\\x1b[2Jx\"\nname: \"a\\x1b[31mb\"\nbody: {}\n"),
		"JSON broken":           {reason: "JSON is a form of manifests too", files: map[string]string{"m.json": "{\"type\": \"a\",\n \"name\": }"}},
		"JSON cut off":          {reason: "half of a file", files: map[string]string{"m.json": "{\"type\": \"a\","}},
		"JSON with comments":    {reason: "JSON has none", files: map[string]string{"m.json": "// x\n{\"type\": \"a\"}"}},
		"JSON key twice":        {reason: "the second would win silently", files: map[string]string{"m.json": "{\"type\": \"a@b\",\n \"type\": \"c@d\"}"}},
		"JSON number as a file": {reason: "a manifest is a mapping", files: map[string]string{"m.json": "42"}},
	}
}

// badFields are fields that are unknown, missing, or of the wrong kind.
func badFields() map[string]badInput {
	reconcile := func(reason, section string) badInput {
		return file(reason, badAccount+"body: {}\nreconcile: "+section+"\n")
	}
	return map[string]badInput{
		"field misspelt":       file("a misspelt field would be without effect", badAccount+"bodi: {}\nbody: {}\nreconcile: {intervall: 1h}\n"),
		"field unknown":        file("nothing is similar", badAccount+"body: {}\ncolour: red\n"),
		"field in capitals":    file("names are case-sensitive", strings.Replace(badAccount, "name:", "Name:", 1)+"body: {}\n"),
		"type missing":         file("nothing states its type", "name: x\nbody: {}\n"),
		"type without version": file("the version decides what a body means", strings.Replace(badAccount, "@2021-04-01", "", 1)+"body: {}\n"),
		"type no version":      file("a version is a date", strings.Replace(badAccount, "2021-04-01", "latest", 1)+"body: {}\n"),
		"type no type":         file("Terraform's names are other names", strings.Replace(badAccount, "Microsoft.Storage/storageAccounts", "azurerm_storage_account", 1)+"body: {}\n"),
		"type a number":        file("a type is a text", "type: 5\nname: x\nbody: {}\n"),
		"name missing":         file("ARM does not name things", "type: Microsoft.Storage/storageAccounts@2021-04-01\nbody: {}\n"),
		"name a number":        file("007 is not 7", strings.Replace(badAccount, "acc", "007", 1)+"body: {}\n"),
		"body missing":         file("it was forgotten", badAccount),
		"body a text":          file("the wrong kind", badAccount+"body: hello\n"),
		"body a list":          file("the wrong kind", badAccount+"body: [a]\n"),
		"owner a list":         file("there is one owner", "type: Microsoft.Storage/storageAccounts@2021-04-01\nname: acc\nowner: [a, b]\nbody: {}\n"),
		"owner missing":        file("nothing states its owner", "type: Microsoft.Storage/storageAccounts@2021-04-01\nname: acc\nbody: {}\n"),
		"owner unknown":        file("no manifest has this name", strings.Replace(badAccount, group, "nowhere", 1)+"body: {}\n"),
		"owner near":           file("a typo", "type: Microsoft.Kusto/clusters@2023-08-15\nname: adx\nowner: "+group+"\nbody: {}\n---\ntype: Microsoft.Kusto/clusters/databases@2023-08-15\nname: d\nowner: adxx\nbody: {}\n"),
		"policy unknown":       reconcile("a typo", "{policy: mange}"),
		"policy in capitals":   reconcile("values are case-sensitive", "{policy: Manage}"),
		"adopt a boolean":      reconcile("the wrong kind", "{adopt: true}"),
		"put unknown":          reconcile("no such word", "{put: post}"),
		"interval no unit":     reconcile("5 would be 5 ns", "{interval: 5}"),
		"interval in days":     reconcile("days are not a unit", "{interval: 7d}"),
		"interval too short":   reconcile("a pass a second would eat the budget", "{interval: 1s}"),
		"interval negative":    reconcile("time goes forward", "{interval: -1h}"),
		"interval huge":        reconcile("more than a duration can hold", "{interval: 99999999999h}"),
		"timeout zero":         reconcile("it would end every operation", "{timeout: 0s}"),
		"ignore a text":        reconcile("it takes a list", "{ignore: properties.x}"),
		"ignore no path":       reconcile("a path must parse", "{ignore: ['a..b', 'l[x', '']}"),
		"dependsOn a text":     reconcile("it takes a list", "{dependsOn: other}"),
		"dependsOn unknown":    reconcile("no manifest has this name", "{dependsOn: [nowhere]}"),
		"reconcile a list":     reconcile("the wrong kind", "[policy]"),
		"label a number":       file("labels are texts", badAccount+"body: {}\nlabels: {team: 5, rank: 1.50}\n"),
		"label with a comma":   file("a selector could not choose it", badAccount+"body: {}\nlabels: {'a,b': x}\n"),
		"labels a list":        file("the wrong kind", badAccount+"body: {}\nlabels: [a]\n"),
		"labels too long":      file("Temporal ends workflows with long attributes", badAccount+"body: {}\nlabels: {a: "+strings.Repeat("x", 300)+"}\n"),
	}
}
