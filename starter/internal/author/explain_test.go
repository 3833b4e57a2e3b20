package author

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/armature-io/armature/types"
	"github.com/google/go-cmp/cmp"
)

const accounts = "Microsoft.Storage/storageAccounts"

func TestParse(t *testing.T) {
	cases := map[string]struct{ reason, text, typ, version, path string }{
		"type":              {"the namespace has a dot", accounts, accounts, "", ""},
		"another case":      {"names ignore case", strings.ToLower(accounts), accounts, "", ""},
		"path":              {"the path begins behind the last segment of the type", accounts + ".properties.networkAcls", accounts, "", "properties.networkAcls"},
		"version":           {"as in a manifest", accounts + "@2023-01-01", accounts, "2023-01-01", ""},
		"version and path":  {"a version has no dots", accounts + "@2023-01-01.properties", accounts, "2023-01-01", "properties"},
		"preview":           {"the longest version counts", "Microsoft.Kusto/clusters@2019-05-15.sku", "Microsoft.Kusto/clusters", "2019-05-15", "sku"},
		"child":             {"the longest type counts", accounts + "/blobServices.properties", accounts + "/blobServices", "", "properties"},
		"items":             {"[] is short for [*]", "Microsoft.Network/routeTables.properties.routes[].name", "Microsoft.Network/routeTables", "", "properties.routes[*].name"},
		"form of a body":    {"brackets follow a type too", "Microsoft.Resources/deploymentScripts@2023-08-01[kind=AzureCLI].properties", "Microsoft.Resources/deploymentScripts", "2023-08-01", "[kind=AzureCLI].properties"},
		"name with a slash": {"quotes as in other paths", accounts + ".tags['a/b.c']", accounts, "", "tags['a/b.c']"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			q, err := ParseQuery(tc.text)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]string{tc.typ, tc.version, tc.path}, []string{q.Type, q.Version, q.Path.String()}); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestRefusals(t *testing.T) {
	cases := map[string]struct {
		reason, text, want string
		unknown            bool
	}{
		"misspelt type":     {"the nearest type", "Microsoft.Storage/storageAccuonts.properties", "did you mean " + accounts + "?", true},
		"no namespace":      {"the shortest type with this segment first", "storageAccounts", "did you mean " + accounts + " or ", true},
		"other namespace":   {"the segment counts where the namespace is wrong", "Contoso.Nowhere/storageAccounts", "did you mean " + accounts + " or ", true},
		"a level is absent": {"types of the same provider first", "Microsoft.Storage/containers", "did you mean Microsoft.Storage/storageAccounts/blobServices/containers", true},
		"nothing is near":   {"the way to search", "Contoso.Nowhere/zzzzzzzzzzzz", "`armature types zzzzzzzzzzzz`", true},
		"version":           {"nearest and newest version", accounts + "@2023-01-02.properties", "has no api-version 2023-01-02; the nearest is 2023-01-01, the newest is " + types.Newest(accounts), true},
		"word for version":  {"no date", accounts + "@latest", "has no api-version latest", true},
		"empty version":     {"an @ needs a version", accounts + "@", "write " + accounts + "@" + types.Newest(accounts), false},
		"empty":             {"nothing stated", "", "the type is empty", false},
		"property":          {"the nearest property", accounts + ".propertes", "the body has no property propertes (did you mean properties?)", true},
		"deep property":     {"where it is missing", accounts + ".properties.networkAcls.defaultActon", "properties.networkAcls has no property defaultActon (did you mean defaultAction?)", true},
		"below a text":      {"a text has no properties", accounts + ".location.x", "location has no property x: it is text", true},
		"no list":           {"brackets of a mapping", accounts + ".properties[]", "properties is mapping, not a list", true},
		"form":              {"the nearest form", "Microsoft.Resources/deploymentScripts[kind=AzureCLl]", "did you mean AzureCLI?", true},
		"broken path":       {"the form of a path", accounts + ".properties..x", "write it like properties.routes[].name", false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			q, err := ParseQuery(tc.text)
			if err == nil {
				_, err = Explain(q)
			}
			if err == nil || !strings.Contains(err.Error(), tc.want) || errors.Is(err, ErrUnknown) != tc.unknown {
				t.Errorf("%s: got %v, want %q", tc.reason, err, tc.want)
			}
		})
	}
}

