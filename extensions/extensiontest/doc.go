// Package extensiontest owns the test kit for authors of extensions: the cases that
// every checker must pass, in one call, and test doubles for a checker's inputs.
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
// state; every state in several cases of letters; an error from the next link; that
// next is called exactly once where it must be; that no input changes; and the
// number of requests.
package extensiontest
