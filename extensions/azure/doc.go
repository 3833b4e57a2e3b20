// Package azure owns what Armature knows about single Azure resource types:
// checks of states, modifiers, deleters, importers, error classes, and the facts
// of types (families that change one at a time, leaves, inline children, stopped
// states). It is written against the public API of package extensions only, so a
// worker's own extensions can do the same.
//
// One file holds one type, named after its provider and last type segment, such
// as kusto_database.go. Tables of types that differ in a few words only share a
// file: state_checks.go, fixed_children.go, classifier_rows.go, families.go,
// stopped.go. The package knows no Temporal and sends no request except through
// the client that a link gets.
package azure
