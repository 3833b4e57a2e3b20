package activities

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/armature-io/armature/armsim"
	"github.com/armature-io/armature/resource"
)

// TestFreed checks which resources a check that passes reports as free: those that
// it read itself, unless their own workflow announces the change.
func TestFreed(t *testing.T) {
	t.Parallel()
	const running = `{"location":"westus2","properties":{"provisioningState":"Succeeded","state":"Running"}}`
	const net = groupText + "/providers/Contoso.Things/nets/n1"
	cases := map[string]struct {
		reason string
		owner  string
		given  func(*world)
		held   []string
		force  bool
		// named is set when the body refers to the network.
		named bool
		want  []string
	}{
		"Unmanaged":        {reason: "no workflow announces it", held: []string{clusterText}, want: []string{clusterText}},
		"NeverBlocked":     {reason: "a child that never waited reports nothing"},
		"StillBlocking":    {reason: "it still blocks", owner: strings.Replace(running, "Succeeded", "Updating", 1), held: []string{clusterText}},
		"Idle":             {reason: "an idle workflow does not know of an operation started outside Armature", given: func(w *world) { w.manages(clusterText, Managed{Idle: true}) }, held: []string{clusterText}, want: []string{clusterText}},
		"Active":           {reason: "its workflow announces the change", given: func(w *world) { w.manages(clusterText, Managed{}) }, held: []string{clusterText}},
		"Unknown":          {reason: "without a response of Temporal the next try reports it", given: func(w *world) { w.fleet.err = errors.New("no") }, held: []string{clusterText}},
		"Forced":           {reason: "a forced pass read nothing", held: []string{clusterText}, force: true},
		"Forbidden":        {reason: "the credential may not read it", given: func(w *world) { w.sim.Deny(armsim.Denial{Scope: "*/clusters/c1"}) }, held: []string{clusterText}},
		"Reference":        {reason: "references count too", given: func(w *world) { w.put(net, `{"location":"westus2"}`) }, named: true, held: []string{net, clusterText}, want: []string{net, clusterText}},
		"RemovedReference": {reason: "a reference that the spec no longer has was not read", held: []string{net}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			if c.owner == "" {
				c.owner = running
			}
			w.put(clusterText, c.owner)
			if c.given != nil {
				c.given(w)
			}
			in := CheckOwnerInput{Desired: desired(t, databaseText, `{}`), PassFacts: PassFacts{Mandate: Mandate{Force: c.force}}}
			for _, text := range c.held {
				in.BlockedBy = append(in.BlockedBy, id(t, text))
			}
			if c.named {
				in.Desired.References = []resource.Reference{{ID: id(t, net), APIVersion: "2024-01-01"}}
			}
			var got []string
			for _, freed := range local(w, w.acts.CheckOwner, in).Freed {
				got = append(got, freed.String())
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("%s: freed (-want +got):\n%s", c.reason, diff)
			}
		})
	}
}

// TestFreedIsReportedOnce checks that not each of thousands of waiting resources
// wakes all the others, and that a later end of a block is reported too.
func TestFreedIsReportedOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put(clusterText, `{"location":"westus2","properties":{"provisioningState":"Succeeded","state":"Running"}}`)
	in := CheckOwnerInput{Desired: desired(t, databaseText, `{}`), BlockedBy: []resource.ID{id(t, clusterText)}}
	freed := func() int { return len(local(w, w.acts.CheckOwner, in).Freed) }
	if first, second := freed(), freed(); first != 1 || second != 0 {
		t.Errorf("two checks at one time report it free %d and %d times, want 1 and 0", first, second)
	}
	w.advance(31 * time.Second)
	if third := freed(); third != 1 {
		t.Errorf("half a minute later a check reports it free %d times, want 1", third)
	}
}
