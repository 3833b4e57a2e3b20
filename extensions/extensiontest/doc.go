// Package extensiontest owns the test kit for authors of extensions: the cases that
// every checker must pass, in one call, and test doubles for a checker's inputs.
// Package extensions/passtest runs a whole pass instead, with the waits between passes.
//
//	func TestThing(t *testing.T) {
//		extensiontest.Run(t, extensiontest.Suite{
//			Entry: extensions.Entry{Type: "Contoso.Things/things", Link: Thing{}},
//			ID:    "/subscriptions/s/resourceGroups/rg/providers/Contoso.Things/things/t1",
//			Self: []extensiontest.States{{
//				Path: "properties.provisioningState", Block: []string{"Baking"}, Pass: []string{"Succeeded"},
//				Message: `Thing is in provisioning state %q`,
//			}},
//		})
//	}
//
// Run calls the link between the registry and a probe in place of the rest of the
// chain. It covers: no owner; an owner of another type; an absent, null and odd
// state; every state in several cases of letters; an error from the next link; reads
// that fail; that next is called exactly once where it must be, with what the link
// received; that no input changes; that a second call with the same input has the same
// result; the time of a call; and the number of requests.
//
// A check that reads another resource names it in Suite.Resources, and a check of the
// state of that resource in States.Of:
//
//	Resources: map[string]string{environment: `{"properties": {}}`},
//	Self: []extensiontest.States{{
//		Of: environment, Path: "properties.provisioningState", Block: []string{"Updating"}, Pass: []string{"Succeeded"},
//	}},
package extensiontest
