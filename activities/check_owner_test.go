package activities

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/armature-io/armature/armsim"
	"github.com/armature-io/armature/resource"
)

func TestCheckOwner(t *testing.T) {
	t.Parallel()
	const cluster = `{"location":"westus2","properties":{"provisioningState":"Succeeded","state":"Running"}}`
	cases := map[string]struct {
		reason   string
		given    func(*world)
		resource string
		force    bool
		action   resource.Action
		why      resource.Reason
		class    resource.RetryClass
		message  []string
		absent   bool
		requests []string
	}{
		"NoOwner": {
			reason: "the owner of a resource group is a subscription, which is not read", resource: groupText,
			action: resource.ActionProceed, requests: []string{},
		},
		"Ready": {
			reason: "with an owner that is ready the pass continues, for one GET", given: func(w *world) { w.put(clusterText, cluster) },
			action: resource.ActionProceed, message: []string{"c1", "allows changes"}, requests: []string{"GET c1"},
		},
		"Absent": {
			reason: "a child without its owner waits, and the result shows that the owner is absent",
			action: resource.ActionBlock, why: resource.ReasonWaitingForOwner, class: resource.RetrySlow,
			message: []string{"c1", "does not exist in Azure"}, absent: true, requests: []string{"GET c1"},
		},
		"Updating": {
			reason: "a Kusto cluster with an operation in flight refuses all requests to its databases, so none is sent",
			given: func(w *world) {
				w.put(clusterText, strings.Replace(cluster, "Succeeded", "Updating", 1))
			},
			action: resource.ActionBlock, why: resource.ReasonReconciliationBlocked, class: resource.RetrySlow,
			message: []string{`Owning cluster is in provisioning state "Updating"`}, requests: []string{"GET c1"},
		},
		"Forced": {
			reason: "--force skips the owner check, and the owner is not read",
			given:  func(w *world) { w.put(clusterText, strings.Replace(cluster, "Succeeded", "Updating", 1)) },
			force:  true, action: resource.ActionProceed, message: []string{"forced"}, requests: []string{},
		},
		"Forbidden": {
			reason: "a credential may have rights on the child only: the message names what was not checked",
			given:  func(w *world) { w.put(clusterText, cluster); w.sim.Deny(armsim.Denial{Scope: "*/clusters/c1"}) },
			action: resource.ActionProceed, message: []string{"not readable, not checked"}, requests: []string{"GET c1"},
		},
		"WrongSubscription": {
			reason: "a subscription that is not found does not mean that the resource is absent",
			given: func(w *world) {
				w.sim.AddFault(armsim.Fault{Status: 404, Code: "SubscriptionNotFound", Message: "The subscription could not be found."})
			},
			action: resource.ActionError, why: "SubscriptionNotFound", class: resource.RetryVerySlow,
			message: []string{"the owner c1 cannot be read", "could not be found"}, requests: []string{"GET c1", "GET rg1"},
		},
		"HTML": {
			reason: "a 404 of a gateway does not mean that the owner is absent",
			given:  func(w *world) { w.sim.AddFault(armsim.Fault{Status: 404, Body: []byte(`"<html>not here</html>"`)}) },
			action: resource.ActionError, why: resource.ReasonUnknownError, class: resource.RetrySlow, requests: []string{"GET c1", "GET rg1"},
		},
		"Unauthorized": {
			reason: "a refused token is an error with a message",
			given: func(w *world) {
				w.sim.AddFault(armsim.Fault{Status: 401, Code: "InvalidAuthenticationToken", Message: "The access token is invalid."})
			},
			action: resource.ActionError, why: "InvalidAuthenticationToken", class: resource.RetrySlow,
			message: []string{"access token is invalid", "ARM request ID"}, requests: []string{"GET c1"},
		},
		"Throttled": {
			reason: "an exhausted budget blocks for ARM's Retry-After",
			given: func(w *world) {
				w.sim.AddFault(armsim.Fault{Status: 429, Code: "TooManyRequests", Headers: map[string]string{"Retry-After": "17"}})
			},
			action: resource.ActionBlock, why: "TooManyRequests", class: resource.RetrySlow, requests: []string{"GET c1"},
		},
		"FinalCode": {
			reason: "a wrong owner is never fatal for the child",
			given: func(w *world) {
				w.sim.AddFault(armsim.Fault{Status: 404, Code: "InvalidResourceType", Message: "No such type."})
			},
			action: resource.ActionError, why: "InvalidResourceType", class: resource.RetryVerySlow, requests: []string{"GET c1"},
		},
		"Unreachable": {
			reason: "a cut connection is a verdict at once, because a local activity has one attempt",
			given:  func(w *world) { w.sim.AddFault(armsim.Fault{Reset: true}) },
			action: resource.ActionError, why: resource.ReasonArmUnreachable, class: resource.RetrySlow,
			message: []string{"the owner c1 cannot be read", "ARM cannot be reached"}, requests: []string{"GET c1"},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			if c.given != nil {
				c.given(w)
			}
			if c.resource == "" {
				c.resource = databaseText
			}
			got := local(w, w.acts.CheckOwner, CheckOwnerInput{Desired: desired(t, c.resource, `{}`), PassFacts: PassFacts{Mandate: Mandate{Force: c.force}}})
			want(t, got.Verdict, c.action, c.why, c.class, c.message...)
			if got.OwnerAbsent != c.absent {
				t.Errorf("%s: OwnerAbsent is %v", c.reason, got.OwnerAbsent)
			}
			if diff := cmp.Diff(c.requests, w.requests()); diff != "" {
				t.Errorf("%s: requests (-want +got):\n%s", c.reason, diff)
			}
		})
	}
}

