// Package workflows owns ReconcileResource, the durable loop that keeps one ARM
// resource the way its manifest describes, and the smaller workflows beside it: freezes, the
// queue of turns, and dry runs. Workflows keep state and wait; activities take every
// decision. So the package must not know ARM, drift or extensions, and it reads no
// clock, no map order, no registry and no network: the same history always gives the
// same commands.
//
// The worker and the CLI use this package. It promises no stability to other programs.
package workflows
