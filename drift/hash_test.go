package drift

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/armature-io/armature/resource"
)

func TestCanonical(t *testing.T) {
	h := hasher{[]byte("k")}
	of := func(path, text string) string {
		var value any
		decoder := json.NewDecoder(strings.NewReader(text))
		decoder.UseNumber()
		if err := decoder.Decode(&value); err != nil {
			t.Fatal(err)
		}
		parsed, err := resource.ParsePath(path)
		if err != nil {
			t.Fatal(err)
		}
		return h.cursor(cursorAt(parsed, value))
	}
	cases := map[string]struct {
		reason, path, a, b string
		same               bool
	}{
		"numbers":          {"1.0 is 1", "properties.n", `1.0`, `1`, true},
		"fractions":        {"0.50 is 0.5", "properties.n", `0.50`, `5e-1`, true},
		"other fractions":  {"0.5 is not 0.25", "properties.n", `0.5`, `0.25`, false},
		"number and text":  {"a text is not a number", "properties.n", `"1"`, `1`, false},
		"location":         {"one location, two spellings", "location", `"West US 2"`, `"westus2"`, true},
		"location in tags": {"case and spaces count in a tag", "tags.location", `"West US 2"`, `"westus2"`, false},
		"IDs":              {"IDs ignore case", "properties.id", `"/subscriptions/A/x"`, `"/SUBSCRIPTIONS/a/X"`, true},
		"IDs as keys":      {"also as names of members", "identity", `{"/subscriptions/A":{}}`, `{"/Subscriptions/a":{}}`, true},
		"IDs in a tag":     {"not in a tag", "tags.id", `"/subscriptions/A"`, `"/subscriptions/a"`, false},
		"names":            {"names of properties ignore case", "properties", `{"A":1}`, `{"a":1}`, true},
		"tags":             {"names of tags do not", "tags", `{"A":"1"}`, `{"a":"1"}`, false},
		"words":            {"a new case of a word is a new wish", "properties.w", `"On"`, `"on"`, false},
		"order":            {"lists have an order", "properties.l", `[1,2]`, `[2,1]`, false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if same := of(c.path, c.a) == of(c.path, c.b); same != c.same {
				t.Errorf("%s: same hash %v", c.reason, same)
			}
		})
	}
}

// TestHashesAreStable: baselines in histories have hashes of json.Marshal's text of the
// canonical form.
func TestHashesAreStable(t *testing.T) {
	const body = `{"Location":"West US 2","tags":{"Owner":"A <b> & \"c\"","location":"West US"},"zones":["1",2,1.50,-3,1e3,true,null,{}, []],
"properties":{"adminPassword":"plain","text":"líne\n\u2028","ref":"/Subscriptions/A/resourceGroups/B/","secretRef":{"$secret":"env:X"},"big":12345678901234567890,"none":""},
"identity":{"userAssignedIdentities":{"/subscriptions/A/Providers/Q":{}}}}`
	decoded, err := Decode("desired", []byte(body))
	if err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]string{"": "dd3fd56cba5f028860b46233c9f1981f", "k": "cc3412579e07b9f18f773726a5d8f5fd"} {
		if got := (hasher{[]byte(key)}).cursor(root(decoded)); got != want {
			t.Errorf("with key %q the hash is %s, want %s", key, got, want)
		}
	}
	h, list := hasher{[]byte("k")}, []any{"<", ">", "&", `\`, `"`, "\t", "ü"}
	for size := range 3 * canonicalBufferBytes {
		list = append(list, strings.Repeat("x", size))
		if size%97 == 0 && h.cursor(root(list)) != h.sum(list) {
			t.Fatalf("the hash of texts up to %d bytes differs from the hash of their JSON", size)
		}
	}
}

func TestPathSet(t *testing.T) {
	path := func(text string) resource.Path {
		parsed, err := resource.ParsePath(text)
		if err != nil {
			t.Fatal(err)
		}
		return parsed
	}
	depths := map[pathHash]int{}
	for _, text := range []string{"a", "a.b", "a.b.c", "l[name=X].v", "l[0].locations[locationName=West US].x", "tags['a.b/c']"} {
		depths[hashPath(path(text))] = len(path(text))
	}
	set := newPathSet(depths, 100).decode()
	for text, want := range map[string]bool{
		"a": true, "A.B": true, "a.b.c": true, "a.c": false, "ab": false, "l[name=x].v": true, "l[name=y].v": false, "l.v": false,
		"l[0].locations[locationName=westus].x": true, "tags['a.b/c']": true, "tags.a": false,
	} {
		if set.has(path(text)) != want {
			t.Errorf("%s: in the set: %v", text, !want)
		}
	}
	cut := newPathSet(depths, 2).decode()
	if !cut.has(path("a")) || cut.has(path("l[name=x].v")) || len(cut) != 12 {
		t.Errorf("a set of two of %d paths keeps the paths of least depth", len(depths))
	}
	if PathSet("!").decode().has(path("a")) || PathSet("QUJD").decode().has(path("a")) || PathSet("").decode().has(path("a")) {
		t.Error("an invalid set is not empty")
	}
}
