package drift_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/armature-io/armature/drift"
	"github.com/armature-io/armature/resource"
)

func TestKeepTags(t *testing.T) {
	cases := map[string]struct{ reason, desired, before, observed, want string }{
		"none stated":     {"a manifest without tags removes none", `{}`, ``, `{"tags":{"a":"1"}}`, `{"tags":{"a":"1"}}`},
		"null":            {"null is not stated", `{"tags":null}`, ``, `{"tags":{"a":"1"}}`, `{"tags":{"a":"1"}}`},
		"stated":          {"names of tags ignore case", `{"tags":{"A":"2"}}`, ``, `{"Tags":{"a":"1","b":"3"}}`, `{"tags":{"A":"2","b":"3"}}`},
		"stated before":   {"a tag removed from the manifest is removed", `{"tags":{"b":"1"}}`, `{"tags":{"a":"1","b":"1"}}`, `{"tags":{"A":"1","b":"1","c":"1"}}`, `{"tags":{"b":"1","c":"1"}}`},
		"emptied":         {"tags: {} removes all tags", `{"tags":{}}`, ``, `{"tags":{"a":"1"}}`, `{"tags":{}}`},
		"nothing to keep": {"without tags nothing is added", `{"x":1}`, ``, `{}`, `{"x":1}`},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			var baseline drift.Baseline
			if c.before != "" {
				baseline = drift.NewBaseline(body(t, []byte(c.before)), body(t, []byte(c.before)), drift.Options{Put: true})
			}
			desired := body(t, []byte(c.desired))
			payload := drift.Clone(desired)
			added := drift.KeepTags(payload, desired, body(t, []byte(c.observed)), baseline)
			if diff := cmp.Diff(body(t, []byte(c.want)), payload); diff != "" || added != (c.want != c.desired) {
				t.Errorf("%s: added %v (-want +got)\n%s", c.reason, added, diff)
			}
		})
	}
}

// TestChildren: a list item that is a resource of its own may have its own manifest.
// A PUT of the parent that corrects the item could delete it.
func TestChildren(t *testing.T) {
	const net = "/subscriptions/11111111-1111-1111-1111-111111111111/resourceGroups/rg/providers/Microsoft.Network/virtualNetworks/v"
	id, err := resource.ParseID(net)
	if err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct {
		reason, resourceType, list, item string
		child                            bool
	}{
		"child":                 {"its ID is directly below the parent's ID", "", "subnets", `{"name":"b","id":"` + strings.ToUpper(net) + `/subnets/b"}`, true},
		"grandchild":            {"a grandchild is not a child", "", "subnets", `{"name":"b","id":"` + net + `/subnets/a/parts/b"}`, false},
		"other parent":          {"nor is a resource of another parent", "", "subnets", `{"name":"b","id":"` + net + `2/subnets/b"}`, false},
		"no ID":                 {"nor is an item without an ID", "", "rules", `{"name":"b"}`, false},
		"agent pool":            {"the cluster shows its pools without IDs", "Microsoft.ContainerService/managedClusters", "agentPoolProfiles", `{"name":"b"}`, true},
		"other list of cluster": {"other lists of the cluster have no children", "Microsoft.ContainerService/managedClusters", "rules", `{"name":"b"}`, false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			desired := body(t, []byte(`{"properties":{"`+c.list+`":[{"name":"a"}]}}`))
			opts := drift.Options{ID: id, Type: c.resourceType, Key: []byte("k"), Put: true}
			opts.Baseline = drift.NewBaseline(desired, desired, opts)
			result := drift.Compare(desired, body(t, []byte(`{"properties":{"`+c.list+`":[{"name":"a"},`+c.item+`]}}`)), opts)
			if (len(result.Children) == 1) != c.child || result.InSync != c.child {
				t.Errorf("%s: %+v", c.reason, result)
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
		t.Errorf("a PUT drops values of others, except tags and values that only the server sets (-want +got)\n%s", diff)
	}
	if drops := drift.Compare(desired, desired, drift.Options{}).Drops; drops != nil {
		t.Errorf("without a PUT nothing is dropped: %v", drops)
	}
}
