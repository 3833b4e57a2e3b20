package starter

import (
	"slices"
	"strings"
	"testing"

	"github.com/armature-io/armature/manifest"
	"github.com/armature-io/armature/starter/internal/cli"
)

func TestNew(t *testing.T) {
	const accounts = "Microsoft.Storage/storageAccounts"
	cases := map[string]struct {
		reason         string
		args           []string
		code           int
		stdout, stderr string
	}{
		"type":          {"the newest version", []string{"Microsoft.Network/virtualNetworks/subnets"}, cli.ExitOK, "name: my-subnet\n", ""},
		"version":       {"as in a manifest", []string{accounts + "@2023-01-01"}, cli.ExitOK, "type: " + accounts + "@2023-01-01\n", ""},
		"flags":         {"name and version", []string{accounts, "--name", "acc1", "--api-version", "2023-01-01"}, cli.ExitOK, "type: " + accounts + "@2023-01-01\nname: acc1\n", ""},
		"odd name":      {"a warning, because published patterns may be wrong", []string{accounts, "--name", "A_B"}, cli.ExitOK, "name: A_B\n", "warning: the name A_B"},
		"bad name":      {"no name of a resource", []string{accounts, "--name", "a/b"}, cli.ExitBadInput, "", "--name"},
		"twice":         {"one version", []string{accounts + "@2023-01-01", "--api-version", "2023-01-01"}, cli.ExitBadInput, "", "the api-version is stated twice"},
		"no version":    {"the nearest", []string{accounts, "--api-version", "2023-01-02"}, cli.ExitFailed, "", "the nearest is 2023-01-01"},
		"more":          {"a version and nothing else", []string{accounts, "--api-version", "2023-01-01.sku"}, cli.ExitBadInput, "", "is not an api-version"},
		"property":      {"a type", []string{accounts + ".sku"}, cli.ExitBadInput, "", "leave out .sku"},
		"read-only":     {"a PUT cannot create it", []string{"Microsoft.Resources/deploymentScripts/logs"}, cli.ExitFailed, "", "cannot be created by a PUT"},
		"not published": {"the nearest type", []string{"Microsoft.Storage/storageAcounts"}, cli.ExitFailed, "", "did you mean " + accounts},
		"nothing":       {"a type is needed", nil, cli.ExitBadInput, "", "new takes one argument"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := offlineWorld(t)
			if code := w.run(append([]string{"new"}, tc.args...)...); code != tc.code {
				t.Errorf("%s: exit code %d, want %d", tc.reason, code, tc.code)
			}
			if !strings.Contains(w.out.String(), tc.stdout) || !strings.Contains(w.err.String(), tc.stderr) {
				t.Errorf("%s:\nstdout %s\nstderr %s", tc.reason, w.out, w.err)
			}
			if tc.code != cli.ExitOK {
				return
			}
			if _, err := manifest.Load(manifest.Options{Stdin: strings.NewReader(w.out.String())}, "-"); err != nil {
				t.Errorf("%s: the manifest is refused: %v", tc.reason, err)
			}
		})
	}
}

// TestCompletionOfTypes checks what a shell is offered for types, versions and paths.
func TestCompletionOfTypes(t *testing.T) {
	const accounts = "Microsoft.Storage/storageAccounts"
	cases := map[string]struct {
		reason string
		args   []string
		first  string
		// without must not be offered.
		without string
	}{
		"namespace":             {"a namespace once", []string{"explain", "Microsoft.Kus"}, "Microsoft.Kusto/", "Microsoft.Kusto/clusters"},
		"namespace, other case": {"begins as it was typed", []string{"new", "microsoft.kus"}, "microsoft.kusto/", ""},
		"type":                  {"types of a namespace", []string{"explain", "Microsoft.Storage/storageA"}, accounts, "Microsoft.Storage/"},
		"version":               {"newest first", []string{"explain", accounts + "@2023"}, accounts + "@2023-05-01", accounts + "@2024-01-01"},
		"version of new":        {"behind an @ too", []string{"new", accounts + "@2023"}, accounts + "@2023-05-01", ""},
		"version flag":          {"of the type that is the argument", []string{"new", accounts, "--api-version", "2023"}, "2023-05-01", accounts},
		"property":              {"required first", []string{"explain", accounts + "."}, accounts + ".kind", accounts + ".name"},
		"deep property":         {"a path", []string{"explain", accounts + "@2023-01-01.properties.networkAcls.d"}, accounts + "@2023-01-01.properties.networkAcls.defaultAction", accounts + "@2023-01-01.properties.networkAcls.bypass"},
		"property of an item":   {"with brackets", []string{"explain", "Microsoft.Network/routeTables.properties.routes[].properties.nextHopT"}, "Microsoft.Network/routeTables.properties.routes[].properties.nextHopType", ""},
		"property of a form":    {"of every form", []string{"explain", "Microsoft.Resources/deploymentScripts.properties.azP"}, "Microsoft.Resources/deploymentScripts.properties.azPowerShellVersion", ""},
		"pattern":               {"a type is a pattern too", []string{"types", "Microsoft.Kusto/clusters/d"}, "Microsoft.Kusto/clusters/databases", ""},
		"creatable":             {"only what a manifest can have", []string{"new", "Microsoft.Resources/deploymentScripts"}, "Microsoft.Resources/deploymentScripts", "Microsoft.Resources/deploymentScripts/logs"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := completed(offlineWorld(t), tc.args...)
			if len(got) == 0 || got[0] != tc.first || slices.Contains(got, tc.without) {
				t.Errorf("%s: got %q, want %q first and %q absent", tc.reason, got[:min(len(got), 8)], tc.first, tc.without)
			}
		})
	}
	for _, args := range [][]string{{"explain", accounts, ""}, {"explain", "Nowhere."}, {"explain", accounts + ".properties['a.b"}, {"new", "--api-version", ""}} {
		if got := completed(offlineWorld(t), args...); len(got) > 0 {
			t.Errorf("%q: got %q, want no offers", args, got)
		}
	}
}

// TestCompletionInBash checks that Bash passes TYPE@VERSION as one word.
func TestCompletionInBash(t *testing.T) {
	w := offlineWorld(t)
	if w.run("completion", "bash"); !strings.HasPrefix(w.out.String(), "shopt -u hostcomplete\n") {
		t.Errorf("the script begins with %.80s", w.out)
	}
}
