package service

import (
	"context"
	"os"
	"time"

	"github.com/armature-io/armature/config"
	"github.com/armature-io/armature/workflows"
	"github.com/google/uuid"
)

// startFreeze returns the freeze with which a worker starts. A setting that freezes at
// every start has a name of its own each time.
func startFreeze(start config.Start) workflows.Freeze {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	name, reason := string(start), "workers were started with start-frozen "+string(start)
	if start == config.StartAlways {
		name, reason = uuid.NewString(), "a worker was started with start-frozen"
	}
	return workflows.Freeze{
		By: "worker@" + host, Start: name, Since: time.Now().UTC(),
		Reason: reason + ": check armature drift first",
	}
}

// keepFrozen sets the freeze of the start in Temporal. Until then this worker writes
// nothing by itself.
func (p *process) keepFrozen(ctx context.Context) {
	logged := ""
	known, err := p.fleet.KeepFrozen(ctx, func(err error) {
		if err.Error() != logged {
			logged = err.Error()
			p.log.Warn("the freeze of the start is not in Temporal yet, retrying; this worker writes nothing meanwhile", "error", err)
		}
	})
	switch {
	case err != nil: // the worker stops
	case known:
		p.log.Warn("the freeze of this start was set before: a user lifts it, or has lifted it; remove start-frozen from the configuration",
			"startFrozen", string(p.settings.StartFrozen))
	default:
		p.log.Warn("everything is frozen: check armature drift, then lift the freeze with armature unfreeze", "startFrozen", string(p.settings.StartFrozen))
	}
}
