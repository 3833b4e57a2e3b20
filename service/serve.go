package service

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/KimMachineGun/automemlimit/memlimit"
	"github.com/armature-io/armature/searchattr"
	"github.com/armature-io/armature/workflows"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/worker"
)

// httpTimeout bounds reading a request's header and the HTTP server's stop.
const httpTimeout = 5 * time.Second

// knownTimeout bounds how long a worker that registered search attributes waits
// until the server takes them.
const knownTimeout = time.Minute

// stopError says that trying again mends nothing.
type stopError struct{ error }

func (e stopError) Unwrap() error { return e.error }

// serve runs HTTP server, watch and worker until ctx is done.
func (w *parts) serve(ctx context.Context) error {
	background, stopBackground := context.WithCancel(context.WithoutCancel(ctx))
	tuneMemory(w.log, memlimit.FromCgroup)
	var group sync.WaitGroup
	defer group.Wait()
	defer stopBackground()
	group.Go(func() { w.serveHTTP(background) })
	group.Go(func() { w.health.watch(background) })
	if w.rules != nil && w.settings.Rules.Reload > 0 {
		group.Go(func() { w.rules.Watch(background, w.settings.Rules.Reload, w.log) })
	}
	w.log.Info("worker starts", "namespace", w.namespace, "taskQueue", w.settings.TaskQueue,
		"cloud", w.settings.Azure.Cloud, "credential", w.settings.Azure.Credential)
	said := ""
	for ctx.Err() == nil {
		err := w.work(ctx)
		if stop := (stopError{}); errors.As(err, &stop) {
			return stop.error
		}
		// What is out of reach, the watch has said.
		if err != nil && ctx.Err() == nil && !isUnreachable(err) && err.Error() != said {
			said = err.Error()
			w.log.Error("worker cannot serve, going on trying", "error", err)
		}
		pause(ctx, lookDown)
	}
	w.log.Info("worker stopped")
	return nil
}

// work starts a worker and waits for ctx or a fault that ends the worker.
func (w *parts) work(ctx context.Context) error {
	if err := w.prepareNamespace(ctx); err != nil {
		return err
	}
	fatal := make(chan error, 1)
	worker.SetStickyWorkflowCacheSize(w.settings.WorkflowCache) // of the process, before its first worker starts
	running := worker.New(w.temporal, w.settings.TaskQueue, worker.Options{
		WorkerStopTimeout: w.settings.StopTimeout,
		DeploymentOptions: w.deployment,
		OnFatalError: func(err error) {
			select {
			case fatal <- err:
			default: // the first one is enough
			}
		},
	})
	workflows.Register(running)
	workflows.RegisterActivities(running, w.activities)
	if err := running.Start(); err != nil {
		return fmt.Errorf("start worker: %w", err)
	}
	w.health.serve(true)
	w.log.Info("worker serves", "taskQueue", w.settings.TaskQueue)
	defer running.Stop()
	defer w.health.serve(false)
	select {
	case <-ctx.Done():
		w.log.Info("worker stops", "stopTimeout", w.settings.StopTimeout.String())
		return nil
	case err := <-fatal:
		return fmt.Errorf("serve task queue: %w", err)
	}
}

// prepareNamespace registers the search attributes that are missing. A namespace
// that lacks them and does not let us is a stopError; one that does not even let
// us look is taken as prepared.
func (w *parts) prepareNamespace(parent context.Context) error {
	ctx, cancel := context.WithTimeout(parent, 2*lookTimeout)
	defer cancel()
	operator, want := w.temporal.OperatorService(), workflows.SearchAttributes()
	missing, err := searchattr.Missing(ctx, operator, w.namespace, want)
	mismatch := (*searchattr.TypeError)(nil)
	unimplemented := (*serviceerror.Unimplemented)(nil)
	switch {
	case errors.As(err, &mismatch):
		return stopError{err}
	case searchattr.Denied(err) || errors.As(err, &unimplemented):
		w.log.Warn("search attributes cannot be looked at; if workflows fail, run armature setup", "namespace", w.namespace, "error", err)
		return nil
	case err != nil:
		return err
	case len(missing) == 0:
		return nil
	}
	_, err = searchattr.Register(ctx, operator, w.namespace, want)
	switch {
	case searchattr.Denied(err) || errors.As(err, &unimplemented):
		return stopError{fmt.Errorf("namespace %s lacks the search attributes %s, and this worker may not register them: run `armature setup` as somebody who may",
			w.namespace, strings.Join(missing, ", "))}
	case errors.As(err, &mismatch):
		return stopError{err}
	case err != nil:
		return err
	}
	w.log.Info("search attributes registered", "namespace", w.namespace, "names", missing)
	// Else whoever waits for readiness and then applies would be refused.
	known, cancelKnown := context.WithTimeout(parent, knownTimeout)
	defer cancelKnown()
	if err := searchattr.WaitKnown(known, w.temporal, w.namespace, want); err != nil && parent.Err() == nil {
		w.log.Warn("search attributes are not known everywhere yet, serving all the same", "namespace", w.namespace, "error", err)
	}
	return nil
}

// serveHTTP serves health and metrics until ctx is done.
func (w *parts) serveHTTP(ctx context.Context) {
	if w.listener == nil {
		return
	}
	server := &http.Server{Handler: w.health.handler(w.metrics.handler()), ReadHeaderTimeout: httpTimeout}
	stopped := context.AfterFunc(ctx, func() {
		limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), httpTimeout)
		defer cancel()
		_ = server.Shutdown(limited) // what is still open then ends with the process
	})
	defer stopped()
	if err := server.Serve(w.listener); err != nil && !errors.Is(err, http.ErrServerClosed) {
		w.log.Error("health and metrics are no longer served", "error", err)
	}
}
