package manifest

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/armature-io/armature/internal/expression"
	"github.com/armature-io/armature/resource"
)

// maxExports bounds the exports of one manifest.
const maxExports = 50

// The fields of an export, and of its source.
var (
	exportFields = []string{"to", "from", "policy", "tags", "interval"}
	sourceFields = []string{"action", "path", "text"}
)

// readExports sets Desired.Exports.
func (l *loader) readExports(d *draft) {
	list := d.root.get("export")
	switch {
	case list == nil:
		return
	case list.kind != kindList:
		l.at(d, list.position, "export", "%s; exports are a list, write them like [{to: 'keyvault:https://VAULT.vault.azure.net/secrets/NAME', from: {path: properties.x}}]", list.found())
		return
	case len(list.items) > maxExports:
		l.at(d, list.position, "export", "has %d exports; at most %d are allowed", len(list.items), maxExports)
		return
	}
	seen := map[resource.VaultSecret]bool{}
	for i, item := range list.items {
		path := fmt.Sprintf("export[%d]", i)
		if item.kind != kindObject {
			l.at(d, item.position, path, "%s; an export is a mapping with to and from", item.found())
			continue
		}
		l.checkFields(d, item, path+".", exportFields)
		export := resource.Export{}
		l.readExportTarget(d, item, path, &export)
		l.readExportSource(d, item, path, &export)
		l.readExportOptions(d, item, path, &export)
		if target, err := export.Target(); err == nil {
			target.Name = strings.ToLower(target.Name)
			if seen[target] {
				l.at(d, item.get("to").position, path+".to", "another export writes the same secret; use another name")
			}
			seen[target] = true
		}
		d.desired.Exports = append(d.desired.Exports, export)
	}
}

// readExportTarget reads the secret to write. A text that is no target may be a misplaced
// secret, so it is not shown.
func (l *loader) readExportTarget(d *draft, item *node, path string, export *resource.Export) {
	to := item.get("to")
	if to == nil || to.kind != kindText {
		l.missing(d, item.position, path+".to", "is missing or not a text; write to: keyvault:https://VAULT.vault.azure.net/secrets/NAME")
		return
	}
	export.To = to.text
	if _, err := export.Target(); err != nil {
		l.at(d, to.position, path+".to", "it is no secret of a key vault; %v", err)
	}
}

// readExportSource reads where the value comes from.
func (l *loader) readExportSource(d *draft, item *node, path string, export *resource.Export) {
	from, path := item.get("from"), path+".from"
	if from == nil || from.kind != kindObject {
		l.missing(d, item.position, path, "is missing or not a mapping; write from: {path: properties.x}, {action: listKeys, path: 'keys[keyName=key1].value'} or {text: \"...${properties.x}\"}")
		return
	}
	l.checkFields(d, from, path+".", sourceFields)
	for _, f := range from.fields {
		if slices.Contains(sourceFields, f.name) && (f.value.kind != kindText || f.value.text == "") {
			l.at(d, f.position, path+"."+f.name, "%s; write a text", f.value.found())
			return
		}
	}
	source := resource.ExportSource{Action: from.textOf("action"), Path: from.textOf("path"), Text: from.textOf("text")}
	export.From = source
	switch {
	case (source.Path == "") == (source.Text == ""):
		l.at(d, from.position, path, "needs either path or text, the value that is written")
	case source.Path != "":
		if _, err := resource.ParsePath(source.Path); err != nil {
			l.at(d, from.get("path").position, path+".path", "%v; write it like a.b, list[name=x].c or tags['a.b/c']", err)
		}
	default:
		l.checkExportText(d, from.get("text"), path+".text", source)
	}
	if source.Action != "" && strings.ContainsAny(source.Action, "/?#% ") {
		l.at(d, from.get("action").position, path+".action", "%q is no name of an action; write it like listKeys", source.Action)
	}
}

// checkExportText compiles the text of a source.
func (l *loader) checkExportText(d *draft, text *node, path string, source resource.ExportSource) {
	template, problems := expression.NewExportText(source.Text)
	for _, p := range problems {
		l.at(d, text.position, path, "line %d, column %d of the text: %s", p.Line, p.Column, p.Message)
	}
	if len(problems) > 0 {
		return
	}
	if len(template.Expressions()) == 0 {
		l.at(d, text.position, path, "the text has no ${}: it contains no value of the resource")
	}
	for _, part := range template.Expressions() {
		if source.Action == "" && part.Uses(expression.ActionVariable) {
			l.at(d, text.position, path, "${%s} reads the answer of an action; name it: from: {action: listKeys, text: ...}", part.Text())
		}
	}
}

// readExportOptions reads policy, tags and interval.
func (l *loader) readExportOptions(d *draft, item *node, path string, export *resource.Export) {
	if policy := item.get("policy"); policy != nil {
		switch export.Policy = resource.ExportPolicy(policy.text); {
		case policy.kind == kindText && export.Policy == resource.ExportReplace:
			export.Policy = ""
		case policy.kind != kindText || export.Policy != resource.ExportIfAbsent:
			l.at(d, policy.position, path+".policy", "unknown value; allowed: %s, %s", resource.ExportReplace, resource.ExportIfAbsent)
		}
	}
	if interval := item.get("interval"); interval != nil {
		value, ok := l.duration(d, path+".interval", interval)
		if ok && value != 0 && value < resource.MinInterval {
			l.at(d, interval.position, path+".interval", "%s is below the minimum of 1m; write 0 to compare in every pass", interval.text)
		}
		export.Interval = value
	}
	l.readExportTags(d, item.get("tags"), path+".tags", export)
}

// readExportTags reads the tags of the secret.
func (l *loader) readExportTags(d *draft, tags *node, path string, export *resource.Export) {
	switch {
	case tags == nil:
		return
	case tags.kind != kindObject:
		l.at(d, tags.position, path, "%s; tags are a mapping of texts", tags.found())
		return
	case len(tags.fields) >= resource.MaxSecretTags:
		l.at(d, tags.position, path, "has %d tags; a secret has at most %d, and one is Armature's", len(tags.fields), resource.MaxSecretTags)
		return
	}
	for _, f := range tags.fields {
		switch {
		case f.value.kind != kindText:
			l.at(d, f.position, path+"."+f.name, "%s; write a text", f.value.found())
		case utf8.RuneCountInString(f.name) > resource.MaxSecretTagRunes || utf8.RuneCountInString(f.value.text) > resource.MaxSecretTagRunes:
			l.at(d, f.position, path, "a tag has more than %d characters", resource.MaxSecretTagRunes)
		case strings.EqualFold(f.name, resource.ExportTag):
			l.at(d, f.position, path+"."+f.name, "is the tag by which Armature knows its secrets; use another name")
		default:
			if export.Tags == nil {
				export.Tags = map[string]string{}
			}
			export.Tags[f.name] = f.value.text
		}
	}
}