func page(t *testing.T, text string) Page {
	t.Helper()
	q, err := ParseQuery(text)
	if err != nil {
		t.Fatal(err)
	}
	p, err := Explain(q)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestText(t *testing.T) {
	cases := map[string]struct {
		reason, text string
		want         []string
	}{
		"mapping":   {"required properties first", accounts + "@2023-01-01.properties.networkAcls", []string{"KIND       mapping", "required  Allow | Deny", "bypass"}},
		"resource":  {"what a manifest's author needs to know", accounts + "/blobServices@2023-01-01", []string{"OWNER      " + accounts, "NAME       only default", "SCOPE      resource group", "CHILDREN   containers", "READ-ONLY"}},
		"actions":   {"POST actions", accounts + "@2023-01-01", []string{"ACTIONS    listAccountSas, listKeys"}},
		"open":      {"other values are legal", accounts + "@2023-01-01.properties.minimumTlsVersion", []string{"VALUES     TLS1_0, TLS1_1, TLS1_2, or another value"}},
		"list":      {"the properties of its items, without brackets too", "Microsoft.Network/routeTables@2023-05-01.properties.routes.properties", []string{"PATH       properties.routes[].properties", "nextHopType", "VirtualNetworkGateway"}},
		"case":      {"names as published", accounts + "@2023-01-01.PROPERTIES.networkacls", []string{"PATH       properties.networkAcls"}},
		"forms":     {"the forms and how to select one", "Microsoft.Resources/deploymentScripts@2023-08-01", []string{"FORMS      kind: AzureCLI, AzurePowerShell", "add [kind=AzureCLI] to the path"}},
		"one form":  {"the properties of the form", "Microsoft.Resources/deploymentScripts@2023-08-01[kind=AzurePowerShell].properties", []string{"azPowerShellVersion"}},
		"ambiguous": {"a path that exists in several forms names the others", "Microsoft.Resources/deploymentScripts@2023-08-01.properties", []string{"FORM       kind=AzureCLI", "[kind=AzurePowerShell].properties"}},
		"by form":   {"a property that only one form has", "Microsoft.Resources/deploymentScripts@2023-08-01.properties.azPowerShellVersion", []string{"FORM       kind=AzurePowerShell", "FLAGS      required"}},
		"bounds":    {"of a name", accounts + "@2023-01-01", []string{"NAME       3 to 24 characters; matches ^[a-z0-9]+$"}},
		"secret":    {"the flag", "Microsoft.Compute/virtualMachines@2023-03-01.properties.osProfile.adminPassword", []string{"secret"}},
		"map":       {"any key", accounts + "@2023-01-01.tags.team", []string{"KIND       text"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := page(t, tc.text).Text(Layout{Width: 100})
			for _, want := range tc.want {
				if !strings.Contains(got, want) {
					t.Errorf("%s: %q is missing:\n%s", tc.reason, want, got)
				}
			}
		})
	}
}

// TestScreen checks that the page of a mapping fits on one screen.
func TestScreen(t *testing.T) {
	got := page(t, accounts+".properties.networkAcls").Text(Layout{Width: 100})
	if lines := strings.Count(got, "\n"); lines > 40 {
		t.Errorf("%d lines, want at most 40", lines)
	}
}

// TestAllPages renders the body and each property of the body of every type: no line
// is wider than the layout, and each property that a page lists can be explained.
func TestAllPages(t *testing.T) {
	pages, lines := 0, 0
	for i, name := range types.Names(false) {
		if testing.Short() && i%20 != 0 {
			continue
		}
		body, err := Explain(Query{Type: name})
		if err != nil {
			t.Fatal(err)
		}
		all := []Page{body}
		for _, f := range body.Field.Properties {
			q, err := ParseQuery(name + "." + nameText(f.Name))
			if err != nil {
				t.Fatalf("%s.%s: %v", name, f.Name, err)
			}
			p, err := Explain(q)
			if err != nil {
				t.Fatalf("%s.%s: %v", name, f.Name, err)
			}
			if p.Field.Kind != f.Kind {
				t.Errorf("%s.%s: the list states %s, its page %s", name, f.Name, f.Kind, p.Field.Kind)
			}
			all = append(all, p)
		}
		for _, p := range all {
			pages++
			for _, line := range strings.Split(p.Text(Layout{Width: 100}), "\n") {
				lines++
				if utf8.RuneCountInString(line) > 100 {
					t.Errorf("%s.%s: the line is %d characters wide: %s", name, p.Path, utf8.RuneCountInString(line), line)
				}
			}
		}
	}
	t.Logf("%d pages, %d lines", pages, lines)
}

func TestShortened(t *testing.T) {
	cases := map[string]struct {
		reason, line, want string
		width              int
	}{
		"fits":      {"the end fits behind it", "a, b,", "a, b ...", 20},
		"words":     {"cut between words", "first, second, third", "first, second ...", 20},
		"long word": {"cut inside", "abcdefghijklmnopqrstuvwxyz", "abcdefghijklmnop ...", 20},
		"narrow":    {"never narrower than a short text", "abcdefghijklmnopqrstuvwxyz", "abcdefghijkl ...", 1},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := shorten(tc.line, tc.width); got != tc.want {
				t.Errorf("got %q, want %q: %s", got, tc.want, tc.reason)
			}
		})
	}
}

// TestTree checks that a tree ends, also where a mapping contains itself.
func TestTree(t *testing.T) {
	got, err := Tree(Query{Type: accounts})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"kind  text  required\n", "\n  networkAcls  mapping\n    defaultAction  text  required\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing:\n%s", want, got)
		}
	}
	for i, name := range types.Names(true) {
		if testing.Short() && i%20 != 0 {
			continue
		}
		if text, err := Tree(Query{Type: name}); err != nil || len(text) > 4<<20 {
			t.Errorf("%s: %d bytes, %v", name, len(text), err)
		}
	}
}

func TestMatches(t *testing.T) {
	cases := map[string]struct {
		reason, pattern, name string
		want                  bool
	}{
		"part":          {"a pattern without * is a part", "storage", "microsoft.storage/x", true},
		"empty":         {"no pattern matches all", "", "a/b", true},
		"whole":         {"with * the whole name", "storage*", "microsoft.storage/x", false},
		"both ends":     {"* at both ends", "*storage*", "microsoft.storage/x", true},
		"in the middle": {"parts in order", "microsoft.*/*s", "microsoft.kusto/clusters", true},
		"out of order":  {"parts in order", "*clusters*kusto*", "microsoft.kusto/clusters", false},
		"overlap":       {"two parts do not share a letter", "ab*ba", "aba", false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := matches(tc.pattern, tc.name); got != tc.want {
				t.Errorf("matches(%q, %q) = %v: %s", tc.pattern, tc.name, got, tc.reason)
			}
		})
	}
}
