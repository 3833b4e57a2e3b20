package activities

import (
	"net/http"
	"strings"
	"testing"

	"github.com/armature-io/armature/armsim"
	"github.com/armature-io/armature/resource"
)

// TestUnpublished changes a resource of a type without a published shape. The service refuses
// its own read-only value, which is left out after that; the values of others stay.
func TestUnpublished(t *testing.T) {
	t.Parallel()
	const widget = groupText + "/providers/Contoso.Private/widgets/w1"
	w := newWorld(t, func(s *setup) { s.sim.TimeScale = 1e6 })
	w.put(groupText, `{"location":"westus2"}`)
	w.put(widget, `{"location":"westus2","properties":{"size":1,"serialNumber":"4711"}}`)
	p := &passRunner{world: w, spec: desired(t, widget, `{"location":"westus2","properties":{"size":1}}`)}
	p.spec.APIVersion = "2024-01-01"
	p.spec.Body = []byte(`{"location":"westus2","properties":{"size":2}}`)
	if got := p.pass(); got.Stops() {
		t.Fatalf("adoption: %s %s", got.Reason, got.Message)
	}
	if sent := jsonOf(w.lastPut()); !strings.Contains(sent, "4711") {
		t.Errorf("the first PUT leaves out an unstated value: %s", sent)
	}
	p.patch(`{"properties":{"firewall":{"rules":["203.0.113.7"]},"size":1}}`)
	w.sim.AddFault(armsim.Fault{Method: http.MethodPut, Status: 400, Code: "ReadOnlyProperty", Message: "The property 'serialNumber' is read-only.", Count: 1})
	want(t, p.pass(), resource.ActionBlock, resource.ReasonHeld, resource.RetryVerySlow, "properties.serialNumber", "put: replace")
}
