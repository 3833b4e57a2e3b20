package drift_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/armature-io/armature/drift"
)

// TestRecall puts a body, changes one side, and compares with the memory.
func TestRecall(t *testing.T) {
	const put, got = `{"properties":{"mode":"a","password":"p","rules":[{"name":"r","p":1}],"pairs":[{"v":1},{"v":2}]},"tags":{"x":"1"}}`,
		`{"properties":{"mode":"A","rules":[{"name":"r","p":1},{"name":"default","p":9}],"pairs":[{"v":1},{"v":2}],"other":1},"tags":{"x":"1","theirs":"t"}}`
	cases := map[string]struct {
		reason            string
		desired, observed string // replacements "old => new"
		want              []string
	}{
		"nothing":               {"what the server adds is its own", "", "", nil},
		"element added":         {"what was not there after the PUT is somebody's", "", `{"name":"default" => {"name":"evil","p":0},{"name":"default"`, []string{"properties.rules[name=evil] item-added"}},
		"element gone":          {"what the server had added may go", "", `,{"name":"default","p":9} => `, nil},
		"element of the server": {"and may change", "", `"p":9 => "p":8`, nil},
		"keyless element added": {"elements without a key are counted", "", `[{"v":1} => [{"v":0},{"v":1}`, []string{"properties.pairs.+1 item-added"}},
		"member added":          {"members of objects are free", "", `"other":1 => "other":1,"more":2`, nil},
		"tag of others":         {"tags of others as well", "", `"theirs":"t" => "theirs":"u","new":"n"`, nil},
		"leaf removed":          {"the manifest lost a leaf that is still there", `"mode":"a", => `, "", []string{"properties.mode removed"}},
		"nulled":                {"null states nothing", `"mode":"a" => "mode":null`, "", []string{"properties.mode removed"}},
		"secret removed":        {"a secret is remembered though no GET shows it", `"password":"p", => `, "", []string{"properties.password removed"}},
		"secret changed":        {"a new secret is put", `"password":"p" => "password":"q"`, "", []string{"properties.password secret"}},
		"secret shown":          {"what a GET shows of it is not looked at", "", `"mode":"A" => "mode":"A","password":"****"`, nil},
		"element removed":       {"an element that the manifest lost", `{"name":"r","p":1} => {"name":"s","p":1}`, "", []string{"properties.rules[name=r] removed", "properties.rules[name=s] item-missing"}},
		"keyless leaf removed":  {"a list without a key is remembered as a whole", `{"v":2} => {"v":2,"w":null}`, "", []string{"properties.pairs list-changed"}},
		"tag removed":           {"a tag that the manifest lost; the other one stays", `"tags":{"x":"1"} => "tags":{"y":"1"}`, `"x":"1" => "x":"1","y":"1"`, []string{"tags.x removed"}},
		"all tags removed":      {"the map as a whole", `,"tags":{"x":"1"} => `, "", []string{"tags removed"}},
		"removed and gone":      {"nothing is left to do when both lost it", `"mode":"a", => `, `"mode":"A", => `, nil},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			opts := drift.Options{APIVersion: "1", Key: []byte("k"), Put: true}
			opts.Memory = stored(t, drift.Remember(body(t, []byte(put)), body(t, []byte(got)), opts))
			result := drift.Compare(body(t, replaced(t, put, c.desired)), body(t, replaced(t, got, c.observed)), opts)
			var found []string
			for _, d := range result.Differences {
				found = append(found, d.Path+" "+d.Rule)
			}
			if diff := cmp.Diff(c.want, found); diff != "" {
				t.Errorf("%s (-want +got)\n%s", c.reason, diff)
			}
		})
	}
}

// replaced is a text after one replacement "old => new".
func replaced(t *testing.T, text, change string) []byte {
	t.Helper()
	from, to, _ := strings.Cut(change, " => ")
	if !strings.Contains(text, from) {
		t.Fatalf("%q is not in %s", from, text)
	}
	return []byte(strings.Replace(text, from, to, 1))
}

// Without a key nothing about a literal secret is kept, and a change is not seen.
func TestRecallWithoutKey(t *testing.T) {
	desired := map[string]any{"properties": map[string]any{"password": "hush", "a": "b"}}
	opts := drift.Options{APIVersion: "1", Put: true}
	opts.Memory = drift.Remember(desired, map[string]any{"properties": map[string]any{"a": "b"}}, opts)
	other := map[string]any{"properties": map[string]any{"password": "other", "a": "b"}}
	if result := drift.Compare(other, map[string]any{"properties": map[string]any{"a": "b"}}, opts); !result.InSync {
		t.Errorf("a literal secret left a hash without a key: %+v", result.Differences)
	}
	if opts.Memory.Body != drift.Remember(other, other, opts).Body {
		t.Error("the hash of the body lets guesses of its secret be tested")
	}
}

