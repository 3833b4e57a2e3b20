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
	farSubscription = "22222222-2222-3333-4444-555555555555"
	farVnet         = "/subscriptions/" + farSubscription + "/resourceGroups/rg1/providers/Microsoft.Network/virtualNetworks/far"
	farSite         = "/subscriptions/33333333-2222-3333-4444-555555555555/resourceGroups/rg1/providers/Microsoft.Web/sites/far"
	topGroup        = "/providers/Microsoft.Authorization/policyDefinitions/p"
)

// TestPruneReach verifies that a prune refuses labels that reach over subscriptions that
// the user did not name, in plan and apply.
//
//guard:reach-of-a-prune
func TestPruneReach(t *testing.T) {
	cases := map[string]struct {
		reason string
		stale  []string
		in     []string
		// refused are the subscriptions to name, in the last line.
		refused string
		text    string
	}{
		"own":             {reason: "the subscription of the manifests", stale: []string{vnet}},
		"another":         {reason: "no manifest is there: probably those of another folder", stale: []string{farVnet}, refused: farSubscription, text: "in the subscription " + farSubscription + ":\n    " + farVnet},
		"another, named":  {reason: "the user means it", stale: []string{farVnet}, in: []string{farSubscription}},
		"several":         {reason: "each has to be named, also that of the manifests", stale: []string{vnet, farVnet}, refused: subscription + " --prune-in " + farSubscription, text: "    " + vnet},
		"own first":       {reason: "the first is that of the manifests, and the others count too", stale: []string{group + "/providers/Microsoft.Web/sites/a", farVnet}, refused: subscription + " --prune-in " + farSubscription},
		"one named":       {reason: "the other is not", stale: []string{vnet, farVnet}, in: []string{subscription}, refused: farSubscription},
		"both named":      {reason: "the user means both", stale: []string{vnet, farVnet}, in: []string{subscription, strings.ToUpper(farSubscription)}},
		"third":           {reason: "a name allows no other", stale: []string{farSite}, in: []string{farSubscription}, refused: "33333333-2222-3333-4444-555555555555"},
		"above":           {reason: "what is in no subscription has a name too", stale: []string{topGroup}, refused: "/", text: "above subscriptions:\n    " + topGroup},
		"above, named":    {reason: "as owner: / does", stale: []string{topGroup}, in: []string{"/"}},
		"no subscription": {reason: "a word names nothing without environments", stale: []string{vnet}, in: []string{"prod"}, refused: "-", text: `--prune-in "prod" is no subscription; write its GUID, or / for what is above subscriptions`},
	}
	for name, tc := range cases {
		for _, command := range []string{"apply", "plan"} {
			t.Run(name+" "+command, func(t *testing.T) {
				w := newWorld()
				for _, id := range tc.stale {
					w.temporal.manage(t, id, readyStatus())
				}
				w.temporal.answers = map[string]any{strings.ToLower(cluster): workflows.ApplyResult{Generation: 1, Changed: true}}
				args := []string{command, "-f", labelled(t, "{stack: prod}"), "--prune", "-l", "stack=prod"}
				want, refused := cli.ExitOK, cli.ExitBadInput
				if command == "plan" {
					want, refused = exitChanges, cli.ExitFailed
				} else {
					args = append(args, "--yes")
				}
				for _, in := range tc.in {
					args = append(args, "--prune-in", in)
				}
				if tc.refused != "" {
					want = refused
				}
				if code := w.run(args...); code != want {
					t.Errorf("%s: exit code %d, want %d: %s", tc.reason, code, want, w.err)
				}
				isRefused := len(w.temporal.sent) == 0 && len(w.temporal.started) == 0
				if tc.refused != "" && !isRefused {
					t.Errorf("%s: sent %v and started %v", tc.reason, w.temporal.sent, w.temporal.started)
				}
				if tc.refused != "" && tc.refused != "-" && !strings.HasSuffix(w.err.String(), "\n  --prune-in "+tc.refused+"\n") || !strings.Contains(w.err.String(), tc.text) {
					t.Errorf("%s: output lacks %q and --prune-in %s:\n%s", tc.reason, tc.text, tc.refused, w.err)
				}
				if command == "plan" && tc.refused == "" && !strings.Contains(w.out.String(), "\n    "+tc.stale[0]+"\n") {
					t.Errorf("%s: the plan lacks the ID %s:\n%s", tc.reason, tc.stale[0], w.out)
				}
			})
		}
	}
}

// environmentsText is a project of two environments in one subscription.
const environmentsText = "params: {env: {kind: text}}\nenvironments:\n" +
	"  dev: {subscription: " + subscription + ", params: {env: dev}DEV}\n" +
	"  prod: {subscription: " + subscription + ", params: {env: prod}PROD}\n"

