package drift_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/armature-io/armature/drift"
)

// TestCompareWithBaseline puts a body, changes one side, and compares with the
// baseline.
func TestCompareWithBaseline(t *testing.T) {
	const put, got = `{"properties":{"mode":"a","password":"p","rules":[{"name":"r","p":1}],"pairs":[{"v":1},{"v":2}],"auth":{"token":{"$secret":"env:T"}},"gone":1},"tags":{"x":"1"}}`,
		`{"properties":{"mode":"A","rules":[{"name":"r","p":1},{"name":"default","p":9}],"pairs":[{"v":1},{"v":2}],"other":1,"gone":1},"tags":{"x":"1","theirs":"t"}}`
	cases := map[string]struct {
		reason            string
		desired, observed string // replacements "old => new"
		want              []string
	}{
		"nothing":               {"values that the server adds are not differences", "", "", nil},
		"element added":         {"an element that appears after the PUT was added by another tool or user", "", `{"name":"default" => {"name":"evil","p":0},{"name":"default"`, []string{"properties.rules[name=evil] item-added"}},
		"element deleted":       {"an element that the server added may disappear", "", `,{"name":"default","p":9} => `, nil},
		"element of the server": {"an element that the server added may change", "", `"p":9 => "p":8`, nil},
		"keyless element added": {"elements without a key are counted", "", `[{"v":1} => [{"v":0},{"v":1}`, []string{"properties.pairs.+1 item-added"}},
		"member added":          {"added members of objects are not differences", "", `"other":1 => "other":1,"more":2`, nil},
		"tag of others":         {"nor are tags of other tools", "", `"theirs":"t" => "theirs":"u","new":"n"`, nil},
		"leaf removed":          {"a leaf removed from the manifest is still in Azure", `"mode":"a", => `, "", []string{"properties.mode removed"}},
		"nulled":                {"null states that there is no value", `"mode":"a" => "mode":null`, "", []string{"properties.mode null"}},
		"secret removed":        {"the baseline has the secret although no GET shows it", `"password":"p", => `, "", []string{"properties.password removed"}},
		"secret changed":        {"a new secret is put", `"password":"p" => "password":"q"`, "", []string{"properties.password secret"}},
		"secret shown":          {"the value that a GET shows is not compared", "", `"mode":"A" => "mode":"A","password":"****"`, nil},
		"element removed":       {"an element removed from the manifest", `{"name":"r","p":1} => {"name":"s","p":1}`, "", []string{"properties.rules[name=r] removed", "properties.rules[name=s] item-missing"}},
		"keyless leaf removed":  {"the baseline has a list without a key as a whole", `{"v":2} => {"v":2,"w":null}`, "", []string{"properties.pairs list-changed"}},
		"tag removed":           {"a tag removed from the manifest; the other one stays", `"tags":{"x":"1"} => "tags":{"y":"1"}`, `"x":"1" => "x":"1","y":"1"`, []string{"tags.x removed"}},
		"all tags removed":      {"the map is removed as a whole", `,"tags":{"x":"1"} => `, "", []string{"tags removed"}},
		"key removed":           {"the property that identified an element", `{"name":"r","p":1} => {"p":1}`, "", []string{"properties.rules.+1 item-added", "properties.rules[0].name removed"}},
		"marker removed":        {"the baseline has the reference to a secret", `"auth":{"token":{"$secret":"env:T"}} => "auth":{}`, "", []string{"properties.auth removed"}},
		"marker changed":        {"another reference is another secret", `env:T => env:U`, "", []string{"properties.auth secret"}},
		"removed, now empty":    {"an empty value counts as removed", `,"gone":1 => `, `,"gone":1 => ,"gone":{}`, nil},
		"removed on both sides": {"no action is needed if it is removed on both sides", `"mode":"a", => `, `"mode":"A", => `, nil},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			opts := drift.Options{APIVersion: "1", Key: []byte("k"), Put: true}
			opts.Baseline = stored(t, drift.NewBaseline(body(t, []byte(put)), body(t, []byte(got)), opts))
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

// replaced returns a text after one replacement "old => new".
func replaced(t *testing.T, text, change string) []byte {
	t.Helper()
	from, to, _ := strings.Cut(change, " => ")
	if !strings.Contains(text, from) {
		t.Fatalf("%q is not in %s", from, text)
	}
	return []byte(strings.Replace(text, from, to, 1))
}

// TestCompareWithoutKey: without a mask key the baseline has no hash of a literal
// secret, so a change is not detected.
func TestCompareWithoutKey(t *testing.T) {
	desired := map[string]any{"properties": map[string]any{"password": "hush", "a": "b"}}
	opts := drift.Options{APIVersion: "1", Put: true}
	opts.Baseline = drift.NewBaseline(desired, map[string]any{"properties": map[string]any{"a": "b"}}, opts)
	other := map[string]any{"properties": map[string]any{"password": "other", "a": "b"}}
	if result := drift.Compare(other, map[string]any{"properties": map[string]any{"a": "b"}}, opts); !result.InSync {
		t.Errorf("a literal secret left a hash without a key: %+v", result.Differences)
	}
	if opts.Baseline.Body != drift.NewBaseline(other, other, opts).Body {
		t.Error("the hash of the body allows testing guesses of its secret")
	}
}

// TestCompareBeyondBounds checks that the baseline accepts more differences than it
// keeps by path, and that one more is detected.
func TestCompareBeyondBounds(t *testing.T) {
	desired, observed := map[string]any{}, map[string]any{}
	for i := range 3 * drift.MaxAccepted {
		desired[fmt.Sprintf("p%03d%s", i, strings.Repeat("x", 100))] = "v"
	}
	var items []any
	for i := range 3000 {
		items = append(items, map[string]any{"name": fmt.Sprint(i)})
	}
	desired["list"], observed["list"] = []any{map[string]any{"name": "own"}}, append(items, map[string]any{"name": "own"})
	opts := drift.Options{APIVersion: "1", Key: []byte("k"), Put: true}
	opts.Baseline = stored(t, drift.NewBaseline(desired, observed, opts))
	if result := drift.Compare(desired, observed, opts); !result.InSync || len(result.Accepted) != 3*drift.MaxAccepted {
		t.Errorf("%d accepted, %d left: want all accepted", len(result.Accepted), len(result.Differences)+result.More)
	}
	desired["p599"+strings.Repeat("x", 100)] = "w"
	if result := drift.Compare(desired, observed, opts); result.InSync {
		t.Error("a change beyond the bound is not detected")
	}
}

// TestRebaseline: a value that only one api-version shows is not drift, in either
// direction.
func TestRebaseline(t *testing.T) {
	desired, observed := body(t, []byte(`{"p":{"a":"x","b":"y"}}`)), body(t, []byte(`{"p":{"a":"x","b":"y"}}`))
	opts := drift.Options{APIVersion: "1", Key: []byte("k"), Put: true}
	opts.Baseline = drift.NewBaseline(desired, observed, opts)
	opts.APIVersion, opts.Put = "2", false
	shown := body(t, []byte(`{"p":{"b":"y"}}`))
	result := drift.Compare(desired, shown, opts)
	if !result.InSync || !result.Rebaselined {
		t.Fatalf("a value that the other api-version does not show is not drift: %+v", result)
	}
	opts.Baseline = drift.NewBaseline(desired, shown, opts)
	if again := drift.Compare(desired, shown, opts); !again.InSync || again.Rebaselined || opts.Baseline.APIVersion != "2" {
		t.Errorf("once: %+v", again)
	}
	if later := drift.Compare(desired, body(t, []byte(`{"p":{}}`)), opts); later.InSync {
		t.Error("a change under the new api-version is drift")
	}
	before := drift.Options{APIVersion: "1", Key: []byte("k"), Baseline: drift.NewBaseline(desired, observed, drift.Options{APIVersion: "0", Key: []byte("k"), Put: true})}
	if result := drift.Compare(desired, body(t, []byte(`{"p":{"a":"z","b":"y"}}`)), before); result.InSync {
		t.Error("another value is drift under any api-version")
	}
}

// TestCompareSincePublishedAsSecret compares a value that a GET showed after the last
// PUT and that is masked now.
func TestCompareSincePublishedAsSecret(t *testing.T) {
	at := func(url string) map[string]any {
		return map[string]any{"properties": map[string]any{"destination": map[string]any{"properties": map[string]any{"endpointUrl": url}}}}
	}
	opts := drift.Options{Type: "Microsoft.EventGrid/eventSubscriptions", Facts: factsOf("Microsoft.EventGrid/eventSubscriptions"), APIVersion: "2022-06-15", Key: []byte("k"), Put: true}
	opts.Baseline = stored(t, drift.NewBaseline(at("https://a"), at("https://a"), opts))
	masked := at("(masked) 0011223344556677")
	if result := drift.Compare(at("https://a"), masked, opts); !result.InSync {
		t.Errorf("a new mask is no change: %v", result.Differences)
	}
	if result := drift.Compare(at("https://b"), masked, opts); result.InSync {
		t.Error("a change of the manifest was not detected")
	}
	if result := drift.Compare(at("https://a"), at("https://c"), opts); result.InSync {
		t.Error("a change in Azure that is shown was not detected")
	}
}
