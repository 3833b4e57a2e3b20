// Package drift decides whether a resource matches its manifest, and where it
// differs. It compares meanings, not bytes: Azure returns other spellings, fills in
// defaults, hides secrets, and adds values that no manifest states.
//
// It has three inputs: desired, observed, and the Baseline (the differences that
// remained after a successful PUT, which Azure therefore keeps). A value that
// desired does not state is never a difference. A value that desired states and
// observed lacks always is, unless a rule or the baseline explains it: "absent from
// the GET means equal" would hide 39 % of the real drift in recorded traffic.
//
// Every rule is one small function in the table of rules.go. A rule describes a
// form of value, never a recorded name or value.
//
// The package imports no ARM client and no Go code of a resource type. Values are
// decoded JSON with json.Number.
package drift
