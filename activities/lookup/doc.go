// Package lookup caches what this worker has read lately: owners, references,
// api-versions of types, and decoded bodies. It must not know verdicts, steps of a
// pass or Temporal; package activities decides what a reading means.
package lookup
