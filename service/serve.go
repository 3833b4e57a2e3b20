package service

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/KimMachineGun/automemlimit/memlimit"
	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/internal/payload"
	"github.com/armature-io/armature/internal/searchattr"
	"github.com/armature-io/armature/internal/serverversion"
	"github.com/armature-io/armature/internal/tracing"
	"github.com/armature-io/armature/workflows"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/worker"
)

// httpTimeout bounds reading a request's header and stopping the HTTP server.
const httpTimeout = 5 * time.Second

// knownTimeout bounds the wait of a worker that registered search attributes until
// the server accepts them.
const knownTimeout = time.Minute

// permanentError marks an error that retries do not fix.
type permanentError struct{ error }

// isPermanent reports whether an error ends the worker.
func isPermanent(err error) bool {
	_, permanent := errors.AsType[permanentError](err)
	_, mismatch := errors.AsType[*searchattr.TypeError](err)
	return permanent || mismatch
}

// serve runs the HTTP server, the health checks and the worker until ctx is done.
func (p *process) serve(ctx context.Context) error {
	background, stopBackground := context.WithCancel(context.WithoutCancel(ctx))
	defer runtime.KeepAlive(tuneMemory(p.log, memlimit.FromCgroup))
	var group sync.WaitGroup
	defer group.Wait()
	defer stopBackground()
	group.Go(func() { p.serveHTTP(background) })
	group.Go(func() { p.health.watch(background) })
	if p.rules != nil && p.settings.Rules.Reload > 0 {
		group.Go(func() {
			p.rules.Watch(background, p.settings.Rules.Reload, p.log, func() { p.log.Info("the checks of this worker changed", "checks", p.checks()) })
		})
	}
	if p.settings.Metrics.Interval > 0 && p.listener != nil {
		group.Go(func() { p.state.watch(background, p.fleet, p.identity, p.log) })
	}
	for _, verifier := range p.callers {
		group.Go(func() {
			verifier.KeepKeys(background, func(err error) {
				p.log.Warn("cannot read the keys of an issuer of tokens", "issuer", verifier.Keys().Issuer, "error", err)
			})
		})
	}
	if p.settings.StartFrozen != "" {
		group.Go(func() { p.keepFrozen(background) })
	}
	group.Go(func() { p.restoreFreezes(background) })
	if len(p.feeds) > 0 {
		group.Go(func() { p.followFeeds(background) })
	}
	p.log.Info("worker starts", "namespace", p.namespace, "taskQueue", p.settings.TaskQueue,
		"cloud", p.settings.Azure.Cloud, "credential", p.settings.Azure.Credential, "readOnly", p.settings.ReadOnly,
		"deployment", p.version.Version.DeploymentName, "buildID", p.version.Version.BuildID, "checks", p.checks())
	logged := ""
	for ctx.Err() == nil {
		err := p.work(ctx)
		if isPermanent(err) {
			return err
		}
		// The health checks log an unreachable server.
		if err != nil && ctx.Err() == nil && !isUnreachable(err) && err.Error() != logged {
			logged = err.Error()
			p.log.Error("cannot start worker, retrying", "error", err)
		}
		sleep(ctx, downInterval)
	}
	p.log.Info("worker stopped")
	return nil
}

// work starts a worker and waits until ctx is done or the worker fails.
func (p *process) work(ctx context.Context) error {
	if err := p.checkServer(ctx); err != nil {
		return err
	}
	if err := p.prepareNamespace(ctx); err != nil {
		return err
	}
	p.warnOfKeys(ctx)
	fatal := make(chan error, 1)
	worker.SetStickyWorkflowCacheSize(p.settings.WorkflowCache) // per process, before its first worker starts
	options := p.workerOptions()
	options.OnFatalError = func(err error) {
		select {
		case fatal <- err:
		default: // the first error is enough
		}
	}
	if p.authorizer != nil {
		options.Interceptors = append(options.Interceptors, p.authorizer)
	}
	if err := tune(&options, p.settings.Worker); err != nil {
		return permanentError{err}
	}
	w, closeClient, err := p.startWorker(ctx, p.settings.TaskQueue, options)
	if err != nil {
		return err
	}
	defer closeClient()
	defer p.serveConfirmations()()
	p.settleVersion(ctx)
	p.health.setServing(true)
	p.log.Info("worker serves", "taskQueue", p.settings.TaskQueue)
	defer p.finishWakes()
	defer w.Stop()
	defer p.health.setServing(false)
	select {
	case <-ctx.Done():
		p.log.Info("worker stops", "stopTimeout", p.settings.StopTimeout.String())
		return nil
	case err := <-fatal:
		return fmt.Errorf("serve task queue: %w", err)
	}
}

