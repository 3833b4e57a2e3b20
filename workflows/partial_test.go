package workflows_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/armsim"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/workflows"
)

// TestForeignItems lets another tool add an item to a list of the manifest and change another
// value: within an interval the value is corrected, the item stays, and the condition
// names it. Another pass has nothing to write; a user's request removes the item.
//
//guard:removals-wait-for-a-user
func TestForeignItems(t *testing.T) {
	for name, c := range map[string]struct {
		id, version, body string
		// added is the list with the item, drift the other change. item is a part of the
		// condition, value the corrected value as the body shows it.
		added, drift, item, value string
		others                    map[string]string
	}{
		"vault": {
			id: "Microsoft.KeyVault/vaults/foreign1", version: "2023-07-01",
			body:  `{"location":"westus2","properties":{"tenantId":"11111111-1111-1111-1111-111111111111","sku":{"family":"A","name":"standard"},"accessPolicies":[],"enableRbacAuthorization":true,"networkAcls":{"bypass":"AzureServices","defaultAction":"Deny","ipRules":[{"value":"192.0.2.1/32"}]}}}`,
			added: `{"properties":{"networkAcls":{"bypass":"AzureServices","defaultAction":"Deny","ipRules":[{"value":"203.0.113.7/32"},{"value":"192.0.2.1/32"}]}}}`,
			drift: `{"properties":{"enableRbacAuthorization":false,"networkAcls":{"defaultAction":"Allow"}}}`, item: "203.0.113.7/32", value: `"defaultAction":"Deny"`,
		},
		"storage account": {
			id: "Microsoft.Storage/storageAccounts/foreign2", version: "2023-05-01",
			body:  `{"location":"westus2","kind":"StorageV2","sku":{"name":"Standard_LRS"},"properties":{"allowSharedKeyAccess":false,"networkAcls":{"bypass":"AzureServices","defaultAction":"Deny","ipRules":[{"value":"192.0.2.1"}]}}}`,
			added: `{"properties":{"networkAcls":{"bypass":"AzureServices","defaultAction":"Deny","ipRules":[{"value":"203.0.113.7","action":"Allow"},{"value":"192.0.2.1","action":"Allow"}]}}}`,
			drift: `{"properties":{"allowSharedKeyAccess":true}}`, item: "203.0.113.7", value: `"allowSharedKeyAccess":false`,
		},
		"Cosmos": {
			id: "Microsoft.DocumentDB/databaseAccounts/foreign3", version: "2024-05-15",
			body:  `{"location":"westus2","properties":{"databaseAccountOfferType":"Standard","locations":[{"locationName":"West US 2","failoverPriority":0}],"enableMultipleWriteLocations":true,"ipRules":[{"ipAddressOrRange":"192.0.2.1"}]}}`,
			added: `{"properties":{"ipRules":[{"ipAddressOrRange":"192.0.2.1"},{"ipAddressOrRange":"203.0.113.7"}]}}`,
			drift: `{"properties":{"enableMultipleWriteLocations":false}}`, item: "203.0.113.7", value: `"enableMultipleWriteLocations":true`,
		},
		"action group": {
			id: "Microsoft.Insights/actionGroups/foreign4", version: "2023-01-01",
			body:  `{"location":"Global","properties":{"groupShortName":"a","enabled":true,"emailReceivers":[{"name":"team","emailAddress":"team@example.com","useCommonAlertSchema":true}]}}`,
			added: `{"properties":{"emailReceivers":[{"name":"other","emailAddress":"other@example.com","useCommonAlertSchema":true},{"name":"team","emailAddress":"team@example.com","useCommonAlertSchema":true}]}}`,
			drift: `{"properties":{"enabled":false}}`, item: "other", value: `"enabled":true`,
		},
		"record set": {
			id: "Microsoft.Network/dnsZones/example.com/A/www", version: "2018-05-01",
			body:  `{"properties":{"TTL":300,"ARecords":[{"ipv4Address":"192.0.2.1"}]}}`,
			added: `{"properties":{"ARecords":[{"ipv4Address":"192.0.2.1"},{"ipv4Address":"203.0.113.7"}]}}`,
			drift: `{"properties":{"TTL":5}}`, item: "203.0.113.7", value: `"TTL":300`,
			others: map[string]string{"Microsoft.Network/dnsZones/example.com": `{"location":"global"}`},
		},
		"address space": {
			id: "Microsoft.Network/virtualNetworks/n2", version: "2024-05-01",
			body:  `{"location":"westus2","properties":{"enableDdosProtection":false,"addressSpace":{"addressPrefixes":["10.0.0.0/16","10.1.0.0/16"]}}}`,
			added: `{"properties":{"addressSpace":{"addressPrefixes":["203.0.113.0/24","10.0.0.0/16"]}}}`,
			drift: `{"properties":{"flowTimeoutInMinutes":10}}`, item: "203.0.113.0/24", value: `"addressPrefixes":["203.0.113.0/24","10.0.0.0/16","10.1.0.0/16"]`,
		},
		"origins": {
			id: "Microsoft.SignalRService/signalR/foreign7", version: "2024-03-01",
			body:  `{"location":"westus2","sku":{"name":"Standard_S1","capacity":1},"properties":{"publicNetworkAccess":"Disabled","cors":{"allowedOrigins":["https://a.example.com"]}}}`,
			added: `{"properties":{"cors":{"allowedOrigins":["https://theirs.example.com"]}}}`,
			drift: `{"properties":{"publicNetworkAccess":"Enabled"}}`, item: "https://theirs.example.com", value: `"publicNetworkAccess":"Disabled"`,
		},
		"subnet": {
			id: "Microsoft.Network/virtualNetworks/n1/subnets/s1", version: "2024-05-01",
			body:  `{"properties":{"addressPrefix":"10.0.0.0/24","privateEndpointNetworkPolicies":"Enabled","serviceEndpoints":[{"service":"Microsoft.Storage"}]}}`,
			added: `{"properties":{"serviceEndpoints":[{"service":"Microsoft.Sql"},{"service":"Microsoft.Storage"}]}}`,
			drift: `{"properties":{"privateEndpointNetworkPolicies":"Disabled"}}`,
			item:  "Microsoft.Sql", value: `"privateEndpointNetworkPolicies":"Enabled"`,
			others: map[string]string{"Microsoft.Network/virtualNetworks/n1": `{"location":"westus2","properties":{"addressSpace":{"addressPrefixes":["10.0.0.0/16"]}}}`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			spec := specOf(c.id, c.version, c.body)
			spec.Interval, spec.Owner = 20*time.Minute, spec.ID.Owner()
			s := newSimulated(t, spec)
			begun := s.Now()
			for id, other := range c.others {
				must(t, s.sim.Put(group+"/providers/"+id, decodedJSON(t, other).(map[string]any)))
			}
			s.apply(spec)
			s.after(3*time.Hour, func(sim *armsim.Simulator) {
				must(t, sim.Patch(spec.ID.String(), decodedJSON(t, c.added).(map[string]any)))
				must(t, sim.Patch(spec.ID.String(), decodedJSON(t, c.drift).(map[string]any)))
			})
			stored := func() string {
				encoded, err := json.Marshal(s.sim.Resources(spec.ID.String(), "")[0].Body)
				must(t, err)
				return string(encoded)
			}
			held := s.statusAt(5 * time.Hour)
			s.after(7*time.Hour, func(*armsim.Simulator) {
				if body := stored(); s.requests("PUT", spec.ID) != 2 || !strings.Contains(body, c.item) || !strings.Contains(body, c.value) {
					t.Errorf("%d PUTs, want the creation and the correction of everything but %s: %s", s.requests("PUT", spec.ID), c.item, body)
				}
			})
			s.at(8*time.Hour, workflows.ReconcileUpdate, workflows.ReconcileInput{By: "ada@host"})
			last := s.statusAt(9 * time.Hour)
			s.start(9*time.Hour + time.Minute)
			if held.Condition.Reason != resource.ReasonHeld || !strings.Contains(held.Condition.Message, c.item) || held.NextTry.Sub(begun) > 5*time.Hour+30*time.Minute {
				t.Errorf("while it waits: %s %s, next try %s after the start", held.Condition.Reason, held.Condition.Message, held.NextTry.Sub(begun))
			}
			if !last.Condition.Ready || s.requests("PUT", spec.ID) != 3 || strings.Contains(stored(), c.item) {
				t.Errorf("after a request: %d PUTs, %s %s: %s", s.requests("PUT", spec.ID), last.Condition.Reason, last.Condition.Message, stored())
			}
		})
	}
}
