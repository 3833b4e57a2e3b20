package drift_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/armature-io/armature/drift"
	"github.com/armature-io/armature/internal/jsontree"
	"github.com/armature-io/armature/resource"
)

func TestKeepTags(t *testing.T) {
	cases := map[string]struct{ reason, desired, before, observed, want string }{
		"none stated":     {"a manifest without tags removes none", `{}`, ``, `{"tags":{"a":"1"}}`, `{"tags":{"a":"1"}}`},
		"null":            {"null removes all tags", `{"tags":null}`, ``, `{"tags":{"a":"1"}}`, `{"tags":null}`},
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
			payload := jsontree.Clone(desired)
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
			opts := drift.Options{ID: id, Type: c.resourceType, Facts: factsOf(c.resourceType), Key: []byte("k"), Put: true}
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
	want := []string{"identity", "sku", "properties.b", "properties.labels.theirs", "properties.rules[name=theirs]"}
	if diff := cmp.Diff(want, drift.Compare(desired, observed, drift.Options{}).Drops.Paths); diff != "" {
		t.Errorf("a PUT drops values of others, except tags and values that only the server sets (-want +got)\n%s", diff)
	}
	if drops := drift.Compare(desired, desired, drift.Options{}).Drops; drops.Paths != nil {
		t.Errorf("without a PUT nothing is dropped: %v", drops)
	}
}

// TestDropsOf shows what the PUT of each mode takes away. before is what Azure showed
// after the last PUT, "" for a resource that Armature did not write yet; applied is the body
// of that PUT if it was not desired.
//
//guard:removals-are-named
func TestDropsOf(t *testing.T) {
	const storage, document, subnet = "Microsoft.Storage/storageAccounts", "Microsoft.DocumentDB/databaseAccounts", "Microsoft.Network/virtualNetworks/subnets"
	cases := map[string]struct {
		reason, resourceType, version, desired, applied, before, now string
		merge, replace, adopted                                      bool
		want                                                         []string
	}{
		"kept": {
			reason: "the default keeps values", resourceType: storage, version: "2023-01-01",
			desired: `{"properties":{"accessTier":"Hot"}}`, now: `{"identity":{"type":"SystemAssigned"},"properties":{"accessTier":"Cool","minimumTlsVersion":"TLS1_2"}}`,
		},
		"replace, adopted": {
			reason: "what the service had set is not known", resourceType: storage, version: "2023-01-01", replace: true,
			desired: `{"properties":{"accessTier":"Hot","networkAcls":{"bypass":"None"}}}`,
			now:     `{"tags":{"a":"1"},"identity":{"type":"SystemAssigned","principalId":"p"},"properties":{"accessTier":"Cool","creationTime":"t","minimumTlsVersion":"TLS1_2","networkAcls":{"bypass":"None","defaultAction":"Deny"}}}`,
			want:    []string{"identity", "properties.minimumTlsVersion", "properties.networkAcls.defaultAction"},
		},
		"replace, defaults of the service": {
			reason: "they are there again after the PUT", resourceType: storage, version: "2023-01-01", replace: true,
			desired: `{"properties":{"accessTier":"Hot"}}`, before: `{"properties":{"accessTier":"Hot","minimumTlsVersion":"TLS1_0","allowBlobPublicAccess":true}}`,
			now:  `{"properties":{"accessTier":"Cool","minimumTlsVersion":"TLS1_2","allowBlobPublicAccess":true}}`,
			want: []string{"properties.minimumTlsVersion"},
		},
		"items, adopted": {
			reason: "an adopted resource may have items of others", resourceType: document, version: "2023-11-15",
			desired: `{"properties":{"enableFreeTier":true,"ipRules":[{"ipAddressOrRange":"192.0.2.1"}],"locations":[{"locationName":"a"}],"disableLocalAuth":true}}`,
			now:     `{"properties":{"enableFreeTier":false,"ipRules":[{"ipAddressOrRange":"203.0.113.7"},{"ipAddressOrRange":"192.0.2.1"}],"locations":[{"locationName":"a"},{"locationName":"b"}]}}`,
			want:    []string{"properties.ipRules[ipAddressOrRange=203.0.113.7]", "properties.locations[locationName=b]"},
		},
		"items, in sync at first contact": {
			reason: "no PUT showed that the service adds them itself", resourceType: document, version: "2023-11-15", adopted: true,
			desired: `{"properties":{"enableFreeTier":true,"locations":[{"locationName":"a"}]}}`, before: `{"properties":{"enableFreeTier":true,"locations":[{"locationName":"a"},{"locationName":"b"}]}}`,
			now:  `{"properties":{"enableFreeTier":false,"locations":[{"locationName":"a"},{"locationName":"b"}]}}`,
			want: []string{"properties.locations[locationName=b]"},
		},
		"items of the service": {
			reason: "they were there after a PUT without them", resourceType: document, version: "2023-11-15",
			desired: `{"properties":{"enableFreeTier":true,"locations":[{"locationName":"a"}]}}`, before: `{"properties":{"enableFreeTier":true,"locations":[{"locationName":"a"},{"locationName":"b"}]}}`,
			now:  `{"properties":{"enableFreeTier":false,"locations":[{"locationName":"a"},{"locationName":"b"},{"locationName":"c"}]}}`,
			want: []string{"properties.locations[locationName=c]"},
		},
		"items, merge": {
			reason: "this mode merges items by their keys", resourceType: document, version: "2023-11-15", merge: true,
			desired: `{"properties":{"locations":[{"locationName":"a"}],"ipRules":[{"ipAddressOrRange":"192.0.2.1"}]}}`,
			now:     `{"properties":{"locations":[{"locationName":"a"},{"locationName":"b"}],"ipRules":[{"ipAddressOrRange":"192.0.2.1"},{"ipAddressOrRange":"203.0.113.7"}]}}`,
		},
		"texts": {
			reason: "a longer list has items of others; a changed one has another value", resourceType: "Microsoft.Network/virtualNetworks", version: "2023-09-01",
			desired: `{"properties":{"addressSpace":{"addressPrefixes":["10.0.0.0/16"]},"dhcpOptions":{"dnsServers":["10.0.0.4"]}}}`,
			now:     `{"properties":{"addressSpace":{"addressPrefixes":["10.1.0.0/16","10.0.0.0/16"]},"dhcpOptions":{"dnsServers":["10.0.0.5"]}}}`,
			want:    []string{"properties.addressSpace.addressPrefixes[0] \"10.1.0.0/16\""},
		},
		"values of the service in items without a key": {
			reason: "they are there again after the PUT", resourceType: subnet, version: "2023-09-01",
			desired: `{"properties":{"addressPrefix":"10.0.0.0/24","serviceEndpoints":[{"service":"Microsoft.Storage"}]}}`,
			before:  `{"properties":{"addressPrefix":"10.0.0.0/24","serviceEndpoints":[{"service":"Microsoft.Storage","locations":["*"]}]}}`,
			now:     `{"properties":{"addressPrefix":"10.0.1.0/24","serviceEndpoints":[{"service":"Microsoft.Storage","locations":["*"]}]}}`,
		},
		"values of others in items": {
			reason: "the service had set another value, and the item keeps it", resourceType: subnet, version: "2023-09-01",
			desired: `{"properties":{"addressPrefix":"10.0.0.0/24","serviceEndpoints":[{"service":"Microsoft.Storage"}]}}`,
			before:  `{"properties":{"addressPrefix":"10.0.0.0/24","serviceEndpoints":[{"service":"Microsoft.Storage","locations":["*"]}]}}`,
			now:     `{"properties":{"addressPrefix":"10.0.1.0/24","serviceEndpoints":[{"service":"Microsoft.Storage","locations":["westus"]}]}}`,
		},
		"values of the service in items that move": {
			reason: "an item without a key has no place of its own", resourceType: subnet, version: "2023-09-01",
			desired: `{"properties":{"serviceEndpoints":[{"service":"Microsoft.Sql"},{"service":"Microsoft.Storage"}]}}`,
			applied: `{"properties":{"serviceEndpoints":[{"service":"Microsoft.Storage"}]}}`,
			before:  `{"properties":{"serviceEndpoints":[{"service":"Microsoft.Storage","locations":["*"]}]}}`,
			now:     `{"properties":{"serviceEndpoints":[{"service":"Microsoft.Storage","locations":["*"]}]}}`,
		},
		"children": {
			reason: "subnets are kept as children", resourceType: "Microsoft.Network/virtualNetworks", version: "2023-09-01",
			desired: `{"properties":{"subnets":[{"name":"a"}],"enableDdosProtection":true}}`, now: `{"properties":{"subnets":[{"name":"a"},{"name":"b"}],"enableDdosProtection":false}}`,
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			opts := drift.Options{Type: c.resourceType, Facts: factsOf(c.resourceType), APIVersion: c.version, Key: []byte("key"), KeepOthers: !c.merge && !c.replace, Merge: c.merge}
			desired := body(t, []byte(c.desired))
			if c.before != "" {
				applied := c.applied
				if applied == "" {
					applied = c.desired
				}
				after := opts
				after.Put, after.Sent = !c.adopted, !c.adopted
				opts.Baseline = stored(t, drift.NewBaseline(body(t, []byte(applied)), body(t, []byte(c.before)), after))
			}
			if diff := cmp.Diff(c.want, drift.DropsOf(desired, body(t, []byte(c.now)), opts).Paths); diff != "" {
				t.Errorf("%s (-want +got)\n%s", c.reason, diff)
			}
		})
	}
}

// TestDropsAreBounded shows that the rest of many drops is a number.
//
//guard:removals-are-named
func TestDropsAreBounded(t *testing.T) {
	labels := map[string]any{}
	for i := range 30 {
		labels[fmt.Sprintf("l%02d", i)] = "x"
	}
	observed := map[string]any{"properties": map[string]any{"labels": labels}}
	drops := drift.DropsOf(body(t, []byte(`{"properties":{"labels":{"own":"1"}}}`)), observed, drift.Options{})
	if len(drops.Paths) != resource.MaxDifferences || drops.More != 30-resource.MaxDifferences {
		t.Errorf("%d paths and %d more", len(drops.Paths), drops.More)
	}
}
