// Package activities owns the steps of a pass: it decides, from ARM's responses,
// the extensions and the comparison, and returns its decision as a
// resource.Verdict. It must not know workflows. Every exported method of Activities
// is an activity; its input and result are in histories, so a field may be added,
// never renamed.
//
// Expected outcomes (blocked, throttled, refused, in sync) are results. Errors are
// transient errors of the transport and the "not yet" of a poll: Temporal retries
// them after the delay that each of them carries.
//
// The worker and the CLI use this package. It promises no stability to other programs.
package activities