func TestCheckOwnerReferences(t *testing.T) {
	t.Parallel()
	const vnet = groupText + "/providers/Contoso.Things/nets/n1"
	const other = groupText + "/providers/Contoso.Things/nets/n2"
	cases := map[string]struct {
		reason string
		given  func(*world)
		in     CheckOwnerInput
		action resource.Action
		why    resource.Reason
		part   string
		waits  int
	}{
		"Found": {
			reason: "with references that are ready the pass continues",
			given:  func(w *world) { w.put(vnet, `{"location":"westus2"}`); w.put(other, `{"location":"westus2"}`) },
			action: resource.ActionProceed,
		},
		"Absent": {
			reason: "a reference to an absent resource waits for it", given: func(w *world) { w.put(vnet, `{"location":"westus2"}`) },
			action: resource.ActionBlock, why: resource.ReasonReferenceNotFound, part: `"n2"`, waits: 1,
		},
		"NotReady": {
			reason: "a reference with an operation in flight is not used yet",
			given: func(w *world) {
				w.put(vnet, `{"location":"westus2","properties":{"provisioningState":"Updating"}}`)
				w.put(other, `{"location":"westus2"}`)
			},
			action: resource.ActionBlock, why: resource.ReasonReferenceNotReady, part: `"n1"`, waits: 1,
		},
		"Forbidden": {
			reason: "the message names a reference that the credential may not read as unchecked",
			given: func(w *world) {
				w.put(vnet, `{"location":"westus2"}`)
				w.sim.Deny(armsim.Denial{Scope: "*/nets/n2"})
			},
			action: resource.ActionProceed, part: "n2: not readable, not checked",
		},
		"ForcedToo": {
			reason: "--force skips the check of the owner, not of the references",
			given:  func(*world) {}, in: CheckOwnerInput{PassFacts: PassFacts{Mandate: Mandate{Force: true}}},
			action: resource.ActionBlock, why: resource.ReasonReferenceNotFound, waits: 2,
		},
		"Deleting": {
			reason: "a deletion does not check references", given: func(*world) {}, in: CheckOwnerInput{Deleting: true},
			action: resource.ActionProceed,
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.put(groupText, `{"location":"westus2"}`)
			c.given(w)
			c.in.Desired = desired(t, thingText, `{}`)
			for _, text := range []string{vnet, other} {
				c.in.Desired.References = append(c.in.Desired.References, resource.Reference{ID: id(t, text), APIVersion: "2023-08-15"})
			}
			got := local(w, w.acts.CheckOwner, c.in)
			want(t, got.Verdict, c.action, c.why, got.Verdict.Class, c.part)
			if len(got.Verdict.WaitingFor) != c.waits {
				t.Errorf("%s: waits for %v", c.reason, got.Verdict.WaitingFor)
			}
		})
	}
}
