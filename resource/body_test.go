package resource

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestBody holds that values are read by their kind in ARM, whatever their Go type is.
func TestBody(t *testing.T) {
	decoded, err := DecodeBody([]byte(`{"properties":{"nodes":3,"big":9007199254740993,"name":"a","list":[{"id":"x"},7,{"id":"y"}],"none":null}}`))
	if err != nil {
		t.Fatal(err)
	}
	desired := &Object{Desired: decoded}
	observed := &Object{Observed: decoded}
	type read struct {
		Number float64
		IsNum  bool
		Text   string
		IsText bool
		Items  int
		IsList bool
	}
	cases := map[string]struct {
		reason, path string
		want         read
	}{
		"number": {"numbers are json.Number in a body", "properties.nodes", read{Number: 3, IsNum: true}},
		"case":   {"names ignore case", "Properties.NODES", read{Number: 3, IsNum: true}},
		"text":   {"a text is no number", "properties.name", read{Text: "a", IsText: true}},
		"list":   {"with items of any kind", "properties.list", read{Items: 3, IsList: true}},
		"null":   {"null is none of them", "properties.none", read{}},
		"absent": {"nor is what is absent", "properties.a.b", read{}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			for body, b := range map[string]Body{"desired": desired.Desired, "observed": observed.Observed} {
				var got read
				got.Number, got.IsNum = b.NumberAt(c.path)
				got.Text, got.IsText = b.StringAt(c.path)
				list, isList := b.ListAt(c.path)
				got.Items, got.IsList = len(list), isList
				if diff := cmp.Diff(c.want, got); diff != "" {
					t.Errorf("%s of %s: %s (-want +got)\n%s", c.path, body, c.reason, diff)
				}
			}
		})
	}
	if number, ok := observed.NumberAt("properties.nodes"); !ok || number != 3 {
		t.Errorf("NumberAt of the object is %v, %v", number, ok)
	}
	if list, ok := observed.ListAt("properties.list"); !ok || len(list) != 3 {
		t.Errorf("ListAt of the object is %v, %v", list, ok)
	}
	var ids []string
	for _, item := range Body(desired.Desired).ObjectsAt("properties.list") {
		id, _ := item.StringAt("id")
		ids = append(ids, id)
	}
	if diff := cmp.Diff([]string{"x", "y"}, ids); diff != "" {
		t.Errorf("the objects of the list (-want +got)\n%s", diff)
	}
	var none *Object
	if _, ok := none.NumberAt("a"); ok || Body(nil).ObjectsAt("a") != nil {
		t.Error("a missing resource has values")
	}
}