// TestPruneEnvironments verifies that a prune in one environment deletes nothing of another
// one, nor what could be of another one, unless the user names it.
//
//guard:reach-of-a-prune
func TestPruneEnvironments(t *testing.T) {
	site := func(group string) string {
		return "/subscriptions/" + subscription + "/resourceGroups/" + group + "/providers/Microsoft.Web/sites/old"
	}
	labels := []string{", labels: {env: dev}", ", labels: {env: prod}"}
	groups := []string{", resource-group: shop-dev", ", resource-group: shop"}
	cases := map[string]struct {
		reason   string
		project  []string
		stale    string
		labels   []string
		selector string
		in       []string
		refused  string
		text     string
	}{
		"own label":       {reason: "it has the label of prod", project: labels, stale: site("x"), labels: []string{"env=prod"}},
		"other label":     {reason: "it has the label of dev", project: labels, stale: site("x"), labels: []string{"env=dev"}, refused: "dev", text: "of the environment dev:\n    " + site("x")},
		"other, named":    {reason: "the user means dev too", project: labels, stale: site("x"), labels: []string{"env=dev"}, in: []string{"dev"}},
		"no label":        {reason: "it may be of any environment", project: labels, stale: site("x"), refused: "prod", text: "not known to be of the environment prod"},
		"no label, named": {reason: "the user claims it for prod", project: labels, stale: site("x"), in: []string{"prod"}},
		"own group":       {reason: "it is in the group of prod", project: groups, stale: site("shop")},
		"other group":     {reason: "it is in the group of dev", project: groups, stale: site("shop-dev"), refused: "dev"},
		"label in -l":     {reason: "the selector has the label of the environment, so all that it chooses has it", project: labels, stale: site("x"), labels: []string{"env=prod"}, selector: "stack=prod,env=prod"},
		"nothing of own":  {reason: "environments with neither labels nor places cannot be told apart", project: []string{"", ""}, stale: site("x"), refused: "prod"},
		"same group":      {reason: "a group of two environments tells nothing", project: []string{groups[1], groups[1]}, stale: site("shop"), refused: "prod"},
		"same labels":     {reason: "labels of two environments tell nothing", project: []string{", labels: {team: x}", ", labels: {team: x}"}, stale: site("x"), labels: []string{"team=x"}, refused: "prod"},
		"label and group": {reason: "a label of a third environment outweighs the group", project: []string{labels[0] + groups[0], labels[1] + groups[1]}, stale: site("shop"), labels: []string{"env=qa"}, refused: "prod"},
		"misspelt":        {reason: "a name must exist", project: labels, stale: site("x"), in: []string{"prd"}, refused: "-", text: `--prune-in "prd" is neither a subscription (a GUID) nor an environment (did you mean prod?); there are dev, prod`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld()
			w.temporal.manage(t, tc.stale, readyStatus())
			w.temporal.change(t, tc.stale, func(r *backend.Record) { r.Labels = append(r.Labels, tc.labels...) })
			w.temporal.answers = map[string]any{strings.ToLower(cluster): workflows.ApplyResult{Generation: 1, Changed: true}, strings.ToLower(tc.stale): workflows.DeleteResult{Changed: true}}
			folder := manifests(t, map[string]string{
				"armature.yaml": strings.NewReplacer("DEV", tc.project[0], "PROD", tc.project[1]).Replace(environmentsText),
				"adx.yaml":      "type: Microsoft.Kusto/clusters@2023-08-15\nname: adx\nowner: " + group + "\nbody: {location: westus2}\nlabels: {stack: prod, env: {$param: env}}\n",
			})
			selector := tc.selector
			if selector == "" {
				selector = "stack=prod"
			}
			args := []string{"apply", "-f", folder, "--env", "prod", "--prune", "-l", selector, "--yes"}
			for _, in := range tc.in {
				args = append(args, "--prune-in", in)
			}
			want, sent := cli.ExitOK, []string{"delete old"}
			if tc.refused != "" {
				want, sent = cli.ExitBadInput, nil
			}
			if code := w.run(args...); code != want || !slices.Equal(w.temporal.sent, sent) {
				t.Errorf("%s: exit code %d, want %d; sent %v: %s", tc.reason, code, want, w.temporal.sent, w.err)
			}
			if tc.refused != "" && tc.refused != "-" && !strings.HasSuffix(w.err.String(), "\n  --prune-in "+tc.refused+"\n") || !strings.Contains(w.err.String(), tc.text) {
				t.Errorf("%s: output lacks %q and --prune-in %s:\n%s", tc.reason, tc.text, tc.refused, w.err)
			}
		})
	}
}

// TestPlanShowsDeletionIDs verifies that a plan states the ID of every resource that a prune
// would delete, or would be refused to delete.
func TestPlanShowsDeletionIDs(t *testing.T) {
	w := newWorld()
	w.temporal.manage(t, vnet, readyStatus())
	w.temporal.manage(t, cluster+"/databases/old", readyStatus())
	w.temporal.change(t, vnet, func(r *backend.Record) { r.Policy = resource.PolicyProtect })
	if code := w.run("plan", "-f", labelled(t, "{stack: prod}"), "--prune", "-l", "stack=prod"); code != cli.ExitFailed {
		t.Fatalf("exit code %d: %s", code, w.err)
	}
	for _, id := range []string{vnet, cluster + "/databases/old"} {
		if strings.Count(w.out.String(), "\n    "+id+"\n") != 1 {
			t.Errorf("the plan lacks %s:\n%s", id, w.out)
		}
	}
}
