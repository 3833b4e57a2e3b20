// Package drift decides whether a resource is as its manifest says, and where
// not. It compares meanings, not bytes: Azure gives back other spellings,
// fills in defaults, hides secrets, and adds what nobody asked for.
//
// Three sources: desired, observed, and Memory (the differences that stayed
// after a good PUT, so Azure keeps them). What desired does not state is never
// a difference; what desired states and observed lacks always is, unless a rule
// or the memory says otherwise: "absent from the GET means equal" would hide
// 39 % of the real drift in recorded traffic.
//
// Every rule is one small function in the table of rules.go. A rule names a
// form of value, never a recorded name or value.
//
// The package knows no ARM client and no resource type's Go code; values come
// in as decoded JSON with json.Number.
package drift
