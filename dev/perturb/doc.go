// Package perturb has only tests: the table of perturbations on the embedded Temporal server. Each
// kind of pass runs once undisturbed, with the product's worker as a process and the simulator of
// Azure. That run records every request of the worker to Azure and to Temporal, and every task that
// it gets from Temporal. A cell of the table is one of these points with one disturbance: the
// worker is killed, cut off or stopped, Temporal is slow, a list lags, or another workflow gets the
// opposite message. A new step, and a new disturbance, has its cells without being named.
//
// Each cell has its own worker processes, task queue, simulator and resource group; all share one
// server. The harness has what the test environment of the SDK in workflows/perturb lacks: the loss
// of a worker between tasks, replays on another worker, and several workflows. Its time is real, so
// it has fewer kinds. `make perturb` runs all cells of both, and `make test` a tenth.
package perturb
