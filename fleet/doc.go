// Package fleet asks Temporal about the managed resources, wakes those who wait,
// and keeps the turns of siblings: what the activities need to know beyond the
// one resource that they work on. Lists go by visibility, of which a namespace
// has few requests a second, so calls that come together are joined. It knows
// nothing of ARM.
package fleet
