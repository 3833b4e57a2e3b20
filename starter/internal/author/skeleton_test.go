package author

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/armature-io/armature/manifest"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/types"
	"github.com/google/go-cmp/cmp"
)

// load returns the resource of a skeleton and its body.
func load(t *testing.T, text string) (resource.Desired, map[string]any) {
	t.Helper()
	set, err := manifest.Load(manifest.Options{Stdin: strings.NewReader(text)}, "-")
	if err != nil {
		t.Fatalf("the skeleton is refused: %v\n%s", err, text)
	}
	decoder := json.NewDecoder(bytes.NewReader(set.Resources[0].Body))
	decoder.UseNumber()
	var body map[string]any
	if err := decoder.Decode(&body); err != nil {
		t.Fatal(err)
	}
	return set.Resources[0], body
}

// TestSkeletons writes the skeleton of every type that a PUT can create: it loads, its
// owner has a scope in which the type exists, and neither the body nor the name has a
// finding.
func TestSkeletons(t *testing.T) {
	skeletons, findings := 0, 0
	for i, name := range types.Names(true) {
		if testing.Short() && i%20 != 0 {
			continue
		}
		shape := types.Lookup(name, types.Newest(name))
		text, err := Skeleton(shape, "")
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		skeletons++
		desired, body := load(t, text)
		for _, f := range append(shape.Named(desired.Name).Check(body), shape.CheckName(desired.Name)...) {
			findings++
			t.Errorf("%s: %s\n%s", name, f, text)
		}
		report := manifest.Validate(manifest.Options{Stdin: strings.NewReader(text), Validation: manifest.ValidationStrict}, "-")
		if report.Manifests != 1 {
			t.Errorf("%s: %d manifests were validated", name, report.Manifests)
		}
		for _, issue := range report.Issues {
			findings++
			t.Errorf("%s: armature validate --validation strict: %s\n%s", name, issue, text)
		}
		if scope := scopeBelow(desired.ID); shape.Writable&scope == 0 {
			t.Errorf("%s: the owner %s is in scope %d, the type is in %d", name, desired.Owner, scope, shape.Writable)
		}
	}
	t.Logf("%d skeletons, %d findings", skeletons, findings)
}

// scopeBelow returns the scope in which a resource of an ID exists: what its ID has
// before the last provider.
func scopeBelow(id resource.ID) types.Scope {
	text := id.String()
	i := strings.LastIndex(text, "/providers/")
	if i < 0 {
		return types.SubscriptionScope // a resource group
	}
	owner := text[:i]
	switch {
	case owner == "":
		return types.TenantScope
	case strings.HasPrefix(owner, managementGroup):
		return types.ManagementGroupScope
	case strings.Contains(owner, "/providers/"):
		return types.ExtensionScope
	case strings.Contains(owner, "/resourceGroups/"):
		return types.ResourceGroupScope
	}
	return types.SubscriptionScope
}

