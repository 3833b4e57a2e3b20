package starter

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/starter/internal/backend"
	"github.com/armature-io/armature/starter/internal/cli"
	"github.com/armature-io/armature/starter/internal/project"
	"github.com/armature-io/armature/workflows"
	"github.com/google/go-cmp/cmp"
)

// labelled returns a folder with one cluster that has the labels.
func labelled(t *testing.T, labels string) string {
	t.Helper()
	return manifests(t, map[string]string{"adx.yaml": "type: Microsoft.Kusto/clusters@2023-08-15\nname: adx\nowner: " + group +
		"\nbody: {location: westus2}\nlabels: " + labels + "\n"})
}

// protectNetwork manages a protected network and another cluster, both without a manifest.
func protectNetwork(t *testing.T, f *fakeTemporal) {
	t.Helper()
	f.manage(t, vnet, readyStatus())
	f.manage(t, oldCluster, readyStatus())
	f.change(t, vnet, func(r *backend.Record) { r.Policy = resource.PolicyProtect })
}

//guard:scopes
func TestPrune(t *testing.T) {
	prune := []string{"apply", "-f", "DIR", "--prune", "-l", "stack=prod"}
	cases := map[string]struct {
		reason string
		args   []string
		labels string
		files  map[string]string
		manage func(t *testing.T, f *fakeTemporal)
		asks   bool
		answer string
		errs   map[string]error
		code   int
		sent   []string
		text   []string
		quiet  bool
	}{
		"deletes": {
			reason: "resources without a manifest are deleted after the apply, dependents first",
			args:   append(slices.Clone(prune), "--yes"), sent: []string{"delete a", "delete v1"},
			text: []string{"without a manifest:\n  " + vnet + "\n  " + vnet + "/subnets/a", "kusto cluster adx  now managed", "virtual network v1  deletion requested"},
		},
		"asks":     {reason: "no is the default, and then nothing is started", args: prune, asks: true, answer: "\n", code: cli.ExitFailed, text: []string{"Apply, and delete 2 resources in Azure? [y/N]", "nothing was started"}, quiet: true},
		"agreed":   {reason: "y continues", args: prune, asks: true, answer: "y\n", sent: []string{"delete a", "delete v1"}},
		"pipeline": {reason: "without a terminal no user can agree", args: prune, code: cli.ExitBadInput, text: []string{"add --yes"}, quiet: true},
		"too many": {
			reason: "a wrong folder causes a large prune",
			args:   append(slices.Clone(prune), "--yes", "--prune-max", "1"), code: cli.ExitFailed,
			text: []string{"cannot prune 2 resources, nothing was started: more than --prune-max 1"}, quiet: true,
		},
		"default maximum": {
			reason: "it is 20", args: append(slices.Clone(prune), "--yes"), code: cli.ExitFailed, text: []string{"more than --prune-max 20"}, quiet: true,
			manage: func(t *testing.T, f *fakeTemporal) {
				for i := range 21 {
					f.manage(t, fmt.Sprintf("%s%d", account, i), readyStatus())
				}
			},
		},
		"invalid file": {
			reason: "a file that does not parse may contain what would be deleted",
			args:   append(slices.Clone(prune), "--yes"), files: map[string]string{"b.yaml": "type: [\n"}, code: cli.ExitBadInput, text: []string{"nothing was started"}, quiet: true,
		},
		"other labels": {
			reason: "the next prune would delete what this apply made, or never find it",
			args:   append(slices.Clone(prune), "--yes"), labels: "{stack: test}", code: cli.ExitBadInput,
			text: []string{"adx.yaml:1: labels: adx has no label stack=prod"}, quiet: true,
		},
		"other case": {
			reason: "a store that ignores case lists other labels too",
			args:   append(slices.Clone(prune), "--yes"), text: []string{"nothing to prune"},
			manage: func(t *testing.T, f *fakeTemporal) {
				f.manage(t, vnet, readyStatus())
				f.change(t, vnet, func(r *backend.Record) { r.Labels = []string{"stack=PROD"} })
			},
		},
		"already deleting": {
			reason: "a deletion is requested once",
			args:   prune, text: []string{"nothing to prune"},
			manage: func(t *testing.T, f *fakeTemporal) { f.manage(t, vnet, deleting(readyStatus())) },
		},
		"named": {
			reason: "what has a manifest stays, however its ID is spelt",
			args:   prune, text: []string{"nothing to prune"},
			manage: func(t *testing.T, f *fakeTemporal) { f.manage(t, strings.ToUpper(cluster), readyStatus()) },
		},
		"apply refused": {
			reason: "nothing is deleted while the new spec is not taken",
			args:   append(slices.Clone(prune), "--yes"), errs: map[string]error{strings.ToLower(cluster): &backend.RefusedError{Text: "adx is being deleted"}},
			code: cli.ExitFailed, text: []string{"refused: adx is being deleted", "nothing was pruned"},
		},
		"ends a scope": {
			reason: "the alias of a subscription cancels it, so only its own command deletes it",
			args:   append(slices.Clone(prune), "--yes"),
			text:   []string{"not pruned: /providers/Microsoft.Subscription/aliases/team-a", "armature delete ID --end-scope", "nothing to prune"},
			manage: func(t *testing.T, f *fakeTemporal) {
				f.manage(t, "/providers/Microsoft.Subscription/aliases/team-a", readyStatus())
				f.change(t, "/providers/Microsoft.Subscription/aliases/team-a", func(r *backend.Record) { r.Labels = []string{"stack=prod"} })
			},
		},
		"refused": {
			reason: "one that may not be deleted stops all",
			args:   append(slices.Clone(prune), "--yes"), code: cli.ExitFailed, text: []string{"x virtual network v1  refused: Protected", "add --keep-going"}, quiet: true,
			manage: protectNetwork,
		},
		"keeps going": {
			reason: "the rest is deleted, and the exit code names the refusal",
			args:   append(slices.Clone(prune), "--yes", "--keep-going"), code: cli.ExitFailed, sent: []string{"delete old"},
			text:   []string{"refused: Protected", "1 resource is refused and 0 kept because of that"},
			manage: protectNetwork,
		},
		"detaches": {
			reason: "the list marks what stays in Azure",
			args:   prune, asks: true, answer: "n\n", code: cli.ExitFailed, text: []string{vnet + "  (policy detach-on-delete: it is kept in Azure)"}, quiet: true,
			manage: func(t *testing.T, f *fakeTemporal) {
				f.manage(t, vnet, readyStatus())
				f.change(t, vnet, func(r *backend.Record) { r.Policy = resource.PolicyDetachOnDelete })
			},
		},
		"no selector":   {reason: "without labels everything would go", args: []string{"apply", "-f", "DIR", "--prune"}, code: cli.ExitBadInput, text: []string{"--prune needs -l"}, quiet: true},
		"selector only": {reason: "it would choose nothing", args: []string{"apply", "-f", "DIR", "-l", "stack=prod"}, code: cli.ExitBadInput, text: []string{"-l chooses what --prune may delete"}, quiet: true},
		"once":          {reason: "nothing stays managed to compare with", args: append(slices.Clone(prune), "--once"), code: cli.ExitBadInput, text: []string{"choose one"}, quiet: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld()
			if tc.manage == nil {
				tc.manage = func(t *testing.T, f *fakeTemporal) {
					f.manage(t, vnet, readyStatus())
					f.manage(t, vnet+"/subnets/a", readyStatus())
					f.manage(t, cluster, readyStatus())
				}
			}
			tc.manage(t, w.temporal)
			w.interactive, w.in, w.temporal.errs = tc.asks, strings.NewReader(tc.answer), tc.errs
			w.temporal.answers = map[string]any{
				strings.ToLower(cluster): workflows.ApplyResult{Generation: 1, Changed: true}, strings.ToLower(vnet): workflows.DeleteResult{Changed: true},
				strings.ToLower(oldCluster): workflows.DeleteResult{Changed: true},
			}
			if tc.labels == "" {
				tc.labels = "{stack: prod}"
			}
			folder := labelled(t, tc.labels)
			for file, text := range tc.files {
				folder = manifests(t, map[string]string{"adx.yaml": "type: A.B/c@2020-01-01\nname: x\nowner: " + group + "\nbody: {}\nlabels: {stack: prod}\n", file: text})
			}
			args := slices.Clone(tc.args)
			for i, arg := range args {
				args[i] = strings.ReplaceAll(arg, "DIR", folder)
			}
			if code := w.run(args...); code != tc.code {
				t.Errorf("%s: exit code %d, want %d: %s", tc.reason, code, tc.code, w.err)
			}
			if diff := cmp.Diff(tc.sent, w.temporal.sent); diff != "" {
				t.Errorf("%s: sent (-want +got):\n%s", tc.reason, diff)
			}
			if tc.quiet && len(w.temporal.started) > 0 {
				t.Errorf("%s: started %v", tc.reason, w.temporal.started)
			}
			for _, text := range tc.text {
				if !strings.Contains(w.out.String()+w.err.String(), text) {
					t.Errorf("%s: output lacks %q:\n%s%s", tc.reason, text, w.out, w.err)
				}
			}
		})
	}
}

