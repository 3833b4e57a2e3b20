// Package perturb has only tests: the table of perturbations. Each kind of pass runs once
// undisturbed, on the real workflow, the real activities and the simulator. That run records every
// activity, every request to Azure and every request to Temporal. A cell of the table is one of
// these points with one disturbance: the kind runs again, and the disturbance happens at the point.
// A new step, and a new disturbance, has its cells without being named.
//
// The harness of these cells is one workflow in the SDK's test environment, on virtual time, with
// an in-memory port to the fleet: it has the loss of a worker within an activity, and neither the
// replay of a workflow nor a second workflow. `make perturb` runs all cells, and the tests of the
// module a tenth of them, another one for each commit.
package perturb