// workerOptions returns the options of a worker of this process.
func (p *process) workerOptions() worker.Options {
	return worker.Options{
		WorkerStopTimeout: p.settings.StopTimeout,
		// The SDK gives a heartbeat this time to reach Temporal, half of it for one try, and ends
		// the activity otherwise. Two intervals leave a third of the timeout for a slow Temporal.
		MaxHeartbeatThrottleInterval: 2 * activities.HeartbeatInterval,
		DeploymentOptions:            p.version.DeploymentOptions,
		Plugins:                      p.plugins,
		Interceptors: []interceptor.WorkerInterceptor{
			tracing.NewActivityInterceptor(p.traces.Tracer(), activities.TraceFacts),
			activities.NewInterceptor(p.activities, p.converters.Data),
			&starts{log: p.log}, p.lifts, payload.NewInterceptor(),
		},
	}
}

// startWorker returns a worker that polls a task queue, and what closes its client once it
// stopped.
func (p *process) startWorker(ctx context.Context, taskQueue string, options worker.Options) (worker.Worker, func(), error) {
	polling := p.connection
	p.converters.ApplyForWorker(&polling)
	temporal, err := client.NewClientFromExistingWithContext(ctx, p.temporal, polling)
	if err != nil {
		return nil, nil, fmt.Errorf("start worker: %w", err)
	}
	w, err := newWorker(temporal, taskQueue, options)
	if err == nil {
		workflows.Register(w)
		workflows.RegisterActivities(w, p.activities)
		if err = w.Start(); err != nil {
			err = fmt.Errorf("start worker: %w", err)
		}
	}
	if err != nil {
		temporal.Close()
		return nil, nil, err
	}
	return w, temporal.Close, nil
}

// newWorker returns a worker. The SDK panics with the error of a plugin.
func newWorker(temporal client.Client, taskQueue string, options worker.Options) (w worker.Worker, err error) {
	defer func() {
		if value := recover(); value != nil {
			err = permanentError{fmt.Errorf("configure the worker: %v", value)}
		}
	}()
	return worker.New(temporal, taskQueue, options), nil
}

// finishWakes makes the wakes that this worker promised, within httpTimeout: no workflow
// waits for them.
func (p *process) finishWakes() {
	ctx, cancel := context.WithTimeout(context.Background(), httpTimeout)
	defer cancel()
	activities.FinishWakes(ctx, p.activities)
}

// checkServer returns a permanent error if the Temporal server is too old. A server that
// does not say its version passes: the next step reports why it does not answer.
func (p *process) checkServer(parent context.Context) error {
	ctx, cancel := context.WithTimeout(parent, checkTimeout)
	defer cancel()
	info, err := p.temporal.WorkflowService().GetSystemInfo(ctx, &workflowservice.GetSystemInfoRequest{})
	if err != nil {
		return nil //nolint:nilerr // the next step reports it
	}
	if err := serverversion.Check(info.GetServerVersion()); err != nil {
		return permanentError{fmt.Errorf("%w: %s", err, serverversion.Advice)}
	}
	return nil
}

// prepareNamespace registers the missing search attributes. A namespace that lacks them
// and denies the registration is a permanent error. If it denies even the list, they are
// assumed to be registered.
func (p *process) prepareNamespace(parent context.Context) error {
	ctx, cancel := context.WithTimeout(parent, 2*checkTimeout)
	defer cancel()
	operator, required := p.temporal.OperatorService(), workflows.SearchAttributes()
	missing, err := searchattr.Missing(ctx, operator, p.namespace, required)
	switch {
	case searchattr.Denied(err):
		p.log.Warn("cannot list search attributes; if workflows fail, run armature setup", "namespace", p.namespace, "error", err)
		return nil
	case err != nil || len(missing) == 0:
		return err
	}
	_, err = searchattr.Register(ctx, operator, p.namespace, required)
	switch {
	case searchattr.Denied(err):
		return permanentError{fmt.Errorf("namespace %s lacks the search attributes %s, and this worker may not register them: run `armature setup` with the permission to do so",
			p.namespace, strings.Join(missing, ", "))}
	case err != nil:
		return err
	}
	p.log.Info("search attributes registered", "namespace", p.namespace, "names", missing)
	// Otherwise a script that waits for readiness and then applies could be refused.
	known, cancelKnown := context.WithTimeout(parent, knownTimeout)
	defer cancelKnown()
	if err := searchattr.WaitKnown(known, p.temporal, p.namespace, required); err != nil && parent.Err() == nil {
		p.log.Warn("search attributes are not available on all frontends yet, serving anyway", "namespace", p.namespace, "error", err)
	}
	return nil
}

// serveHTTP serves health and metrics until ctx is done.
func (p *process) serveHTTP(ctx context.Context) {
	if p.listener == nil {
		return
	}
	server := &http.Server{Handler: p.health.handler(p.metrics.handler()), ReadHeaderTimeout: httpTimeout}
	removeShutdown := context.AfterFunc(ctx, func() {
		limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), httpTimeout)
		defer cancel()
		_ = server.Shutdown(limited) // remaining connections end with the process
	})
	defer removeShutdown()
	if err := server.Serve(p.listener); err != nil && !errors.Is(err, http.ErrServerClosed) {
		p.log.Error("HTTP server failed, health and metrics are unavailable", "error", err)
	}
}
