package manifest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/armature-io/armature/internal/nearest"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/types"
)

// OpenName is the rule of a name that no manifest defines, where managed resources cannot be
// looked up.
const OpenName types.Rule = "open-name"

// Managed is a resource that is managed already, as far as names need it.
type Managed struct {
	ID resource.ID
	// Name is the name in its manifest.
	Name       string
	APIVersion string
	// Labels are "key=value".
	Labels []string
	// Deleting is set while it is being deleted: no manifest can need it.
	Deleting bool
}

// Found is a name of a manifest that means a managed resource.
type Found struct {
	Source Source
	// Path is the field with the name.
	Path, Name string
	ID         resource.ID
}

// use is a name where a manifest uses it.
type use struct {
	draft *draft
	name  string
	at    position
	path  string
	// what is the prefix of messages; typ is the type that the resource must have, ""
	// for any. inContainer is set if it must be a resource group or a scope above.
	what, typ   string
	inContainer bool
}

// takes reports whether a resource is of a type that the name can mean.
func (u use) takes(id resource.ID) bool {
	if u.inContainer {
		return id.IsContainer()
	}
	return u.typ == "" || strings.EqualFold(id.Type(), u.typ)
}

// kind returns what the resource must be.
func (u use) kind() string {
	if u.inContainer {
		return "a resource group, a subscription or a management group"
	}
	return "of type " + u.typ
}

func (l *loader) atUse(u use, format string, args ...any) {
	l.at(u.draft, u.at, u.path, "%s%s", u.what, fmt.Sprintf(format, args...))
}

// elsewhere returns the managed resource that a name means which no manifest has. Without
// exactly one it returns false, after an issue or after an error of the lookup.
func (l *loader) elsewhere(u use) (Managed, bool) {
	switch {
	case l.options.Open:
		l.leaveOpen(u)
		return Managed{}, false
	case l.options.Managed == nil:
		l.atUse(u, "%s", l.unknownName(u.name))
		return Managed{}, false
	case !l.lookUp():
		u.draft.hasIssue = true
		return Managed{}, false
	}
	home := l.homeOf(u.draft)
	all := resource.FindNamed(l.managed, u.name, func(m Managed) (resource.ID, string) { return m.ID, m.Name })
	var found, elsewhere []Managed
	for _, m := range all {
		if home.reaches(m, u.name) {
			found = append(found, m)
		} else {
			elsewhere = append(elsewhere, m)
		}
	}
	fitting := slices.DeleteFunc(slices.Clone(found), func(m Managed) bool { return !u.takes(m.ID) })
	switch {
	case len(fitting) == 1 && fitting[0].Deleting:
		l.atUse(u, "%s is being deleted; apply its manifest to take the deletion back, or name another resource", fitting[0].ID)
	case len(fitting) == 1:
		l.found = append(l.found, Found{Source: u.draft.source(), Path: u.path, Name: u.name, ID: fitting[0].ID})
		return fitting[0], true
	case len(fitting) > 1:
		l.atUse(u, "%q is the name of %d managed resources; write group/name or the resource ID: %s", u.name, len(fitting), listed(fitting))
	case len(found) > 0:
		l.atUse(u, "the owner must be %s, and the managed resources named %q are not; name one of the right type: %s", u.kind(), u.name, listed(found))
	case len(elsewhere) > 0 && home.isUnknown():
		l.atUse(u, "no manifest is named %q, and where to look for a managed resource is unknown; write group/name or the resource ID, add labels that it has, or give --resource-group and --subscription: %s", u.name, listed(elsewhere))
	case len(elsewhere) > 0:
		l.atUse(u, "no manifest is named %q, nor a managed resource %s; write the resource ID to use one from elsewhere: %s", u.name, home, listed(elsewhere))
	default:
		l.atUse(u, "neither a manifest nor a managed resource is named %q%s; write a name or a resource ID", u.name, nearest.Suggest(u.name, l.names()))
	}
	return Managed{}, false
}

