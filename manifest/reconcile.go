package manifest

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/armature-io/armature/resource"
)

// Bounds of labels: a search attribute over 2,048 bytes makes the server
// terminate the workflow, and a keyword holds 255 characters.
const (
	maxLabelsBytes = 1500
	maxLabelBytes  = 255
)

func (l *loader) readReconcile(d *draft) {
	section := d.root.get("reconcile")
	if section == nil {
		return
	}
	if section.kind != kindObject {
		l.at(d, section.line, "reconcile", "%s; write a mapping of %s", section.found(), strings.Join(reconcileFields, ", "))
		return
	}
	l.checkFields(d, section, "reconcile.", reconcileFields)
	if policy := section.get("policy"); policy != nil {
		l.readPolicy(d, policy)
	}
	readWord(l, d, section, "adopt", &d.desired.Adopt, resource.AdoptAlways, resource.AdoptAsIs, resource.AdoptNever, resource.AdoptOnly)
	readWord(l, d, section, "recreate", &d.desired.Recreate, resource.RecreateAlways, resource.RecreateNever)
	readWord(l, d, section, "put", &d.desired.Put, resource.PutReplace, resource.PutMerge)
	if interval := section.get("interval"); interval != nil {
		value, ok := l.duration(d, "reconcile.interval", interval)
		if ok && value != 0 && value < resource.MinInterval {
			l.at(d, interval.line, "reconcile.interval", "%s is below the minimum of 1m; write 0 for no resync", interval.text)
		}
		d.desired.Interval = value
	}
	if timeout := section.get("timeout"); timeout != nil {
		value, ok := l.duration(d, "reconcile.timeout", timeout)
		if ok && value == 0 {
			l.at(d, timeout.line, "reconcile.timeout", "%s is no bound for an operation; write a duration like 6h", timeout.text)
		}
		d.desired.Timeout = value
	}
	if ignore := section.get("ignore"); ignore != nil {
		l.readIgnore(d, ignore)
	}
	if credential := section.get("credential"); credential != nil {
		l.readCredential(d, credential)
	}
}

// credentialName is what the worker's config takes for the name of a credential.
var credentialName = regexp.MustCompile(`^[a-z0-9][a-z0-9-]*$`)

func (l *loader) readCredential(d *draft, credential *node) {
	const write = "write the name of a credential of the worker's config: lower-case letters, digits and dashes"
	switch {
	case credential.kind != kindText:
		l.at(d, credential.line, "reconcile.credential", "%s; "+write, credential.found())
	case !credentialName.MatchString(credential.text):
		l.at(d, credential.line, "reconcile.credential", "%q is no name of a credential; "+write, credential.text)
	default:
		d.desired.Credential = credential.text
	}
}

// readWord reads a field that is one of a few words; the first is the default,
// which stays unwritten.
func readWord[W ~string](l *loader, d *draft, section *node, name string, into *W, words ...W) {
	value := section.get(name)
	if value == nil {
		return
	}
	allowed := make([]string, len(words))
	for i, word := range words {
		allowed[i] = string(word)
	}
	at := slices.Index(allowed, value.text)
	switch {
	case value.kind != kindText:
		l.at(d, value.line, "reconcile."+name, "%s; allowed: %s", value.found(), strings.Join(allowed, ", "))
	case at < 0:
		l.at(d, value.line, "reconcile."+name, "unknown word %q; allowed: %s", value.text, strings.Join(allowed, ", "))
	case at > 0:
		*into = words[at]
	}
}

func (l *loader) readPolicy(d *draft, policy *node) {
	const allowed = "manage, observe, detach-on-delete, protect"
	switch {
	case policy.kind == kindText && slices.Contains(resource.Policies(), resource.Policy(policy.text)):
		d.desired.Policy = resource.Policy(policy.text)
	case policy.kind == kindText:
		l.at(d, policy.line, "reconcile.policy", "unknown policy %q; allowed: "+allowed, policy.text)
	default:
		l.at(d, policy.line, "reconcile.policy", "%s; allowed: "+allowed, policy.found())
	}
}

// duration reads a duration with a unit, or 0.
func (l *loader) duration(d *draft, path string, value *node) (time.Duration, bool) {
	if value.kind != kindText && value.kind != kindNumber {
		l.at(d, value.line, path, "%s; write a duration like 30m or 1h", value.found())
		return 0, false
	}
	parsed, err := time.ParseDuration(value.text)
	switch {
	case err != nil && jsonNumber.MatchString(value.text):
		l.at(d, value.line, path, "%s has no unit; write a duration like 30m or 1h", value.text)
	case err != nil:
		l.at(d, value.line, path, "%q is no duration; write it with the units h, m and s, like 1h30m", value.text)
	case parsed < 0:
		l.at(d, value.line, path, "%s is negative; write a duration like 30m or 1h", value.text)
	default:
		return parsed, true
	}
	return 0, false
}

func (l *loader) readIgnore(d *draft, ignore *node) {
	if ignore.kind != kindList {
		l.at(d, ignore.line, "reconcile.ignore", "%s; write a list of paths like properties.x", ignore.found())
		return
	}
	for i, item := range ignore.items {
		path := fmt.Sprintf("reconcile.ignore[%d]", i)
		if item.kind != kindText {
			l.at(d, item.line, path, "%s; a path is a text like properties.x", item.found())
			continue
		}
		if _, err := resource.ParsePath(item.text); err != nil {
			l.at(d, item.line, path, "%v; write it like a.b, list[*].c, list[name=x].c or tags['a.b/c']", err)
			continue
		}
		d.desired.Ignore = append(d.desired.Ignore, item.text)
	}
}

func (l *loader) readLabels(d *draft) {
	labels := d.root.get("labels")
	if labels == nil {
		return
	}
	if labels.kind != kindObject {
		l.at(d, labels.line, "labels", "%s; labels are a mapping of texts, write them like {team: data}", labels.found())
		return
	}
	written := make([]string, 0, len(labels.fields))
	for _, f := range labels.fields {
		if message := labelFault(f); message != "" {
			l.at(d, f.line, "labels."+f.name, "%s", message)
			continue
		}
		if d.desired.Labels == nil {
			d.desired.Labels = map[string]string{}
		}
		d.desired.Labels[f.name] = f.value.text
		written = append(written, f.name+"="+f.value.text)
	}
	// They are written as a JSON list of "k=v": its quotes and commas count.
	if raw, err := json.Marshal(written); err != nil || len(raw) > maxLabelsBytes {
		l.at(d, labels.line, "labels", "the labels take %d bytes as they are written (a list of k=v); allowed are %d: make them fewer or shorter", len(raw), maxLabelsBytes)
	}
}

func labelFault(f field) string {
	switch {
	case f.name == "" || strings.ContainsFunc(f.name, func(r rune) bool { return r == '=' || r == ',' || unicode.IsSpace(r) || unicode.IsControl(r) }):
		return "a label's name is not empty and holds no =, comma, white space or control character; write it like team or team.example/part"
	case f.value.kind != kindText:
		return f.value.found() + "; a label is a text, write it in quotes"
	case strings.ContainsFunc(f.value.text, unicode.IsControl):
		return "a label holds no control character; remove it"
	case len(f.name)+1+len(f.value.text) > maxLabelBytes:
		return "the label is longer than 255 bytes as it is written (k=v); make it shorter"
	}
	return ""
}
