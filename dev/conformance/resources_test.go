package conformance

import (
	"net/http"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/resources/armlocks"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/resources/armresources/v3"

	"github.com/armature-io/armature/armsim"
)

const (
	thing      = group + "/providers/Microsoft.Example/things/t1"
	apiVersion = "2024-03-01"
)

// TestCredential checks that a token of the right secret is accepted, and that a wrong
// secret is reported.
func TestCredential(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	s.credential = s.login("wrong")
	_, err := client(t, s, armresources.NewResourceGroupsClient).Get(s.context(), groupName, nil)
	if err == nil || !strings.Contains(err.Error(), "AADSTS7000215") {
		t.Errorf("a wrong secret ends with %v", err)
	}
}

func TestResourceGroup(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	groups := client(t, s, armresources.NewResourceGroupsClient)
	got, err := groups.Get(s.context(), groupName, nil)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "location", got.Location, region)
	equal(t, "state", got.Properties.ProvisioningState, "Succeeded")
	updated, err := groups.Update(s.context(), groupName, armresources.ResourceGroupPatchable{Tags: map[string]*string{"a": to("b")}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "tag", updated.Tags["a"], "b")
	for name, want := range map[string]bool{groupName: true, "absent": false} {
		exists, err := groups.CheckExistence(s.context(), name, nil)
		if err != nil || exists.Success != want {
			t.Errorf("HEAD of %s returns %v %v, want %v", name, exists.Success, err, want)
		}
	}
	if n := pages(t, s, groups.NewListPager(nil), func(p armresources.ResourceGroupsClientListResponse) int { return len(p.Value) }); n != 1 {
		t.Errorf("%d groups are listed, want 1", n)
	}
	resources := client(t, s, armresources.NewClient)
	poller, err := resources.BeginCreateOrUpdateByID(s.context(), thing, apiVersion, armresources.GenericResource{Location: to(region)}, nil)
	done(t, s, poller, err)
	gone, err := groups.BeginDelete(s.context(), groupName, nil)
	done(t, s, gone, err)
	_, err = groups.Get(s.context(), groupName, nil)
	refused(t, err, http.StatusNotFound, "ResourceGroupNotFound")
	_, err = resources.GetByID(s.context(), thing, apiVersion, nil)
	refused(t, err, http.StatusNotFound, "ResourceGroupNotFound")
	again, err := groups.BeginDelete(s.context(), groupName, nil)
	_, err = ended(s, again, err)
	refused(t, err, http.StatusNotFound, "ResourceGroupNotFound")
}

// TestGenericResource creates, reads and deletes with the client that knows no type.
func TestGenericResource(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	resources := client(t, s, armresources.NewClient)
	_, err := resources.GetByID(s.context(), thing, apiVersion, nil)
	refused(t, err, http.StatusNotFound, "ResourceNotFound")
	_, err = resources.GetByID(s.context(), thing+"/kids/k", apiVersion, nil)
	refused(t, err, http.StatusNotFound, "ParentResourceNotFound")
	body := armresources.GenericResource{Location: to(region), Properties: map[string]any{"size": 1}, Tags: map[string]*string{"a": to("b")}}
	create, err := resources.BeginCreateOrUpdateByID(s.context(), thing, apiVersion, body, nil)
	made := done(t, s, create, err)
	equal(t, "ID", made.ID, thing)
	patch, err := resources.BeginUpdateByID(s.context(), thing, apiVersion, armresources.GenericResource{Tags: map[string]*string{"c": to("d")}}, nil)
	patched := done(t, s, patch, err)
	if len(patched.Tags) != 1 {
		t.Errorf("a PATCH of tags leaves %d, want it to replace them", len(patched.Tags))
	}
	exists, err := resources.CheckExistenceByID(s.context(), thing, apiVersion, nil)
	if err != nil || !exists.Success {
		t.Errorf("HEAD returns %v %v", exists.Success, err)
	}
	list := resources.NewListByResourceGroupPager(groupName, nil)
	if n := pages(t, s, list, func(p armresources.ClientListByResourceGroupResponse) int { return len(p.Value) }); n != 1 {
		t.Errorf("the group lists %d resources, want 1", n)
	}
	for range 2 { // the second DELETE finds nothing, which is no error
		remove, err := resources.BeginDeleteByID(s.context(), thing, apiVersion, nil)
		done(t, s, remove, err)
	}
	_, err = resources.BeginDeleteByID(s.context(), strings.Replace(thing, groupName, "absent", 1), apiVersion, nil)
	refused(t, err, http.StatusNotFound, "ResourceGroupNotFound")
}

