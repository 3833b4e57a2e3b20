package page

import (
	"net/url"
	"slices"
	"strings"

	"github.com/armature-io/armature/starter/internal/backend"
	"github.com/armature-io/armature/starter/internal/cli"
)

// Filter is the part of the estate that an address names.
type Filter struct {
	// Of is the ID of the resource in the middle of a graph, "" for none.
	Of string
	// Query is searched in name, ID, type, reason and labels.
	Query, Phase, Reason, Type string
	// Label is a selector, key=value,key=value: a resource has all of its labels.
	Label string
}

func filterOf(query url.Values) Filter {
	return Filter{
		Of: query.Get("of"), Query: strings.TrimSpace(query.Get("q")), Phase: query.Get("phase"), Reason: query.Get("reason"), Type: query.Get("type"), Label: query.Get("label"),
	}
}

// IsEmpty reports whether the filter chooses everything.
func (f Filter) IsEmpty() bool { return f == Filter{} }

// pairs returns the parameters of the filter for an address.
func (f Filter) pairs(more ...string) []string {
	return append([]string{"of", f.Of, "q", f.Query, "phase", f.Phase, "reason", f.Reason, "type", f.Type, "label", f.Label}, more...)
}

// with returns the filter with another label.
func (f Filter) with(label string) Filter {
	f.Label = strings.TrimPrefix(f.Label+","+label, ",")
	return f
}

// href returns the address of the graph of the filter.
func (f Filter) href() string { return address("/graph", f.pairs()...) }

// Texts are the parts of the filter that no choice of a page shows, for people.
func (f Filter) Texts() []string {
	texts := []string{f.Label, f.Reason, f.Type}
	if f.Query != "" {
		texts = append(texts, "“"+f.Query+"”")
	}
	return slices.DeleteFunc(texts, func(text string) bool { return text == "" })
}

// matches reports whether a view has what the filter asks for, but for the middle.
func (f Filter) matches(v backend.View, reason string) bool {
	for want, got := range map[string]string{f.Phase: v.PhaseName(), f.Reason: reason, f.Type: v.ID.Type()} {
		if want != "" && !strings.EqualFold(got, want) {
			return false
		}
	}
	// The value of a label may contain a comma.
	if !slices.Contains(v.Record.Labels, f.Label) {
		for _, label := range strings.Split(f.Label, ",") {
			if label != "" && !slices.Contains(v.Record.Labels, strings.TrimSpace(label)) {
				return false
			}
		}
	}
	if f.Query == "" {
		return true
	}
	text := strings.ToLower(strings.Join(append([]string{v.DisplayName(), v.ID.String(), v.ID.Type(), cli.Kind(v.ID), reason, v.PhaseName()}, v.Record.Labels...), "\n"))
	for _, word := range strings.Fields(strings.ToLower(f.Query)) {
		if !strings.Contains(text, word) {
			return false
		}
	}
	return true
}
