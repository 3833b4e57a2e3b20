package starter

import (
	"slices"
	"strings"
	"testing"

	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/starter/internal/backend"
	"github.com/armature-io/armature/starter/internal/cli"
	"github.com/armature-io/armature/workflows"
)

const (
	subscription = "11111111-2222-3333-4444-555555555555"
	otherCluster = "/subscriptions/" + subscription + "/resourceGroups/rg2/providers/Microsoft.Kusto/clusters/adx"
	farCluster   = "/subscriptions/22222222-2222-3333-4444-555555555555/resourceGroups/rg1/providers/Microsoft.Kusto/clusters/adx"
)

// oneDatabase is a manifest of which the owner has none.
const oneDatabase = "type: Microsoft.Kusto/clusters/databases@2023-08-15\nname: telemetry\nowner: adx\nbody: {location: westus2, kind: ReadWrite}\nlabels: {stack: prod}\n"

// TestApplyFindsOwners verifies that a manifest alone is applied below managed resources, and
// that the output names them.
func TestApplyFindsOwners(t *testing.T) {
	cases := map[string]struct {
		reason  string
		text    string
		args    []string
		managed []string
		change  func(*backend.Record)
		err     error
		code    int
		owner   string
		want    string
	}{
		"labels": {
			reason: "the cluster has the labels of the database", text: oneDatabase, managed: []string{cluster}, owner: cluster,
			want: "adx is the managed resource " + cluster,
		},
		"group": {
			reason: "the resource group of the flags", text: strings.ReplaceAll(oneDatabase, "labels: {stack: prod}\n", ""), managed: []string{cluster, otherCluster},
			args: []string{"--resource-group", "rg2", "--subscription", subscription}, owner: otherCluster, want: "adx is the managed resource " + otherCluster,
		},
		"group/name": {
			reason: "the group in the name", text: strings.ReplaceAll(oneDatabase, "owner: adx", "owner: rg2/adx"), managed: []string{cluster, otherCluster},
			owner: otherCluster, want: "rg2/adx is the managed resource " + otherCluster,
		},
		"ambiguous": {
			reason: "nothing starts, and both are named", text: oneDatabase, managed: []string{cluster, farCluster}, code: cli.ExitBadInput,
			want: `"adx" is the name of 2 managed resources; write group/name or the resource ID: ` + cluster + ", " + farCluster,
		},
		"being deleted": {
			reason: "the database could never be created", text: oneDatabase, managed: []string{cluster}, code: cli.ExitBadInput,
			change: func(r *backend.Record) { r.Phase = workflows.PhaseDeleting; r.Summary = nil }, want: cluster + " is being deleted",
		},
		"without a resource ID": {
			reason: "what another program started has no ID to use", text: oneDatabase, managed: []string{cluster}, code: cli.ExitBadInput,
			change: func(r *backend.Record) { r.ID = resource.ID{} }, want: `neither a manifest nor a managed resource is named "adx"`,
		},
		"ID of another workflow": {
			reason: "any user of the namespace can write such a memo", text: oneDatabase, managed: []string{cluster}, code: cli.ExitBadInput,
			change: func(r *backend.Record) { r.WorkflowID += "x" }, want: `neither a manifest nor a managed resource is named "adx"`,
		},
		"other api-version": {
			reason: "a list shows what other programs wrote; the newest version is found later", text: oneDatabase, managed: []string{cluster}, owner: cluster,
			change: func(r *backend.Record) { r.APIVersion = "latest'" },
		},
		"no server": {
			reason: "Temporal is asked for the name", text: oneDatabase, err: cli.Unreachable("no Temporal"), code: cli.ExitUnreachable, want: "no Temporal",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld()
			for _, id := range tc.managed {
				w.temporal.manage(t, id, readyStatus())
				if tc.change != nil {
					w.temporal.change(t, id, tc.change)
				}
			}
			w.temporal.listErr = tc.err
			folder := manifests(t, map[string]string{"db.yaml": tc.text})
			if code := w.run(append([]string{"apply", "-f", folder}, tc.args...)...); code != tc.code {
				t.Fatalf("%s: exit code %d, want %d: %s", tc.reason, code, tc.code, w.err)
			}
			if !strings.Contains(w.err.String(), tc.want) {
				t.Errorf("%s: output lacks %q:\n%s", tc.reason, tc.want, w.err)
			}
			if tc.owner == "" {
				if len(w.temporal.started) > 0 {
					t.Errorf("%s: started %v", tc.reason, w.temporal.started)
				}
				return
			}
			if input := w.temporal.inputs[0].(workflows.ApplyInput); input.Desired.Owner.String() != tc.owner || input.Desired.ID.String() != tc.owner+"/databases/telemetry" {
				t.Errorf("%s: applied %s below %s, want below %s", tc.reason, input.Desired.ID, input.Desired.Owner, tc.owner)
			}
		})
	}
}

