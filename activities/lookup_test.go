package activities

import (
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/armature-io/armature/activities/lookup"
	"github.com/armature-io/armature/armsim"
	"github.com/armature-io/armature/resource"
)

func TestCheckOwnerSharesOneRead(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put(clusterText, `{"location":"westus2","properties":{"state":"Running"}}`)
	in := CheckOwnerInput{Desired: desired(t, databaseText, `{}`)}
	var all sync.WaitGroup
	for range 40 {
		all.Go(func() {
			if got := local(w, w.acts.CheckOwner, in); got.Verdict.Action != resource.ActionProceed {
				t.Errorf("verdict is %+v", got.Verdict)
			}
		})
	}
	all.Wait()
	if diff := cmp.Diff([]string{"GET c1"}, w.requests()); diff != "" {
		t.Errorf("40 children cost (-want +got):\n%s", diff)
	}
	w.advance(29 * time.Second)
	got := local(w, w.acts.CheckOwner, in)
	want(t, got.Verdict, resource.ActionProceed, "", "")
	w.advance(2 * time.Second)
	local(w, w.acts.CheckOwner, in)
	if n := len(w.requests()); n != 2 {
		t.Errorf("after 31s there were %d requests, want 2", n)
	}
	w.advance(10 * time.Second)
	in.Changes = []Change{{ID: id(t, thingText), At: w.now()}}
	local(w, w.acts.CheckOwner, in)
	if n := len(w.requests()); n != 2 {
		t.Errorf("a change of another resource cost a request")
	}
	in.Changes = []Change{{ID: id(t, strings.ToUpper(clusterText[:15])+clusterText[15:]), At: w.now().Add(-time.Hour)}}
	for range 3 {
		local(w, w.acts.CheckOwner, in)
	}
	if n := len(w.requests()); n != 3 {
		t.Errorf("a change that is new to this worker must cost one request, also when clocks differ; there were %d", n-2)
	}
	w.advance(time.Second)
	in.Changes, in.Deleting = nil, true
	local(w, w.acts.CheckOwner, in)
	if n := len(w.requests()); n != 4 {
		t.Errorf("a deletion reads the owner afresh; there were %d requests", n)
	}
}

func TestCheckOwnerReportsFreshness(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put(clusterText, `{"location":"westus2","properties":{"provisioningState":"Updating"}}`)
	in := CheckOwnerInput{Desired: desired(t, databaseText, `{}`)}
	local(w, w.acts.CheckOwner, in)
	w.advance(12 * time.Second)
	got := local(w, w.acts.CheckOwner, in)
	want(t, got.Verdict, resource.ActionBlock, resource.ReasonReconciliationBlocked, resource.RetrySlow, "Updating")
	if got.Verdict.Freshness != "read 12s ago" {
		t.Errorf("freshness %q, want 12 s", got.Verdict.Freshness)
	}
	if len(got.Verdict.WaitingFor) != 1 || got.Verdict.WaitingFor[0].Name() != "c1" {
		t.Errorf("waits for %v", got.Verdict.WaitingFor)
	}
}

func TestCheckOwnerCachesErrorsBriefly(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put(clusterText, `{"location":"westus2","properties":{"state":"Running"}}`)
	in := CheckOwnerInput{Desired: desired(t, databaseText, `{}`)}
	w.sim.AddFault(armsim.Fault{Status: 503, Count: 1})
	w.sim.AddFault(armsim.Fault{Status: 429, Code: "TooManyRequests", Count: 1, Headers: map[string]string{"Retry-After": "5"}})
	if got := local(w, w.acts.CheckOwner, in); got.Verdict.Action != resource.ActionError {
		t.Errorf("a 503 is %+v", got.Verdict)
	}
	if got := local(w, w.acts.CheckOwner, in); got.Verdict.RetryAfter != 5*time.Second {
		t.Errorf("a 429 is %+v", got.Verdict)
	}
	if got := local(w, w.acts.CheckOwner, in); got.Verdict.RetryAfter != 5*time.Second || len(w.requests()) != 2 {
		t.Errorf("within ARM's Retry-After a child made another request: %v", w.requests())
	}
	w.advance(6 * time.Second)
	if got := local(w, w.acts.CheckOwner, in); got.Verdict.Action != resource.ActionProceed {
		t.Errorf("after the wait the verdict is %+v", got.Verdict)
	}
}

