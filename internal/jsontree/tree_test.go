package jsontree_test

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/armature-io/armature/internal/jsontree"
	"github.com/armature-io/armature/resource"
)

func TestMember(t *testing.T) {
	object := map[string]any{"B": 1, "b": 2, "Name": "x", "c": map[string]any{"d": nil}}
	cases := map[string]struct {
		reason, name, own string
		value             any
		present           bool
	}{
		"exact":   {"the exact name wins", "b", "b", 2, true},
		"case":    {"ARM ignores the case of names", "name", "Name", "x", true},
		"absent":  {"there is no such member", "e", "", nil, false},
		"of many": {"the first in order wins, so that the result is stable", "NAME", "Name", "x", true},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			own, value, present := jsontree.Member(object, c.name)
			if own != c.own || value != c.value || present != c.present {
				t.Errorf("%s: got %q, %v, %v", c.reason, own, value, present)
			}
		})
	}
	if got := jsontree.Object(object, "C"); len(got) != 1 {
		t.Errorf("Object: got %v", got)
	}
	if got := jsontree.Text(object, "b") + jsontree.Text(object, "NAME"); got != "x" {
		t.Errorf("a number is no text: got %q", got)
	}
}

func TestClone(t *testing.T) {
	value := map[string]any{"a": []any{map[string]any{"b": 1}}}
	copied := jsontree.Clone(value)
	copied["a"].([]any)[0].(map[string]any)["b"] = 2
	if !reflect.DeepEqual(value, map[string]any{"a": []any{map[string]any{"b": 1}}}) {
		t.Errorf("the copy shares values: %v", value)
	}
	if jsontree.Clone(map[string]any(nil)) != nil {
		t.Error("the copy of an absent body is not absent")
	}
}

func TestPair(t *testing.T) {
	cases := map[string]struct {
		reason, own, others, known string
		key                        string
		at, of                     []int
		step                       string
	}{
		"by name": {
			reason: "names ignore case, in any order", own: `[{"name":"A"},{"name":"b"}]`, others: `[{"name":"c"},{"name":"a"}]`,
			key: "name", at: []int{1, -1}, of: []int{-1, 0}, step: "[name=A]",
		},
		"best key": {
			reason: "a name identifies better than an ID", own: `[{"id":"1","name":"a","roleId":"9"}]`, others: `[{"id":"2","name":"a","roleId":"9"}]`,
			key: "name", at: []int{0}, of: []int{0}, step: "[name=a]",
		},
		"location": {
			reason: "a location has several spellings", own: `[{"locationName":"westus2"}]`, others: `[{"locationName":"West US 2"}]`,
			key: "locationName", at: []int{0}, of: []int{0}, step: "[locationName=westus2]",
		},
		"known number": {
			reason: "the lists of some types have a known key", own: `[{"lun":1}]`, others: `[{"lun":0},{"lun":1}]`, known: "lun",
			key: "lun", at: []int{1}, of: []int{-1, 0}, step: "[lun=1]",
		},
		"known and repeated": {
			reason: "a repeated key identifies nothing", own: `[{"lun":1}]`, others: `[{"lun":1},{"lun":1}]`, known: "lun",
			at: []int{0}, of: []int{0, -1}, step: "[0]",
		},
		"secret key": {
			reason: "a key that may be secret is not shown", own: `[{"key":"a"},{"key":"b"}]`, others: `[{"key":"b"}]`,
			key: "key", at: []int{-1, 0}, of: []int{1}, step: "[0]",
		},
		"by content": {
			reason: "equal items are pairs, the rest by order", own: `[{"p":1},{"p":2},{"p":3}]`, others: `[{"p":2},{"p":9}]`,
			at: []int{1, 0, -1}, of: []int{1, 0}, step: "[0]",
		},
		"by position": {
			reason: "scalars have their place", own: `[1,2,3]`, others: `[2,1]`,
			at: []int{0, 1, -1}, of: []int{0, 1}, step: "[0]",
		},
		"no own list": {
			reason: "the items still have their key", own: `null`, others: `[{"name":"a"},{"name":"b"}]`,
			key: "name", of: []int{-1, -1},
		},
		"empty own list": {
			reason: "an empty list is stated, and identifies nothing", own: `[]`, others: `[{"name":"a"}]`,
			of: []int{-1},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			own, others := list(t, c.own), list(t, c.others)
			pairs := jsontree.Pair(own, others, c.known, func(a, b any) bool { return reflect.DeepEqual(a, b) })
			if pairs.Key != c.key || !slices.Equal(pairs.At, c.at) || !slices.Equal(pairs.Of(), c.of) {
				t.Errorf("%s: got key %q, at %v, of %v", c.reason, pairs.Key, pairs.At, pairs.Of())
			}
			if len(own) > 0 {
				if diff := cmp.Diff(c.step, path(pairs.Step(0, own[0]))); diff != "" {
					t.Errorf("%s (-want +got):\n%s", c.reason, diff)
				}
			}
		})
	}
}

func list(t *testing.T, text string) []any {
	t.Helper()
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	var items []any
	if err := decoder.Decode(&items); err != nil {
		t.Fatal(err)
	}
	return items
}

func path(step resource.Step) string { return resource.Path{step}.String() }

func TestAll(t *testing.T) {
	value := map[string]any{"b": []any{1, map[string]any{"c": 2}}, "a": "x"}
	var got []any
	for at := range jsontree.All(value) {
		if kind := reflect.ValueOf(at).Kind(); kind != reflect.Map && kind != reflect.Slice {
			got = append(got, at)
		}
	}
	if diff := cmp.Diff([]any{"x", 1, 2}, got); diff != "" {
		t.Errorf("members come in the order of their names (-want +got):\n%s", diff)
	}
	if !jsontree.Contains(value, func(at any) bool { return at == 2 }) || jsontree.Contains(value, func(at any) bool { return at == 3 }) {
		t.Error("Contains looks at every value, and at no other")
	}
}

func TestEdit(t *testing.T) {
	value := map[string]any{"keep": map[string]any{"secret": 1, "b": 2}, "list": []any{1, "drop", map[string]any{"secret": 1}}, "as it is": map[string]any{"secret": 1}}
	before := jsontree.Clone(value)
	got := jsontree.Edit(value, func(name string, value any) (any, jsontree.Next) {
		switch {
		case name == "secret" || value == "drop":
			return nil, jsontree.Omit
		case name == "as it is":
			return value, jsontree.Done
		case value == 2:
			return "two", jsontree.Inside
		}
		return value, jsontree.Inside
	})
	want := map[string]any{"keep": map[string]any{"b": "two"}, "list": []any{1, map[string]any{}}, "as it is": map[string]any{"secret": 1}}
	if diff := cmp.Diff(any(want), got); diff != "" {
		t.Errorf("edits replace, keep and leave out (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(before, value); diff != "" {
		t.Errorf("the value was changed:\n%s", diff)
	}
}
