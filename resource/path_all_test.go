package resource

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPathAll(t *testing.T) {
	body, err := DecodeBody([]byte(`{"list":[{"id":"a","deep":[{"id":1},{"id":2}]},{"other":1},"x",{"ID":"b","deep":[{"id":3}]}],"one":{"id":"c"},"none":null}`))
	if err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct {
		reason, path string
		want         []any
	}{
		"each":    {"elements without the property are left out, and names ignore case", "list[*].id", []any{"a", "b"}},
		"nested":  {"in the order of the lists", "list[*].deep[*].id", []any{json.Number("1"), json.Number("2"), json.Number("3")}},
		"by key":  {"the elements with the key", "list[id=b].deep[0].id", []any{json.Number("3")}},
		"single":  {"one value", "one.id", []any{"c"}},
		"no list": {"an object has no elements", "one[*].id", nil},
		"absent":  {"no value", "two[*].id", nil},
		"null":    {"it is a value", "none", []any{nil}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			path, err := ParsePath(c.path)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, path.All(body)); diff != "" {
				t.Errorf("%s: %s", c.reason, diff)
			}
		})
	}
}
