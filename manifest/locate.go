package manifest

import (
	"regexp"
	"slices"
	"strings"

	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/types"
)

// tenant is the owner that means the tenant, the root above subscriptions.
const tenant = "/"

// locate finds the owner of a draft and sets its resource ID. The ID stays zero if
// the draft, or an owner that is a manifest, has an issue.
func (l *loader) locate(d *draft) {
	if d.located {
		return
	}
	if i := slices.Index(l.locating, d); i >= 0 {
		l.at(d, d.position("owner"), "owner", "the owners form a cycle: %s; give one of them another owner", chain(append(slices.Clone(l.locating[i:]), d)))
		return
	}
	if d.guid != nil {
		l.nameByGUID(d)
	}
	if d.typ == "" || d.segments == nil || d.hasIssue && d.root.get("owner") != nil && d.owner == "" {
		d.located = true
		return
	}
	l.locating = append(l.locating, d)
	id, ok := l.idOf(d)
	l.locating = l.locating[:len(l.locating)-1]
	d.located = true
	if !ok {
		d.hasIssue = true
		return
	}
	parsed, err := resource.ParseID(id)
	switch {
	case err != nil:
		l.at(d, d.position("name"), "name", "%v", err)
	case !strings.EqualFold(parsed.Type(), d.typ):
		l.at(d, d.position("type"), "type", "the resource ID %s is of type %s, not %s", id, parsed.Type(), d.typ)
	default:
		d.desired.ID = parsed
	}
}

// chain returns drafts as a -> b -> a.
func chain(drafts []*draft) string {
	names := make([]string, len(drafts))
	for i, d := range drafts {
		names[i] = d.name
	}
	return strings.Join(names, " -> ")
}

// idOf returns the resource ID, and false after an issue of the draft or its owner.
func (l *loader) idOf(d *draft) (string, bool) {
	switch {
	case d.isType(resource.TypeResourceGroup) || d.isType(resource.TypeManagementGroup) || d.owner != "":
		if len(d.segments) > 1 {
			l.at(d, d.position("name"), "name", "%q contains slashes, which name owners only for a nested type without an owner; write the last part only", d.name)
			return "", false
		}
	case d.parentType() != "" || len(d.segments) > 1:
		return l.chainID(d)
	}
	if d.isType(resource.TypeResourceGroup) {
		return l.groupManifestID(d)
	}
	if d.owner == tenant || d.owner == "" && d.isType(resource.TypeManagementGroup) {
		if d.parentType() != "" {
			l.at(d, d.ownerAt, "owner", "the owner of %s is of type %s; found the tenant; name one of that type", d.typ, d.parentType())
			return "", false
		}
		return "/providers/" + d.typ + "/" + d.name, true
	}
	if d.owner == "" {
		group, ok := l.flagGroup(d)
		return group + "/providers/" + d.typ + "/" + d.name, ok
	}
	owner, ok := l.ownerID(d)
	if !ok {
		return "", false
	}
	if d.parentType() != "" {
		return owner.String() + "/" + d.lastType() + "/" + d.name, true
	}
	return owner.String() + "/providers/" + d.typ + "/" + d.name, true
}

// groupManifestID returns the ID of a resource group. Its owner is a subscription.
func (l *loader) groupManifestID(d *draft) (string, bool) {
	if d.owner == "" {
		if l.options.Subscription == "" {
			l.at(d, d.position("name"), "owner", "a resource group needs a subscription; write owner: /subscriptions/<guid> or give --subscription")
			return "", false
		}
		return "/subscriptions/" + l.options.Subscription + "/resourceGroups/" + d.name, true
	}
	owner, version, ok := l.parseStatedID(d, d.ownerAt, "owner", d.owner)
	if !ok {
		return "", false
	}
	if !strings.EqualFold(owner.Type(), resource.TypeSubscription) {
		l.at(d, d.ownerAt, "owner", "the owner of a resource group is a subscription, like /subscriptions/<guid>; found %s", d.owner)
		return "", false
	}
	d.ownerVersion = version
	return owner.String() + "/resourceGroups/" + d.name, true
}

// chainID returns the ID of a nested type without an owner: its name has a segment
// for each level, and the levels above are either a manifest or in the group of the
// options.
func (l *loader) chainID(d *draft) (string, bool) {
	levels := strings.Split(d.typ, "/")
	last := len(d.segments) - 1
	switch {
	case d.parentType() == "":
		l.at(d, d.position("name"), "name", "%q contains slashes, but %s is not nested in another type", d.name, d.typ)
		return "", false
	case last+2 != len(levels):
		l.at(d, d.position("name"), "name", "%q names %d of %d levels of %s; write a name for each of %s, or an owner and one name",
			d.name, last+1, len(levels)-1, d.typ, strings.Join(levels[1:], "/"))
		return "", false
	}
	above := strings.Join(d.segments[:last], "/")
	owners := slices.DeleteFunc(l.named(above), func(o *draft) bool { return !o.isType(d.parentType()) })
	if len(owners) > 1 {
		l.at(d, d.position("name"), "name", "%q %s; give the owner's resource ID", above, ambiguous(owners))
		return "", false
	}
	if len(owners) == 1 {
		l.locate(owners[0])
		owner := owners[0].desired.ID
		return owner.String() + "/" + d.lastType() + "/" + d.segments[last], !owner.IsZero()
	}
	if l.options.Managed != nil && (l.options.ResourceGroup == "" || l.options.Subscription == "") {
		owner, ok := l.ownerElsewhere(d, above, d.position("name"), "name")
		return owner.String() + "/" + d.lastType() + "/" + d.segments[last], ok
	}
	id, ok := l.flagGroup(d)
	id += "/providers/" + levels[0]
	for i, segment := range d.segments {
		id += "/" + levels[i+1] + "/" + segment
	}
	return id, ok
}

