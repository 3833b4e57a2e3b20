package activities

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/resource"
)

const (
	parentText = groupText + "/providers/Contoso.Things/parents/p1"
	childText  = parentText + "/children/c1"
)

// readyLink is written as the patterns of Azure Service Operator are: it blocks until the
// owner and the network are Ready. It keeps what it saw.
type readyLink struct {
	saw func(obj, owner *resource.Object, network extensions.Resolution)
}

func (l readyLink) PreReconcileCheck(
	ctx context.Context, obj, owner *resource.Object, resolver extensions.Resolver, client extensions.ARMClient, log *slog.Logger,
	next extensions.PreReconcileCheckFunc,
) (extensions.PreReconcileCheckResult, error) {
	id, err := resource.ParseID(netText)
	if err != nil {
		return extensions.PreReconcileCheckResult{}, err
	}
	network, err := resolver.Resolve(ctx, resource.Reference{ID: id, APIVersion: "2023-08-15"})
	if err != nil {
		return extensions.PreReconcileCheckResult{}, err
	}
	l.saw(obj, owner, network)
	if owner != nil && !owner.IsReady() {
		return extensions.BlockReconcile("waiting for owner " + owner.ID.Name() + " to be ready"), nil
	}
	if !network.Found || !network.Object.IsReady() {
		return extensions.BlockReconcile("required network not ready", extensions.WithWaitingFor(id)), nil
	}
	return next(ctx, obj, owner, resolver, client, log)
}

// TestChecksSeeTheReadyCondition shows a link the Ready condition of a managed owner and of a
// managed reference, with labels, policy and generation.
func TestChecksSeeTheReadyCondition(t *testing.T) {
	t.Parallel()
	since := time.Date(2026, 11, 20, 11, 0, 0, 0, time.UTC)
	ready := Managed{Ready: true, Reason: resource.ReasonSucceeded, Since: since, Policy: resource.PolicyProtect, Generation: 3, Labels: map[string]string{"stack": "prod"}}
	pending := Managed{Reason: "PendingApproval", Since: since}
	cases := map[string]struct {
		reason         string
		owner, network *Managed
		err            error
		want           resource.Action
		message        string
	}{
		"Unmanaged":      {reason: "ARM's state counts", want: resource.ActionProceed},
		"Ready":          {reason: "both are Ready", owner: &ready, network: &ready, want: resource.ActionProceed},
		"OwnerPending":   {reason: "it is provisioned, and its approval is pending", owner: &pending, network: &ready, want: resource.ActionBlock, message: "waiting for owner p1 to be ready"},
		"NetworkPending": {reason: "a reference counts as an owner does", owner: &ready, network: &pending, want: resource.ActionBlock, message: "required network not ready"},
		"Unreachable":    {reason: "an outage of Temporal is no Ready condition", err: errors.New("unreachable"), want: resource.ActionBlock, message: "waiting for owner p1 to be ready"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var obj, owner *resource.Object
			var network extensions.Resolution
			w := newWorld(t, func(s *setup) {
				s.entries = append(s.entries, extensions.Entry{Type: "Contoso.Things/parents/children", Link: readyLink{
					saw: func(o, p *resource.Object, n extensions.Resolution) { obj, owner, network = o, p, n },
				}})
			})
			w.put(parentText, thingBody)
			w.put(netText, thingBody)
			if c.owner != nil {
				w.manages(parentText, *c.owner)
				w.manages(netText, *c.network)
			}
			w.fleet.err = c.err
			spec := desired(t, childText, thingBody)
			spec.Labels = map[string]string{"stack": "test"}
			got := local(w, w.acts.PreCheck, PreCheckInput{Desired: spec, PassFacts: PassFacts{Generation: 7}}).Verdict
			if got.Action != c.want || !strings.Contains(got.Message, c.message) {
				t.Fatalf("%s: %+v, want %s %q", c.reason, got, c.want, c.message)
			}
			if obj.Labels["stack"] != "test" || obj.Policy != resource.PolicyManage || obj.Generation != 7 || obj.Managed != nil {
				t.Errorf("the resource is %+v, want its labels, policy and generation", obj)
			}
			if c.owner == nil {
				return
			}
			want := &resource.Managed{Ready: c.owner.Ready, Reason: c.owner.Reason, Since: since}
			if diff := cmp.Diff(want, owner.Managed); diff != "" || owner.Labels["stack"] != c.owner.Labels["stack"] || owner.Generation != c.owner.Generation || owner.Policy != c.owner.Policy {
				t.Errorf("the owner is %+v %s", owner, diff)
			}
			if network.Managed == nil || network.Managed != network.Object.Managed || network.Managed.Ready != c.network.Ready {
				t.Errorf("the reference is %+v, want its Ready condition", network)
			}
		})
	}
}

