// Package signing owns the signatures of specs and deletions: what they cover, how they
// are made with a private key, and how they are verified. A worker with public keys
// writes only what a holder of a private key signed, so that write access to a Temporal
// namespace alone changes nothing in Azure.
//
// The signed bytes are one text: a header with version, kind, namespace and time, and the
// JSON of the spec or order. They must never change for a value that exists; a test
// compares them with recorded ones.
//
// The package must not know Temporal, ARM, or where keys are kept.
package signing
