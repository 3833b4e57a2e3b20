// Package expression owns the language of conditions and texts: CEL (cel.dev) with
// property names that ignore case, null for whatever is absent, functions for bodies of
// ARM, and bounds for what one evaluation takes. It must not know which variables there
// are, nor who writes expressions.
//
// An evaluation ends at MaxCost units of CEL or with its context.
package expression
