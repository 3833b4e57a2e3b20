package activities

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/armsim"
	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/resource"
)

// approval is a post-check that fails until something outside is approved.
type approval struct{ given *bool }

func (a approval) PostReconcileCheck(
	context.Context, *resource.Object, *resource.Object, extensions.Resolver, extensions.ARMClient, *slog.Logger, extensions.PostReconcileCheckFunc,
) (extensions.PostReconcileCheckResult, error) {
	if *a.given {
		return extensions.PostReconcileCheckResultSuccess(), nil
	}
	return extensions.PostReconcileCheckResultFailure("it waits for an approval"), nil
}

// newAccount returns the runner of a storage account of which the service sets one stated
// property itself, as services do: without a baseline, every pass finds a difference.
func newAccount(t *testing.T, change ...func(*setup)) *passRunner {
	t.Helper()
	w := newWorld(t, change...)
	w.put(groupText, `{"location":"westus2"}`)
	spec := desired(t, groupText+"/providers/Microsoft.Storage/storageAccounts/accepted1",
		`{"location":"westus2","kind":"StorageV2","sku":{"name":"Standard_LRS"},"properties":{"minimumTlsVersion":"TLS1_2","primaryLocation":"eastus"}}`)
	spec.APIVersion = "2023-05-01"
	return &passRunner{world: w, spec: spec}
}

// TestPostCheckFailsForEver checks that a resource whose post-check fails is not PUT
// again at every pass, that a real change is still corrected, and that the end of the
// wait brings neither a PUT nor a warning.
//
//guard:accepted-puts-are-verified
func TestPostCheckFailsForEver(t *testing.T) {
	t.Parallel()
	given := false
	p := newAccount(t, func(s *setup) {
		s.sim.TimeScale = 1e6
		s.entries = append(s.entries, extensions.Entry{Type: "Microsoft.Storage/storageAccounts", Link: approval{&given}})
	})
	for range 10 {
		got := p.pass()
		want(t, got, resource.ActionFailure, resource.ReasonPostReconciliationFailure, resource.RetrySlow, "approval")
		p.advance(3 * time.Minute)
	}
	if p.puts != 1 {
		t.Fatalf("%d PUTs in 10 passes whose post-check failed, want 1", p.puts)
	}
	p.patch(`{"properties":{"minimumTlsVersion":"TLS1_0"}}`)
	for range 3 {
		p.pass()
	}
	if stored := string(p.read().Observed); p.puts != 2 || !strings.Contains(stored, "TLS1_2") {
		t.Errorf("%d PUTs after a change by another tool, want a second one that corrects it: %s", p.puts, stored)
	}
	given = true
	want(t, p.pass(), resource.ActionSuccess, resource.ReasonSucceeded, "")
	if p.puts != 2 {
		t.Errorf("%d PUTs after the approval, want 2", p.puts)
	}
}

// TestThrottledAfterPut checks that a PUT whose result could not be read is verified by
// the next pass that can read, and is neither sent again nor reported as not taken.
//
//guard:accepted-puts-are-verified
func TestThrottledAfterPut(t *testing.T) {
	t.Parallel()
	p := newAccount(t, func(s *setup) { s.sim.TimeScale = 1e6 })
	p.sim.AddFault(armsim.Fault{
		Method: http.MethodGet, Type: "Microsoft.Storage/storageAccounts", After: 1, Count: 3,
		Status: 429, Code: "TooManyRequests", Headers: map[string]string{"Retry-After": "60"},
	})
	for range 3 {
		want(t, p.pass(), resource.ActionBlock, "TooManyRequests", resource.RetrySlow)
		p.advance(time.Minute)
	}
	for range 3 {
		want(t, p.pass(), resource.ActionSuccess, resource.ReasonSucceeded, "")
	}
	if p.puts != 1 || p.accepted != nil {
		t.Errorf("%d PUTs, unverified: %+v; want one, verified", p.puts, p.accepted)
	}
}

// TestVerifyAccepted checks when a pass verifies an earlier PUT instead of sending one.
//
//guard:accepted-puts-are-verified
func TestVerifyAccepted(t *testing.T) {
	t.Parallel()
	const differs = `{"location":"westus2","properties":{"size":7}}`
	cases := map[string]struct {
		reason   string
		observed string
		age      time.Duration
		force    bool
		policy   resource.Policy
		action   resource.Action
		why      resource.Reason
		verify   bool
	}{
		"differs":   {reason: "Azure's own value: verified, not sent", observed: differs, age: time.Minute, action: resource.ActionSkip, why: resource.ReasonInSync, verify: true},
		"in sync":   {reason: "the baseline is still to be learnt", observed: thingBody, age: time.Minute, action: resource.ActionSkip, why: resource.ReasonInSync, verify: true},
		"none":      {reason: "without an accepted PUT a difference is drift", observed: differs, action: resource.ActionProceed, why: resource.ReasonDrift},
		"too old":   {reason: "the difference may be a change of another tool", observed: differs, age: 2 * time.Hour, action: resource.ActionProceed, why: resource.ReasonDrift},
		"forced":    {reason: "a user asked for the PUT", observed: differs, age: time.Minute, force: true, action: resource.ActionProceed, why: resource.ReasonDrift},
		"broken":    {reason: "the PUT failed in Azure and is repeated", observed: `{"location":"westus2","properties":{"size":1,"provisioningState":"Failed"}}`, age: time.Minute, action: resource.ActionProceed, why: resource.ReasonDrift},
		"in flight": {reason: "it is verified when the operation has ended", observed: `{"location":"westus2","properties":{"size":7,"provisioningState":"Updating"}}`, age: time.Minute, action: resource.ActionBlock, why: resource.ReasonOperationInProgress},
		"absent":    {reason: "there is nothing to verify", age: time.Minute, action: resource.ActionProceed, why: resource.ReasonNotFound},
		"observed":  {reason: "a report is no PUT", observed: differs, policy: resource.PolicyObserve, action: resource.ActionFailure, why: resource.ReasonDriftDetected},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			d := desired(t, thingText, thingBody)
			if c.policy != "" {
				d.Policy = c.policy
			}
			in := PreCheckInput{Desired: d, PassFacts: PassFacts{Mandate: Mandate{Force: c.force}}, Observed: json.RawMessage(c.observed), Applied: true}
			if c.age > 0 {
				in.AcceptedAt = w.now().Add(-c.age)
			}
			got := local(w, w.acts.PreCheck, in)
			if got.Verdict.Action != c.action || got.Verdict.Reason != c.why || got.Verify != c.verify {
				t.Errorf("%s: verify %t, %+v", c.reason, got.Verify, got.Verdict)
			}
		})
	}
}
