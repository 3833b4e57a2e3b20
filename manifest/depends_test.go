package manifest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/armature-io/armature/resource"
	"github.com/google/go-cmp/cmp"
)

// vnet and subnet are manifests that others depend on.
const (
	vnetManifest   = "type: Microsoft.Network/virtualNetworks@2020-11-01\nname: v\nowner: " + group + "\nbody: {}\n"
	subnetManifest = "type: Microsoft.Network/virtualNetworks/subnets@2021-05-01\nname: s\nowner: v\nbody: {}\n"
	accountID      = group + "/providers/Microsoft.Storage/storageAccounts/acc"
)

func TestDependsOn(t *testing.T) {
	dir := write(t, map[string]string{"m.yaml": account + "body: {vnet: {$ref: v}}\nreconcile:\n  dependsOn:\n    - S\n    - " +
		group + "\n    - " + accountID + "2@2022-01-01\n    - " + vnetID + "@1999-01-01\n---\n" + subnetManifest + "---\n" + vnetManifest})
	set, err := Load(Options{}, dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, d := range set.Resources {
		names = append(names, d.Name)
	}
	if diff := cmp.Diff([]string{"v", "s", "acc"}, names); diff != "" {
		t.Errorf("what is depended on comes first (-want +got):\n%s", diff)
	}
	want := []resource.Reference{
		{ID: mustID(vnetID + "/subnets/s"), APIVersion: "2021-05-01"},
		{ID: mustID(group), APIVersion: resource.ResourceGroupAPIVersion},
		{ID: mustID(accountID + "2"), APIVersion: "2022-01-01"},
		{ID: mustID(vnetID), APIVersion: "2020-11-01"},
	}
	byID := cmp.Transformer("ID", func(id resource.ID) string { return id.Key() })
	if diff := cmp.Diff(want, set.Resources[2].DependsOn, byID); diff != "" {
		t.Errorf("a manifest's api-version goes before the written one, that before a container's (-want +got):\n%s", diff)
	}
}

// TestNoAPIVersion: what is named by an ID alone is left to the worker, which takes
// the newest.
func TestNoAPIVersion(t *testing.T) {
	const scope = group + "/providers/Contoso.Things/things/t1"
	set, err := Load(Options{}, write(t, map[string]string{"m.yaml": "type: Microsoft.Authorization/roleAssignments@2022-04-01\nname: r\nowner: " + scope +
		"\nbody: {a: {$ref: " + scope + "}}\nreconcile: {dependsOn: [" + vnetID + "]}\n"}))
	if err != nil {
		t.Fatal(err)
	}
	d := set.Resources[0]
	if d.OwnerAPIVersion != "" || d.References[0].APIVersion != "" || d.DependsOn[0].APIVersion != "" {
		t.Errorf("the api-versions are %q, %q and %q", d.OwnerAPIVersion, d.References[0].APIVersion, d.DependsOn[0].APIVersion)
	}
}

// manyIDs are IDs of networks, as a list without brackets.
func manyIDs(count int) string {
	ids := make([]string, count)
	for i := range ids {
		ids[i] = fmt.Sprintf("%s%d@2020-11-01", vnetID, i)
	}
	return strings.Join(ids, ", ")
}

func TestDependsOnFaults(t *testing.T) {
	on := func(list string) string { return account + "body: {}\nreconcile: {dependsOn: " + list + "}\n" }
	runFaults(t, map[string]faultCase{
		"NoList": {
			reason: "one name is a list of one",
			yaml:   on("v") + "---\n" + vnetManifest,
			want:   "m.yaml:5: reconcile.dependsOn: found a text; write a list of names of manifests or resource IDs",
		},
		"NoText": {
			reason: "each item is told",
			yaml:   on("[5, '', {$ref: v}]") + "---\n" + vnetManifest,
			want: "m.yaml:5: reconcile.dependsOn[0]: found a number; write the name of a manifest or a resource ID\n" +
				"m.yaml:5: reconcile.dependsOn[1]: found a text; write the name of a manifest or a resource ID\n" +
				"m.yaml:5: reconcile.dependsOn[2]: found a mapping; write the name of a manifest or a resource ID",
		},
		"TooMany": {
			reason: "what is beyond the bound would be deleted first, and nobody would notice",
			yaml:   account + "body: {}\nreconcile: {dependsOn: [" + manyIDs(64) + "]}\n",
			want: "m.yaml:1: needs 65 other resources (owner, $ref and dependsOn), at most 64 are allowed: the others would not be protected from a delete; " +
				"write those that need no protection as plain resource IDs, or depend on an intermediate resource",
		},
		"Unknown": {
			reason: "a name that no manifest has names its neighbour",
			yaml:   on("[vv, another]") + "---\n" + vnetManifest,
			want: "m.yaml:5: reconcile.dependsOn[0]: no manifest is named \"vv\"; did you mean v?\n" +
				"m.yaml:5: reconcile.dependsOn[1]: no manifest is named \"another\"; write a manifest's name or a resource ID",
		},
		"NoVersion": {
			reason: "outside of all subscriptions no list says which api-version there is, as for $ref",
			yaml:   on("[/providers/Microsoft.Billing/billingAccounts/a]"),
			want:   "m.yaml:5: reconcile.dependsOn[0]: the api-version of /providers/Microsoft.Billing/billingAccounts/a is unknown; write /providers/Microsoft.Billing/billingAccounts/a@<api-version>",
		},
		"Broken": {
			reason: "a cleaned path would address another resource",
			yaml:   on("[" + group + "/..]"),
			want:   "m.yaml:5: reconcile.dependsOn[0]: parse resource ID \"" + group + "/..\": the segment \"..\" is not allowed",
		},
		"Ambiguous": {
			reason: "a name that two manifests have",
			yaml:   on("[v]") + "---\n" + vnetManifest + "---\ntype: A.B/c@2020-01-01\nname: V\nowner: " + group + "\nbody: {}\n",
			want:   "m.yaml:5: reconcile.dependsOn[0]: \"v\" is the name of 2 manifests (m.yaml:7, m.yaml:12); write owner/name or the resource ID",
		},
		"Twice": {
			reason: "by name and by ID is twice",
			yaml:   account + "body: {}\nreconcile:\n  dependsOn:\n    - v\n    - " + vnetID + "\n---\n" + vnetManifest,
			want:   "m.yaml:8: reconcile.dependsOn[1]: " + vnetID + " is listed twice, first in line 7; remove one",
		},
		"Self": {
			reason: "by name and by ID",
			yaml:   on("[acc, " + accountID + "]"),
			want: "m.yaml:5: reconcile.dependsOn[0]: acc is this resource itself and cannot be its own dependency; remove it\n" +
				"m.yaml:5: reconcile.dependsOn[1]: " + accountID + " is this resource itself and cannot be its own dependency; remove it",
		},
		"Inside": {
			reason: "what it owns comes after it, in this load or not",
			yaml:   on("[" + accountID + "/blobServices/default@2021-04-01]"),
			want:   "m.yaml:5: reconcile.dependsOn[0]: " + accountID + "/blobServices/default@2021-04-01 is a child of acc and cannot come first; remove it",
		},
		"Cycle": {
			reason: "owner, $ref and dependsOn together: acc waits for s, s for its owner v, v for acc",
			yaml:   on("[s]") + "---\n" + subnetManifest + "---\ntype: Microsoft.Network/virtualNetworks@2020-11-01\nname: v\nowner: " + group + "\nbody: {a: {$ref: acc}}\n",
			want:   "m.yaml:15: body.a: owners, references and dependsOn form a cycle: acc -> s -> v -> acc; remove one of these",
		},
		"DependsCycle": {
			reason: "the place is the item that closes it",
			yaml:   on("[v]") + "---\n" + vnetManifest + "reconcile:\n  dependsOn:\n    - acc\n",
			want:   "m.yaml:13: reconcile.dependsOn[0]: owners, references and dependsOn form a cycle: acc -> v -> acc; remove one of these",
		},
		"FaultyTarget": {
			reason: "the fault of what is named is told once",
			yaml:   on("[v]") + "---\ntype: Microsoft.Network/virtualNetworks\nname: v\nowner: " + group + "\nbody: {}\n",
			want:   "m.yaml:7: type: \"Microsoft.Network/virtualNetworks\" has no api-version; write it like Microsoft.Network/virtualNetworks@2023-08-15",
		},
		"RefSelfByID": {
			reason: "a $ref to the own ID never resolves",
			yaml:   account + "body: {a: {$ref: " + accountID + ", path: properties.x}}\n",
			want:   "m.yaml:4: body.a: $ref: " + accountID + " is this resource itself and cannot be its own dependency; write the resource ID as plain text",
		},
		"RefInside": {
			reason: "nor does one to what stands inside it",
			yaml:   account + "body: {a: {$ref: " + accountID + "/blobServices/default@2021-04-01}}\n",
			want:   "m.yaml:4: body.a: $ref: " + accountID + "/blobServices/default@2021-04-01 is a child of acc and cannot come first; write the resource ID as plain text",
		},
	})
}
