package manifest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/armature-io/armature/internal/nearest"
)

// named returns the manifests with a name or an alias, or with a longer form of it that
// follows from their ID: the chain of names ("adx/telemetry"), also behind the resource
// group ("rg1/adx/telemetry").
func (l *loader) named(name string) []*draft {
	var found []*draft
	for _, d := range l.byName[lastName(name)] {
		if strings.Contains(name, "/") && !slices.Contains(l.locating, d) {
			l.locate(d)
		}
		id := d.desired.ID
		if strings.EqualFold(d.name, name) || strings.EqualFold(d.alias, name) && name != "" ||
			!id.IsZero() && (strings.EqualFold(id.Short(), name) || strings.EqualFold(id.GroupName(), name)) {
			found = append(found, d)
		}
	}
	return found
}

// lastName returns the last segment of a name, lower-cased.
func lastName(name string) string { return strings.ToLower(name[strings.LastIndex(name, "/")+1:]) }

// names returns the names and aliases of all manifests.
func (l *loader) names() []string {
	var names []string
	for _, d := range l.drafts {
		for _, name := range []string{d.name, d.alias} {
			if name != "" {
				names = append(names, name)
			}
		}
	}
	return names
}

// Choices returns the names of the project's environments and of the manifests, for
// completion: as far as they can be read.
func Choices(options Options, paths ...string) (environments, names []string) {
	options.Open = true
	l, _ := load(options, paths)
	for _, e := range l.environments {
		environments = append(environments, e.Name)
	}
	return environments, l.names()
}

func (l *loader) unknownName(name string) string {
	message := fmt.Sprintf("no manifest is named %q", name)
	if near := nearest.Match(name, l.names()); near != "" {
		return message + fmt.Sprintf("; did you mean %s?", near)
	}
	return message + "; write a manifest's name or a resource ID"
}

func ambiguous(drafts []*draft) string {
	positions := make([]string, len(drafts))
	for i, d := range drafts {
		positions[i] = d.source().String()
	}
	return fmt.Sprintf("is the name of %d manifests (%s)", len(drafts), strings.Join(positions, ", "))
}