// A check after a change must not use a read that began before the change was
// known.
func TestCheckOwnerDoesNotJoinAnOlderRead(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put(clusterText, `{"location":"westus2","properties":{"provisioningState":"Updating"}}`)
	gate := w.sim.AddFault(armsim.Fault{Gate: true, Applied: true, Count: 1})
	in := CheckOwnerInput{Desired: desired(t, databaseText, `{}`)}
	var first, second CheckOwnerResult
	var both sync.WaitGroup
	both.Go(func() { first = local(w, w.acts.CheckOwner, in) })
	until(t, func() bool { return w.sim.Faults()[0].Waiting == 1 })
	must(t, w.sim.SetState(clusterText, "Succeeded", map[string]any{"state": "Running"}))
	w.advance(time.Second)
	after := in
	after.Changes = []Change{{ID: id(t, clusterText), At: w.now()}}
	w.advance(time.Second)
	both.Go(func() { second = local(w, w.acts.CheckOwner, after) })
	w.sim.RemoveFault(gate)
	both.Wait()
	want(t, first.Verdict, resource.ActionBlock, resource.ReasonReconciliationBlocked, resource.RetrySlow)
	want(t, second.Verdict, resource.ActionProceed, "", "")
}

func TestCheckOwnerEndsWithinItsBudget(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.sim.AddFault(armsim.Fault{Gate: true})
	start := time.Now()
	got := local(w, w.acts.CheckOwner, CheckOwnerInput{Desired: desired(t, databaseText, `{}`)})
	want(t, got.Verdict, resource.ActionError, resource.ReasonArmUnreachable, resource.RetrySlow, "the owner c1 cannot be read", "in time")
	if took := time.Since(start); took > lookup.Timeout+time.Second {
		t.Errorf("a read that hangs took %s, and messages wait meanwhile", took)
	}
}

func TestGetResourceFillsTheOwnerCache(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	in := CheckOwnerInput{Desired: desired(t, databaseText, `{}`)}
	if got := local(w, w.acts.CheckOwner, in); !got.OwnerAbsent {
		t.Fatalf("want an absent owner: %+v", got)
	}
	w.put(clusterText, `{"location":"westus2","properties":{"state":"Running"}}`)
	w.advance(time.Second)
	_, err := run(w, w.acts.GetResource, GetResourceInput{Target: resource.Target{ID: id(t, clusterText), APIVersion: "2023-08-15"}})
	must(t, err)
	got := local(w, w.acts.CheckOwner, in)
	want(t, got.Verdict, resource.ActionProceed, "", "")
	if gets := slices.DeleteFunc(w.requests(), func(r string) bool { return !strings.HasPrefix(r, http.MethodGet) }); len(gets) != 2 {
		t.Errorf("the child repeated a read of its owner's own pass: %v", gets)
	}
}

// until waits for a condition that a concurrent goroutine makes true.
func until(t *testing.T, condition func() bool) {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	deadline := time.After(10 * time.Second)
	for !condition() {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatal("the condition did not come true in 10s")
		}
	}
}

func TestOwnerIsRereadAfterItsPut(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	in := CheckOwnerInput{Desired: desired(t, databaseText, `{}`)}
	got := local(w, w.acts.CheckOwner, in)
	want(t, got.Verdict, resource.ActionBlock, resource.ReasonWaitingForOwner, resource.RetrySlow)
	w.put(clusterText, `{"location":"westus2","properties":{"state":"Running"}}`)
	w.acts.lookup.Drop(t.Context(), in.Desired.Owner, in.Desired.OwnerAPIVersion)
	w.advance(time.Second)
	got = local(w, w.acts.CheckOwner, in)
	want(t, got.Verdict, resource.ActionProceed, "", "", "allows changes")
}

// A read that was in flight when the owner was written is not cached.
func TestOwnerIsRereadAfterAReadInFlight(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	in := CheckOwnerInput{Desired: desired(t, databaseText, `{}`)}
	gate := w.sim.AddFault(armsim.Fault{Gate: true, Applied: true, Count: 1})
	var first sync.WaitGroup
	first.Go(func() { local(w, w.acts.CheckOwner, in) })
	until(t, func() bool { return w.sim.Faults()[0].Waiting == 1 })
	w.put(clusterText, `{"location":"westus2","properties":{"state":"Running"}}`)
	w.advance(time.Second)
	w.acts.lookup.Drop(t.Context(), in.Desired.Owner, in.Desired.OwnerAPIVersion)
	w.sim.RemoveFault(gate)
	first.Wait()
	w.advance(time.Second)
	got := local(w, w.acts.CheckOwner, in)
	want(t, got.Verdict, resource.ActionProceed, "", "", "allows changes")
}
