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

// TestScaleSetInstances checks that the clients of a set's machines show their
// creation and deletion, and can change them.
func TestScaleSetInstances(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	sets, machines := client(t, s, armcompute.NewVirtualMachineScaleSetsClient), client(t, s, armcompute.NewVirtualMachineScaleSetVMsClient)
	body := func(capacity int64, prefix string) armcompute.VirtualMachineScaleSet {
		return armcompute.VirtualMachineScaleSet{Location: to(region), SKU: &armcompute.SKU{Name: to("Standard_D1_v2"), Capacity: to(capacity)},
			Properties: &armcompute.VirtualMachineScaleSetProperties{
				UpgradePolicy: &armcompute.UpgradePolicy{Mode: to(armcompute.UpgradeModeManual)},
				VirtualMachineProfile: &armcompute.VirtualMachineScaleSetVMProfile{
					OSProfile: &armcompute.VirtualMachineScaleSetOSProfile{ComputerNamePrefix: to(prefix)}}}}
	}
	put := func(capacity int64, prefix string) {
		t.Helper()
		poller, err := sets.BeginCreateOrUpdate(s.context(), groupName, "set", body(capacity, prefix), nil)
		done(t, s, poller, err)
	}
	count := func() int {
		t.Helper()
		return pages(t, s, machines.NewListPager(groupName, "set", nil), func(p armcompute.VirtualMachineScaleSetVMsClientListResponse) int { return len(p.Value) })
	}
	get := func(id string) armcompute.VirtualMachineScaleSetVM {
		t.Helper()
		got, err := machines.Get(s.context(), groupName, "set", id, nil)
		if err != nil {
			t.Fatal(err)
		}
		return got.VirtualMachineScaleSetVM
	}
	for _, capacity := range []int64{3, 2, 4} {
		put(capacity, "w")
		if n := count(); n != int(capacity) {
			t.Errorf("%d machines, want %d", n, capacity)
		}
	}
	first := get("0")
	equal(t, "name", first.Name, "set_0")
	equal(t, "number", first.InstanceID, "0")
	equal(t, "state", first.Properties.ProvisioningState, "Succeeded")
	equal(t, "latest", first.Properties.LatestModelApplied, true)
	_, err := machines.Get(s.context(), groupName, "set", "2", nil)
	refused(t, err, http.StatusNotFound, "NotFound")

	put(4, "v")
	equal(t, "latest after another model", get("0").Properties.LatestModelApplied, false)
	upgrade, err := sets.BeginUpdateInstances(s.context(), groupName, "set", armcompute.VirtualMachineScaleSetVMInstanceRequiredIDs{InstanceIDs: []*string{to("0")}}, nil)
	done(t, s, upgrade, err)
	equal(t, "latest after its upgrade", get("0").Properties.LatestModelApplied, true)
	restart, err := machines.BeginRestart(s.context(), groupName, "set", "0", nil)
	done(t, s, restart, err)
	some, err := sets.BeginDeleteInstances(s.context(), groupName, "set", armcompute.VirtualMachineScaleSetVMInstanceRequiredIDs{InstanceIDs: []*string{to("0")}}, nil)
	done(t, s, some, err)
	one, err := machines.BeginDelete(s.context(), groupName, "set", "1", nil)
	done(t, s, one, err)
	left, err := sets.Get(s.context(), groupName, "set", nil)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "capacity", left.SKU.Capacity, 2)
	if n := count(); n != 2 {
		t.Errorf("%d machines are left, want 2", n)
	}
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

// TestStorageNamesAndFailover checks that a name is unique in all of Azure, and that a
// failover moves the account into its second region.
func TestStorageNamesAndFailover(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	accounts := client(t, s, armstorage.NewAccountsClient)
	body := armstorage.AccountCreateParameters{Location: to(region), Kind: to(armstorage.KindStorageV2), SKU: &armstorage.SKU{Name: to(armstorage.SKUNameStandardGRS)}}
	for name, code := range map[string]string{"no": "AccountNameInvalid", "has-hyphens": "AccountNameInvalid"} {
		_, err := accounts.BeginCreate(s.context(), groupName, name, body, nil)
		refused(t, err, http.StatusBadRequest, code)
	}
	if err := s.sim.Put("/subscriptions/99999999-2222-3333-4444-555555555555/resourceGroups/theirs/providers/Microsoft.Storage/storageAccounts/taken", map[string]any{"location": region}); err != nil {
		t.Fatal(err)
	}
	_, err := accounts.BeginCreate(s.context(), groupName, "taken", body, nil)
	refused(t, err, http.StatusConflict, "StorageAccountAlreadyTaken")
	create, err := accounts.BeginCreate(s.context(), groupName, "acc", body, nil)
	account := done(t, s, create, err)
	equal(t, "second region", account.Properties.SecondaryLocation, "westcentralus")
	failover, err := accounts.BeginFailover(s.context(), groupName, "acc", nil)
	if err != nil {
		t.Fatal(err)
	}
	going, err := accounts.GetProperties(s.context(), groupName, "acc", nil)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "failover", going.Properties.FailoverInProgress, true)
	equal(t, "first region", going.Properties.StatusOfPrimary, armstorage.AccountStatusUnavailable)
	done(t, s, failover, nil)
	after, err := accounts.GetProperties(s.context(), groupName, "acc", nil)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "region", after.Properties.PrimaryLocation, "westcentralus")
	equal(t, "redundancy", after.SKU.Name, armstorage.SKUNameStandardLRS)
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
