package activities

import (
	"cmp"
	"fmt"
	"strings"
	"testing"

	"github.com/armature-io/armature/activities/contents"
	"github.com/armature-io/armature/armsim"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/types"
)

// TestGuardData deletes resources that hold data. Data that ARM lists is looked at, so an
// empty resource needs no flag; data that it does not list needs --with-data, also with
// --cascade.
//
//guard:data-needs-a-consent
func TestGuardData(t *testing.T) {
	t.Parallel()
	const (
		account   = groupText + "/providers/Microsoft.Storage/storageAccounts/acc1"
		container = account + "/blobServices/default/containers/c1"
		server    = groupText + "/providers/Microsoft.Sql/servers/s1"
		database  = server + "/databases/db1"
		vault     = groupText + "/providers/Microsoft.KeyVault/vaults/v1"
		disk      = groupText + "/providers/Microsoft.Compute/disks/d1"
		registry  = groupText + "/providers/Microsoft.ContainerRegistry/registries/r1"
		workspace = groupText + "/providers/Microsoft.OperationalInsights/workspaces/w1"
		network   = groupText + "/providers/Microsoft.Network/virtualNetworks/n1"
		cosmos    = groupText + "/providers/Microsoft.DocumentDB/databaseAccounts/a1"
	)
	unlisted := &armsim.Fault{Status: 405, Code: "MethodNotAllowed", Type: "Microsoft.KeyVault/vaults/secrets"}
	cases := map[string]struct {
		reason, resource  string
		children          []string
		cascade, withData bool
		fault             *armsim.Fault
		blocks            resource.Reason
		parts             []string
	}{
		"empty account":    {reason: "its containers, shares, queues and tables are listed", resource: account},
		"empty server":     {reason: "its databases are listed, and master is its own", resource: server, children: []string{server + "/databases/master"}},
		"empty vault":      {reason: "its keys and secrets are listed", resource: vault},
		"empty Cosmos":     {reason: "its databases are listed", resource: cosmos},
		"no data":          {reason: "a network holds none", resource: network},
		"container":        {reason: "ARM lists no blobs", resource: container, blocks: resource.ReasonContainsData, parts: []string{"--with-data", container}},
		"database":         {reason: "ARM lists no rows", resource: database, blocks: resource.ReasonContainsData, parts: []string{"--with-data"}},
		"disk":             {reason: "ARM lists no blocks", resource: disk, blocks: resource.ReasonContainsData},
		"registry":         {reason: "ARM lists no images", resource: registry, blocks: resource.ReasonContainsData},
		"workspace":        {reason: "the tables of Azure hold data in every workspace", resource: workspace, blocks: resource.ReasonContainsData},
		"disk, agreed":     {reason: "the user included the data", resource: disk, withData: true},
		"disk, cascade":    {reason: "--cascade names other resources, not data", resource: disk, cascade: true, blocks: resource.ReasonContainsData},
		"disk, both":       {reason: "everything is agreed", resource: disk, cascade: true, withData: true},
		"account, data":    {reason: "the data of others needs --cascade", resource: account, children: []string{container}, withData: true, blocks: resource.ReasonContainsUnmanaged, parts: []string{"--cascade", "c1"}},
		"account, cascade": {reason: "an unmanaged container holds data", resource: account, children: []string{container}, cascade: true, blocks: resource.ReasonContainsData, parts: []string{"c1", "--with-data"}},
		"account, both":    {reason: "everything is agreed", resource: account, children: []string{container}, cascade: true, withData: true},
		"empty, cascade":   {reason: "there is no data", resource: account, cascade: true},
		"network, cascade": {reason: "a subnet holds no data", resource: network, children: []string{network + "/subnets/s1"}, cascade: true},
		"group, cascade":   {reason: "an unmanaged disk in it holds data", resource: groupText, children: []string{disk}, cascade: true, blocks: resource.ReasonContainsData, parts: []string{"d1"}},
		"group, networks":  {reason: "an unmanaged network holds none", resource: groupText, children: []string{network}, cascade: true},
		"unlisted, cascade": {
			reason: "secrets that ARM refuses to list may be there", resource: vault, cascade: true, fault: unlisted,
			blocks: resource.ReasonContainsData, parts: []string{"secrets of v1", "--with-data"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.put(groupText, `{"location":"westus2"}`)
			w.put(tc.resource, `{"location":"westus2"}`)
			for _, child := range tc.children {
				w.put(child, `{"location":"westus2","properties":{}}`)
			}
			if tc.fault != nil {
				w.sim.AddFault(*tc.fault)
			}
			at := id(t, tc.resource)
			got, _ := finish(w, w.acts.CheckContents, contents.Request{
				ID: at, APIVersion: cmp.Or(types.Newest(at.Type()), resource.ResourceGroupAPIVersion), By: "ada@host", Cascade: tc.cascade, WithData: tc.withData,
			})
			if got.Verdict.Reason != tc.blocks {
				t.Errorf("%s: %s %q %q, want %q", tc.reason, got.Verdict.Action, got.Verdict.Reason, got.Verdict.Message, tc.blocks)
			}
			for _, part := range tc.parts {
				if !strings.Contains(got.Verdict.Message, part) {
					t.Errorf("%s: %q lacks %q", tc.reason, got.Verdict.Message, part)
				}
			}
		})
	}
}

// TestDataTypes counts the types that need --with-data.
//
//guard:data-needs-a-consent
func TestDataTypes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	unlisted := 0
	writable := types.Names(true)
	for i, name := range writable {
		if testing.Short() && i%20 != 0 {
			continue
		}
		if w.acts.Registry.HoldsUnlistedData(name) {
			unlisted++
		}
	}
	if !testing.Short() {
		fmt.Printf("score deletes.withdata %d/%d writable types need --with-data\n", unlisted, len(writable))
	}
	for _, name := range []string{"Microsoft.Network/virtualNetworks", "Microsoft.Storage/storageAccounts", "Microsoft.Web/sites", "Microsoft.Compute/virtualMachines", "Microsoft.Kusto/clusters"} {
		if w.acts.Registry.HoldsUnlistedData(name) {
			t.Errorf("%s needs --with-data also when it is empty", name)
		}
	}
	for _, name := range []string{"Microsoft.Kusto/clusters/databases", "Microsoft.Compute/disks", "Microsoft.Cache/redis", "Microsoft.NetApp/netAppAccounts/capacityPools/volumes", "Microsoft.Search/searchServices", "Microsoft.Compute/virtualMachineScaleSets"} {
		if !w.acts.Registry.HoldsUnlistedData(name) {
			t.Errorf("%s is deleted without --with-data", name)
		}
	}
}
