package activities

import (
	"context"
	"log/slog"
	"sync/atomic"
	"testing"

	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/resource"
)

// A vault that was deleted by mistake is never purged, whatever its manifest requests:
// neither at a recreation, nor for a new spec, nor after a PUT of unknown outcome. Only
// a first creation purges the vault that holds the name.
//
//guard:no-purge-at-a-recreation
func TestGuardVaultNotPurged(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		in     PutResourceInput
		purges bool
	}{
		"first creation":        {reason: "the manifest requests it and Armature never saw the vault", in: PutResourceInput{Kind: PutCreation}, purges: true},
		"recreation":            {reason: "the vault existed", in: PutResourceInput{Kind: PutCreationAgain}},
		"recreation, same":      {reason: "the spec was Ready", in: PutResourceInput{PassFacts: PassFacts{Mandate: Mandate{Correction: true}}, Kind: PutCreationAgain}},
		"deleted since read":    {reason: "the pass read it", in: PutResourceInput{}},
		"unknown outcome":       {reason: "an earlier PUT may have created it", in: PutResourceInput{Kind: PutCreation, MaySent: true}},
		"first, read by a pass": {reason: "it existed when the pass read it", in: PutResourceInput{}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			vault := idOfType("Microsoft.KeyVault/vaults")
			w.put(groupText, `{"location":"westus2"}`)
			w.put(vault, `{"location":"westus2"}`)
			w.sim.Delete(vault)
			c.in.Desired = desired(t, vault, `{"location":"westus2","properties":{"createMode":"purgeThenCreate"}}`)
			c.in.Desired.Recreate = resource.RecreateAlways
			c.in.ObservedAt = w.now()
			got, _ := finish(w, w.acts.PutResource, c.in)
			if w.sim.Recoverable(vault) == c.purges {
				t.Errorf("%s: purged is %t, verdict %+v", c.reason, !w.sim.Recoverable(vault), got.Verdict)
			}
			if got.Sent {
				t.Errorf("a PUT was sent: %+v", got)
			}
		})
	}
	t.Run("message", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		vault := idOfType("Microsoft.KeyVault/vaults")
		w.put(vault, `{"location":"westus2"}`)
		w.sim.Delete(vault)
		d := desired(t, vault, `{"location":"westus2","properties":{"createMode":"purgeThenCreate"}}`)
		got, _ := finish(w, w.acts.PutResource, PutResourceInput{Desired: d, Kind: PutCreationAgain, ObservedAt: w.now()})
		want(t, got.Verdict, resource.ActionBlock, resource.ReasonHeld, resource.RetryVerySlow, "az keyvault recover --name x1")
	})
}

// A modifier, which may write, is not called before the budget agreed.
//
//guard:budgets-before-modifiers
func TestGuardBudgetBeforeModifiers(t *testing.T) {
	t.Parallel()
	var calls atomic.Int32
	w := newWorld(t, func(s *setup) {
		s.options.PutBudget = 1
		s.entries = append(s.entries, extensions.Entry{Type: "Contoso.Things/things", Link: counting{calls: &calls}})
	})
	w.put(thingText, thingBody)
	for _, tag := range []string{"a", "b"} {
		d := desired(t, thingText, `{"location":"westus2","tags":{"a":"`+tag+`"}}`)
		put, _ := finish(w, w.acts.PutResource, PutResourceInput{Desired: d, PassFacts: PassFacts{Mandate: Mandate{Correction: true}}, ObservedAt: w.now(), Token: tag})
		if tag == "b" {
			want(t, put.Verdict, resource.ActionBlock, resource.ReasonHeld, resource.RetrySlow)
		}
	}
	if calls.Load() != 1 {
		t.Errorf("the modifier was called %d times, want once: the second PUT is beyond the budget", calls.Load())
	}
}

// purposes is a modifier that records the purpose of each PUT.
type purposes struct{ seen *[]extensions.Purpose }

func (p purposes) ModifyARMResource(
	ctx context.Context, payload map[string]any, obj, owner *resource.Object, resolver extensions.Resolver,
	client extensions.ARMClient, log *slog.Logger, next extensions.ARMResourceModifierFunc,
) (map[string]any, error) {
	*p.seen = append(*p.seen, extensions.PurposeOf(ctx))
	return next(ctx, payload, obj, owner, resolver, client, log)
}

// An extension gets to know why a PUT is sent.
func TestPurposeOfPut(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		exists bool
		in     PutResourceInput
		want   extensions.Purpose
	}{
		"creation":   {reason: "never seen before", in: PutResourceInput{Kind: PutCreation}, want: extensions.PurposeCreation},
		"recreation": {reason: "seen before", in: PutResourceInput{Kind: PutCreationAgain}, want: extensions.PurposeRecreation},
		"update":     {reason: "the spec is new", exists: true, want: extensions.PurposeUpdate},
		"correction": {reason: "the spec was Ready", exists: true, in: PutResourceInput{PassFacts: PassFacts{Mandate: Mandate{Correction: true}}}, want: extensions.PurposeCorrection},
		"adopted":    {reason: "another tool created it since the read", exists: true, in: PutResourceInput{Kind: PutCreation}, want: extensions.PurposeUpdate},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var seen []extensions.Purpose
			w := newWorld(t, func(s *setup) {
				s.entries = append(s.entries, extensions.Entry{Type: "Contoso.Things/things", Link: purposes{&seen}})
			})
			w.put(groupText, `{"location":"westus2"}`)
			if c.exists {
				w.put(thingText, `{"location":"westus2","tags":{"a":"b"},"properties":{"size":100}}`)
			}
			c.in.Desired, c.in.ObservedAt = desired(t, thingText, thingBody), w.now()
			got, _ := finish(w, w.acts.PutResource, c.in)
			if len(seen) != 1 || seen[0] != c.want {
				t.Errorf("%s: purposes %v, want %s; %+v", c.reason, seen, c.want, got.Verdict)
			}
		})
	}
}
