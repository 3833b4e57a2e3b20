package extensionhost_test

import (
	"context"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/internal/extensionhost"
	"github.com/armature-io/armature/resource"
)

// pointer has its point at the pointer.
type pointer struct{}

func (p *pointer) Children() []string { return nil }

func (p *pointer) RestingStates() []string { return nil }

// half has one point at the value and one at the pointer.
type half struct{}

func (half) RestingStates() []string { return nil }

func (*half) Children() []string { return nil }

// unlike has a point, and the method of another with another signature.
type unlike struct{}

func (unlike) RestingStates() []string { return nil }

func (unlike) PreReconcileCheck(context.Context, *resource.Object) error { return nil }

// store has a point, and a method of its own with the name of one.
type store struct{}

func (store) RestingStates() []string { return nil }

func (store) Delete(string) {}

// misspelt has a method that is nearly one of a point.
type misspelt struct{ unlikeNothing }

func (misspelt) PreReconcileChek() {}

// unlikeNothing has one point.
type unlikeNothing struct{}

func (unlikeNothing) RestingStates() []string { return nil }

// almost has no point, but nearly one.
type almost struct{}

func (almost) PostReconcilCheck() {}

// New refuses an entry that would never apply, and states what is meant.
func TestNewStatesWhatIsMeant(t *testing.T) {
	const known = "Microsoft.Kusto/clusters"
	link := unlikeNothing{}
	cases := map[string]struct {
		reason string
		entry  extensions.Entry
		want   string
	}{
		"none":              {"every resource has a type", extensions.Entry{Link: link}, "has no resource type such as " + known},
		"version":           {"an entry is for all versions", extensions.Entry{Type: known + "@2023-08-15", Link: link}, `has the api-version 2023-08-15; an entry is for all versions: write "Microsoft.Kusto/clusters"`},
		"trailing slash":    {"types have none", extensions.Entry{Type: known + "/", Link: link}, `begins or ends with a slash; write "Microsoft.Kusto/clusters"`},
		"leading blank":     {"it is not seen", extensions.Entry{Type: " " + known, Link: link}, `has blanks around it; write "Microsoft.Kusto/clusters"`},
		"resource ID":       {"it names one resource", extensions.Entry{Type: databaseID, Link: link}, `is the ID of one resource; write its type "Microsoft.Kusto/clusters/databases"`},
		"leading slash":     {"it is no ID", extensions.Entry{Type: "/" + known, Link: link}, `begins or ends with a slash; write "Microsoft.Kusto/clusters"`},
		"no provider":       {"the provider is a part", extensions.Entry{Type: "clusters", Link: link}, `"clusters" is not a resource type such as`},
		"provider alone":    {"so is the type", extensions.Entry{Type: "Microsoft.Kusto", Link: link}, `"Microsoft.Kusto" is not a resource type`},
		"short provider":    {"providers have a dot", extensions.Entry{Type: "Kusto/clusters", Link: link}, `"Kusto/clusters" is not a resource type`},
		"pattern":           {"there are no patterns", extensions.Entry{Type: "Microsoft.Kusto/*", Link: link}, "is a pattern; write one entry for each type, or AllTypes"},
		"empty level":       {"a level has a name", extensions.Entry{Type: "Microsoft.Kusto//clusters", Link: link}, "is not a resource type"},
		"nothing":           {"it does nothing", extensions.Entry{Type: known}, "the entry has neither a link nor facts"},
		"nil pointer":       {"it would panic", extensions.Entry{Type: known, Link: (*pointer)(nil)}, "the link is a nil *extensionhost_test.pointer; register a value, for example &extensionhost_test.pointer{}"},
		"nil function":      {"it would panic", extensions.Entry{Type: known, Link: preLink(nil)}, "the link is a nil extensionhost_test.preLink"},
		"pointer receivers": {"the value has no such method", extensions.Entry{Type: known, Link: pointer{}}, "has a pointer receiver, so the value has no such method: register &extensionhost_test.pointer{}"},
		"some of them":      {"the other points are called, this one never", extensions.Entry{Type: known, Link: half{}}, "its method Children has a pointer receiver"},
		"signature":         {"it is never called", extensions.Entry{Type: known, Link: unlike{}}, "its method PreReconcileCheck is not the one of PreReconciliationChecker and is never called: it is func(context.Context, *resource.Object) (error)"},
		"no point":          {"it is never called", extensions.Entry{Type: known, Link: struct{}{}}, "it implements no extension point"},
		"almost":            {"the name is nearly right", extensions.Entry{Type: known, Link: almost{}}, "it implements no extension point: its method PostReconcilCheck is never called (did you mean PostReconcileCheck?)"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if _, err := extensionhost.New(c.entry); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: got %v, want %q", c.reason, err, c.want)
			}
		})
	}
	for _, name := range []string{extensions.AllTypes, "microsoft.kusto/CLUSTERS", "84codes.CloudAMQP/servers", "Contoso.Things/parents/kind-of.things"} {
		if _, err := extensionhost.New(extensions.Entry{Type: name, Link: link}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestWarnings(t *testing.T) {
	r := registry(t,
		extensions.Entry{Type: "Microsoft.Kusto/clusters", Link: unlikeNothing{}},
		extensions.Entry{Type: extensions.AllTypes, Link: unlikeNothing{}},
		extensions.Entry{Type: "Microsoft.Kusto/clustrs", Link: unlikeNothing{}},
		extensions.Entry{Type: "Contoso.Things/things", Facts: extensions.Facts{Leaf: "nothing names it"}},
		extensions.Entry{Type: "Microsoft.Kusto/clusters", Link: store{}},
		extensions.Entry{Type: "Microsoft.Kusto/clusters", Link: misspelt{}},
	)
	want := []string{
		"extension extensionhost_test.unlikeNothing (registry_test.go:LINE) for Microsoft.Kusto/clustrs: Armature knows no type Microsoft.Kusto/clustrs (did you mean Microsoft.Kusto/clusters?); the entry applies only if Azure has it",
		"facts of Contoso.Things/things: Armature knows no type Contoso.Things/things; the entry applies only if Azure has it",
		"extension extensionhost_test.store (registry_test.go:LINE) for Microsoft.Kusto/clusters: its method Delete is not the one of Deleter and is never called: it is func(string) (), the point needs ",
		"extension extensionhost_test.misspelt (registry_test.go:LINE) for Microsoft.Kusto/clusters: its method PreReconcileChek is never called (did you mean PreReconcileCheck?)",
	}
	line := regexp.MustCompile(`:\d+\)`)
	got := r.Warnings()
	if len(got) != len(want) {
		t.Fatalf("got %d warnings, want %d:\n%s", len(got), len(want), strings.Join(got, "\n"))
	}
	for i, text := range want {
		if !strings.HasPrefix(line.ReplaceAllString(got[i], ":LINE)"), text) {
			t.Errorf("got  %s\nwant %s", got[i], text)
		}
	}
}

// listing is a source that lists what it has.
type listing struct{}

func (listing) Links(string) []any { return nil }

func (listing) ListEntries() []extensions.Entry {
	return []extensions.Entry{{Type: "Contoso.Things/things", Link: namedLink{}}, {Type: "Contoso.Things/things", Facts: extensions.Facts{Leaf: "nothing names it"}, Evidence: "rule leaf (a.yaml:3)"}}
}

func TestList(t *testing.T) {
	r := registry(t,
		extensions.Entry{Type: "Microsoft.Kusto/clusters", Link: every{}, Facts: extensions.Facts{Leaf: "nothing names it"}},
		extensions.Entry{Type: extensions.AllTypes, Link: listing{}})
	const own = "github.com/armature-io/armature/internal/extensionhost_test"
	want := []extensionhost.LinkInfo{
		{Type: "Microsoft.Kusto/clusters", Name: "extensionhost_test.every", Package: own, Points: []string{
			"PreReconcileOwnerCheck", "PreReconcileCheck", "PostReconcileCheck", "ModifyARMResource", "ClassifyError", "HandleSuccess", "Delete", "Import", "Leaf",
		}},
		{Type: "Contoso.Things/things", Name: "rule busy (busy.yaml:4)", Package: own, Points: []string{"PreReconcileCheck"}},
		{Type: "Contoso.Things/things", Name: "rule leaf (a.yaml:3)", Points: []string{"Leaf"}},
	}
	if diff := cmp.Diff(want, r.List()); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// TestTwins holds that one link is registered once for a type.
func TestTwins(t *testing.T) {
	t.Parallel()
	one := extensions.Entry{Type: "Contoso.Things/parents", Link: resolves{}}
	other := extensions.Entry{Type: "Contoso.Things/parents/children", Link: resolves{}}
	if _, err := extensionhost.New(one, other); err != nil {
		t.Errorf("two types: %v, want that one link may serve both", err)
	}
	_, err := extensionhost.New(one, other, extensions.Entry{Type: "contoso.things/PARENTS", Link: resolves{}})
	if err == nil || !strings.Contains(err.Error(), "extensionhost_test.resolves (") || !strings.Contains(err.Error(), "it is registered twice") {
		t.Errorf("got %v, want that the second one is refused", err)
	}
}
