package manifest

import (
	"slices"
	"strings"

	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/types"
)

// The rules of values that others than the manifest set later.
const (
	OwnedValue   types.Rule = "owned-value"
	ReleaseValue types.Rule = "release-value"
)

// Owning is a manifest whose values may have other owners.
type Owning struct {
	Type string
	// Body is the stated one; Owner is that of the manifest of the owner, empty without one.
	Body, Owner map[string]any
	// Settings are the names of resources by their types: they are enabled, and have the
	// resource as their target.
	Settings map[string]string
	// Decided are paths about which the manifest has decided.
	Decided []string
}

// Owned is a stated value that another owner moves.
type Owned struct {
	// Path leads to the value, By names its owner.
	Path resource.Path
	By   string
	// OnlyUp is set if the owner only raises the value.
	OnlyUp bool
	// Release is set if releases set such values, in some projects.
	Release bool
}

// checkOwned warns about stated values that a switch in one of the manifests owns, and proposes
// reconcile.initial for those that releases set.
func (l *loader) checkOwned() {
	settings := l.settings()
	for _, d := range l.drafts {
		how := l.howToValidate(d)
		facts := l.options.facts(d.typ)
		body, err := resource.DecodeBody(d.desired.Body)
		if err != nil || facts.Owned == nil || how == ValidationOff || d.desired.ID.IsZero() || d.desired.Policy == resource.PolicyObserve {
			continue
		}
		owning := Owning{
			Type: d.typ, Body: body, Owner: map[string]any{}, Settings: settings[d.desired.ID.Key()],
			Decided: slices.Concat(d.desired.Ignore, d.desired.Initial, d.desired.Enforce),
		}
		if owner := l.byID[d.desired.ID.Owner().Key()]; owner != nil {
			if stated, err := resource.DecodeBody(owner.desired.Body); err == nil {
				owning.Owner = stated
			}
		}
		v := validator{loader: l, draft: d, how: how}
		for _, owned := range facts.Owned(owning) {
			v.reportOwned(owned, body)
		}
	}
}

func (v validator) reportOwned(owned Owned, body map[string]any) {
	at, path, _ := locateFinding(v.draft, types.Finding{Path: indexed(owned.Path, body)})
	f := found{rule: OwnedValue, at: at, path: path}
	switch {
	case owned.Release:
		f.rule = ReleaseValue
		v.report(f, "a release pipeline may set it; state the path in reconcile.initial if one does: then only a creation and a change of this manifest send it; if this manifest releases, state it in reconcile.enforce")
	case owned.OnlyUp:
		v.report(f, "the value belongs to %s, which raises it: it is sent at creation, and a lower value later is not; reconcile.initial confirms that, reconcile.enforce overrules it", owned.By)
	default:
		v.report(f, "the value belongs to %s: it is sent at creation and when this manifest changes it, otherwise the owner's value stays; reconcile.initial confirms that, reconcile.enforce overrules it", owned.By)
	}
}

// settings returns the enabled resources among the manifests that have another one as their
// target (Microsoft.Insights/autoscaleSettings), as names by type, by the key of the target.
func (l *loader) settings() map[string]map[string]string {
	found := map[string]map[string]string{}
	for _, d := range l.drafts {
		body, err := resource.DecodeBody(d.desired.Body)
		if err != nil {
			continue
		}
		properties, _ := body["properties"].(map[string]any)
		target := properties["targetResourceUri"]
		if reference, is := target.(map[string]any); is {
			target = reference[resource.RefMarker]
		}
		text, _ := target.(string)
		id, err := resource.ParseID(text)
		if err != nil || properties["enabled"] == false {
			continue
		}
		if found[id.Key()] == nil {
			found[id.Key()] = map[string]string{}
		}
		found[id.Key()][strings.ToLower(d.typ)] = d.name
	}
	return found
}

// indexed returns a path with the positions of items in a body in place of their keys.
func indexed(path resource.Path, body any) resource.Path {
	positions := slices.Clone(path)
	for i, step := range path {
		if list, isList := body.([]any); isList {
			at := 0
			for at < len(list) && !step.MatchesElement(at, list[at]) {
				at++
			}
			if at == len(list) {
				return positions
			}
			positions[i], body = resource.Step{Index: at, IsIndex: true}, list[at]
			continue
		}
		body, _ = step.Get(body)
	}
	return positions
}
