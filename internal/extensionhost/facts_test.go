package extensionhost_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/internal/extensionhost"
)

// A table of facts has known names only.
func TestParseFacts(t *testing.T) {
	cases := map[string]struct{ reason, table, want string }{
		"facts":         {"the names of the columns", "Contoso.Things/things:\n  child: {kind: part}\n", ""},
		"unknown fact":  {"a misspelt name would state nothing", "Contoso.Things/things:\n  chidl: {kind: part}\n", "chidl"},
		"unknown field": {"so would one in a fact", "Contoso.Things/things:\n  child: {kid: part}\n", "kid"},
		"two rows":      {"a type has one row", "Contoso.Things/things: {}\nContoso.Things/things: {}\n", "already defined"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := extensions.ParseFacts([]byte(c.table))
			if (err != nil) != (c.want != "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: %v, want %q", c.reason, err, c.want)
			}
		})
	}
}

// Facts about a provider, a last segment and a type add up: lists are joined, and the facts
// about the type itself count last.
func TestFactsOfType(t *testing.T) {
	kind := func(kind extensions.ChildKind) extensions.Facts {
		return extensions.Facts{Child: extensions.Child{Kind: kind}, BuiltIn: extensions.BuiltIn{Names: []string{"a"}}}
	}
	r := registry(t,
		extensions.Entry{Type: "Contoso.Things/things/copies", Facts: extensions.Facts{Child: extensions.Child{Kind: extensions.ChildPart}}},
		extensions.Entry{Type: "*/copies", Facts: kind(extensions.ChildCopy)},
		extensions.Entry{Type: "Contoso.Others/*", Facts: kind(extensions.ChildView)},
	)
	for resourceType, want := range map[string]extensions.Facts{
		"contoso.things/THINGS/copies": {Child: extensions.Child{Kind: extensions.ChildPart}, BuiltIn: extensions.BuiltIn{Names: []string{"a"}}},
		"Contoso.Others/things/copies": kind(extensions.ChildCopy),
		"Contoso.Others/things":        kind(extensions.ChildView),
		"Contoso.Things/things":        {},
	} {
		if diff := cmp.Diff(want, r.Facts(resourceType)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", resourceType, diff)
		}
	}
	if _, err := extensionhost.New(extensions.Entry{Type: "*/copies", Link: every{}}); err == nil {
		t.Error("a link for a pattern is registered, and would never be called")
	}
}

func TestBuiltInNames(t *testing.T) {
	all := extensions.BuiltIn{Names: []string{"*"}, Except: []string{"*_CL"}}
	host := extensions.BuiltIn{Names: []string{"{parent}*.azurewebsites.net"}}
	for name, got := range map[string]bool{
		"everything": all.Has("p", "Usage"), "but": !all.Has("p", "mine_cl"), "parent": host.Has("App", "app.azurewebsites.net"), "another": !host.Has("app", "shop.azurewebsites.net"),
	} {
		if !got {
			t.Error(name)
		}
	}
}

// Facts that would never apply are refused at registration.
func TestFactsAreValidated(t *testing.T) {
	for name, facts := range map[string]extensions.Facts{
		"path":     {Checks: []extensions.StateCheck{{Path: "properties..x", States: []string{"Busy"}}}},
		"no codes": {Errors: []extensions.ErrorClass{{Class: "Slow"}}},
		"pattern":  {Errors: []extensions.ErrorClass{{Codes: []string{"BadRequest"}, Pattern: "("}}},
	} {
		if _, err := extensionhost.New(extensions.Entry{Type: "Contoso.Things/things", Facts: facts}); err == nil {
			t.Errorf("%s: the facts are registered", name)
		}
	}
}
