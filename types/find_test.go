package types

import (
	"testing"

	"github.com/armature-io/armature/resource"
)

func TestFind(t *testing.T) {
	cases := map[string]struct {
		reason, kind, path string
		found, free        bool
		value              string
		isValue            bool
	}{
		"enumeration": {reason: "a value in any case", kind: "Microsoft.Storage/storageAccounts", path: "properties.minimumTlsVersion", found: true, value: "tls1_2", isValue: true},
		"other value": {reason: "no published value", kind: "Microsoft.Storage/storageAccounts", path: "properties.minimumTlsVersion", found: true, value: "1.2"},
		"free text":   {reason: "a text without published values", kind: "Microsoft.Storage/storageAccounts", path: "properties.customDomain.name", found: true, value: "x"},
		"unknown":     {reason: "a misspelt name", kind: "Microsoft.Storage/storageAccounts", path: "properties.minimumTlsVerison"},
		"item":        {reason: "a property of an item, whatever the step", kind: "Microsoft.Network/virtualNetworks", path: "properties.subnets[name=a].properties.privateEndpointNetworkPolicies", found: true, value: "DISABLED", isValue: true},
		"variant":     {reason: "a property of one variant", kind: "Microsoft.EventGrid/eventSubscriptions", path: "properties.destination.properties.endpointUrl", found: true},
		"map":         {reason: "the key of a map", kind: "Microsoft.Storage/storageAccounts", path: "tags.env", found: true},
		"any":         {reason: "below a value of any kind every name is legal", kind: "Microsoft.Logic/workflows", path: "properties.definition.triggers", free: true},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			path, err := resource.ParsePath(c.path)
			if err != nil {
				t.Fatal(err)
			}
			shape := Lookup(c.kind, Newest(c.kind))
			if found, free := shape.Find(path); len(found) > 0 != c.found || free != c.free {
				t.Errorf("%s: got %v, free %v", c.reason, found, free)
			}
			if got := shape.IsValue(path, c.value); got != c.isValue {
				t.Errorf("%s: IsValue(%q) = %v", c.reason, c.value, got)
			}
		})
	}
}
