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
		t.Errorf("a dependency comes before its dependents (-want +got):\n%s", diff)
	}
	want := []resource.Reference{
		{ID: mustID(vnetID + "/subnets/s"), APIVersion: "2021-05-01"},
		{ID: mustID(group), APIVersion: resource.ResourceGroupAPIVersion},
		{ID: mustID(accountID + "2"), APIVersion: "2022-01-01"},
		{ID: mustID(vnetID), APIVersion: "2020-11-01"},
	}
	byID := cmp.Transformer("ID", func(id resource.ID) string { return id.Key() })
	if diff := cmp.Diff(want, set.Resources[2].DependsOn, byID); diff != "" {
		t.Errorf("the api-version of a manifest precedes the written one, and the written one a container's (-want +got):\n%s", diff)
	}
}

// TestNoAPIVersion checks that a plain ID has no api-version: the worker takes the
// newest one.
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

// manyIDs returns IDs of networks as a YAML list without brackets.
func manyIDs(count int) string {
	ids := make([]string, count)
	for i := range ids {
		ids[i] = fmt.Sprintf("%s%d@2020-11-01", vnetID, i)
	}
	return strings.Join(ids, ", ")
}

func TestDependsOnIssues(t *testing.T) {
	on := func(list string) string { return account + "body: {}\nreconcile: {dependsOn: " + list + "}\n" }
	runIssues(t, map[string]issueCase{
		"NoList": {
			reason: "a single name is written as a list with one item",
			yaml:   on("v") + "---\n" + vnetManifest,
			want:   "m.yaml:5:24: reconcile.dependsOn: found a text; write a list of names of manifests or resource IDs",
		},
		"NoText": {
			reason: "every item is reported",
			yaml:   on("[5, '', {$ref: v}]") + "---\n" + vnetManifest,
			want: "m.yaml:5:25: reconcile.dependsOn[0]: found a number; write the name of a manifest or a resource ID\n" +
				"m.yaml:5:28: reconcile.dependsOn[1]: found a text; write the name of a manifest or a resource ID\n" +
				"m.yaml:5:32: reconcile.dependsOn[2]: found a mapping; write the name of a manifest or a resource ID",
		},
		"TooMany": {
			reason: "resources beyond the limit could be deleted before their dependents without notice",
			yaml:   account + "body: {}\nreconcile: {dependsOn: [" + manyIDs(64) + "]}\n",
			want: "m.yaml:1:1: needs 65 other resources (owner, $ref and dependsOn), at most 64 are allowed: the others would not be protected from a delete; " +
				"write those that need no protection as plain resource IDs, or depend on an intermediate resource",
		},
		"Unknown": {
			reason: "an unknown name suggests a similar one",
			yaml:   on("[vv, another]") + "---\n" + vnetManifest,
			want: "m.yaml:5:25: reconcile.dependsOn[0]: no manifest is named \"vv\"; did you mean v?\n" +
				"m.yaml:5:29: reconcile.dependsOn[1]: no manifest is named \"another\"; write a manifest's name or a resource ID",
		},
		"NoVersion": {
			reason: "outside subscriptions no list of api-versions exists, as for $ref",
			yaml:   on("[/providers/Microsoft.Billing/billingAccounts/a]"),
			want:   "m.yaml:5:25: reconcile.dependsOn[0]: the api-version of /providers/Microsoft.Billing/billingAccounts/a is unknown; write /providers/Microsoft.Billing/billingAccounts/a@<api-version>",
		},
		"Broken": {
			reason: "a cleaned path would address another resource",
			yaml:   on("[" + group + "/..]"),
			want:   "m.yaml:5:25: reconcile.dependsOn[0]: parse resource ID \"" + group + "/..\": the segment \"..\" is not allowed",
		},
		"Ambiguous": {
			reason: "two manifests have the name",
			yaml:   on("[v]") + "---\n" + vnetManifest + "---\ntype: A.B/c@2020-01-01\nname: V\nowner: " + group + "\nbody: {}\n",
			want:   "m.yaml:5:25: reconcile.dependsOn[0]: \"v\" is the name of 2 manifests (m.yaml:7, m.yaml:12); write group/name, owner/name or the resource ID",
		},
		"Twice": {
			reason: "a name and an ID of one resource are duplicates",
			yaml:   account + "body: {}\nreconcile:\n  dependsOn:\n    - v\n    - " + vnetID + "\n---\n" + vnetManifest,
			want:   "m.yaml:8:7: reconcile.dependsOn[1]: " + vnetID + " is listed twice, first in line 7; remove one",
		},
		"Self": {
			reason: "a resource cannot depend on itself, by name or by ID",
			yaml:   on("[acc, " + accountID + "]"),
			want: "m.yaml:5:25: reconcile.dependsOn[0]: acc is this resource itself and cannot be its own dependency; remove it\n" +
				"m.yaml:5:30: reconcile.dependsOn[1]: " + accountID + " is this resource itself and cannot be its own dependency; remove it",
		},
		"Inside": {
			reason: "a child comes after its owner, whether or not it has a manifest here",
			yaml:   on("[" + accountID + "/blobServices/default@2021-04-01]"),
			want:   "m.yaml:5:25: reconcile.dependsOn[0]: " + accountID + "/blobServices/default@2021-04-01 is a child of acc and cannot come first; remove it",
		},
		"Cycle": {
			reason: "owner, $ref and dependsOn together: acc waits for s, s for its owner v, v for acc",
			yaml:   on("[s]") + "---\n" + subnetManifest + "---\ntype: Microsoft.Network/virtualNetworks@2020-11-01\nname: v\nowner: " + group + "\nbody: {a: {$ref: acc}}\n",
			want:   "m.yaml:15:18: body.a: owners, references and dependsOn form a cycle: acc -> s -> v -> acc; remove one of these",
		},
		"DependsCycle": {
			reason: "the issue is at the item that closes the cycle",
			yaml:   on("[v]") + "---\n" + vnetManifest + "reconcile:\n  dependsOn:\n    - acc\n",
			want:   "m.yaml:13:7: reconcile.dependsOn[0]: owners, references and dependsOn form a cycle: acc -> v -> acc; remove one of these",
		},
		"InvalidTarget": {
			reason: "an issue of the target is reported once",
			yaml:   on("[v]") + "---\ntype: Microsoft.Network/virtualNetworks\nname: v\nowner: " + group + "\nbody: {}\n",
			want:   "m.yaml:7:1: type: \"Microsoft.Network/virtualNetworks\" has no api-version; write it like Microsoft.Network/virtualNetworks@2023-08-15",
		},
		"RefSelfByID": {
			reason: "a $ref to the own ID never resolves",
			yaml:   account + "body: {a: {$ref: " + accountID + ", path: properties.x}}\n",
			want:   "m.yaml:4:18: body.a: $ref: " + accountID + " is this resource itself and cannot be its own dependency; write the resource ID as plain text",
		},
		"RefInside": {
			reason: "nor does a $ref to a child of the resource",
			yaml:   account + "body: {a: {$ref: " + accountID + "/blobServices/default@2021-04-01}}\n",
			want:   "m.yaml:4:18: body.a: $ref: " + accountID + "/blobServices/default@2021-04-01 is a child of acc and cannot come first; write the resource ID as plain text",
		},
	})
}
