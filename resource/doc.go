// Package resource owns the vocabulary that every other package speaks. It
// knows no ARM client, no Temporal and no extension.
//
// The words:
//
//   - ID: an ARM resource ID; everything about a resource that its ID alone
//     tells (type, owner, workflow ID) is a method of it.
//   - Desired: what a manifest asks for. Observed: what the last GET returned,
//     with secret values masked. An Object holds both.
//   - Owner: the parent in ARM; nil at a root. Reference: another resource
//     that a body names.
//   - Pass: one run through the five steps owner check, GET, pre-check, PUT,
//     post-check.
//   - Verdict: what a step decided: Action, Reason, message, RetryClass.
//   - Difference: one path where observed is not as desired.
//   - Condition: the Ready condition, the sum of the verdicts of a pass.
//
// Everything here is a value that survives a JSON round trip, because it lives
// in workflow histories: a field may be added, never renamed.
package resource
