// Package passtest runs the passes of one resource in a test of an extension: the real
// workflow, the real activities and the real client of ARM, against the simulator, in
// virtual time. An hour takes less than a second. It shows what package extensiontest
// cannot: what a verdict does to the resource, and when the next pass follows.
//
//	func TestThingWaits(t *testing.T) {
//		result := passtest.Run(t, extensions.Entry{Type: "Contoso.Things/things", Link: Thing{}}, passtest.Script{
//			Manifest: manifest,
//			Azure:    map[string]string{peer: `{"properties": {"state": "Updating"}}`},
//			Events:   []passtest.Event{{After: 10 * time.Minute, ID: peer, Patch: `{"properties": {"state": "Running"}}`}},
//		})
//		first := result.Passes[0]
//		if first.Condition.Reason != resource.ReasonReconciliationBlocked || first.Wait > 2*time.Second {
//			t.Error(result)
//		}
//		if at, ready := result.ReadyAfter(); !ready || at > 13*time.Minute {
//			t.Error(result)
//		}
//	}
//
// The registry is that of a worker: the built-in extensions and the entry. Nothing else
// is managed, and nothing is frozen. Result prints as a timeline.
package passtest
