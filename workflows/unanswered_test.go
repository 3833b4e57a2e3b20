package workflows_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/armsim"
	"github.com/armature-io/armature/resource"
)

// TestUnansweredCreation loses the answer to the PUT of a creation of which Azure overrides a
// value. What was absent before and exists now is the result of that PUT: it is verified. Values
// of another tool are corrected.
//
//guard:lost-answers-of-creations
func TestUnansweredCreation(t *testing.T) {
	const account = `{"location":"westus2","kind":"StorageV2","sku":{"name":"Standard_LRS"},"tags":{"team":"a"},"properties":{"minimumTlsVersion":"TLS1_2","primaryLocation":"eastus"}}`
	foreign := strings.NewReplacer(`"team":"a"`, `"team":"b"`, "TLS1_2", "TLS1_0").Replace(account)
	for name, c := range map[string]struct {
		reason string
		fault  armsim.Fault
		// other is what another tool creates meanwhile; the PUT is lost.
		other string
		// reads are the reads that fail after the PUT.
		reads, puts int
	}{
		"answer lost":                {reason: "the next attempt verifies", fault: armsim.Fault{Applied: true, Reset: true, Count: 1}, puts: 1},
		"503":                        {reason: "the PUT took effect all the same", fault: armsim.Fault{Applied: true, Status: 503, Count: 1}, puts: 1},
		"reads lost too":             {reason: "the activity gives up, and the next pass verifies", fault: armsim.Fault{Applied: true, Reset: true, Count: 1}, reads: 30, puts: 1},
		"other creation":             {reason: "tags of another tool are corrected", fault: armsim.Fault{Reset: true, Count: 1}, other: foreign, puts: 2},
		"other creation, reads lost": {reason: "also by a later pass", fault: armsim.Fault{Reset: true, Count: 1}, reads: 30, other: foreign, puts: 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			spec := specOf("Microsoft.Storage/storageAccounts/unanswered1", "2023-05-01", account)
			spec.Interval, spec.Owner = time.Hour, spec.ID.Owner()
			s := newSimulated(t, spec, func(o *armsim.Options) {
				o.Operations = []armsim.OperationRule{{Type: "*/*", Spec: armsim.OperationSpec{Shape: armsim.ShapeSync}}}
			})
			c.fault.Method, c.fault.Type = "PUT", spec.ID.Type()
			s.sim.AddFault(c.fault)
			if c.reads > 0 {
				s.sim.AddFault(armsim.Fault{Method: "GET", Type: spec.ID.Type(), After: 1, Count: c.reads, Status: 503})
			}
			if c.other != "" {
				s.after(time.Second, func(sim *armsim.Simulator) {
					must(t, sim.Put(spec.ID.String(), decodedJSON(t, c.other).(map[string]any)))
				})
			}
			s.apply(spec)
			last := s.statusAt(5 * time.Hour)
			s.start(6 * time.Hour)
			if got := s.requests("PUT", spec.ID); got != c.puts || !last.Condition.Ready || last.Condition.Reason == resource.ReasonChangeNotTaken {
				t.Errorf("%s: %d PUTs, want %d; %s %s", c.reason, got, c.puts, last.Condition.Reason, last.Condition.Message)
			}
			if stored := fmt.Sprint(s.stored(spec.ID)); !strings.Contains(stored, "team:a") || !strings.Contains(stored, "TLS1_2") {
				t.Errorf("%s: Azure has %s", c.reason, stored)
			}
		})
	}
}
