package drift_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/armature-io/armature/drift"
	"github.com/armature-io/armature/resource"
)

func TestContested(t *testing.T) {
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	good, foreign := map[string]any{"a": "1", "b": "1"}, map[string]any{"a": "2", "b": "1"}
	const month = 30 * 24 * time.Hour
	cases := map[string]struct {
		reason      string
		puts        int
		every, then time.Duration
		last        string
		want        bool
	}{
		"three times":     {"the fourth PUT would be reverted like the others", 3, time.Hour, time.Hour, "2", true},
		"twice":           {"twice may be chance", 2, time.Hour, time.Hour, "2", false},
		"another value":   {"a writer of changing values fights too", 3, time.Hour, time.Hour, "3", true},
		"once in a while": {"a monthly change is corrected each time", 5, month, time.Hour, "2", false},
		"long ago":        {"old reverts no longer count", 3, time.Hour, month, "2", false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			opts := drift.Options{APIVersion: "1", Key: []byte("k"), Put: true, Now: start}
			opts.Baseline = drift.NewBaseline(good, good, opts)
			for range c.puts {
				opts.Now = opts.Now.Add(c.every)
				opts.Reasons = drift.Compare(good, foreign, opts).Differences
				opts.Baseline = stored(t, drift.NewBaseline(good, good, opts))
			}
			opts.Now = opts.Now.Add(c.then)
			result := drift.Compare(good, map[string]any{"a": c.last, "b": "1"}, opts)
			if contested := len(result.Contested) == 1 && len(result.Differences) == 0; contested != c.want || result.InSync {
				t.Errorf("%s: got %+v", c.reason, result)
			}
			if both := drift.Compare(good, map[string]any{"a": c.last, "b": "7"}, opts); len(both.Differences) == 0 {
				t.Errorf("%s: another path is still put: %+v", c.reason, both)
			}
		})
	}
}

func TestContestedCountsRevertsOnly(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	foreign := map[string]any{"a": "2"}
	baseline := drift.Baseline{}
	for _, want := range []string{"1", "3", "1", "3", "1", "3"} {
		desired := map[string]any{"a": want}
		opts := drift.Options{Key: []byte("k"), Put: true, Now: now, Baseline: baseline}
		opts.Reasons = drift.Compare(desired, foreign, opts).Differences
		baseline = drift.NewBaseline(desired, desired, opts)
	}
	if len(baseline.Corrections) != 0 {
		t.Errorf("a changed manifest is not a revert: %+v", baseline.Corrections)
	}
	desired := map[string]any{"a": "1"}
	for range 4 {
		opts := drift.Options{Key: []byte("k"), Put: true, Now: now, Baseline: baseline, Reasons: []resource.Difference{{Path: "a", Desired: `"1"`, Observed: `"2"`}}}
		baseline = drift.NewBaseline(desired, foreign, opts)
	}
	if len(baseline.Corrections) != 0 || !baseline.Differences["a"].NotTaken {
		t.Errorf("a value that Azure does not accept is not a correction: %+v", baseline)
	}
}

