package armsim_test

import (
	"testing"
	"time"

	"github.com/armature-io/armature/armsim"
)

// TestEventSubscriptions checks that events flow to a queue by the resources that a user
// deploys, within their scope and filter, as long as they exist.
func TestEventSubscriptions(t *testing.T) {
	const api = "?api-version=2022-06-15"
	account := group + "/providers/Microsoft.Storage/storageAccounts/acct"
	events := account + "/queueServices/default/queues/events"
	topic := group + "/providers/Microsoft.EventGrid/systemTopics/changes"
	to := `"destination":{"endpointType":"StorageQueue","properties":{"resourceId":"` + account + `","queueName":"events"}}`
	for name, test := range map[string]struct {
		id, body string
		want     int
		reason   string
	}{
		"topic":            {topic + "/eventSubscriptions/s", `{"properties":{` + to + `}}`, 1, "a subscription of the system topic"},
		"identity":         {topic + "/eventSubscriptions/s", `{"properties":{"deliveryWithResourceIdentity":{"identity":{"type":"SystemAssigned"},` + to + `}}}`, 1, "delivery with an identity"},
		"scope":            {root + "/providers/Microsoft.EventGrid/eventSubscriptions/s", `{"properties":{` + to + `}}`, 1, "one of the subscription itself"},
		"group":            {group + "/providers/Microsoft.EventGrid/eventSubscriptions/s", `{"properties":{` + to + `}}`, 1, "one of the group of the change"},
		"other group":      {root + "/resourceGroups/rg2/providers/Microsoft.EventGrid/eventSubscriptions/s", `{"properties":{` + to + `}}`, 0, "the change is in another group"},
		"type":             {topic + "/eventSubscriptions/s", `{"properties":{"filter":{"includedEventTypes":["Microsoft.Resources.ResourceWriteSuccess"]},` + to + `}}`, 1, "the type is included"},
		"other type":       {topic + "/eventSubscriptions/s", `{"properties":{"filter":{"includedEventTypes":["Microsoft.Resources.ResourceDeleteSuccess"]},` + to + `}}`, 0, "the type is not included"},
		"subject":          {topic + "/eventSubscriptions/s", `{"properties":{"filter":{"subjectBeginsWith":"` + group + `x"},` + to + `}}`, 0, "the subject begins otherwise"},
		"other schema":     {topic + "/eventSubscriptions/s", `{"properties":{"eventDeliverySchema":"CloudEventSchemaV1_0",` + to + `}}`, 0, "its messages are not simulated"},
		"other endpoint":   {topic + "/eventSubscriptions/s", `{"properties":{"destination":{"endpointType":"WebHook"}}}`, 0, "no queue"},
		"no subscriptions": {topic, `{"location":"global","properties":{"source":"` + root + `","topicType":"Microsoft.Resources.Subscriptions"}}`, 0, "a topic alone delivers nothing"},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHarness(t, armsim.Options{Changes: promptly})
			for _, made := range []struct{ id, body string }{
				{group, `{"location":"westus2"}`}, {root + "/resourceGroups/rg2", `{"location":"westus2"}`},
				{account, `{"location":"westus2","kind":"StorageV2","sku":{"name":"Standard_LRS"}}`}, {events, `{}`},
				{topic, `{"location":"global","properties":{"source":"` + root + `","topicType":"Microsoft.Resources.Subscriptions"}}`},
				{test.id, test.body},
			} {
				if got := h.do("PUT", made.id+api, made.body); got.status >= 300 {
					t.Fatalf("put %s: %d %s", made.id, got.status, got.raw)
				}
				h.pass(5 * time.Minute)
				h.do("GET", group+version, "")
			}
			h.messages("numofmessages=32&visibilitytimeout=604800")
			h.want(h.do("PUT", plain+version, `{"location":"westus2"}`), 201, "")
			got := h.messages("numofmessages=32")
			if len(got) != test.want {
				t.Errorf("%s: %d messages, want %d", test.reason, len(got), test.want)
			}
			for _, m := range got {
				if topic := eventIn(t, m)["topic"]; topic != root && topic != group {
					t.Errorf("the topic is %v", topic)
				}
			}
			h.want(h.do("DELETE", "/_sim/resources?id="+events, ""), 200, "")
			if got := h.do("GET", queue+"/messages", ""); got.status != 404 {
				t.Errorf("the queue is there after its deletion: %d", got.status)
			}
		})
	}
}
