// Package extensiontest is a kit for authors of extensions: the cases that every
// checker must pass, in one call, and doubles for what a checker is given.
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
// Run tries the link alone between the registry and a probe that stands for the
// rest of the chain: no owner, an owner of another type, an absent, null and odd
// state, every state in several spellings of case, an error from further down the
// chain, whether next is called exactly when it should be, that no input is
// changed, and how many requests the link makes.
package extensiontest
