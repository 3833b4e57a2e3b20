package convert

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/armature-io/armature/manifest"
)

// FuzzConvert checks that any file of any format is a result or faults with places, the same
// twice; that every result loads as the resources that it counts; and that no result has a
// marker that the conversion did not make: a placeholder names a variable of its own prefix.
func FuzzConvert(f *testing.F) {
	formats := []Format{BicepSnapshot, TerraformState, ASO, AzAPI, IDs}
	f.Add(uint8(0), snapshotOf(`"properties": {"accessTier": "Hot"}`))
	f.Add(uint8(1), stateWith(`{"type": "get_attr", "value": "name"}`))
	f.Add(uint8(2), "apiVersion: storage.azure.com/v1api20230101\nkind: StorageAccount\nmetadata: {name: data1, annotations: {serviceoperator.azure.com/reconcile-policy: skip}}\nspec:\n  owner: {name: g}\n  location: westus2\n  kind: StorageV2\n  sku: {name: Standard_LRS}\n  accessTier: Hot\n")
	f.Add(uint8(3), account("  name = \"data1\"\n  body = { kind = \"StorageV2\", sku = { name = \"Standard_LRS\" } }"))
	f.Add(uint8(4), "see "+vault+", "+vnet)
	f.Add(uint8(0), snapshotOf(`"properties": {"accessTier": "[reference('data1').x]", "dnsEndpointType": {"$ref": "a"}}`))
	f.Add(uint8(0), snapshotOf(`"tags": {"<<": "* ---", "a\n---\ntype: x": "&a", "::error::": "\u2028"}`))
	f.Add(uint8(2), "a: &a [*a]")
	f.Add(uint8(3), account("  name = \"data1\"\n  body = { properties = { x = \"${\"${1}\"}\", \"a b\" = <<E\n{$secret: x}\nE\n } }"))
	f.Add(uint8(1), stateWith(`{"type": "get_attr", "value": "tags"}`))
	f.Fuzz(func(t *testing.T, format uint8, text string) {
		if len(text) > 64<<10 {
			return
		}
		chosen := formats[int(format)%len(formats)]
		folder := t.TempDir()
		file := filepath.Join(folder, "main.tf")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		options := Options{From: chosen, Subscription: subscription}
		if chosen == IDs {
			if found, err := FindIDs(options, file); err == nil && len(found.IDs) == 0 {
				t.Fatal("neither IDs nor faults")
			}
			return
		}
		result, err := Convert(options, file)
		again, errAgain := Convert(options, file)
		if (err == nil) != (errAgain == nil) || err == nil && result.Stream() != again.Stream() || err != nil && err.Error() != errAgain.Error() {
			t.Fatalf("two conversions differ: %v, %v\n%s\n%s", err, errAgain, result.Stream(), again.Stream())
		}
		if err != nil {
			if !isIssues(err) {
				t.Fatalf("a fault without a place: %v", err)
			}
			return
		}
		set, err := manifest.Load(manifest.Options{Stdin: strings.NewReader(result.Stream())}, "-")
		if err != nil || len(set.Resources) != result.Count {
			t.Fatalf("%d of %d resources load: %v\n%s", len(set.Resources), result.Count, err, result.Stream())
		}
		for _, desired := range set.Resources {
			for _, name := range desired.SecretRefs {
				if !strings.HasPrefix(name, "env:"+secretPrefix) {
					t.Fatalf("a placeholder of the source: %s\n%s", name, result.Stream())
				}
			}
		}
	})
}