func TestRotation(t *testing.T) {
	desired := body(t, []byte(`{"p":{"auth":{"password":{"$secret":"env:P"},"user":"u"}}}`))
	cases := map[string]struct {
		reason        string
		key           string
		before, after map[string]string
		want          []string
	}{
		"rotated":     {"the same reference has another value", "k", map[string]string{"env:P": "a"}, map[string]string{"env:P": "b"}, []string{"p.auth.password rotated"}},
		"same":        {"the same value", "k", map[string]string{"env:P": "a"}, map[string]string{"env:P": "a"}, nil},
		"not read":    {"a secret that cannot be read now is not compared", "k", map[string]string{"env:P": "a"}, nil, nil},
		"without key": {"without a key no hash is kept", "", map[string]string{"env:P": "a"}, map[string]string{"env:P": "b"}, nil},
	}
	for name, c := range cases {
		for _, shown := range []string{`{"p":{"auth":{"user":"u"}}}`, `{"p":{"auth":{"user":"u","password":"(masked) 00"}}}`} {
			t.Run(name, func(t *testing.T) {
				observed := body(t, []byte(shown))
				opts := drift.Options{Key: []byte(c.key), Put: true, Secrets: c.before}
				opts.Baseline = drift.NewBaseline(desired, observed, opts)
				opts.Secrets = c.after
				var found []string
				for _, d := range drift.Compare(desired, observed, opts).Differences {
					found = append(found, d.Path+" "+d.Rule)
				}
				if diff := cmp.Diff(c.want, found); diff != "" {
					t.Errorf("%s (-want +got)\n%s", c.reason, diff)
				}
				if c.key == "" && opts.Baseline.Differences["p.auth.password"].Secret != "" {
					t.Error("a hash without a key allows testing guesses")
				}
			})
		}
	}
	observed := body(t, []byte(`{"p":{"auth":{"user":"u"}}}`))
	late := drift.Options{Key: []byte("k"), Put: true}
	late.Baseline = drift.NewBaseline(desired, observed, late)
	late.Put, late.Secrets = false, map[string]string{"env:P": "a"}
	late.Baseline = drift.NewBaseline(desired, observed, late)
	late.Secrets = map[string]string{"env:P": "b"}
	if drift.Compare(desired, observed, late).InSync {
		t.Error("a secret that is first read after the PUT is in the baseline from then on")
	}
}

func TestIntermittentValues(t *testing.T) {
	desired, without := map[string]any{"a": "1", "b": "1"}, map[string]any{"b": "1"}
	opts := drift.Options{Key: []byte("k"), Put: true}
	opts.Baseline = drift.NewBaseline(desired, without, opts)
	opts.Put = false
	opts.Baseline = drift.NewBaseline(desired, desired, opts)
	if result := drift.Compare(desired, without, opts); !result.InSync {
		t.Errorf("it was absent after the PUT too: %+v", result)
	}
}

func TestRemovalWithoutEffect(t *testing.T) {
	before, after := map[string]any{"a": "1", "b": "1"}, map[string]any{"b": "1"}
	for observed, taken := range map[string]bool{"1": false, "default": true} {
		opts := drift.Options{Key: []byte("k"), Put: true}
		opts.Baseline = drift.NewBaseline(before, before, opts)
		opts.Reasons = drift.Compare(after, before, opts).Differences
		shown := map[string]any{"a": observed, "b": "1"}
		opts.Baseline = drift.NewBaseline(after, shown, opts)
		result := drift.Compare(after, shown, opts)
		if !result.InSync || (len(result.NotTaken) == 0) != taken {
			t.Errorf("Azure shows %q after the removal: %+v", observed, result)
		}
		if other := drift.Compare(after, map[string]any{"a": "2", "b": "1"}, opts); other.InSync != taken {
			t.Errorf("a later change after %q: %+v", observed, other)
		}
	}
}

func TestRemovalOfIgnoredPath(t *testing.T) {
	opts := drift.Options{Key: []byte("k"), Put: true}
	opts.Baseline = drift.NewBaseline(body(t, []byte(`{"l":[{"name":"x","directive":"d"}]}`)), body(t, []byte(`{"l":[{"name":"x"}]}`)), opts)
	without, shown := body(t, []byte(`{"l":[{"name":"x"}]}`)), body(t, []byte(`{"l":[{"name":"x"}]}`))
	if drift.Compare(without, shown, opts).InSync {
		t.Error("a directive removed from the manifest is detected")
	}
	for _, path := range []string{"l[*].directive", "l[name=X].directive", "l"} {
		opts.Ignore = []string{path}
		if result := drift.Compare(without, shown, opts); !result.InSync {
			t.Errorf("ignored by %s, it is not: %+v", path, result.Differences)
		}
	}
}