// TestApplyListsNothing verifies that an apply sends no visibility request, so many of
// them stay below its limit.
func TestApplyListsNothing(t *testing.T) {
	w := newWorld()
	if code := w.run("apply", "-f", adx(t)); code != cli.ExitOK || len(w.temporal.queries) > 0 {
		t.Errorf("exit code %d, lists %v: %s", code, w.temporal.queries, w.err)
	}
}

func TestDeletionOrder(t *testing.T) {
	at := func(id string, needs ...string) backend.Record {
		r := backend.Record{ID: mustID(t, id)}
		for _, need := range needs {
			r.Needs = append(r.Needs, workflows.WaitingKey(mustID(t, need)))
		}
		return r
	}
	cases := map[string]struct {
		reason  string
		records []backend.Record
		want    [][]int
	}{
		"owners":  {reason: "what is owned goes first, whatever the order", records: []backend.Record{at(cluster), at(database), at(group)}, want: [][]int{{1}, {0}, {2}}},
		"needs":   {reason: "so does what depends by $ref or dependsOn", records: []backend.Record{at(vnet), at(account, vnet), at(endpoint, account, vnet)}, want: [][]int{{2}, {1}, {0}}},
		"at once": {reason: "what is free goes together", records: []backend.Record{at(vnet), at(account), at(cluster)}, want: [][]int{{0, 1, 2}}},
		"ring":    {reason: "what cannot be ordered is sent all the same", records: []backend.Record{at(vnet, account), at(account, vnet), at(vnet+"/subnets/a", vnet)}, want: [][]int{{2}, {0, 1}}},
		"outside": {reason: "what is not here orders nothing", records: []backend.Record{at(database, cluster), at(account, endpoint)}, want: [][]int{{0, 1}}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, project.DeletionOrder(tc.records)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestPlanNamesOrphans verifies that a plan of a whole folder names the managed resources of its
// environment without a manifest, and that one of a file does not.
func TestPlanNamesOrphans(t *testing.T) {
	folder := t.TempDir()
	for file, text := range map[string]string{
		"armature.yaml": "environments: {prod: {resource-group: rg1, subscription: 11111111-2222-3333-4444-555555555555, labels: {stack: prod}}}\n",
		"adx.yaml":      "type: Microsoft.Kusto/clusters@2023-08-15\nname: adx\nbody: {location: westeurope, sku: {name: Standard_E2ads_v5, tier: Standard}}\n",
	} {
		if err := os.WriteFile(filepath.Join(folder, file), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const line = "1 managed resource of the environment prod has no manifest: adx/telemetry\n"
	for name, tc := range map[string]struct {
		args []string
		want bool
		text string
	}{
		"environment": {args: []string{"-f", folder, "--env", "prod"}, want: true, text: line},
		"labels":      {args: []string{"-f", folder, "--env", "prod", "-l", "stack=prod"}, want: true, text: "1 managed resource of stack=prod has no manifest: adx/telemetry\n"},
		"JSON":        {args: []string{"-f", folder, "--env", "prod", "-o", "json"}, want: true, text: "\"withoutManifest\": [\n    \"" + database + "\""},
		"markdown":    {args: []string{"-f", folder, "--env", "prod", "-o", "markdown"}, want: true, text: "of ` the environment prod ` has no manifest: ` adx/telemetry `"},
		"one file":    {args: []string{"-f", filepath.Join(folder, "adx.yaml"), "--env", "prod"}, text: "has no manifest"},
		"one target":  {args: []string{"-f", folder, "--env", "prod", "--target", "adx"}, text: "has no manifest"},
	} {
		t.Run(name, func(t *testing.T) {
			w := sampleWorld(t)
			w.run(append([]string{"plan"}, tc.args...)...)
			if out := w.out.String(); strings.Contains(out, tc.text) != tc.want {
				t.Errorf("plan prints %s%s", out, w.err.String())
			}
		})
	}
}
