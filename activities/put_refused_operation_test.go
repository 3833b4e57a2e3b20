package activities

import (
	"net/http"
	"strings"
	"testing"

	"github.com/armature-io/armature/armsim"
	"github.com/armature-io/armature/resource"
)

// TestGuardRefusedInOperation lets a PUT that ARM accepted fail in its operation, with the
// name of a value that the manifest does not state. The next pass leaves out what the
// service had set by itself, and holds what another tool set.
//
//guard:refused-values
func TestGuardRefusedInOperation(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason, theirs, message string
		held                    bool
	}{
		"of another tool": {
			reason: "leaving it out would remove it", theirs: `{"properties":{"minimumTlsVersion":"TLS1_2"}}`,
			message: "The value 'TLS1_2' is not allowed for property minimumTlsVersion.", held: true,
		},
		"of the service": {
			reason: "it is sent only because the object needs it", theirs: `{"properties":{"networkAcls":{"bypass":"None"}}}`,
			message: "Values for request parameters are invalid: networkAcls.defaultAction.",
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, func(s *setup) { s.sim.TimeScale = 1e6 })
			w.put(groupText, `{"location":"westus2"}`)
			p := &passRunner{world: w, spec: desired(t, refusedAccount, `{"location":"westus2","kind":"StorageV2","sku":{"name":"Standard_LRS"},"properties":{"accessTier":"Hot"}}`)}
			p.spec.APIVersion = "2023-01-01"
			if got := p.pass(); got.Stops() {
				t.Fatalf("creation: %s %s", got.Reason, got.Message)
			}
			p.patch(c.theirs)
			p.patch(`{"properties":{"accessTier":"Cool"}}`)
			w.sim.AddOperationRule(armsim.OperationRule{Type: "*/storageAccounts", On: "update", Count: 1, Spec: armsim.OperationSpec{
				Shape: armsim.ShapeAsync, Polls: 1, Outcome: "Failed", ErrorCode: "InvalidRequestPropertyValue", ErrorMessage: c.message,
			}})
			if got := p.pass(); !got.Stops() || p.refusal == nil || !strings.Contains(got.Message, c.message) {
				t.Fatalf("%s: got %+v and %+v, want a failed operation", c.reason, got, p.refusal)
			}
			before := w.sent(http.MethodPut)
			got := p.pass()
			puts := w.sent(http.MethodPut) - before
			if c.held {
				want(t, got, resource.ActionBlock, resource.ReasonHeld, resource.RetryVerySlow, "properties.minimumTlsVersion", "put: replace")
				want(t, p.pass(), resource.ActionBlock, resource.ReasonHeld, resource.RetryVerySlow, "properties.minimumTlsVersion")
				puts = w.sent(http.MethodPut) - before
			}
			if wanted := map[bool]int{true: 0, false: 1}[c.held]; puts != wanted {
				t.Errorf("%s: %d PUTs after the failed operation, want %d: %s", c.reason, puts, wanted, got.Message)
			}
			if sent := jsonOf(w.lastPut()); !c.held && (strings.Contains(sent, "defaultAction") || !strings.Contains(sent, `"bypass":"None"`)) {
				t.Errorf("%s: sent %s, want it without the refused value", c.reason, sent)
			}
		})
	}
}