// TestRecallBeyondBounds holds that more differences than can be kept by path are
// remembered all the same, and that one more is seen.
func TestRecallBeyondBounds(t *testing.T) {
	desired, observed := map[string]any{}, map[string]any{}
	for i := range 3 * drift.MaxRemembered {
		desired[fmt.Sprintf("p%03d%s", i, strings.Repeat("x", 100))] = "v"
	}
	var items []any
	for i := range 3000 {
		items = append(items, map[string]any{"name": fmt.Sprint(i)})
	}
	desired["list"], observed["list"] = []any{map[string]any{"name": "own"}}, append(items, map[string]any{"name": "own"})
	opts := drift.Options{APIVersion: "1", Key: []byte("k"), Put: true}
	opts.Memory = stored(t, drift.Remember(desired, observed, opts))
	if result := drift.Compare(desired, observed, opts); !result.InSync || len(result.Remembered) != 3*drift.MaxRemembered {
		t.Errorf("%d remembered, %d left: want all remembered", len(result.Remembered), len(result.Differences)+result.More)
	}
	desired["p599"+strings.Repeat("x", 100)] = "w"
	if result := drift.Compare(desired, observed, opts); result.InSync {
		t.Error("a change beyond the bound is not seen")
	}
}

func TestContested(t *testing.T) {
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	good, foreign := map[string]any{"a": "1", "b": "1"}, map[string]any{"a": "2", "b": "1"}
	cases := map[string]struct {
		reason string
		puts   int
		every  time.Duration
		last   string
		want   bool
	}{
		"three times":     {"the fourth PUT would be undone like the others", 3, time.Hour, "2", true},
		"twice":           {"twice may be chance", 2, time.Hour, "2", false},
		"another value":   {"another foreign value is another matter", 3, time.Hour, "3", false},
		"once in a while": {"who changes it monthly is put back each time", 5, 30 * 24 * time.Hour, "2", false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			opts := drift.Options{APIVersion: "1", Key: []byte("k"), Put: true, Now: start}
			opts.Memory = drift.Remember(good, good, opts)
			for range c.puts {
				opts.Now = opts.Now.Add(c.every)
				opts.Reasons = drift.Compare(good, foreign, opts).Differences
				opts.Memory = stored(t, drift.Remember(good, good, opts))
			}
			opts.Now = opts.Now.Add(c.every)
			result := drift.Compare(good, map[string]any{"a": c.last, "b": "1"}, opts)
			if contested := len(result.Contested) == 1 && len(result.Differences) == 0; contested != c.want || result.InSync {
				t.Errorf("%s: got %+v", c.reason, result)
			}
			if both := drift.Compare(good, map[string]any{"a": c.last, "b": "7"}, opts); len(both.Differences) == 0 {
				t.Errorf("%s: another path is put all the same: %+v", c.reason, both)
			}
		})
	}
}

func TestDrops(t *testing.T) {
	desired := body(t, []byte(`{"properties":{"a":1,"labels":{"own":"1"},"rules":[{"name":"own"}]},"tags":{"own":"1"}}`))
	observed := body(t, []byte(`{"id":"/x","sku":{"name":"S"},"identity":{"type":"SystemAssigned"},"zones":[],"etag":"e",
		"properties":{"a":2,"b":3,"labels":{"own":"1","theirs":"2"},"rules":[{"name":"own"},{"name":"theirs"}]},"tags":{"own":"1","theirs":"2"}}`))
	want := []string{"identity", "sku", "properties.labels.theirs", "properties.rules[name=theirs]"}
	if diff := cmp.Diff(want, drift.Compare(desired, observed, drift.Options{}).Drops); diff != "" {
		t.Errorf("a PUT drops what others set, but for tags and what only the server sets (-want +got)\n%s", diff)
	}
	if drops := drift.Compare(desired, desired, drift.Options{}).Drops; drops != nil {
		t.Errorf("without a PUT nothing is dropped: %v", drops)
	}
}

func TestRebaseline(t *testing.T) {
	desired, observed := body(t, []byte(`{"p":{"a":"x","b":"y"}}`)), body(t, []byte(`{"p":{"a":"x","b":"y"}}`))
	opts := drift.Options{APIVersion: "1", Key: []byte("k"), Put: true}
	opts.Memory = drift.Remember(desired, observed, opts)
	opts.APIVersion, opts.Put = "2", false
	shown := body(t, []byte(`{"p":{"b":"y"}}`))
	result := drift.Compare(desired, shown, opts)
	if !result.InSync || !result.Rebaselined {
		t.Fatalf("what the other api-version does not show is no drift: %+v", result)
	}
	opts.Memory = drift.Remember(desired, shown, opts)
	if again := drift.Compare(desired, shown, opts); !again.InSync || again.Rebaselined || opts.Memory.APIVersion != "2" {
		t.Errorf("once: %+v", again)
	}
	if later := drift.Compare(desired, body(t, []byte(`{"p":{}}`)), opts); later.InSync {
		t.Error("a change under the new api-version is seen")
	}
	before := drift.Options{APIVersion: "1", Key: []byte("k"), Memory: drift.Remember(desired, observed, drift.Options{APIVersion: "0", Key: []byte("k"), Put: true})}
	if result := drift.Compare(desired, body(t, []byte(`{"p":{"a":"z","b":"y"}}`)), before); result.InSync {
		t.Error("another value is drift under any api-version")
	}
}
