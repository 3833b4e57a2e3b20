package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/armature-io/armature/manifest"
)

// TestOwnedValues validates folders in which a switch owns a stated value, or a release may set
// it.
func TestOwnedValues(t *testing.T) {
	t.Parallel()
	const (
		group = "owner: /subscriptions/11111111-2222-3333-4444-555555555555/resourceGroups/rg1\n"
		pool  = "type: Microsoft.ContainerService/managedClusters/agentPools@2024-02-01\nname: k1/a\nbody: {properties: {count: 3, vmSize: Standard_D2s_v3, orchestratorVersion: 1.29.9}}\n"
		aks   = "---\ntype: Microsoft.ContainerService/managedClusters@2024-02-01\nname: k1\n" + group + "body:\n  location: westus2\n  properties: {dnsPrefix: k, autoUpgradeProfile: {upgradeChannel: stable}}\n"
		plan  = "type: Microsoft.Web/serverfarms@2023-12-01\nname: p1\n" + group + "body:\n  location: westus2\n  sku: {name: P1v3, capacity: 2}\n"
		scale = "---\ntype: Microsoft.Insights/autoscaleSettings@2022-10-01\nname: a1\n" + group + "body: {location: westus2, properties: {enabled: true, profiles: [], targetResourceUri: {$ref: p1}}}\n"
		hubs  = "type: Microsoft.EventHub/namespaces@2024-01-01\nname: n1\n" + group + "body:\n  location: westus2\n  sku: {name: Standard, capacity: 2}\n  properties: {isAutoInflateEnabled: true, maximumThroughputUnits: 20}\n"
		site  = "type: Microsoft.Web/sites@2023-12-01\nname: w1\n" + group + "body: {location: westus2, properties: {siteConfig: {linuxFxVersion: 'VALUE'}}}\n"
		app   = "type: Microsoft.App/containerApps@2024-03-01\nname: c1\n" + group + "body: {location: westus2, properties: {template: {containers: [{name: main, image: 'shop:1'}]}}}\n"
	)
	for name, c := range map[string]struct {
		reason, text string
		// want is "line:column path", says a part of the message; "" is no warning.
		want, says string
	}{
		"same manifest": {reason: "the switch is in the body", text: hubs, want: "6:35 body.sku.capacity", says: "the value belongs to properties.isAutoInflateEnabled: it is sent at creation and when this manifest changes it, otherwise the owner's value stays"},
		"off":           {reason: "nobody else moves it", text: strings.Replace(hubs, "Enabled: true", "Enabled: false", 1)},
		"confirmed":     {reason: "the manifest says so itself", text: hubs + "reconcile: {initial: [sku.capacity]}\n"},
		"enforced":      {reason: "the manifest overrules the switch", text: hubs + "reconcile: {enforce: [sku.capacity]}\n"},
		"not checked":   {reason: "no warnings are wanted", text: hubs + "reconcile: {validation: off}\n"},
		"observed":      {reason: "it is never written", text: hubs + "reconcile: {policy: observe}\n"},
		"owner":         {reason: "the switch is in the manifest of the owner", text: strings.Replace(pool, "name: k1/a", "name: a\nowner: k1", 1) + aks, want: "4:77 body.properties.orchestratorVersion", says: "belongs to properties.autoUpgradeProfile.upgradeChannel of the owner, which raises it"},
		"no owner":      {reason: "nothing is known about a cluster without a manifest", text: strings.Replace(pool, "name: k1/a", "name: a\nowner: /subscriptions/11111111-2222-3333-4444-555555555555/resourceGroups/rg1/providers/Microsoft.ContainerService/managedClusters/k1", 1)},
		"setting":       {reason: "another manifest targets it by $ref", text: plan + scale, want: "6:31 body.sku.capacity", says: "belongs to autoscale setting a1"},
		"setting, ID":   {reason: "and by its ID", text: plan + strings.Replace(scale, "{$ref: p1}", "/subscriptions/11111111-2222-3333-4444-555555555555/resourceGroups/RG1/providers/Microsoft.Web/serverFarms/p1", 1), want: "6:31 body.sku.capacity"},
		"setting, off":  {reason: "it is disabled", text: plan + strings.Replace(scale, "enabled: true", "enabled: false", 1)},
		"image":         {reason: "a pipeline may set the image of a container", text: app, want: "4:84 body.properties.template.containers[name=main].image", says: "state the path in reconcile.initial"},
		"docker":        {reason: "or of a web app", text: strings.Replace(site, "VALUE", "DOCKER|shop:1", 1), want: "4:69 body.properties.siteConfig.linuxFxVersion", says: "a release pipeline may set it"},
		"stack":         {reason: "a stack is no release", text: strings.Replace(site, "VALUE", "DOTNETCORE|8.0", 1)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder := t.TempDir()
			if err := os.WriteFile(filepath.Join(folder, "m.yaml"), []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, issue := range manifest.Validate(manifest.Options{Facts: TypeFacts, Open: true}, folder).Issues {
				if issue.Rule == manifest.OwnedValue || issue.Rule == manifest.ReleaseValue {
					got = append(got, strings.TrimPrefix(issue.String(), folder+"/m.yaml:"))
				}
			}
			if c.want == "" && len(got) > 0 || c.want != "" && (len(got) != 1 || !strings.HasPrefix(got[0], strings.Replace(c.want, " ", ": warning: ", 1)) || !strings.Contains(got[0], c.says)) {
				t.Errorf("%s: %q, want %s %q", c.reason, got, c.want, c.says)
			}
		})
	}
}
