package why

import (
	"testing"

	"github.com/armature-io/armature/docs"
	"github.com/armature-io/armature/resource"
)

func TestActor(t *testing.T) {
	cases := map[string]struct {
		reason string
		link   Link
		want   Actor
	}{
		"operation":      {reason: "Azure works", link: Link{State: "Operating", Advice: NoAction}, want: Actor{Who: noOne, Waits: true}},
		"time":           {reason: "the documentation says so", link: Link{Reason: resource.ReasonReconciliationBlocked}, want: Actor{Who: "usually no one; an operator if the state does not end by itself, such as Stopped", Waits: true}},
		"unless":         {reason: "no one, but only under a condition", link: Link{Reason: resource.ReasonWaitingForOwner}, want: Actor{Who: "no one if the manifest of the owner is applied; otherwise the team that creates the owner"}},
		"person":         {reason: "the documentation names him", link: Link{Reason: resource.ReasonFrozen}, want: Actor{Who: "the user who froze it"}},
		"code of Azure":  {reason: "most are mistakes in a manifest", link: Link{Reason: "SkuNotAvailable"}, want: Actor{Who: ownerOfManifest}},
		"no worker":      {reason: "the reason is from before", link: Link{Reason: resource.ReasonFrozen, Stale: true}, want: Actor{Who: operatorOfWorkers}},
		"not managed":    {reason: "nobody has created it", link: Link{State: stateNotManaged}, want: Actor{Who: "the team that creates it, or the owner of a manifest that names it"}},
		"cycle":          {reason: "a reference has to go", link: Link{Cycle: []string{"a", "b"}}, want: Actor{Who: ownerOfManifest}},
		"kept from it":   {reason: "it is not deleted with its owner", link: Link{State: "Ready", blocksDeletion: true}, want: Actor{Who: ownerOfManifest}},
		"ended workflow": {reason: "it is applied again", link: Link{State: stateEnded}, want: Actor{Who: ownerOfManifest}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := tc.link.Actor(); got != tc.want {
				t.Errorf("%s: got %+v, want %+v", tc.reason, got, tc.want)
			}
		})
	}
}

// TestEveryReasonHasAnActor checks that the documentation names who acts on each reason that
// can be a root cause.
func TestEveryReasonHasAnActor(t *testing.T) {
	for _, info := range resource.Reasons() {
		if documented, found := docs.FindReason(string(info.Reason)); found && documented.Acts == "" {
			t.Errorf("docs/troubleshooting.md does not say who acts on %s", info.Reason)
		}
	}
}
