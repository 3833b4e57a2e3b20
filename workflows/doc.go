// Package workflows owns ReconcileResource: the durable loop that keeps one ARM
// resource the way its manifest says. It remembers and waits; every decision is
// taken by an activity. So it must not know ARM, drift or extensions, and it
// reads no clock, no map order, no registry and no network: the same history
// always gives the same commands.
package workflows
