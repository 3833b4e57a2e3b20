package starter

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/armature-io/armature/starter/internal/backend"
	"github.com/armature-io/armature/starter/internal/cli"
)

func TestTargetNames(t *testing.T) {
	const (
		far   = "/subscriptions/11111111-2222-3333-4444-555555555555/resourceGroups/rg9/providers/Microsoft.Kusto/clusters/far/databases/telemetry"
		vault = "/subscriptions/11111111-2222-3333-4444-555555555555/resourceGroups/adx/providers/Microsoft.KeyVault/vaults/keys"
	)
	other := group + "/providers/Microsoft.Kusto/clusters/other/databases/telemetry"
	cases := map[string]struct {
		reason string
		name   string
		want   string
		code   int
	}{
		"chain":            {reason: "the chain of names is the longest name", name: "adx/telemetry", want: database},
		"case":             {reason: "ARM's names ignore case", name: "ADX/Telemetry", want: database},
		"last name":        {reason: "one match is enough", name: "adx", want: cluster},
		"ambiguous":        {reason: "two databases have it: the user must choose", name: "telemetry", code: cli.ExitBadInput},
		"resource ID":      {reason: "an ID needs no list", name: database, want: database},
		"group":            {reason: "the resource group and the name", name: "rg1/adx", want: cluster},
		"group and chain":  {reason: "the longest form", name: "RG1/adx/telemetry", want: database},
		"group, last name": {reason: "one match in the group is enough", name: "rg9/telemetry", want: far},
		"child and group":  {reason: "adx is a cluster with a database keys, and a group with a vault keys", name: "adx/keys", code: cli.ExitBadInput},
		"child, not group": {reason: "behind its group it is the child alone", name: "rg1/adx/keys", want: cluster + "/databases/keys"},
		"ID, any case":     {reason: "the workflow ID follows from the lower-cased ID", name: strings.ToUpper(database[:15]) + database[15:], want: database},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := sampleWorld(t)
			for _, id := range []string{other, far, vault, cluster + "/databases/keys"} {
				w.temporal.manage(t, id, readyStatus())
			}
			b, err := w.connection(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			records, err := backend.Targets(t.Context(), b, backend.Selection{Names: []string{tc.name}})
			if cli.ExitCode(err) != tc.code {
				t.Fatalf("%s: %v", tc.reason, err)
			}
			if tc.want != "" && !records[0].ID.Equal(mustID(t, tc.want)) {
				t.Errorf("%s: found %s, want %s", tc.reason, records[0].ID, tc.want)
			}
		})
	}
}

// TestTargetCandidates verifies that an ambiguous name is refused with names that are not,
// and with the IDs.
func TestTargetCandidates(t *testing.T) {
	const second = "/subscriptions/11111111-2222-3333-4444-555555555555/resourceGroups/rg2/providers/Microsoft.Kusto/clusters/adx"
	const twin = group + "/providers/Microsoft.Web/sites/adx"
	w := newWorld()
	for _, id := range []string{cluster, second, twin} {
		w.temporal.manage(t, id, readyStatus())
	}
	if code := w.run("pause", "adx"); code != cli.ExitBadInput || len(w.temporal.sent) > 0 {
		t.Errorf("exit code %d, sent %v", code, w.temporal.sent)
	}
	want := "find \"adx\": 3 resources have this name; use one of these names or IDs:\n  " + cluster + "\n  rg2/adx  " + second + "\n  " + twin + "\n"
	if !strings.Contains(w.err.String(), want) {
		t.Errorf("stderr lacks %q:\n%s", want, w.err)
	}
}

