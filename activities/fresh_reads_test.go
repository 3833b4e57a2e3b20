package activities

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/resource"
)

// TestRequestedPassReadsAnew checks that a pass that a user requested decides on no reading
// from before the request, and that the resources of one apply share one.
func TestRequestedPassReadsAnew(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put(clusterText, `{"location":"westus2","properties":{"provisioningState":"Updating"}}`)
	w.put(netText, `{"properties":{"provisioningState":"Updating"}}`)
	spec := desired(t, databaseText, `{}`)
	spec.DependsOn = []resource.Reference{{ID: id(t, netText), APIVersion: "2023-08-15"}}
	check := func(since time.Time) resource.Verdict {
		return local(w, w.acts.CheckOwner, CheckOwnerInput{Desired: spec, PassFacts: PassFacts{Mandate: Mandate{RequestedAt: since}}}).Verdict
	}
	want(t, check(time.Time{}), resource.ActionBlock, resource.ReasonReconciliationBlocked, resource.RetrySlow)
	must(t, w.sim.SetState(clusterText, "Succeeded", map[string]any{"state": "Running"}))
	must(t, w.sim.SetState(netText, "Succeeded", nil))
	w.advance(2 * time.Second)
	want(t, check(time.Time{}), resource.ActionBlock, resource.ReasonReconciliationBlocked, resource.RetrySlow)
	before := len(w.requests())
	asked := w.now()
	if got := check(asked); got.Stops() {
		t.Fatalf("a user asked, and the pass decides on the reading from before: %+v", got)
	}
	if n := len(w.requests()) - before; n != 2 {
		t.Errorf("the pass made %d requests, want owner and reference anew", n)
	}
	w.advance(time.Second)
	for range 20 {
		if got := check(asked); got.Stops() {
			t.Fatalf("%+v", got)
		}
		if got := check(time.Time{}); got.Stops() {
			t.Fatalf("%+v", got)
		}
	}
	if n := len(w.requests()) - before; n != 2 {
		t.Errorf("20 more passes of one apply made %d requests, want none", n-2)
	}
	w.advance(time.Second)
	// The worker's clock is behind the server's: what is read now is new enough.
	check(w.now().Add(time.Hour))
	check(w.now().Add(time.Hour))
	if n := len(w.requests()) - before; n != 4 {
		t.Errorf("a request by a clock that is ahead made %d requests, want 2", n-2)
	}
}

// TestPreCheckStatesAge checks that a verdict of a link states the age of what it saw, and is
// repeated when the oldest reading expires.
func TestPreCheckStatesAge(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(s *setup) {
		s.entries = append(s.entries,
			extensions.Entry{Type: "Contoso.Things/parents/children", Link: readyLink{saw: func(_, _ *resource.Object, _ extensions.Resolution) {}}},
			extensions.Entry{Type: "Contoso.Things/parents/children", Link: readyAfter{}})
	})
	w.put(parentText, thingBody)
	w.put(netText, `{"properties":{"provisioningState":"Updating"}}`)
	spec := desired(t, childText, thingBody)
	in := PreCheckInput{Desired: spec}
	if got := local(w, w.acts.PreCheck, in).Verdict; got.RetryWithin != 0 || !strings.Contains(got.Text(), "n1 read now") {
		t.Errorf("on a fresh reading: %q, next try within %s; want its age, and the wait of the class", got.Text(), got.RetryWithin)
	}
	w.advance(12 * time.Second)
	got := local(w, w.acts.PreCheck, in).Verdict
	if got.RetryWithin != 19*time.Second || !strings.Contains(got.Text(), "n1 read 12s ago") || !strings.Contains(got.Text(), "p1 read 12s ago") {
		t.Errorf("on a reading of 12 s ago: %q, next try within %s; want the ages, and a try at the expiry", got.Text(), got.RetryWithin)
	}
	must(t, w.sim.SetState(netText, "Succeeded", nil))
	w.advance(19 * time.Second)
	if got := local(w, w.acts.PreCheck, in).Verdict; got.Stops() {
		t.Errorf("after the expiry: %+v", got)
	}
	post := PostCheckInput{Desired: spec, Observed: []byte(`{"properties":{}}`)}
	w.advance(5 * time.Second)
	if got := local(w, w.acts.PostCheck, post).Verdict; got.Action != resource.ActionFailure || got.RetryWithin != 26*time.Second || !strings.Contains(got.Text(), "n1 read 5s ago") {
		t.Errorf("post-check: %+v, want the age and a try at the expiry", got)
	}
	// A user asks: the step reads anew what the link resolves, too.
	in.RequestedAt = w.now()
	before := len(w.requests())
	local(w, w.acts.PreCheck, in)
	local(w, w.acts.PreCheck, in)
	if n := len(w.requests()) - before; n != 2 {
		t.Errorf("a requested pass made %d requests, want owner and network once", n)
	}
}

// readyAfter is a post-check that is not content.
type readyAfter struct{}

func (readyAfter) PostReconcileCheck(
	ctx context.Context, _, _ *resource.Object, resolver extensions.Resolver, _ extensions.ARMClient, _ *slog.Logger, _ extensions.PostReconcileCheckFunc,
) (extensions.PostReconcileCheckResult, error) {
	id, err := resource.ParseID(netText)
	if err == nil {
		_, err = resolver.Resolve(ctx, resource.Reference{ID: id, APIVersion: "2023-08-15"})
	}
	return extensions.PostReconcileCheckResultFailure("not yet"), err
}

// TestDefaultBlocksKeepTheirWait checks that a block that does not rest on another resource
// keeps the wait of its class.
func TestDefaultBlocksKeepTheirWait(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put(parentText, thingBody)
	in := PreCheckInput{Desired: desired(t, childText, thingBody), Observed: []byte(`{"properties":{"provisioningState":"Updating"}}`)}
	local(w, w.acts.PreCheck, in)
	w.advance(12 * time.Second)
	got := local(w, w.acts.PreCheck, in).Verdict
	want(t, got, resource.ActionBlock, resource.ReasonOperationInProgress, got.Class)
	if got.RetryWithin != 0 || got.Freshness != "" {
		t.Errorf("%+v: the owner's age has nothing to do with it", got)
	}
}
