package armsim

import "testing"

func TestDisplayLocation(t *testing.T) {
	for location, want := range map[string]string{
		"westus2": "West US 2", "southeastasia": "Southeast Asia", "northcentralus": "North Central US", "eastus2euap": "East US 2 EUAP",
		"germanywestcentral": "Germany West Central", "uksouth": "UK South", "WestEurope": "West Europe", "West US": "West US", "global": "global",
	} {
		if got := displayLocation(location); got != want {
			t.Errorf("%s is displayed as %q, want %q", location, got, want)
		}
	}
}

func TestGlobMatch(t *testing.T) {
	tests := map[string]struct {
		pattern, text string
		want          bool
	}{
		"empty":          {"", "anything", true},
		"case":           {"/A/*", "/a/B", true},
		"slashes":        {"*/clusters", "microsoft.kusto/clusters", true},
		"no suffix":      {"*/clusters", "microsoft.kusto/clusters/databases", false},
		"backtracking":   {"*ab*c", "xababxc", true},
		"one":            {"a?c", "abc", true},
		"one is not two": {"a?c", "abbc", false},
		"brackets":       {"*/a[b]", "/x/a[b]", true},
		"exact":          {"abc", "abcd", false},
	}
	for name, test := range tests {
		if got := globMatch(test.pattern, test.text); got != test.want {
			t.Errorf("%s: %q on %q is %v", name, test.pattern, test.text, got)
		}
	}
}

func TestLastWord(t *testing.T) {
	for name, want := range map[string]string{
		"adminPassword": "password", "client_secret": "secret", "password": "password", "disablePasswordAuthentication": "authentication",
		"SECRET": "secret", "secretUri": "uri", "shared-secret": "secret",
	} {
		if got := lastWord(name); got != want {
			t.Errorf("last word of %s is %q, want %q", name, got, want)
		}
	}
}

func TestParentID(t *testing.T) {
	const rg = "/subscriptions/s/resourceGroups/g"
	for id, want := range map[string]string{
		rg:                                   "/subscriptions/s",
		rg + "/providers/N.X/a/b":            rg,
		rg + "/providers/N.X/a/b/c/d":        rg + "/providers/N.X/a/b",
		"/providers/N.X/a/b":                 "",
		"/subscriptions/s/providers/N.X/a/b": "/subscriptions/s",
		rg + "/providers/N.X/a/b/providers/N.Y/e/f":     rg + "/providers/N.X/a/b",
		rg + "/providers/N.X/a/b/providers/N.Y/e/f/h/i": rg + "/providers/N.X/a/b/providers/N.Y/e/f",
		rg + "/providers/N.X/a/b/c":                     rg + "/providers/N.X/a/b",
	} {
		target, ok := parseID(id)
		if !ok || target.parentID() != want {
			t.Errorf("parent of %s is %q, want %q", id, target.parentID(), want)
		}
	}
	for _, id := range []string{rg + "/a", rg + "/providers", "/x/y", rg + "/providers/N.X/a/b/providers"} {
		if target, ok := parseID(id); ok && target.kind == kindResource {
			t.Errorf("%s is parsed as the resource %+v", id, target)
		}
	}
}

// TestChangeSources checks that each refusal of a change names where it is public.
func TestChangeSources(t *testing.T) {
	for _, row := range changeRows() {
		if row.source == "" || row.code == "" || row.message == "" {
			t.Errorf("%s %s has no source, code or message", row.typePattern, row.path)
		}
	}
}

// TestOwnerSources checks that each switch names where it is public.
func TestOwnerSources(t *testing.T) {
	for _, row := range ownerRows() {
		if row.source == "" || len(row.on) == 0 || len(row.values) == 0 {
			t.Errorf("%s %s has no source, no position or no value", row.typePattern, row.path)
		}
	}
}