// TestLeaveToWake checks that a block that has lasted an hour is retried rarely if a wake ends
// it, and at the pace of its reason if nothing announces its end.
func TestLeaveToWake(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		owner  *Managed
		fails  bool
		waited time.Duration
		want   resource.RetryClass
	}{
		"managed":     {reason: "its workflow creates it, and wakes what waits", owner: &Managed{}, waited: time.Hour, want: resource.RetryWoken},
		"first hour":  {reason: "a wake may have been lost", owner: &Managed{}, waited: time.Hour - time.Second, want: resource.RetrySlow},
		"not managed": {reason: "nothing wakes", waited: time.Hour, want: resource.RetrySlow},
		"idle":        {reason: "its workflow looks at it once per interval", owner: &Managed{Idle: true}, waited: time.Hour, want: resource.RetrySlow},
		"unknown":     {reason: "Temporal does not answer", owner: &Managed{}, fails: true, waited: time.Hour, want: resource.RetrySlow},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			if c.owner != nil {
				w.manages(parentText, *c.owner)
			}
			if c.fails {
				w.fleet.err = errors.New("shard unavailable")
			}
			in := CheckOwnerInput{Desired: desired(t, parentText+"/children/c1", thingBody), WaitedFor: c.waited}
			want(t, local(w, w.acts.CheckOwner, in).Verdict, resource.ActionBlock, resource.ReasonWaitingForOwner, c.want)
		})
	}
}

// TestManagedStateIsShared counts the requests to Temporal: one for the children of one owner,
// and another one after a change.
func TestManagedStateIsShared(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put(parentText, thingBody)
	w.manages(parentText, Managed{})
	check := func(n int, changes ...Change) resource.Verdict {
		spec := desired(t, parentText+"/children/c"+string(rune('a'+n)), thingBody)
		spec.WaitFor = resource.WaitForReady
		return local(w, w.acts.CheckOwner, CheckOwnerInput{Desired: spec, PassFacts: PassFacts{Changes: changes}}).Verdict
	}
	for n := range 20 {
		want(t, check(n), resource.ActionBlock, resource.ReasonWaitingForOwner, resource.RetrySlow, "is not Ready in Armature")
	}
	if w.fleet.describes != 1 {
		t.Errorf("20 children described the owner %d times, want once", w.fleet.describes)
	}
	w.manages(parentText, Managed{Ready: true})
	w.advance(time.Second)
	woken := Change{ID: id(t, parentText), State: "Ready", At: w.now()}
	for n := range 20 {
		if got := check(n, woken); got.Stops() {
			t.Fatalf("child %d was woken and acts on a state from before: %+v", n, got)
		}
	}
	if w.fleet.describes != 2 {
		t.Errorf("20 woken children made %d requests, want one", w.fleet.describes-1)
	}
	w.advance(maxManagedAge)
	check(0)
	if w.fleet.describes != 3 {
		t.Errorf("a state of %s ago is used", maxManagedAge)
	}
}

// TestWaitFor holds owner, $ref and dependsOn to what the manifest demands of them.
func TestWaitFor(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason          string
		waitFor         resource.WaitFor
		place           string
		deleting, force bool
		want            resource.Action
		why             resource.Reason
	}{
		"OwnerDefault":         {reason: "children may be made while an approval is pending", place: "owner", want: resource.ActionProceed},
		"OwnerReady":           {reason: "the manifest demands the Ready condition", waitFor: resource.WaitForReady, place: "owner", want: resource.ActionBlock, why: resource.ReasonWaitingForOwner},
		"OwnerProvisioned":     {reason: "stated", waitFor: resource.WaitForProvisioned, place: "owner", want: resource.ActionProceed},
		"OwnerReadyDeleting":   {reason: "a deletion needs no Ready owner", waitFor: resource.WaitForReady, place: "owner", deleting: true, want: resource.ActionProceed},
		"OwnerReadyForced":     {reason: "a user skips the check of the owner", waitFor: resource.WaitForReady, place: "owner", force: true, want: resource.ActionProceed},
		"RefDefault":           {reason: "a $ref needs what exists", place: "ref", want: resource.ActionProceed},
		"RefReady":             {reason: "the manifest demands the Ready condition", waitFor: resource.WaitForReady, place: "ref", want: resource.ActionBlock, why: resource.ReasonReferenceNotReady},
		"DependsOnDefault":     {reason: "dependsOn means Ready", place: "dependsOn", want: resource.ActionBlock, why: resource.ReasonReferenceNotReady},
		"DependsOnProvisioned": {reason: "stated", waitFor: resource.WaitForProvisioned, place: "dependsOn", want: resource.ActionProceed},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.put(parentText, thingBody)
			w.put(netText, thingBody)
			spec := desired(t, childText, thingBody)
			spec.WaitFor = c.waitFor
			other := map[string]string{"owner": parentText, "ref": netText, "dependsOn": netText}[c.place]
			w.manages(other, Managed{Reason: "PendingApproval"})
			reference := []resource.Reference{{ID: id(t, netText), APIVersion: "2023-08-15"}}
			switch c.place {
			case "ref":
				spec.References = reference
			case "dependsOn":
				spec.DependsOn = reference
			}
			in := CheckOwnerInput{Desired: spec, PassFacts: PassFacts{Mandate: Mandate{Force: c.force}}, Deleting: c.deleting}
			got := local(w, w.acts.CheckOwner, in).Verdict
			if got.Action != c.want || got.Reason != c.why && c.why != "" {
				t.Fatalf("%s: %+v, want %s %s", c.reason, got, c.want, c.why)
			}
			if c.want == resource.ActionBlock && (len(got.WaitingFor) != 1 || !got.WaitingFor[0].Equal(id(t, other))) {
				t.Errorf("it waits for %v, so the wake of %s would not reach it", got.WaitingFor, other)
			}
			w.fleet.err = errors.New("unreachable")
			w.advance(time.Minute)
			if got := local(w, w.acts.CheckOwner, in).Verdict; c.want == resource.ActionBlock && got.Reason != resource.ReasonCheckFailed {
				t.Errorf("without Temporal: %+v, want a failed check", got)
			}
		})
	}
}
