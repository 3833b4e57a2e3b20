// Package activities owns the steps of a pass: it decides, from ARM's answers,
// the extensions and the comparison, and says what it decided in a
// resource.Verdict. It knows no workflow. Every exported method of Activities
// is an activity; its input and result live in histories, so a field may be
// added, never renamed.
//
// Expected answers (blocked, throttled, refused, in sync) are results. Errors
// are faults of the transport and "not yet" of a poll: Temporal retries them,
// after the delay that each of them carries.
package activities