func TestTargetSuggestion(t *testing.T) {
	cases := map[string]struct {
		reason string
		typed  string
		want   string
	}{
		"swapped letters": {reason: "the commonest typo", typed: "adx/telemetyr", want: "did you mean adx/telemetry?"},
		"last name":       {reason: "the chain may be left out", typed: "telemetri", want: "did you mean adx/telemetry?"},
		"one letter":      {reason: "case is ignored", typed: "ADY", want: "did you mean adx?"},
		"another word":    {reason: "a suggestion must be similar", typed: "xyz", want: "no managed resource has this name; `armature get`"},
		"one of one":      {reason: "half of a short name is another name", typed: "a", want: "no managed resource has this name; `armature get`"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := sampleWorld(t)
			if code := w.run("get", tc.typed); code != cli.ExitFailed {
				t.Errorf("exit code %d", code)
			}
			if !strings.Contains(w.err.String(), tc.want) {
				t.Errorf("%s: stderr lacks %q:\n%s", tc.reason, tc.want, w.err)
			}
		})
	}
}

// TestTargetsOfManifests verifies that every command with a selection reads manifests and
// environments, and says which resources it leaves out.
func TestTargetsOfManifests(t *testing.T) {
	folder := t.TempDir()
	for file, text := range map[string]string{
		"armature.yaml": "environments: {dev: {resource-group: other}, prod: {resource-group: rg1}}\n",
		"adx.yaml": "type: Microsoft.Kusto/clusters@2023-08-15\nname: adx\nbody: {location: westeurope, sku: {name: Standard_E2ads_v5, tier: Standard}}\n" +
			"---\ntype: Microsoft.Kusto/clusters/databases@2023-08-15\nname: telemetry\nowner: adx\nbody: {kind: ReadWrite, location: westeurope}\n" +
			"---\ntype: Microsoft.Kusto/clusters/databases@2023-08-15\nname: new\nowner: adx\nbody: {kind: ReadWrite, location: westeurope}\n",
	} {
		if err := os.WriteFile(filepath.Join(folder, file), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	from := []string{"-f", folder, "--subscription", "11111111-2222-3333-4444-555555555555", "--env"}
	for _, c := range newWorld().rootCommand().Commands() {
		if c.Flag("selector") != nil && c.ValidArgsFunction != nil && (c.Flag("filename") == nil || c.Flag("env") == nil) {
			t.Errorf("%s has a selection and no -f and --env", c.Name())
		}
	}
	cases := map[string]struct {
		args   []string
		out    []string
		stderr string
		code   int
	}{
		"get":                   {args: []string{"get"}, out: []string{"adx  ", "adx/telemetry"}, stderr: "1 resource is not managed and left out: kusto database adx/new"},
		"why":                   {args: []string{"why"}, out: []string{"1 of 2 resources are Ready"}, stderr: "adx/new"},
		"describe":              {args: []string{"describe"}, out: []string{"adx/telemetry  Microsoft.Kusto"}, stderr: "adx/new"},
		"pause":                 {args: []string{"pause"}, out: []string{"kusto cluster adx  already paused", "kusto database adx/telemetry  already paused"}, stderr: "adx/new"},
		"reconcile":             {args: []string{"reconcile"}, out: []string{"adx/telemetry  reconciling"}, stderr: "adx/new"},
		"with names":            {args: []string{"get", "adx"}, stderr: "-f cannot be combined", code: cli.ExitBadInput},
		"environment elsewhere": {args: []string{"get", "dev"}, stderr: "none of the 3 resources of the manifests is managed", code: cli.ExitFailed},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			env, args := "prod", tc.args
			if len(args) > 1 && args[1] == "dev" {
				env, args = "dev", args[:1]
			}
			w := sampleWorld(t)
			if code := w.run(append(append(slices.Clone(args), from...), env)...); code != tc.code {
				t.Errorf("exit code %d: %s", code, w.err.String())
			}
			for _, want := range tc.out {
				if !strings.Contains(w.out.String(), want) {
					t.Errorf("no %q in %s", want, w.out.String())
				}
			}
			if !strings.Contains(w.err.String(), tc.stderr) {
				t.Errorf("stderr is %s, want %q", w.err.String(), tc.stderr)
			}
		})
	}
}
