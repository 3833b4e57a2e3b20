package manifest

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/armature-io/armature/internal/nearest"
	"github.com/armature-io/armature/resource"
)

// draft is one manifest while it is converted to a resource.Desired.
type draft struct {
	file     string
	root     *node
	hasIssue bool
	typ      string
	version  string
	// name as stated, and its segments, nil if one is invalid.
	name     string
	segments []string
	// alias is a second name for other manifests, "" for none.
	alias string
	// guid is the list of a name that is a $guid and has no text yet.
	guid *node
	// owner as stated, "" if absent.
	owner   string
	ownerAt position
	// ownerVersion is the part after @ of an owner that is a resource ID.
	ownerVersion string
	// located is set once locate ran; the ID is zero if it failed.
	located bool
	desired resource.Desired
	// validation is the manifest's own choice, "" for ValidationDefault.
	validation Validation
	// needs are the manifests that come first: owner, references, dependsOn.
	needs []need
	// reads are the values of other resources that the body reads.
	reads []read
	// open are the names that are left open.
	open Issues
}

// need is another manifest that comes first, and the position that states it.
type need struct {
	draft *draft
	at    position
	path  string
}

func (d *draft) source() Source { return Source{File: d.file, Line: d.root.line} }

// position returns the position of a field, or of the manifest if it lacks the field.
func (d *draft) position(name string) position {
	for _, f := range d.root.fields {
		if f.name == name {
			return f.position
		}
	}
	return d.root.position
}

// at reports an issue of the draft.
func (l *loader) at(d *draft, at position, path, format string, args ...any) {
	d.hasIssue = true
	l.report(Issue{File: at.in(d.file), Line: at.line, Column: at.column, Path: path, Message: fmt.Sprintf(format, args...)})
}

// missing reports an absent field, unless it is present with an issue.
func (l *loader) missing(d *draft, at position, path, message string) {
	d.hasIssue = true
	if !slices.Contains(d.root.broken, path) {
		l.at(d, at, path, "%s", message)
	}
}

// The fields of a manifest, and of section "reconcile".
var (
	manifestFields  = []string{"type", "name", "alias", "owner", "body", "reconcile", "labels", "outputs", "export"}
	reconcileFields = []string{"policy", "adopt", "recreate", "interval", "ignore", "initial", "enforce", "put", "dependsOn", "waitFor", "timeout", "credential", "delete", "validation"}
)

// apiVersion is ARM's form: a date, for previews with a suffix.
var apiVersion = regexp.MustCompile(`^[0-9]{4}-[0-9]{2}-[0-9]{2}(-[A-Za-z0-9.-]+)?$`)

// typeSegment is the form of a segment of a resource type.
var typeSegment = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)

// readManifest reads the fields of one document that do not depend on other
// manifests.
func (l *loader) readManifest(file string, root *node) {
	d := &draft{file: file, root: root}
	if root.kind != kindObject {
		l.at(d, root.position, "", "a manifest is a mapping with the fields %s; %s", strings.Join(manifestFields, ", "), root.found())
		return
	}
	l.drafts = append(l.drafts, d)
	l.checkFields(d, root, "", manifestFields)
	l.readType(d)
	l.readName(d)
	l.readAlias(d)
	if owner := root.get("owner"); owner != nil {
		d.ownerAt = d.position("owner")
		if owner.kind != kindText || owner.text == "" {
			l.at(d, d.ownerAt, "owner", "%s; write the name of a manifest or a resource ID", owner.found())
		} else {
			d.owner = owner.text
		}
	}
	if body := root.get("body"); body == nil {
		l.missing(d, root.position, "body", "is missing; write body: {} for a resource without properties")
	} else if body.kind != kindObject {
		l.at(d, body.position, "body", "%s; a body is a mapping, write it like body: {location: westus2}", body.found())
	}
	d.desired.Policy = resource.PolicyManage
	d.desired.Interval, d.desired.Timeout, d.desired.DefaultInterval = resource.DefaultInterval, resource.DefaultTimeout, true
	l.readReconcile(d)
	l.readLabels(d)
	l.readOutputs(d)
	l.readExports(d)
}

