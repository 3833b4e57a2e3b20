package activities

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/armature-io/armature/armsim"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/secrets"
)

// The PUT that ARM refused for good is not due again, until what the manifest states is
// something else: also when only a referenced value or a secret changed.
//
//guard:severity-error-stops-puts
func TestGuardRefusedPut(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		change func(w *world, in *PreCheckInput)
		due    bool
	}{
		"same":    {reason: "nothing changed", change: func(*world, *PreCheckInput) {}},
		"body":    {reason: "the manifest changed", change: func(_ *world, in *PreCheckInput) { in.Desired.Body = json.RawMessage(`{"location":"eastus"}`) }, due: true},
		"version": {reason: "another api-version reads the body differently", change: func(_ *world, in *PreCheckInput) { in.Desired.APIVersion = "2024-01-01" }, due: true},
		"forced":  {reason: "a user asked", change: func(_ *world, in *PreCheckInput) { in.Force = true }, due: true},
		"reference": {reason: "the value behind a $ref changed", change: func(w *world, _ *PreCheckInput) {
			w.put(netText, `{"properties":{"count":5}}`)
			w.advance(w.acts.options.OwnerMaxAge)
		}, due: true},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.put(groupText, `{"location":"westus2"}`)
			w.put(netText, `{"properties":{"count":4}}`)
			d := desired(t, thingText, `{"location":"westus2","properties":{"size":{"$ref":"`+netText+`","path":"properties.count","apiVersion":"2023-08-15"}}}`)
			w.sim.AddFault(armsim.Fault{Method: http.MethodPut, Status: 400, Code: "InvalidRequestContent", Message: "cannot be read"})
			refused, err := run(w, w.acts.PutResource, PutResourceInput{Desired: d, Kind: PutCreationAgain, ObservedAt: w.now()})
			must(t, err)
			want(t, refused.Verdict, resource.ActionError, "InvalidRequestContent", resource.RetryNone)
			in := PreCheckInput{Desired: d, Refusal: &Refusal{Verdict: refused.Verdict, Sent: refused.Content}}
			c.change(w, &in)
			got := local(w, w.acts.PreCheck, in).Verdict
			if c.due {
				want(t, got, resource.ActionProceed, resource.ReasonNotFound, "")
				return
			}
			want(t, got, resource.ActionError, "InvalidRequestContent", resource.RetryNone, "cannot be read")
		})
	}
}

// A password that Azure refused may be corrected where it is kept.
func TestRefusedSecretIsRotated(t *testing.T) {
	t.Parallel()
	for name, keyed := range map[string]bool{"with a mask-key": true, "without one": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder := t.TempDir()
			is := func(value string) { must(t, os.WriteFile(filepath.Join(folder, "password"), []byte(value), 0o600)) }
			p := newPasses(t, `{"location":"westus2","properties":{"adminPassword":{"$secret":"file:password"}}}`, func(s *setup) { s.options.Rotation = keyed })
			p.put(groupText, `{"location":"westus2"}`)
			p.acts.resolver = secrets.New(secrets.Options{Dir: folder})
			p.desired.SecretRefs, p.desired.Secret = []string{"file:password"}, []string{"properties.adminPassword"}
			is(planted)
			p.sim.AddFault(armsim.Fault{Method: http.MethodPut, Status: 400, Code: "InvalidRequestContent"})
			refused, err := run(p.world, p.acts.PutResource, PutResourceInput{Desired: p.desired, Kind: PutCreationAgain, ObservedAt: p.now()})
			must(t, err)
			p.leaks(planted, refused)
			refusal := &Refusal{Verdict: resource.Fail("PasswordNotComplex", resource.RetryNone, "too simple"), Sent: refused.Content}
			in := PreCheckInput{Desired: p.desired, Refusal: refusal}
			want(t, local(p.world, p.acts.PreCheck, in).Verdict, resource.ActionError, "PasswordNotComplex", resource.RetryNone)
			is(planted + "-rotated")
			got := local(p.world, p.acts.PreCheck, in).Verdict
			if (got.Action == resource.ActionProceed) != keyed {
				t.Errorf("after the rotation: %+v", got)
			}
		})
	}
}

// The verdict of a post-check stops a correction for as long as the check repeats it.
//
//guard:severity-error-stops-puts
func TestGuardErrorOfPostCheck(t *testing.T) {
	t.Parallel()
	const endpointText = groupText + "/providers/Microsoft.Network/privateEndpoints/pe1"
	w := newWorld(t)
	d := desired(t, endpointText, `{"location":"westus2","tags":{"team":"a"}}`)
	observed := func(status string) json.RawMessage {
		return json.RawMessage(`{"location":"westus2","tags":{"team":"b"},"properties":{"manualPrivateLinkServiceConnections":[{"name":"link",
			"properties":{"privateLinkServiceConnectionState":{"status":"` + status + `"}}}]}}`)
	}
	in := PreCheckInput{Desired: d, Applied: true, Existed: true, Refusal: &Refusal{Verdict: resource.Fail("PostReconciliationFailure", resource.RetryNone, "old")}}
	in.Observed = observed("Rejected")
	got := local(w, w.acts.PreCheck, in).Verdict
	want(t, got, resource.ActionFailure, resource.ReasonPostReconciliationFailure, resource.RetryNone, "Rejected")
	if len(got.Differences) != 1 {
		t.Errorf("the differences are not reported: %+v", got.Differences)
	}
	in.Observed = observed("Approved")
	want(t, local(w, w.acts.PreCheck, in).Verdict, resource.ActionProceed, resource.ReasonDrift, "")
}
