// Package fleet reads the managed resources from Temporal, wakes waiting resources,
// requests the turns of siblings and reads freezes: what activities need beyond the one
// resource that they work on. Lists use visibility, of which a namespace has few
// requests per second, so concurrent calls are batched. It must not know ARM.
package fleet