// ownerElsewhere returns the managed resource that is the owner of a draft by a name, and
// keeps the api-version to read it.
func (l *loader) ownerElsewhere(d *draft, name string, at position, path string) (resource.ID, bool) {
	u := use{draft: d, name: name, at: at, path: path, typ: d.parentType()}
	shape := types.Lookup(d.typ, d.version)
	u.inContainer = u.typ == "" && shape != nil && shape.Writable != 0 && !shape.WritableIn(types.ExtensionScope)
	m, ok := l.elsewhere(u)
	if !ok {
		return resource.ID{}, false
	}
	d.ownerVersion = m.version()
	return m.ID, true
}

// flagGroup returns the ID of the resource group of the options.
func (l *loader) flagGroup(d *draft) (string, bool) {
	group, subscription := l.options.ResourceGroup, l.options.Subscription
	if group == "" || subscription == "" {
		l.at(d, d.root.position, "owner", "is missing; write the name of a manifest or a resource ID, or give --resource-group and --subscription")
		return "", false
	}
	return "/subscriptions/" + subscription + "/resourceGroups/" + group,
		guid.MatchString(subscription) && resource.CheckSegment(group) == nil
}

// ownerID resolves the stated owner.
func (l *loader) ownerID(d *draft) (resource.ID, bool) {
	if strings.HasPrefix(d.owner, "/") {
		id, version, ok := l.parseStatedID(d, d.ownerAt, "owner", d.owner)
		if ok && d.parentType() != "" && !strings.EqualFold(id.Type(), d.parentType()) {
			l.at(d, d.ownerAt, "owner", "the owner of %s is of type %s, and %s is of type %s; name one of the right type", d.typ, d.parentType(), d.owner, id.Type())
			return resource.ID{}, false
		}
		d.ownerVersion = version
		return id, ok
	}
	owners := l.named(d.owner)
	if len(owners) == 0 {
		return l.ownerElsewhere(d, d.owner, d.ownerAt, "owner")
	}
	if parent := d.parentType(); parent != "" {
		fitting := slices.DeleteFunc(slices.Clone(owners), func(o *draft) bool { return o.typ != "" && !o.isType(parent) })
		if len(fitting) == 0 {
			l.at(d, d.ownerAt, "owner", "the owner of %s is of type %s, and %s is of type %s; name one of the right type", d.typ, parent, d.owner, owners[0].typ)
			return resource.ID{}, false
		}
		owners = fitting
	}
	if len(owners) > 1 {
		l.at(d, d.ownerAt, "owner", "%q %s; write group/name or the resource ID", d.owner, ambiguous(owners))
		return resource.ID{}, false
	}
	l.locate(owners[0])
	return owners[0].desired.ID, !owners[0].desired.ID.IsZero()
}

// versionLike matches a text after @ that resembles an api-version; names of
// resources may contain other ones.
var versionLike = regexp.MustCompile(`^(|latest|newest|preview|[0-9]{4}-.*)$`)

// parseStatedID parses ID or ID@api-version. A subscription in it must be a GUID.
func (l *loader) parseStatedID(d *draft, at position, path, text string) (resource.ID, string, bool) {
	stated, version := text, ""
	if i := strings.LastIndex(text, "@"); i >= 0 && apiVersion.MatchString(text[i+1:]) {
		stated, version = text[:i], text[i+1:]
	} else if i >= 0 && versionLike.MatchString(text[i+1:]) {
		l.at(d, at, path, "%q is not an api-version; write a date like 2023-08-15, or omit the @ to use the newest stable one", text[i+1:])
		return resource.ID{}, "", false
	}
	if !strings.HasPrefix(stated, "/") {
		l.at(d, at, path, "%q is neither the name of a manifest nor a resource ID; IDs start with /subscriptions/ or /providers/", text)
		return resource.ID{}, "", false
	}
	id, err := resource.ParseID(stated)
	if err != nil {
		l.at(d, at, path, "%v", err)
		return resource.ID{}, "", false
	}
	if s := id.Subscription(); s != "" && !guid.MatchString(s) {
		l.at(d, at, path, "%s", notGUID(s))
		return resource.ID{}, "", false
	}
	return id, version, true
}
