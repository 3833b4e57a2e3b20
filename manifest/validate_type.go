package manifest

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/armature-io/armature/internal/nearest"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/types"
)

// typeCheck is what is found about a type and api-version.
type typeCheck struct {
	// shape is the one for the body, nil for an unknown type.
	shape    *types.Shape
	findings []typeFinding
}

type typeFinding struct {
	rule                types.Rule
	isFault             bool
	message, suggestion string
}

// checkType reports an unknown type, another spelling of it and an unknown api-version.
// It returns the shape for the body, nil for an unknown type.
func (v validator) checkType() *types.Shape {
	check := v.loader.typeCheck(v.draft.typ, v.draft.version)
	for _, f := range check.findings {
		v.report(found{rule: f.rule, isFault: f.isFault, at: v.draft.root.get("type").position, path: "type", suggestion: f.suggestion}, "%s", f.message)
	}
	return check.shape
}

// typeCheck returns what is found about a type. The search for a similar name takes
// milliseconds, and a stack has many manifests of few types.
func (l *loader) typeCheck(typ, version string) typeCheck {
	key := typ + "@" + version
	check, known := l.typeChecks[key]
	if !known {
		check = newTypeCheck(typ, version)
		l.typeChecks[key] = check
	}
	return check
}

func newTypeCheck(typ, version string) typeCheck {
	check := typeCheck{shape: types.Lookup(typ, version)}
	add := func(rule types.Rule, suggestion, format string, args ...any) {
		check.findings = append(check.findings, typeFinding{rule: rule, message: fmt.Sprintf(format, args...), suggestion: suggestion})
	}
	if check.shape == nil {
		provider, _, _ := strings.Cut(typ, "/")
		switch near := types.Nearest(typ); {
		case near != "":
			add(UnknownType, near, "%s is not a published type (did you mean %s?); the body was not checked", typ, near)
			check.findings[0].isFault = isMisspelt(strings.ToLower(typ), strings.ToLower(near))
		case isProvider(provider):
			add(UnknownType, "", "%s is not a published type; the body was not checked; `armature types %s` lists those of the provider", typ, provider)
		default:
			add(UnknownType, "", "%s is not a published type; the body was not checked; check the spelling, unless the type is private", typ)
		}
		return check
	}
	if name, _ := types.Spelled(typ); name != typ && !isSpelling(typ) {
		add(types.LetterCase, name, "%s is published as %s", typ, name)
	}
	if !check.shape.Exact && apiVersion.MatchString(version) {
		near, text := unknownVersion(check.shape, version)
		add(UnknownVersion, near, "%s", text)
	}
	return check
}

// isMisspelt reports whether a type differs from a published one by one letter, or is its
// singular or plural. Private types that are so near need --validation warn.
func isMisspelt(typ, published string) bool {
	isPlural := func(one, many string) bool {
		stem, ends := strings.CutSuffix(one, "y")
		return many == one+"s" || many == one+"es" || ends && many == stem+"ies"
	}
	return nearest.Distance(typ, published) == 1 || isPlural(typ, published) || isPlural(published, typ)
}

// isProvider reports whether types of a provider are published.
func isProvider(name string) bool {
	prefix := strings.ToLower(name) + "/"
	return slices.ContainsFunc(types.Names(false), func(typ string) bool { return strings.HasPrefix(strings.ToLower(typ), prefix) })
}

// isSpelling reports whether some version of a type is published in exactly this
// spelling: from one version to the next it may change.
func isSpelling(name string) bool {
	return slices.ContainsFunc(types.Versions(name), func(version string) bool { return types.Lookup(name, version).Type == name })
}

// unknownVersion returns the nearest published api-version, and the message about one in
// which the type is not published.
func unknownVersion(shape *types.Shape, version string) (near, message string) {
	newest := types.Newest(shape.Type)
	near = nearestVersion(version, types.Versions(shape.Type))
	kind := "newest stable"
	if types.Preview(newest) {
		kind = "newest"
	}
	choice := "the nearest one is " + near + ", the " + kind + " one " + newest
	if near == newest {
		choice = "the nearest and " + kind + " one is " + near
	}
	return near, fmt.Sprintf("%s is not published in api-version %s; %s; the body was checked against %s", shape.Type, version, choice, shape.Version)
}

// nearestVersion returns the version whose date is nearest, of several the one that is
// spelled most alike.
func nearestVersion(version string, published []string) string {
	best, bestDays, bestEdits := "", 0, 0
	for _, candidate := range published {
		days, edits := daysBetween(version, candidate), nearest.Distance(strings.ToLower(version), candidate)
		if best == "" || days < bestDays || days == bestDays && edits < bestEdits {
			best, bestDays, bestEdits = candidate, days, edits
		}
	}
	return best
}

