// Package azure owns what Armature knows about single Azure resource types:
// checks of states, modifiers, deleters, importers, error classes, and the facts
// of types, facts.yaml. It is written against the public API of package extensions only, so a
// worker's own extensions can do the same.
//
// One file holds one type, named after its provider and last type segment, such
// as kusto_database.go. A type that differs from others in facts only is a row of
// facts.yaml. The package knows no Temporal and sends no request except through
// the client that a link gets.
package azure
