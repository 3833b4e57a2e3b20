package manifest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/armature-io/armature/internal/nearest"
	"github.com/armature-io/armature/resource"
)

// keepTargets returns the manifests that the options name, and those that they need:
// owners, references and dependsOn, and what these need. It notes in the set which came
// along. Without targets it returns all.
func (l *loader) keepTargets(set *Set, ordered []*draft) []*draft {
	if len(l.options.Targets) == 0 {
		return ordered
	}
	named, kept := map[*draft]bool{}, map[*draft]bool{}
	var keep func(d *draft)
	keep = func(d *draft) {
		if kept[d] {
			return
		}
		kept[d] = true
		for _, need := range d.needs {
			keep(need.draft)
		}
	}
	for _, name := range l.options.Targets {
		if d := l.target(name); d != nil {
			named[d] = true
			keep(d)
		}
	}
	var chosen []*draft
	for _, d := range ordered {
		switch {
		case !kept[d]:
			set.LeftOut++
			continue
		case !named[d]:
			set.Along = append(set.Along, d.desired.ID)
		}
		chosen = append(chosen, d)
	}
	return chosen
}

// target returns the manifest that a target names, nil after an issue.
func (l *loader) target(name string) *draft {
	fault := func(format string, args ...any) *draft {
		l.report(Issue{Path: "--target", Message: fmt.Sprintf(format, args...)})
		return nil
	}
	if strings.HasPrefix(name, "/") {
		id, err := resource.ParseID(name)
		switch {
		case err != nil:
			return fault("%v", err)
		case l.byID[id.Key()] == nil:
			return fault("no manifest has the resource ID %s", id)
		}
		return l.byID[id.Key()]
	}
	found := l.named(name)
	switch len(found) {
	case 0:
		if near := nearest.Match(name, l.names()); near != "" {
			return fault("no manifest is named %q; did you mean %s?", name, near)
		}
		return fault("no manifest is named %q; write the name of one of the %d manifests, or its resource ID", name, len(l.drafts))
	case 1:
		return found[0]
	}
	ids := make([]string, len(found))
	for i, d := range found {
		ids[i] = fmt.Sprintf("%s (%s)", d.desired.ID, d.source())
	}
	return fault("%q is the name of %d manifests; write group/name, owner/name or the resource ID: %s", name, len(found), strings.Join(ids, ", "))
}

// Environment is what an environment of a project says about where its resources are.
type Environment struct {
	Name string
	// Subscription and ResourceGroup are "" where the environment states none.
	Subscription, ResourceGroup string
	// Labels are "key=value", sorted.
	Labels []string
}

// public returns the environment as users of the package see it.
func (e *environment) public() Environment {
	text := func(n *node) string {
		if n == nil || n.kind != kindText {
			return ""
		}
		return n.text
	}
	public := Environment{Name: e.name, Subscription: text(e.subscription), ResourceGroup: text(e.resourceGroup)}
	if e.labels != nil {
		for _, f := range e.labels.fields {
			if f.value.kind == kindText {
				public.Labels = append(public.Labels, f.name+"="+f.value.text)
			}
		}
	}
	slices.Sort(public.Labels)
	return public
}
