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

// TestFreed holds of what a check that passes says that it is free: what it read
// itself, and of which the resource's own workflow does not tell.
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
		// named is whether the body names the network.
		named bool
		want  []string
	}{
		"Unmanaged":   {reason: "nobody else tells of it", held: []string{clusterText}, want: []string{clusterText}},
		"NeverHeld":   {reason: "a child that never waited tells nobody"},
		"StillHeld":   {reason: "it blocks", owner: strings.Replace(running, "Succeeded", "Updating", 1), held: []string{clusterText}},
		"AtRest":      {reason: "its workflow does not know of somebody else's operation", given: func(w *world) { w.manages(clusterText, Managed{Idle: true}) }, held: []string{clusterText}, want: []string{clusterText}},
		"AtWork":      {reason: "its workflow tells when it is done", given: func(w *world) { w.manages(clusterText, Managed{}) }, held: []string{clusterText}},
		"Unknown":     {reason: "Temporal did not say, so the next tries do", given: func(w *world) { w.fleet.err = errors.New("no") }, held: []string{clusterText}},
		"Forced":      {reason: "a pass that was forced looked at nothing", held: []string{clusterText}, force: true},
		"Forbidden":   {reason: "nor did one that may not read", given: func(w *world) { w.sim.Deny(armsim.Denial{Scope: "*/clusters/c1"}) }, held: []string{clusterText}},
		"Reference":   {reason: "also what the body names", given: func(w *world) { w.put(net, `{"location":"westus2"}`) }, named: true, held: []string{net, clusterText}, want: []string{net, clusterText}},
		"NamedNoMore": {reason: "what the spec names no more was not read", held: []string{net}},
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
			in := CheckOwnerInput{Desired: desired(t, databaseText, `{}`), Force: c.force}
			for _, text := range c.held {
				in.Held = append(in.Held, id(t, text))
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

// TestFreedIsSaidOnce holds that of thousands of waiters not each that looks by
// itself wakes all the others, and that a later end of a hold is told again.
func TestFreedIsSaidOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put(clusterText, `{"location":"westus2","properties":{"provisioningState":"Succeeded","state":"Running"}}`)
	in := CheckOwnerInput{Desired: desired(t, databaseText, `{}`), Held: []resource.ID{id(t, clusterText)}}
	said := func() int { return len(local(w, w.acts.CheckOwner, in).Freed) }
	if first, second := said(), said(); first != 1 || second != 0 {
		t.Errorf("two checks of a moment call it free %d and %d times, want 1 and 0", first, second)
	}
	w.advance(31 * time.Second)
	if again := said(); again != 1 {
		t.Errorf("half a minute later a check calls it free %d times, want 1", again)
	}
}
