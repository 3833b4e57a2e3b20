package conformance

import (
	"net/http"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/authorization/armauthorization/v2"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/compute/armcompute/v7"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/storage/armstorage"
)

func TestScaleSet(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	sets := client(t, s, armcompute.NewVirtualMachineScaleSetsClient)
	body := armcompute.VirtualMachineScaleSet{Location: to(region), SKU: &armcompute.SKU{Name: to("Standard_D1_v2"), Capacity: to[int64](1)},
		Properties: &armcompute.VirtualMachineScaleSetProperties{VirtualMachineProfile: &armcompute.VirtualMachineScaleSetVMProfile{
			OSProfile: &armcompute.VirtualMachineScaleSetOSProfile{AdminUsername: to("admin"), AdminPassword: to("planted-password")}}}}
	create, err := sets.BeginCreateOrUpdate(s.context(), groupName, "set", body, nil)
	made := done(t, s, create, err)
	equal(t, "state", made.Properties.ProvisioningState, "Succeeded")
	equal(t, "overprovision", made.Properties.Overprovision, true)
	if made.Properties.VirtualMachineProfile.OSProfile.AdminPassword != nil {
		t.Error("the password came back")
	}
	update, err := sets.BeginUpdate(s.context(), groupName, "set", armcompute.VirtualMachineScaleSetUpdate{SKU: &armcompute.SKU{Capacity: to[int64](2)}}, nil)
	updated := done(t, s, update, err)
	equal(t, "capacity", updated.SKU.Capacity, 2)
	equal(t, "size", updated.SKU.Name, "Standard_D1_v2")
	stop, err := sets.BeginDeallocate(s.context(), groupName, "set", nil)
	done(t, s, stop, err)
	remove, err := sets.BeginDelete(s.context(), groupName, "set", nil)
	done(t, s, remove, err)
	_, err = sets.Get(s.context(), groupName, "set", nil)
	refused(t, err, http.StatusNotFound, "ResourceNotFound")
}

func TestDisk(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	disks := client(t, s, armcompute.NewDisksClient)
	body := armcompute.Disk{Location: to(region), Properties: &armcompute.DiskProperties{
		CreationData: &armcompute.CreationData{CreateOption: to(armcompute.DiskCreateOptionEmpty)}, DiskSizeGB: to[int32](8)}}
	create, err := disks.BeginCreateOrUpdate(s.context(), groupName, "d", body, nil)
	equal(t, "state", done(t, s, create, err).Properties.ProvisioningState, "Succeeded")
	remove, err := disks.BeginDelete(s.context(), groupName, "d", nil)
	done(t, s, remove, err)
}

func TestStorageAccount(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	accounts, containers := client(t, s, armstorage.NewAccountsClient), client(t, s, armstorage.NewBlobContainersClient)
	body := armstorage.AccountCreateParameters{Location: to(region), Kind: to(armstorage.KindStorageV2), SKU: &armstorage.SKU{Name: to(armstorage.SKUNameStandardLRS)}}
	create, err := accounts.BeginCreate(s.context(), groupName, "acc", body, nil)
	account := done(t, s, create, err)
	equal(t, "endpoint", account.Properties.PrimaryEndpoints.Blob, "https://acc.blob.core.windows.net/")
	equal(t, "tier", account.SKU.Tier, armstorage.SKUTierStandard)
	if _, err := accounts.Update(s.context(), groupName, "acc", armstorage.AccountUpdateParameters{Tags: map[string]*string{"a": to("b")}}, nil); err != nil {
		t.Error(err)
	}
	if _, err := containers.Create(s.context(), groupName, "acc", "c", armstorage.BlobContainer{}, nil); err != nil {
		t.Error(err)
	}
	keys, err := accounts.ListKeys(s.context(), groupName, "acc", nil)
	if err != nil || len(keys.Keys) != 2 {
		t.Errorf("keys: %v %v", keys.Keys, err)
	}
	if _, err := accounts.Delete(s.context(), groupName, "acc", nil); err != nil {
		t.Error(err)
	}
	_, err = accounts.GetProperties(s.context(), groupName, "acc", nil)
	refused(t, err, http.StatusNotFound, "ResourceNotFound")
}

func TestRoleAssignment(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	assignments := client(t, s, armauthorization.NewRoleAssignmentsClient)
	const name, other = "aaaaaaaa-0000-0000-0000-000000000001", "aaaaaaaa-0000-0000-0000-000000000002"
	body := armauthorization.RoleAssignmentCreateParameters{Properties: &armauthorization.RoleAssignmentProperties{
		PrincipalID:      to("22222222-0000-0000-0000-000000000001"),
		RoleDefinitionID: to("/subscriptions/" + subscription + "/providers/Microsoft.Authorization/roleDefinitions/b24988ac-6180-42a0-ab88-20f7382dd24c")}}
	made, err := assignments.Create(s.context(), strings.TrimPrefix(group, "/"), name, body, nil)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "scope", made.Properties.Scope, group)
	_, err = assignments.Create(s.context(), group, other, body, nil)
	refused(t, err, http.StatusConflict, "RoleAssignmentExists")
	n := pages(t, s, assignments.NewListForScopePager(group, nil), func(p armauthorization.RoleAssignmentsClientListForScopeResponse) int { return len(p.Value) })
	if n != 1 {
		t.Errorf("%d assignments are listed, want 1", n)
	}
	for range 2 {
		if _, err := assignments.Delete(s.context(), group, name, nil); err != nil {
			t.Error(err)
		}
	}
	_, err = assignments.Get(s.context(), group, name, nil)
	refused(t, err, http.StatusNotFound, "RoleAssignmentNotFound")
}
