// Package audit owns the audit trail: its records, their keys, and the ways out of the
// worker. A record is one line of JSON. Each line is written at least once; lines with
// the same key describe one event, and the last one of them counts.
//
// The package must not know how a write is decided, and it never sees a body: what
// records contain is masked before it comes here.
package audit
