package armsim

import (
	"strings"
	"testing"
)

// TestCompareSnapshots checks the paths of changed values.
func TestCompareSnapshots(t *testing.T) {
	for name, test := range map[string]struct{ before, after, want, reason string }{
		"value":         {`{"properties":{"a":{"b":1}}}`, `{"properties":{"a":{"b":2}}}`, "properties.a.b", "a nested value"},
		"kind":          {`{"properties":{"a":true}}`, `{"properties":{"a":false}}`, "properties.a", "a boolean"},
		"item":          {`{"properties":{"list":[{"x":1},{"x":2}]}}`, `{"properties":{"list":[{"x":1},{"x":3}]}}`, "properties.list[1].x", "a value of an item"},
		"new item":      {`{"properties":{"list":["a"]}}`, `{"properties":{"list":["a","b"]}}`, "properties.list[1]", "an item that is a value"},
		"new object":    {`{}`, `{"properties":{"a":{"b":1,"c":{}}}}`, "properties.a.b", "an empty object has no values"},
		"removed":       {`{"tags":{"x":"1","y":"2"}}`, `{"tags":{"y":"2"}}`, "tags.x", "a removed tag"},
		"null":          {`{"properties":{"a":null}}`, `{"properties":{}}`, "", "null is no value"},
		"same":          {`{"sku":{"capacity":2}}`, `{"sku":{"capacity":2}}`, "", "no difference"},
		"other members": {`{"etag":"1","systemData":{"a":"1"}}`, `{"etag":"2","systemData":{"a":"2"}}`, "", "Resource Graph has no such columns"},
	} {
		t.Run(name, func(t *testing.T) {
			before, err := decodeObject([]byte(test.before))
			if err != nil {
				t.Fatal(err)
			}
			after, err := decodeObject([]byte(test.after))
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(changedPaths(compareSnapshots(before, after)), " "); got != test.want {
				t.Errorf("%s: got %q, want %q", test.reason, got, test.want)
			}
		})
	}
}