// TestSignedNames verifies that a name of a managed resource is not signed: any user of the
// Temporal namespace could have started its workflow. A wait sends nothing and finds it.
func TestSignedNames(t *testing.T) {
	file, _, _ := privateKey(t)
	folder := manifests(t, map[string]string{"db.yaml": oneDatabase})
	for _, args := range [][]string{{"apply", "--signing-key", file}, {"delete", "--signing-key", file}, {"plan"}, {"wait"}} {
		w := newWorld()
		w.environment = cli.Environment{backend.SigningKeyVariable + "=" + file}
		for _, id := range []string{cluster, database} {
			w.temporal.manage(t, id, readyStatus())
		}
		code := w.run(append(args, "-f", folder)...)
		want := "db.yaml:1: owner: adx is the managed resource " + cluster
		if args[0] == "wait" {
			if code != cli.ExitOK {
				t.Errorf("wait: exit code %d: %s", code, w.err)
			}
			continue
		}
		if code == cli.ExitOK || len(w.temporal.started)+len(w.temporal.sent) > 0 || !strings.Contains(w.err.String(), want) {
			t.Errorf("%v: exit code %d, sent %v and %v, want a refusal with %q:\n%s", args, code, w.temporal.started, w.temporal.sent, want, w.err)
		}
	}
}

// TestDeleteBelowDeleting verifies that a manifest is found for its deletion although its
// owner is being deleted.
func TestDeleteBelowDeleting(t *testing.T) {
	w := newWorld()
	w.temporal.manage(t, cluster, deleting(readyStatus()))
	folder := manifests(t, map[string]string{"db.yaml": oneDatabase})
	if code := w.run("delete", "-f", folder); code != cli.ExitOK || !slices.Equal(w.temporal.started, []string{"delete telemetry"}) {
		t.Errorf("exit code %d, sent %v: %s", code, w.temporal.started, w.err)
	}
}

// TestValidateLeavesOpen verifies that validate and render need no server for a manifest
// with names that it does not define, and state them.
func TestValidateLeavesOpen(t *testing.T) {
	folder := manifests(t, map[string]string{"db.yaml": oneDatabase})
	cases := map[string]struct {
		reason string
		args   []string
		code   int
		want   string
	}{
		"validate": {reason: "a warning", args: []string{"validate", "-f", folder}, want: `warning: owner: "adx" has no manifest here; plan and apply look for a managed resource of this name` + "\n1 manifest, 0 faults, 1 warning"},
		"strict":   {reason: "complete folders can insist", args: []string{"validate", "-f", folder, "--strict"}, code: cli.ExitFailed, want: "1 warning"},
		"render":   {reason: "a comment", args: []string{"render", "-f", folder}, want: "db.yaml:1\n" + `# open: owner: "adx" has no manifest here`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld()
			if code := w.run(tc.args...); code != tc.code || !strings.Contains(w.out.String(), tc.want) {
				t.Errorf("%s: exit code %d, want %d and %q:\n%s%s", tc.reason, code, tc.code, tc.want, w.out, w.err)
			}
			if w.temporal.lists > 0 {
				t.Errorf("%s: %d lists", tc.reason, w.temporal.lists)
			}
		})
	}
}

