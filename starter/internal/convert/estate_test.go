package convert

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/armature-io/armature/manifest"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/starter/internal/cli"
)

const (
	subscription = "11111111-2222-3333-4444-555555555555"
	estate       = "testdata/estate"
	// password is the secret in the files of the estate. Nothing may contain it.
	password = "Str0ng-and-Secret"
)

// sources are the files of the estate by their format.
func sources() map[Format]string {
	return map[Format]string{
		BicepSnapshot: filepath.Join(estate, "main.snapshot.json"), AzAPI: filepath.Join(estate, "azapi"),
		TerraformState: filepath.Join(estate, "terraform.tfstate"), ASO: filepath.Join(estate, "cluster.yaml"),
	}
}

// load returns the resources of a text of manifests by key.
func load(t *testing.T, text string) map[string]resource.Desired {
	t.Helper()
	set, err := manifest.Load(manifest.Options{Facts: cli.TypeFacts, Stdin: strings.NewReader(text)}, "-")
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	byKey := map[string]resource.Desired{}
	for _, desired := range set.Resources {
		byKey[desired.ID.Key()] = desired
	}
	return byKey
}

// TestEstate compares the conversions of one estate with manifests that were written by
// hand: the same resources with the same bodies, without a finding of the published types.
func TestEstate(t *testing.T) {
	set, err := manifest.Load(manifest.Options{Validate: true}, filepath.Join(estate, "estate.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for format, path := range sources() {
		t.Run(string(format), func(t *testing.T) {
			options := Options{From: format, Subscription: subscription, Adopt: "as-is"}
			result, err := Convert(options, path)
			if err != nil {
				t.Fatal(err)
			}
			for _, note := range result.Notes {
				if note.Rule != "" {
					t.Errorf("a finding of the published types: %s", note)
				}
			}
			got := load(t, result.Stream())
			if len(got) != len(set.Resources) || result.Count != len(set.Resources) {
				t.Errorf("%d resources, %d counted; want %d", len(got), result.Count, len(set.Resources))
			}
			for _, want := range set.Resources {
				desired := got[want.ID.Key()]
				body := strings.ReplaceAll(string(desired.Body), `"PRINCIPAL"`, `{"$ref":"`+group+`/providers/Microsoft.ManagedIdentity/userAssignedIdentities/shop-app","apiVersion":"2023-01-31","path":"properties.principalId"}`)
				if diff := cmp.Diff(string(want.Body), body); diff != "" {
					t.Errorf("%s (-by hand +converted):\n%s", want.ID, diff)
				}
				if desired.Adopt != resource.AdoptAsIs || desired.APIVersion != want.APIVersion {
					t.Errorf("%s: adopt %s, api-version %s", want.ID, desired.Adopt, desired.APIVersion)
				}
			}
			if len(result.Secrets) != 1 {
				t.Errorf("secrets %+v, want one", result.Secrets)
			}
			if again, err := Convert(options, path); err != nil || cmp.Diff(result, again) != "" {
				t.Errorf("a second conversion differs: %v\n%s", err, cmp.Diff(result, again))
			}
			if all := result.Stream() + result.Notes.Error() + strings.Join(result.Release, "\n"); strings.Contains(all, password) {
				t.Errorf("the result contains a secret:\n%s", all)
			}
		})
	}
}

const group = "/subscriptions/" + subscription + "/resourceGroups/shop-prod"

// TestEstateDetails checks what bodies do not show: policies, ignored paths, dependencies,
// references by name, and the lines by which the old tool lets go.
func TestEstateDetails(t *testing.T) {
	cases := map[string]struct {
		reason        string
		format        Format
		wants, misses []string
	}{
		"azapi": {reason: "lifecycle and depends_on have counterparts", format: AzAPI, wants: []string{
			"  policy: protect\n", "  ignore:\n    - properties.accessTier\n    - tags.created-by\n", "  dependsOn:\n    - 3c2f1c0a-5b1d-4a6e-8f0b-6d2a9b7e4c66\n",
			"principalId: {$ref: shop-app, path: properties.principalId}", "owner: shopproddata/default\n", "id: {$ref: shop-nsg}", "data.tf:22 azapi_resource.data\n",
			"removed {\n    from = azapi_resource.group\n    lifecycle { destroy = false }\n  }",
		}},
		"state": {reason: "addresses are words of a shell", format: TerraformState, wants: []string{
			"terraform state rm 'module.data.azapi_resource.shopproddata'", "random_password.db is left out", "id: {$ref: shop-nsg}",
		}, misses: []string{"PRINCIPAL:"}},
		"bicep": {reason: "expressions are references", format: BicepSnapshot, wants: []string{
			"principalId: {$ref: shop-app, path: properties.principalId}", "id: {$ref: shop-nsg}", "  dependsOn:\n    - shop-app\n", "az stack group delete",
		}, misses: []string{"parameters(", "resourceId("}},
		"aso": {reason: "policies are annotations", format: ASO, wants: []string{
			"  policy: detach-on-delete\n", "principalId: {$ref: shop-app, path: properties.principalId}",
			"kubectl annotate storageaccount.storage.azure.com/shopproddata -n shop --overwrite serviceoperator.azure.com/reconcile-policy=skip",
			"operatorSpec is left out", "Secret shop-db is left out", "roleDefinitions/ba92f5b4-2d11-453d-a403-e96b0029c9fe",
		}, misses: []string{"PropertyBag"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			result, err := Convert(Options{From: c.format, Subscription: subscription}, sources()[c.format])
			if err != nil {
				t.Fatal(err)
			}
			all := result.Stream() + result.Notes.Error() + "\n" + strings.Join(result.Release, "\n")
			for _, want := range c.wants {
				if !strings.Contains(all, want) {
					t.Errorf("%s: the result lacks %q:\n%s", c.reason, want, all)
				}
			}
			for _, unwanted := range c.misses {
				if strings.Contains(all, unwanted) {
					t.Errorf("%s: the result contains %q", c.reason, unwanted)
				}
			}
			if len(result.Files) != 1 || result.Files[0].Name != "shop-prod.yaml" {
				t.Errorf("files %v, want one of the resource group", result.Files)
			}
		})
	}
}
