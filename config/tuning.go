package config

import "strconv"

// Worker tunes how much work the process takes from Temporal at a time.
type Worker struct {
	// Pollers is PollersAuto, or the number of pollers for each kind of task.
	Pollers string
	// WorkflowSlots and ActivitySlots are the maximum of tasks that run at the same time
	// with TunerFixed.
	WorkflowSlots int `mapstructure:"workflow-slots"`
	ActivitySlots int `mapstructure:"activity-slots"`
	// Tuner is TunerFixed or TunerResources.
	Tuner string
	// TargetMemory and TargetCPU are the parts of the machine, above 0 and at most 1, up
	// to which TunerResources takes tasks.
	TargetMemory float64 `mapstructure:"target-memory"`
	TargetCPU    float64 `mapstructure:"target-cpu"`
	// Priorities orders waiting activities: what a user asked for, then wakes, then
	// resyncs.
	Priorities bool
	// Fairness shares the workers between subscriptions while activities wait.
	Fairness bool
	// ListsPerSecond is the maximum of list requests of all live workers of the task
	// queue together.
	ListsPerSecond float64 `mapstructure:"lists-per-second"`
	Version        `mapstructure:",squash"`
}

// Values of worker.pollers and worker.tuner.
const (
	PollersAuto    = "auto"
	TunerFixed     = "fixed"
	TunerResources = "resources"
)

// maxPollers bounds a fixed number of pollers.
const maxPollers = 1000

// FixedPollers returns the number of pollers, 0 for PollersAuto.
func (w Worker) FixedPollers() int {
	n, err := strconv.Atoi(w.Pollers)
	if err != nil {
		return 0
	}
	return n
}

// check adds the invalid values.
func (w Worker) check(p *problems) {
	fixed := w.FixedPollers()
	p.require(w.Pollers == PollersAuto || fixed >= 2 && fixed <= maxPollers, "worker.pollers",
		"must be %s, or a number from 2 to %d, not %q", PollersAuto, maxPollers, w.Pollers)
	p.require(w.WorkflowSlots >= 2, "worker.workflow-slots", "must be at least 2, not %d", w.WorkflowSlots)
	p.require(w.ActivitySlots >= 1, "worker.activity-slots", "must be at least 1, not %d", w.ActivitySlots)
	p.oneOf("worker.tuner", w.Tuner, TunerFixed, TunerResources)
	p.require(w.TargetMemory > 0 && w.TargetMemory <= 1, "worker.target-memory", "must be a number above 0 and at most 1, not %v", w.TargetMemory)
	p.require(w.TargetCPU > 0 && w.TargetCPU <= 1, "worker.target-cpu", "must be a number above 0 and at most 1, not %v", w.TargetCPU)
	w.Version.check(p)
	p.require(w.ListsPerSecond > 0, "worker.lists-per-second", "must be a number above 0, not %v", w.ListsPerSecond)
}