// leaveOpen reports a name as open: a warning, and a fault only where all warnings are.
func (l *loader) leaveOpen(u use) {
	u.draft.hasIssue = true
	severity := SeverityWarning
	if l.options.Validate {
		severity = cmp.Or(l.options.Validation, u.draft.validation).severity(false)
	}
	near, known := l.suggested[u.name]
	if !known {
		near = nearest.Match(u.name, l.names())
		l.suggested[u.name] = near
	}
	hint := ""
	if near != "" {
		hint = " (did you mean " + near + "?)"
	}
	message := fmt.Sprintf("%s%q has no manifest here%s; plan and apply look for a managed resource of this name", u.what, u.name, hint)
	issue := Issue{
		File: u.at.in(u.draft.file), Line: u.at.line, Column: u.at.column, Path: u.path, Message: message,
		Severity: severity, Rule: OpenName, Suggestion: near,
	}
	l.issues, u.draft.open = append(l.issues, issue), append(u.draft.open, issue)
}

// maxListed bounds the resources that a message lists.
const maxListed = 8

// listed returns the IDs of resources.
func listed(resources []Managed) string {
	var texts []string
	for i, m := range resources {
		if i == maxListed {
			return strings.Join(texts, ", ") + fmt.Sprintf(" and %d more", len(resources)-i)
		}
		text := m.ID.String()
		if m.Deleting {
			text += " (being deleted)"
		}
		texts = append(texts, text)
	}
	return strings.Join(texts, ", ")
}

// home is where names of a manifest are looked up: its resource group, and what has all of
// its labels.
type home struct {
	subscription, group string
	labels              []string
}

// homeOf returns the home of a draft. While its own ID is not known, the resource group of
// the options is.
func (l *loader) homeOf(d *draft) home {
	h := home{subscription: l.options.Subscription, group: l.options.ResourceGroup}
	if !d.desired.ID.IsZero() {
		h.subscription, h.group = d.desired.ID.Subscription(), d.desired.ID.ResourceGroup()
	}
	for key, value := range d.desired.Labels {
		h.labels = append(h.labels, key+"="+value)
	}
	slices.Sort(h.labels)
	return h
}

// reaches reports whether a managed resource is found from here by a name. Labels, and the
// group in a name, reach no other subscription: its users could give a resource the name
// and the labels that a manifest uses.
func (h home) reaches(m Managed, name string) bool {
	if h.subscription != "" && m.ID.Subscription() != "" && !strings.EqualFold(h.subscription, m.ID.Subscription()) {
		return false
	}
	switch {
	case h.group != "" && strings.EqualFold(h.group, m.ID.ResourceGroup()), resource.HasGroup(m.ID, m.Name, name):
		return true
	case len(h.labels) == 0:
		return false
	}
	return !slices.ContainsFunc(h.labels, func(label string) bool { return !slices.Contains(m.Labels, label) })
}

// isUnknown reports whether only a name with a group finds anything from here.
func (h home) isUnknown() bool { return h.group == "" && len(h.labels) == 0 }

// String returns the home in a sentence.
func (h home) String() string {
	var parts []string
	if h.group != "" {
		parts = append(parts, "in the resource group "+h.group)
	}
	if len(h.labels) > 0 {
		parts = append(parts, "with the labels "+strings.Join(h.labels, ","))
	}
	text := strings.Join(parts, " or ")
	if h.subscription != "" {
		text += " in the subscription " + h.subscription
	}
	return text
}

// lookUp reads the managed resources with the names of all manifests, once. It reports
// false if that failed.
func (l *loader) lookUp() bool {
	if !l.isLookedUp {
		l.isLookedUp = true
		l.managed, l.lookupErr = l.options.Managed(l.namesUsed())
	}
	return l.lookupErr == nil
}

// version returns the api-version in which the resource is managed, "" for one that is
// none: other programs may write what a list shows.
func (m Managed) version() string {
	if !apiVersion.MatchString(m.APIVersion) {
		return ""
	}
	return m.APIVersion
}