// TestRegistration checks that the SDK registers a provider when ARM requires it.
func TestRegistration(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	if err := s.sim.SetTimeScale(1e7); err != nil { // at normal speed the SDK checks once, then after 15 s
		t.Fatal(err)
	}
	s.sim.SetProvider("Microsoft.Example", "NotRegistered")
	resources := client(t, s, armresources.NewClient)
	create, err := resources.BeginCreateOrUpdateByID(s.context(), thing, apiVersion, armresources.GenericResource{Location: to(region)}, nil)
	done(t, s, create, err)
	provider, err := client(t, s, armresources.NewProvidersClient).Get(s.context(), "Microsoft.Example", nil)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "registration", provider.RegistrationState, "Registered")
}

// TestThrottled checks that the SDK waits for Retry-After and then succeeds.
func TestThrottled(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	groups := client(t, s, armresources.NewResourceGroupsClient)
	if _, err := groups.Get(s.context(), groupName, nil); err != nil { // has a token from here on
		t.Fatal(err)
	}
	s.sim.SetThrottle(armsim.Throttle{Reads: armsim.Bucket{Capacity: 1, RefillPerSecond: 1.0 / 600}})
	for range 3 {
		if _, err := groups.Get(s.context(), groupName, nil); err != nil {
			t.Fatal(err)
		}
	}
	if n := s.sim.Counters().ByStatus[http.StatusTooManyRequests]; n == 0 {
		t.Error("nothing was throttled")
	}
	s.sim.SetThrottle(armsim.Throttle{Reads: armsim.Bucket{Capacity: 1}})
	noRetry := *s.options
	noRetry.Retry.MaxRetries = -1
	s.options = &noRetry
	groups = client(t, s, armresources.NewResourceGroupsClient)
	_, err := groups.Get(s.context(), groupName, nil)
	if err == nil {
		_, err = groups.Get(s.context(), groupName, nil)
	}
	refused(t, err, http.StatusTooManyRequests, "SubscriptionRequestsThrottled")
}

func TestLocks(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	locks := client(t, s, armlocks.NewManagementLocksClient)
	body := armlocks.ManagementLockObject{Properties: &armlocks.ManagementLockProperties{Level: to(armlocks.LockLevelCanNotDelete), Notes: to("keep")}}
	if _, err := locks.CreateOrUpdateAtResourceGroupLevel(s.context(), groupName, "keep", body, nil); err != nil {
		t.Fatal(err)
	}
	n := pages(t, s, locks.NewListAtResourceGroupLevelPager(groupName, nil), func(p armlocks.ManagementLocksClientListAtResourceGroupLevelResponse) int { return len(p.Value) })
	if n != 1 {
		t.Errorf("%d locks are listed, want 1", n)
	}
	groups := client(t, s, armresources.NewResourceGroupsClient)
	_, err := groups.BeginDelete(s.context(), groupName, nil)
	refused(t, err, http.StatusConflict, "ScopeLocked")
	if _, err := locks.DeleteAtResourceGroupLevel(s.context(), groupName, "keep", nil); err != nil {
		t.Fatal(err)
	}
	gone, err := groups.BeginDelete(s.context(), groupName, nil)
	done(t, s, gone, err)
}
