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

// Bounds of labels: with a search attribute over 2,048 bytes the server terminates
// the workflow, and a keyword has at most 255 characters.
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
		l.at(d, section.position, "reconcile", "%s; write a mapping of %s", section.found(), strings.Join(reconcileFields, ", "))
		return
	}
	l.checkFields(d, section, "reconcile.", reconcileFields)
	readEnum(l, d, section, "policy", &d.desired.Policy, resource.Policies()...)
	readEnum(l, d, section, "adopt", &d.desired.Adopt, resource.AdoptAlways, resource.AdoptAsIs, resource.AdoptNever, resource.AdoptOnly)
	readEnum(l, d, section, "recreate", &d.desired.Recreate, resource.RecreateAlways, resource.RecreateNever, resource.RecreateOnImmutable)
	// The default depends on the type, so always is stated like never.
	if value := section.get("recreate"); value != nil && value.kind == kindText && value.text == string(resource.RecreateAlways) {
		d.desired.Recreate = resource.RecreateAlways
	}
	readEnum(l, d, section, "put", &d.desired.Put, resource.PutDefault, resource.PutMerge, resource.PutReplace, resource.PutPatch)
	readEnum(l, d, section, "waitFor", &d.desired.WaitFor, resource.WaitForDefault, resource.WaitForReady, resource.WaitForProvisioned)
	// What is only patched was made by others: a delete leaves it.
	if d.desired.Put == resource.PutPatch && section.get("policy") == nil {
		d.desired.Policy = resource.PolicyDetachOnDelete
	}
	readEnum(l, d, section, "validation", &d.validation, Validations()...)
	if interval := section.get("interval"); interval != nil {
		value, ok := l.duration(d, "reconcile.interval", interval)
		if ok && value != 0 && value < resource.MinInterval {
			l.at(d, interval.position, "reconcile.interval", "%s is below the minimum of 1m; write 0 to disable it", interval.text)
		}
		d.desired.Interval, d.desired.DefaultInterval = value, false
	}
	if timeout := section.get("timeout"); timeout != nil {
		value, ok := l.duration(d, "reconcile.timeout", timeout)
		if ok && value == 0 {
			l.at(d, timeout.position, "reconcile.timeout", "%s is not a valid timeout; write a duration like 6h", timeout.text)
		}
		d.desired.Timeout = value
	}
	l.readPaths(d, section, "ignore", &d.desired.Ignore)
	l.readPaths(d, section, "initial", &d.desired.Initial)
	l.readPaths(d, section, "enforce", &d.desired.Enforce)
	for _, text := range d.desired.Initial {
		if slices.Contains(d.desired.Ignore, text) || slices.Contains(d.desired.Enforce, text) {
			l.at(d, section.get("initial").position, "reconcile.initial", "%s is also in ignore or enforce; state it in one of them", text)
		}
	}
	if deletion := section.get("delete"); deletion != nil {
		l.readDeletion(d, deletion)
	}
	if credential := section.get("credential"); credential != nil {
		l.readCredential(d, credential)
	}
}

// credentialName is the form of a credential's name in the worker's config.
var credentialName = regexp.MustCompile(`^[a-z0-9][a-z0-9-]*$`)

func (l *loader) readCredential(d *draft, credential *node) {
	const write = "write the name of a credential of the worker's config: lower-case letters, digits and dashes"
	switch {
	case credential.kind != kindText:
		l.at(d, credential.position, "reconcile.credential", "%s; "+write, credential.found())
	case !credentialName.MatchString(credential.text):
		l.at(d, credential.position, "reconcile.credential", "%q is not a credential name; "+write, credential.text)
	default:
		d.desired.Credential = credential.text
	}
}

// readEnum reads a field with a fixed set of values. The first one is the default
// and leaves *into unchanged.
func readEnum[W ~string](l *loader, d *draft, section *node, name string, into *W, words ...W) {
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
		l.at(d, value.position, "reconcile."+name, "%s; allowed: %s", value.found(), strings.Join(allowed, ", "))
	case at < 0:
		l.at(d, value.position, "reconcile."+name, "unknown value %q; allowed: %s", value.text, strings.Join(allowed, ", "))
	case at > 0:
		*into = words[at]
	}
}

// duration returns a duration with a unit, or 0.
func (l *loader) duration(d *draft, path string, value *node) (time.Duration, bool) {
	if value.kind != kindText && value.kind != kindNumber {
		l.at(d, value.position, path, "%s; write a duration like 30m or 1h", value.found())
		return 0, false
	}
	parsed, err := time.ParseDuration(value.text)
	switch {
	case err != nil && jsonNumber.MatchString(value.text):
		l.at(d, value.position, path, "%s has no unit; write a duration like 30m or 1h", value.text)
	case err != nil:
		l.at(d, value.position, path, "%q is not a duration; use the units h, m and s, for example 1h30m", value.text)
	case parsed < 0:
		l.at(d, value.position, path, "%s is negative; write a duration like 30m or 1h", value.text)
	default:
		return parsed, true
	}
	return 0, false
}

// readPaths reads a list of paths.
func (l *loader) readPaths(d *draft, section *node, name string, into *[]string) {
	list := section.get(name)
	if list == nil {
		return
	}
	name = "reconcile." + name
	if list.kind != kindList {
		l.at(d, list.position, name, "%s; write a list of paths like properties.x", list.found())
		return
	}
	for i, item := range list.items {
		path := fmt.Sprintf("%s[%d]", name, i)
		if item.kind != kindText {
			l.at(d, item.position, path, "%s; a path is a text like properties.x", item.found())
			continue
		}
		if _, err := resource.ParsePath(item.text); err != nil {
			l.at(d, item.position, path, "%v; write it like a.b, list[*].c, list[name=x].c or tags['a.b/c']", err)
			continue
		}
		*into = append(*into, item.text)
	}
}

func (l *loader) readLabels(d *draft) {
	labels := d.root.get("labels")
	if labels == nil {
		return
	}
	if labels.kind != kindObject {
		l.at(d, labels.position, "labels", "%s; labels are a mapping of texts, write them like {team: data}", labels.found())
		return
	}
	written := make([]string, 0, len(labels.fields))
	for _, f := range labels.fields {
		if message := labelIssue(f); message != "" {
			l.at(d, f.position, "labels."+f.name, "%s", message)
			continue
		}
		if d.desired.Labels == nil {
			d.desired.Labels = map[string]string{}
		}
		d.desired.Labels[f.name] = f.value.text
		written = append(written, f.name+"="+f.value.text)
	}
	// Labels are stored as a JSON list of "k=v": its quotes and commas count.
	if raw, err := json.Marshal(written); err != nil || len(raw) > maxLabelsBytes {
		l.at(d, labels.position, "labels", "the labels take %d bytes (as a list of k=v); at most %d are allowed: use fewer or shorter labels", len(raw), maxLabelsBytes)
	}
}

func labelIssue(f field) string {
	switch {
	case f.name == "" || strings.ContainsFunc(f.name, func(r rune) bool { return r == '=' || r == ',' || unicode.IsSpace(r) || unicode.IsControl(r) }):
		return "a label name must not be empty or contain =, comma, white space or control characters; write it like team or team.example/part"
	case f.value.kind != kindText:
		return f.value.found() + "; a label is a text, write it in quotes"
	case strings.ContainsFunc(f.value.text, unicode.IsControl):
		return "a label must not contain control characters; remove them"
	case len(f.name)+1+len(f.value.text) > maxLabelBytes:
		return "the label is longer than 255 bytes (as k=v); make it shorter"
	}
	return ""
}