// daysBetween returns the number of days between the dates of two versions. A date that
// does not exist, like February 30, counts as a later day.
func daysBetween(a, b string) int {
	const day = 24 * time.Hour
	difference := versionDate(a).Sub(versionDate(b))
	return int(max(difference, -difference) / day)
}

func versionDate(version string) time.Time {
	var parts [3]int
	for i, part := range strings.SplitN(version, "-", 4)[:3] {
		for _, digit := range part {
			parts[i] = parts[i]*10 + int(digit-'0')
		}
	}
	return time.Date(parts[0], time.Month(parts[1]), parts[2], 0, 0, 0, 0, time.UTC)
}

// checkWritable reports a type that no PUT creates, or not under this owner.
func (v validator) checkWritable(shape *types.Shape) {
	d := v.draft
	if d.desired.Policy == resource.PolicyObserve {
		return
	}
	f := found{rule: TypeNotWritable, at: d.root.get("type").position, path: "type"}
	if shape.Writable == 0 && shape.Readable != 0 {
		newest := types.Lookup(shape.Type, types.Newest(shape.Type))
		if newest == nil || newest.Writable == 0 {
			v.report(f, "%s cannot be written in any published api-version; to report its differences only, write reconcile: {policy: observe}", shape.Type)
			return
		}
		f.suggestion = newest.Version
		v.report(f, "%s cannot be written in api-version %s, but in %s", shape.Type, shape.Version, newest.Version)
		return
	}
	scope, name, known := scopeOf(d.desired.ID)
	// An extension type has any scope: its owner may be a group or a subscription too.
	if !known || shape.WritableIn(scope) || shape.WritableIn(types.ExtensionScope) {
		return
	}
	f.rule, f.path = WrongScope, "owner"
	if owner := d.root.get("owner"); owner != nil {
		f.at = owner.position
	}
	wanted := scopeNames(shape.Writable)
	v.report(f, "%s is created in %s; its owner is %s; name %s as owner", shape.Type, wanted, name, wanted)
}

// publishedScope is a scope with its name in messages and the type of its resources.
type publishedScope struct {
	scope      types.Scope
	name, kind string
}

func scopes() []publishedScope {
	return []publishedScope{
		{types.ResourceGroupScope, "a resource group", resource.TypeResourceGroup},
		{types.SubscriptionScope, "a subscription", resource.TypeSubscription},
		{types.ManagementGroupScope, "a management group", resource.TypeManagementGroup},
		{types.TenantScope, "the tenant (/)", resource.TypeTenant},
	}
}

func scopeNames(set types.Scope) string {
	var names []string
	for _, s := range scopes() {
		if set&s.scope != 0 {
			names = append(names, s.name)
		}
	}
	return strings.Join(names, " or ")
}

// scopeOf returns the scope in which a resource is: the scope of the outermost resource above
// it, because children have the scope of their parents. It returns false for an ID that
// is not known.
func scopeOf(id resource.ID) (types.Scope, string, bool) {
	if id.IsZero() {
		return 0, "", false
	}
	owner := id.Owner()
	for !owner.IsZero() && strings.HasPrefix(strings.ToLower(id.Type()), strings.ToLower(owner.Type())+"/") {
		id, owner = owner, owner.Owner()
	}
	if owner.IsZero() {
		return types.TenantScope, "the tenant", true
	}
	all := scopes()
	i := slices.IndexFunc(all, func(s publishedScope) bool { return strings.EqualFold(s.kind, owner.Type()) })
	if i < 0 {
		return types.ExtensionScope, "a resource of type " + owner.Type(), true
	}
	return all[i].scope, all[i].name, true
}

// checkName reports a name that the type does not take.
func (v validator) checkName(shape *types.Shape) {
	d := v.draft
	if len(d.segments) == 0 {
		return
	}
	name := d.segments[len(d.segments)-1]
	f := found{rule: InvalidName, at: d.root.get("name").position, path: "name"}
	if names, open := shape.PublishedNames(); !open && !slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(n, name) }) {
		f.suggestion = nearest.Match(name, names)
		v.report(f, "%q is not allowed; a resource of type %s is named %s", name, shape.Type, strings.Join(names, " or "))
		return
	}
	for _, finding := range shape.CheckName(name) {
		v.report(f, "%s", finding.Message)
	}
}
