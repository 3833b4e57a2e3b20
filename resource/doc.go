// Package resource owns the vocabulary of every other package. It imports no ARM
// client, no Temporal and no extension.
//
// The terms:
//
//   - ID: an ARM resource ID; everything that follows from the ID alone
//     (type, owner, workflow ID) is a method of it.
//   - Desired: the desired state of a manifest. Observed: the result of the last
//     GET, with secret values masked. An Object has both.
//   - Target: the part of Desired that a read needs.
//   - Owner: the parent in ARM; nil at a root. Reference: another resource
//     that a body refers to.
//   - Pass: one run through the five steps owner check, GET, pre-check, PUT,
//     post-check.
//   - Verdict: the decision of a step: Action, Reason, message, RetryClass.
//   - Difference: one path where observed differs from desired.
//   - Condition: the Ready condition, the result of the verdicts of a pass.
//
// Every type here survives a JSON round trip, because its values are stored in
// workflow histories: a field may be added, never renamed.
package resource
