package types

import (
	"slices"
	"strings"
	"testing"

	"github.com/armature-io/armature/internal/azuretypes"
	"github.com/google/go-cmp/cmp"
)

// publishedShapes is the number of type@versions of the source.
const publishedShapes = 34518

func TestPublishedDataDecodes(t *testing.T) {
	x, err := readIndex(azuretypes.Packed())
	if err != nil {
		t.Fatal(err)
	}
	shapes := 0
	for _, p := range x.providers {
		frame, err := p.load()
		if err != nil {
			t.Errorf("%s: %v", p.name, err)
		}
		shapes += len(frame)
	}
	if shapes != publishedShapes {
		t.Errorf("%d shapes, want %d", shapes, publishedShapes)
	}
}

func TestLookup(t *testing.T) {
	cases := map[string]struct {
		reason        string
		name, version string
		want          string
		exact         bool
	}{
		"exact":       {"a published version is exact", "Microsoft.Storage/storageAccounts", "2023-01-01", "Microsoft.Storage/storageAccounts@2023-01-01", true},
		"letter case": {"ARM ignores the case of types", "microsoft.storage/STORAGEACCOUNTS", "2023-01-01", "Microsoft.Storage/storageAccounts@2023-01-01", true},
		"between":     {"the nearest earlier version is the best guess", "Microsoft.Storage/storageAccounts", "2023-01-02", "Microsoft.Storage/storageAccounts@2023-01-01", false},
		"future":      {"a version newer than the data is checked by the newest", "Microsoft.Storage/storageAccounts", "2999-01-01", "Microsoft.Storage/storageAccounts@" + last(Versions("Microsoft.Storage/storageAccounts")), false},
		"past":        {"before the first version there is no earlier one", "Microsoft.Storage/storageAccounts", "1999-01-01", "Microsoft.Storage/storageAccounts@" + Versions("Microsoft.Storage/storageAccounts")[0], false},
		"unknown":     {"there is nothing to check by", "Microsoft.Example/things", "2023-01-01", "", false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, exact := "", false
			if shape := Lookup(tc.name, tc.version); shape != nil {
				got, exact = shape.Type+"@"+shape.Version, shape.Exact
			}
			if got != tc.want || exact != tc.exact {
				t.Errorf("%q, exact %t; want %q, %t: %s", got, exact, tc.want, tc.exact, tc.reason)
			}
		})
	}
}

func last(names []string) string { return names[len(names)-1] }

func TestNearest(t *testing.T) {
	cases := map[string]struct{ reason, name, want string }{
		"type":                   {"one letter is missing", "Microsoft.Storage/storageAccount", "Microsoft.Storage/storageAccounts"},
		"provider":               {"the provider is misspelt", "Microsoft.Storag/storageAccounts", "Microsoft.Storage/storageAccounts"},
		"both":                   {"provider and type are misspelt", "Microsoft.Netwrok/virtualNetwork", "Microsoft.Network/virtualNetworks"},
		"nested":                 {"the last segment is misspelt", "Microsoft.Network/virtualNetworks/subnet", "Microsoft.Network/virtualNetworks/subnets"},
		"nothing near":           {"a name of one's own has no suggestion", "Contoso.Widgets/gadgets", ""},
		"provider without types": {"the provider exists and the type is far away", "Microsoft.Storage/refrigerators", ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := Nearest(tc.name); got != tc.want {
				t.Errorf("%q, want %q: %s", got, tc.want, tc.reason)
			}
		})
	}
}

func TestNewest(t *testing.T) {
	for _, name := range Names(true) {
		newest := Newest(name)
		shape := Lookup(name, newest)
		if shape == nil || !shape.Exact || shape.Writable == 0 {
			t.Errorf("%s: %q is not a version in which it can be created", name, newest)
		}
		stable := slices.ContainsFunc(Versions(name), func(v string) bool { return !Preview(v) && Lookup(name, v).Writable != 0 })
		if stable == Preview(newest) {
			t.Errorf("%s: newest is %s although a stable version exists: %t", name, newest, stable)
		}
	}
	if got := Newest("Microsoft.Example/things"); got != "" {
		t.Errorf("newest version of an unknown type: %q", got)
	}
}

func TestVersionsAreSorted(t *testing.T) {
	for _, name := range Names(false) {
		if versions := Versions(name); len(versions) == 0 || !slices.IsSorted(versions) {
			t.Errorf("%s: %v", name, versions)
		}
		if spelled, found := Spelled(strings.ToUpper(name)); !found || spelled != name {
			t.Errorf("%s is spelled %q", name, spelled)
		}
	}
}

func TestChildren(t *testing.T) {
	got := map[string]Child{}
	for _, child := range Children("microsoft.storage/storageaccounts") {
		got[child.Type] = child
	}
	for name, want := range map[string]Child{
		"Microsoft.Storage/storageAccounts/blobServices":       {Names: []string{"default"}, Writable: true},
		"Microsoft.Storage/storageAccounts/managementPolicies": {Names: []string{"default"}, Open: true, Writable: true},
		"Microsoft.Storage/storageAccounts/localUsers":         {Open: true, Writable: true},
		"Microsoft.Storage/storageAccounts/accountMigrations":  {Names: []string{"default"}, Open: true},
	} {
		want.Type = name
		if diff := cmp.Diff(want, got[name]); diff != "" {
			t.Errorf("child (-want +got)\n%s", diff)
		}
	}
	sites := Children("Microsoft.Web/sites")
	config := slices.IndexFunc(sites, func(c Child) bool { return c.Type == "Microsoft.Web/sites/config" })
	if config < 0 || sites[config].Open || !slices.Contains(sites[config].Names, "appsettings") || !slices.Contains(sites[config].Names, "web") {
		t.Errorf("a child with a form for each name is %+v", sites[max(config, 0)])
	}
	if _, grandchild := got["Microsoft.Storage/storageAccounts/blobServices/containers"]; grandchild {
		t.Error("a child of a child is listed")
	}
}

func TestActions(t *testing.T) {
	shape := Lookup("Microsoft.Storage/storageAccounts", "2023-01-01")
	if !slices.ContainsFunc(shape.Actions, func(a Action) bool { return a.Name == "listKeys" && a.Output != nil }) {
		t.Errorf("no listKeys in %v", shape.Actions)
	}
}

func TestDamagedData(t *testing.T) {
	packed := azuretypes.Packed()
	cases := map[string][]byte{
		"empty":         {},
		"other file":    []byte("PK\x03\x04 something else"),
		"cut off":       packed[:len(magic)+1],
		"cut directory": packed[:len(magic)+200],
		"cut frame":     packed[:len(packed)-1],
	}
	for name, data := range cases {
		t.Run(name, func(t *testing.T) {
			if _, err := readIndex(data); err == nil {
				t.Error("no error")
			}
		})
	}
}