// TestTargetFlag verifies what plan and apply do with a part of the manifests.
func TestTargetFlag(t *testing.T) {
	files := map[string]string{"other.yaml": "type: Microsoft.Kusto/clusters@2023-08-15\nname: other\nowner: " + group + "\nbody: {location: westus2, sku: {name: Standard_E2d_v5, tier: Standard}}\n"}
	cases := map[string]struct {
		reason string
		args   []string
		code   int
		sent   []string
		want   string
	}{
		"apply": {
			reason: "the owner comes along, and the output says so", args: []string{"apply", "--target", "telemetry"}, sent: []string{"apply adx", "apply telemetry"},
			want: "--target: only what it names, and kusto cluster adx, which it needs; 1 other manifest left out\n",
		},
		"apply one":   {reason: "what needs it stays", args: []string{"apply", "--target", "adx"}, sent: []string{"apply adx"}, want: "--target: only what it names; 2 other manifests left out\n"},
		"apply two":   {reason: "the flag repeats", args: []string{"apply", "--target", "adx", "--target", "other"}, sent: []string{"apply adx", "apply other"}, want: "1 other manifest left out\n"},
		"plan":        {reason: "plan takes the same along", args: []string{"plan", "--target", "adx/telemetry"}, sent: []string{"plan adx", "plan telemetry"}, want: "which it needs; 1 other manifest left out\n"},
		"unknown":     {reason: "with the nearest name", args: []string{"apply", "--target", "telemetri"}, code: cli.ExitBadInput, want: `--target: no manifest is named "telemetri"; did you mean telemetry?`},
		"with prune":  {reason: "what is left out has a manifest", args: []string{"apply", "--target", "adx", "--prune", "-l", "a=b"}, code: cli.ExitBadInput, want: "--prune and --target cannot be combined"},
		"plan, prune": {reason: "plan refuses the same", args: []string{"plan", "--target", "adx", "--prune", "-l", "a=b"}, code: cli.ExitFailed, want: "--prune and --target cannot be combined"},
		"plan file":   {reason: "the plan has its part already", args: []string{"apply", "--target", "adx", "--plan-file", "x"}, code: cli.ExitBadInput, want: "--plan-file cannot be combined with --target"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld()
			args := slices.Clone(tc.args)
			if !slices.Contains(args, "--plan-file") {
				args = append(args, "-f", adx(t), "-f", manifests(t, files))
			}
			if code := w.run(args...); code != tc.code {
				t.Errorf("%s: exit code %d, want %d: %s", tc.reason, code, tc.code, w.err)
			}
			sent := slices.Sorted(slices.Values(slices.Concat(w.temporal.started, w.temporal.sent)))
			if !slices.Equal(sent, tc.sent) || !strings.Contains(w.err.String(), tc.want) {
				t.Errorf("%s: sent %v, want %v and the output %q:\n%s", tc.reason, sent, tc.sent, tc.want, w.err)
			}
		})
	}
}

// TestGetRepeatedNames verifies that a list shows the resource group of names that repeat,
// and only of those, in the form that commands take.
func TestGetRepeatedNames(t *testing.T) {
	w := newWorld()
	for _, id := range []string{cluster, database, otherCluster, vnet, group + "/providers/Microsoft.Web/sites/v1", group} {
		w.temporal.manage(t, id, readyStatus())
	}
	for _, args := range [][]string{{"get"}, {"get", "-o", "wide"}} {
		w.out.Reset()
		if code := w.run(args...); code != cli.ExitOK {
			t.Fatalf("exit code %d: %s", code, w.err)
		}
		var names []string
		for _, line := range strings.Split(strings.TrimSpace(w.out.String()), "\n")[1:] {
			names = append(names, strings.Fields(line)[0])
		}
		slices.Sort(names)
		if want := []string{"adx/telemetry", "rg1", "rg1/adx", "rg2/adx", "v1", "v1"}; !slices.Equal(names, want) {
			t.Errorf("%v shows %v, want %v", args, names, want)
		}
	}
	if code := w.run("pause", "rg2/adx"); code != cli.ExitOK || !slices.Contains(w.temporal.sent, "pause adx") {
		t.Errorf("exit code %d, sent %v: %s", code, w.temporal.sent, w.err)
	}
	w.out.Reset()
	w.run("__complete", "describe", "")
	for _, offer := range []string{"rg1/adx\t", "rg2/adx\t", "adx/telemetry\t"} {
		if !strings.Contains(w.out.String(), offer) {
			t.Errorf("completion lacks %q:\n%s", offer, w.out)
		}
	}
}

// TestEveryCommandTakesGroups verifies that each command with names takes group/name, and
// refuses a name that two resources have with both.
func TestEveryCommandTakesGroups(t *testing.T) {
	const to = group + "/providers/Microsoft.Kusto/clusters/moved"
	for _, args := range [][]string{
		{"get"}, {"describe"}, {"why"}, {"wait"}, {"reconcile"}, {"pause"}, {"resume"}, {"delete"}, {"forget"}, {"drift"}, {"import"}, {"outputs"}, {"move", to},
	} {
		t.Run(args[0], func(t *testing.T) {
			w := newWorld()
			for _, id := range []string{cluster, otherCluster} {
				w.temporal.manage(t, id, readyStatus())
			}
			line := func(name string) []string { return append([]string{args[0], name}, args[1:]...) }
			w.run(line("adx")...)
			if want := "\n  rg1/adx  " + cluster + "\n  rg2/adx  " + otherCluster + "\n"; !strings.Contains(w.err.String(), want) {
				t.Errorf("the ambiguous name: stderr lacks %q:\n%s", want, w.err)
			}
			w.err.Reset()
			w.run(line("rg2/adx")...)
			if strings.Contains(w.err.String(), "find ") || len(w.temporal.queries) == 0 {
				t.Errorf("rg2/adx was not found: %s", w.err)
			}
		})
	}
}