// checkFields refuses unknown fields and suggests a known name.
func (l *loader) checkFields(d *draft, section *node, prefix string, known []string) {
	for _, f := range section.fields {
		switch {
		case slices.Contains(known, f.name):
		case nearest.Match(f.name, known) != "":
			l.at(d, f.position, prefix+f.name, "unknown field; did you mean %s?", nearest.Match(f.name, known))
		default:
			l.at(d, f.position, prefix+f.name, "unknown field; allowed: %s", strings.Join(known, ", "))
		}
	}
}

func (l *loader) readType(d *draft) {
	value, at := d.root.get("type"), d.position("type")
	if value == nil || value.kind != kindText {
		l.missing(d, at, "type", "is missing or not a text; write type: Provider.Namespace/type@api-version")
		return
	}
	typ, version, stated := strings.Cut(value.text, "@")
	segments := strings.Split(typ, "/")
	switch {
	case len(segments) < 2 || !strings.Contains(segments[0], ".") ||
		slices.ContainsFunc(segments, func(s string) bool { return !typeSegment.MatchString(s) }):
		l.at(d, at, "type", "%q is not a resource type; write it like Microsoft.Kusto/clusters@2023-08-15", value.text)
		return
	case !stated || version == "":
		l.at(d, at, "type", "%q has no api-version; write it like %s@2023-08-15", value.text, typ)
	case !apiVersion.MatchString(version):
		l.at(d, at, "type", "%q is not an api-version; write a date like 2023-08-15 or 2023-08-15-preview", version)
	}
	for _, container := range []string{resource.TypeSubscription, resource.TypeTenant} {
		if strings.EqualFold(typ, container) {
			l.at(d, at, "type", "%s cannot be created by a manifest; use it as owner", typ)
			return
		}
	}
	d.typ, d.version = typ, version
}

func (l *loader) readName(d *draft) {
	value, at := d.root.get("name"), d.position("name")
	switch {
	case value == nil:
		l.missing(d, at, "name", "is missing; write the resource's name")
		return
	case markerOf(value) == resource.GUIDMarker:
		d.guid = value.get(resource.GUIDMarker)
		return
	case value.kind != kindText:
		l.at(d, at, "name", "%s; a name is a text, write it in quotes", value.found())
		return
	}
	d.name = value.text
	l.byName[lastName(d.name)] = append(l.byName[lastName(d.name)], d)
	segments := strings.Split(value.text, "/")
	for _, segment := range segments {
		if err := resource.CheckSegment(segment); err != nil {
			l.at(d, at, "name", "%q cannot be part of a resource ID: %v", value.text, err)
			return
		}
	}
	d.segments = segments
}

// readAlias reads the name by which other manifests may call this one.
func (l *loader) readAlias(d *draft) {
	value, at := d.root.get("alias"), d.position("alias")
	switch {
	case value == nil:
		return
	case value.kind != kindText:
		l.at(d, at, "alias", "%s; an alias is a text", value.found())
		return
	case !aliasName.MatchString(value.text):
		l.at(d, at, "alias", "%q is not an alias: use letters, digits, - and _", value.text)
		return
	}
	d.alias = value.text
	if lastName(d.alias) != lastName(d.name) {
		l.byName[lastName(d.alias)] = append(l.byName[lastName(d.alias)], d)
	}
}

// aliasName is the form of an alias.
var aliasName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,90}$`)

// parentType returns the type of the owner of a nested type, "" for a type that is
// not nested.
func (d *draft) parentType() string {
	if strings.Count(d.typ, "/") < 2 {
		return ""
	}
	return d.typ[:strings.LastIndex(d.typ, "/")]
}

// lastType returns the last segment of the type.
func (d *draft) lastType() string { return d.typ[strings.LastIndex(d.typ, "/")+1:] }

// isType reports whether the draft is of a type, ignoring case.
func (d *draft) isType(typ string) bool { return strings.EqualFold(d.typ, typ) }
