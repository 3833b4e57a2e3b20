package armsim_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/armature-io/armature/armsim"
)

// TestUnknownPropertiesAreDropped puts bodies and compares parts of what a GET shows.
func TestUnknownPropertiesAreDropped(t *testing.T) {
	tests := map[string]struct {
		id, body string
		shown    map[string]any // by path; nil for absent
		reason   string
	}{
		"misspelt": {
			account, `{"location":"westus2","kind":"StorageV2","sku":{"name":"Standard_LRS"},"properties":{"minimumTlsVerison":"TLS1_2","isHnsEnabled":true}}`,
			map[string]any{"properties.minimumTlsVerison": nil, "properties.minimumTlsVersion": "TLS1_0", "properties.isHnsEnabled": true},
			"the provider sets its default",
		},
		"one level up": {
			account, `{"location":"westus2","kind":"StorageV2","properties":{"sku":{"name":"Standard_LRS"}}}`,
			map[string]any{"properties.sku": nil}, "sku belongs beside properties",
		},
		"nested": {
			account, `{"location":"westus2","kind":"StorageV2","properties":{"networkAcls":{"defaultAction":"Deny","bypas":"None"}}}`,
			map[string]any{"properties.networkAcls.bypas": nil, "properties.networkAcls.defaultAction": "Deny"}, "every level has its own names",
		},
		"letter case": {
			account, `{"location":"westus2","Kind":"StorageV2","properties":{"IsHnsEnabled":true}}`,
			map[string]any{"Kind": nil, "kind": "StorageV2", "properties.IsHnsEnabled": nil, "properties.isHnsEnabled": true}, "names have no letter case, and are shown as published",
		},
		"map": {
			account, `{"location":"westus2","tags":{"Any Name":"x","any name 2":"y"}}`,
			map[string]any{"tags.Any Name": "x", "tags.any name 2": "y"}, "the names in a map are the client's",
		},
		"read-only": {
			account, `{"location":"westus2","properties":{"creationTime":"1999-01-01T00:00:00Z","primaryEndpoints":{"blob":"https://elsewhere/"},"statusOfPrimary":"unavailable"}}`,
			map[string]any{"properties.creationTime": "2026-01-01T00:00:00.0000000Z", "properties.primaryEndpoints.blob": "https://account1.blob.core.windows.net/", "properties.statusOfPrimary": "available"},
			"the server's own values stay",
		},
		"list items": {
			vnet, `{"location":"westus2","properties":{"addressSpace":{"addressPrefixes":["10.0.0.0/16"]},"subnets":[{"name":"a","properties":{"addressPrefix":"10.0.0.0/24","adressPrefix":"10.0.1.0/24"}}]}}`,
			map[string]any{"properties.subnets": 1, "properties.addressSpace.addressPrefixes": 1}, "lists keep their items",
		},
		"not a child's location": {
			database, `{"location":"westus2","kind":"ReadWrite","properties":{"hotCachePeriod":"P1D","hotCache":"P1D"}}`,
			map[string]any{"properties.hotCachePeriod": "P1D", "properties.hotCache": nil}, "the discriminator selects the shape",
		},
		"unknown variant": {
			database, `{"location":"westus2","kind":"WriteOnly","properties":{"hotCache":"P1D"}}`,
			map[string]any{"properties.hotCache": "P1D"}, "without a shape everything stays",
		},
		"other kind": {
			account, `{"location":"westus2","properties":{"networkAcls":"Deny"}}`,
			map[string]any{"properties.networkAcls": "Deny"}, "a value of another kind is not looked into",
		},
		"not published": {
			plain, `{"location":"westus2","colour":"red","properties":{"Mode":{"a":1}}}`,
			map[string]any{"colour": "red", "properties.Mode.a": 1}, "nothing is known of the type",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			h := newHarness(t, armsim.Options{})
			h.makeGroup()
			if test.id == database {
				h.do("PUT", cluster+version, `{"location":"westus2","sku":{"name":"Dev(No SLA)_Standard_D11_v2","tier":"Basic"}}`)
				h.pass(time.Hour)
			}
			if put := h.do("PUT", test.id+version, test.body); put.status >= 300 {
				t.Fatalf("the PUT is refused: %s", put.raw)
			}
			h.pass(time.Hour)
			got := h.do("GET", test.id+version, "")
			for path, want := range test.shown {
				value := got.at(path)
				if list, ok := value.([]any); ok {
					value = len(list)
				}
				if fmt.Sprint(value) != fmt.Sprint(want) {
					t.Errorf("%s is %v, want %v, since %s\n%s", path, value, want, test.reason, got.raw)
				}
			}
		})
	}
}

// TestInlineChildrenHaveShapes shows what a child keeps of its parent's list.
func TestInlineChildrenHaveShapes(t *testing.T) {
	h := newHarness(t, armsim.Options{})
	h.makeGroup()
	h.want(h.do("PUT", vnet+version, `{"location":"westus2","properties":{"subnets":[{"name":"a","properties":{"addressPrefix":"10.0.0.0/24","colour":"red"}}]}}`), 201, "")
	h.pass(time.Hour)
	child := h.do("GET", vnet+"/subnets/a"+version, "")
	h.wantAt(child, "properties.addressPrefix", "10.0.0.0/24")
	h.wantAt(child, "properties.colour", nil)
}

// TestNameSelectsShape puts a type whose properties depend on the name of the resource.
func TestNameSelectsShape(t *testing.T) {
	const site = group + "/providers/Microsoft.Web/sites/s"
	h := newHarness(t, armsim.Options{})
	if err := h.Put(site, map[string]any{"location": "westus2"}); err != nil {
		t.Fatal(err)
	}
	for name, shown := range map[string]any{"web": true, "logs": nil, "unheard-of": true} {
		id := site + "/config/" + name
		if put := h.do("PUT", id+version, `{"properties":{"alwaysOn":true}}`); put.status >= 300 {
			t.Fatal(put.raw)
		}
		h.pass(time.Hour)
		h.wantAt(h.do("GET", id+version, ""), "properties.alwaysOn", shown)
	}
}

// TestPatchKeepsStoredValues patches a resource whose stored body has more than the
// published type has.
func TestPatchKeepsStoredValues(t *testing.T) {
	h := newHarness(t, armsim.Options{})
	h.makeGroup()
	h.do("PUT", account+version, `{"location":"westus2","kind":"StorageV2","sku":{"name":"Standard_LRS"},"properties":{}}`)
	h.pass(time.Hour)
	if err := h.Patch(account, map[string]any{"properties": map[string]any{"newer": "x", "statusOfPrimary": "unavailable"}}); err != nil {
		t.Fatal(err)
	}
	h.want(h.do("PATCH", account+version, `{"properties":{"accessTier":"Cool","colour":"red","statusOfPrimary":"available"}}`), 200, "")
	got := h.do("GET", account+version, "")
	for path, want := range map[string]any{"newer": "x", "statusOfPrimary": "unavailable", "accessTier": "Cool", "colour": nil} {
		h.wantAt(got, "properties."+path, want)
	}
}

// TestSecretsOfDroppedProperties counts a secret as sent although its property is
// unknown.
func TestSecretsOfDroppedProperties(t *testing.T) {
	h := newHarness(t, armsim.Options{})
	h.makeGroup()
	h.do("PUT", account+version, `{"location":"westus2","properties":{"unknownPassword":"hunter2"}}`)
	if diff := cmp.Diff([]string{"hunter2"}, h.Secrets()); diff != "" {
		t.Errorf("secrets (-want +got)\n%s", diff)
	}
}
