package service

import (
	"context"
	"fmt"
	"os"

	"github.com/armature-io/armature/workflows"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/worker"
)

// workerIdentity returns the identity of this process in Temporal, as the SDK makes it, without
// the fingerprint of its checks.
func workerIdentity() string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return fmt.Sprintf("%d@%s@", os.Getpid(), host)
}

// serveConfirmations serves the task queue on which this worker alone confirms freezes, and
// returns what ends that. It must not hold up the worker: without it, a freeze names this
// worker as one that has not confirmed.
func (p *process) serveConfirmations() (stop func()) {
	w := worker.New(p.temporal, workflows.ConfirmTaskQueue(p.settings.TaskQueue, p.identity), worker.Options{
		Identity: p.identity, DisableWorkflowWorker: true,
		MaxConcurrentActivityExecutionSize: 2, MaxConcurrentActivityTaskPollers: 1,
	})
	w.RegisterActivityWithOptions(func(ctx context.Context) (workflows.ConfirmFreezeResult, error) {
		return p.fleet.ConfirmFreeze(ctx)
	}, activity.RegisterOptions{Name: workflows.ConfirmFreezeActivity})
	if err := w.Start(); err != nil {
		p.log.Warn("cannot confirm freezes to users, and honours them", "error", err)
		return func() {}
	}
	return w.Stop
}
