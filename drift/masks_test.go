package drift_test

import (
	"testing"

	"github.com/armature-io/armature/drift"
	"github.com/armature-io/armature/resource"
)

// TestMasksOfAnotherKey checks that a first mask-key makes no difference of what was accepted
// before, and that changes of anything else are still differences.
//
//guard:masks-without-a-key-show-nothing
func TestMasksOfAnotherKey(t *testing.T) {
	t.Parallel()
	const (
		oldMask = resource.MaskPrefix + "0011223344556677"
		newMask = resource.MaskPrefix + "8899aabbccddeeff"
	)
	public, secret := []byte("public"), []byte("secret")
	// The service returns a list that differs from the manifest's, with a secret in it.
	observed := func(mask, size string) map[string]any {
		return map[string]any{"properties": map[string]any{"mode": size, "rules": []any{map[string]any{"name": "a", "hook": mask, "size": size}}}}
	}
	desired := func(mode string) map[string]any {
		return map[string]any{"properties": map[string]any{"mode": mode, "rules": []any{map[string]any{"name": "a", "hook": "https://x", "size": "S"}}}}
	}
	cases := map[string]struct {
		reason string
		key    []byte
		before string
		former []byte
		now    []byte
		after  string
		// mode is the manifest's, "S" before; size is the service's, "S" before.
		mode, size string
		want       bool
	}{
		"first key":                  {reason: "the hashes changed", key: public, before: resource.MaskWithoutKey, former: public, now: secret, after: newMask, mode: "S", size: "S", want: true},
		"same key":                   {reason: "nothing changed", key: secret, before: newMask, former: public, now: secret, after: newMask, mode: "S", size: "S", want: true},
		"another value, same key":    {reason: "the secret changed", key: secret, before: newMask, former: public, now: secret, after: oldMask, mode: "S", size: "S"},
		"changed with the first key": {reason: "a value beside the mask changed", key: public, before: resource.MaskWithoutKey, former: public, now: secret, after: newMask, mode: "S", size: "L"},
		"changed manifest":           {reason: "a new spec is written", key: public, before: resource.MaskWithoutKey, former: public, now: secret, after: newMask, mode: "M", size: "S"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			opts := drift.Options{Key: c.key, Put: true}
			opts.Baseline = stored(t, drift.NewBaseline(desired("S"), observed(c.before, "S"), opts))
			if len(opts.Baseline.Differences) == 0 {
				t.Fatal("nothing was accepted: the test compares nothing")
			}
			opts.Put, opts.Key, opts.FormerKey = false, c.now, c.former
			got := drift.Compare(desired(c.mode), observed(c.after, c.size), opts)
			if got.InSync != c.want {
				t.Errorf("%s: in sync %t, want %t: %+v", c.reason, got.InSync, c.want, got.Differences)
			}
			if !c.want {
				return
			}
			opts.Baseline = stored(t, drift.NewBaseline(desired(c.mode), observed(c.after, c.size), opts))
			opts.FormerKey = nil
			if again := drift.Compare(desired("S"), observed(c.after, "S"), opts); !again.InSync {
				t.Errorf("%s: the renewed baseline explains nothing: %+v", c.reason, again.Differences)
			}
			if changed := drift.Compare(desired("S"), observed(newMask[:len(newMask)-1]+"0", "S"), opts); changed.InSync {
				t.Errorf("%s: the renewed baseline accepts another mask", c.reason)
			}
		})
	}
}
