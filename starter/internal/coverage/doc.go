// Package coverage owns which resources of a scope have a workflow, and which of the others
// need one: the classes, the ignore file, and the formats. It knows neither flags nor Temporal:
// the caller walks the scope.
package coverage