func TestManifest(t *testing.T) {
	cases := map[string]struct{ reason, typ, version, name, want string }{
		"child": {
			reason: "the owner is a resource of the parent type", typ: "Microsoft.Network/virtualNetworks/subnets", version: "2023-09-01",
			want: "name: my-subnet\n# The ID of the Microsoft.Network/virtualNetworks, or the name of its manifest.\nowner: " + resourceGroup + "/providers/Microsoft.Network/virtualNetworks/my-virtual-network\nbody:\n  properties: {} # optional: ",
		},
		"name within bounds": {
			reason: "the pattern has no dash, and the values are in a comment", typ: "Microsoft.Storage/storageAccounts", version: "2023-01-01",
			want: "name: mystorageaccount # 3 to 24 characters; matches ^[a-z0-9]+$\n# The ID of a resource group, or the name of its manifest.\nowner: " + resourceGroup + "\nbody:\n  location: westus2\n  kind: Storage # Storage | StorageV2 |",
		},
		"stated name": {reason: "--name", typ: "Microsoft.Storage/storageAccounts", version: "2023-01-01", name: "acc1", want: "name: acc1\n"},
		"fixed name":  {reason: "the only name that is possible", typ: "Microsoft.Storage/storageAccounts/blobServices", version: "2023-01-01", want: "name: default # the only name\n"},
		"fixed name of the owner": {
			reason: "the parent of a container is called default", typ: "Microsoft.Storage/storageAccounts/blobServices/containers", version: "2023-01-01",
			want: "/storageAccounts/mystorageaccount/blobServices/default\n",
		},
		"group":        {reason: "the owner of a group is a subscription", typ: resource.TypeResourceGroup, version: "2021-04-01", want: "owner: " + subscription + "\n"},
		"forms":        {reason: "the first form, the others in a comment", typ: "Microsoft.Resources/deploymentScripts", version: "2023-08-01", want: "  kind: AzureCLI # or another form: AzurePowerShell\n"},
		"form by name": {reason: "the name selects the form", typ: "Microsoft.Web/sites/config", version: "2023-01-01", name: "web", want: "# optional: acrUseManagedIdentityCreds,"},
		"required":     {reason: "without a published default", typ: "Microsoft.Authorization/roleAssignments", version: "2022-04-01", want: "    principalId: change-me\n    roleDefinitionId: change-me\n"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			text, err := Skeleton(types.Lookup(tc.typ, tc.version), tc.name)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(text, tc.want) {
				t.Errorf("%s: want %q in\n%s", tc.reason, tc.want, text)
			}
		})
	}
	logs := types.Lookup("Microsoft.Resources/deploymentScripts/logs", "2023-08-01")
	if _, err := Skeleton(logs, ""); err == nil || !strings.Contains(err.Error(), "cannot be created by a PUT") {
		t.Errorf("a type that no PUT creates: %v", err)
	}
}

func TestSecrets(t *testing.T) {
	n := &types.Node{Kind: types.Object, Properties: []types.Property{
		{Name: "adminPassword", Flags: types.Required, Type: &types.Node{Kind: types.Text}},
		{Name: "blob", Flags: types.Required, Type: &types.Node{Kind: types.Text, Sensitive: true}},
		{Name: "size", Flags: types.Required, Type: &types.Node{Kind: types.Integer}},
	}}
	shape := &types.Shape{Type: "A.B/cs", Version: "2023-01-01", Body: n, Writable: types.ResourceGroupScope, Readable: types.ResourceGroupScope}
	text, err := Skeleton(shape, "")
	if err != nil {
		t.Fatal(err)
	}
	desired, _ := load(t, text)
	if diff := cmp.Diff([]string{"env:ARMATURE_SECRET_ADMIN_PASSWORD", "env:ARMATURE_SECRET_BLOB"}, desired.SecretRefs); diff != "" {
		t.Errorf("a secret by its name or by its kind is a marker (-want +got):\n%s\n%s", diff, text)
	}
}

func TestTextFor(t *testing.T) {
	number := func(n int64) *int64 { return &n }
	cases := map[string]struct {
		reason, want string
		bounds       *types.Bounds
	}{
		"free":        {"the placeholder", placeholder, nil},
		"short":       {"cut to the length", "chang", &types.Bounds{Max: number(5)}},
		"long":        {"stretched to the length", placeholder + "xxx", &types.Bounds{Min: number(12), Max: number(12)}},
		"letters":     {"a candidate that matches", "changeme", &types.Bounds{Pattern: "^[a-z]+$"}},
		"generated":   {"a text of the pattern", "v0.0", &types.Bounds{Pattern: `^v[0-9]+\.[0-9]+$`}},
		"both":        {"pattern and length", "vaaa", &types.Bounds{Pattern: `^v[a-z]*$`, Min: number(4), Max: number(6)}},
		"alternative": {"the first one", "left", &types.Bounds{Pattern: `^(left|right)$`}},
		"unreadable":  {"Go has no lookahead: the placeholder", placeholder, &types.Bounds{Pattern: `^(?!-)x`}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := textFor(tc.bounds); got != tc.want {
				t.Errorf("got %q, want %q: %s", got, tc.want, tc.reason)
			}
		})
	}
}
