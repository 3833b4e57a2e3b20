package service

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/config"
	"github.com/armature-io/armature/internal/text"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/workflows"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"
)

const tryUsage = `Usage: worker try ID[@API-VERSION] [flags]

worker try reads a resource as a pass does, runs each check of this program for its type by
itself, those in Go and the rules of --rules-path, and shows what each would do now. It has the
configuration of the worker, takes its tasks from a queue of its own, sends GET requests only,
and changes nothing.

Exit codes: 0 all checks decided, 1 one failed or the resource cannot be read, 2 wrong flags.
`

// tryTimeout bounds a trial, with the start of its worker.
const tryTimeout = 2 * time.Minute

// tryArguments returns the flags, and the trial of the resource that the first argument names;
// nil without one.
func tryArguments(args []string) ([]string, func(context.Context, config.Config, Options) error) {
	if len(args) == 0 || !strings.HasPrefix(args[0], "/") {
		return args, nil
	}
	return args[1:], func(ctx context.Context, settings config.Config, options Options) error {
		return try(ctx, args[0], settings, options)
	}
}

// try runs the checks of this program for one resource, on a worker that polls a queue of its
// own.
func try(ctx context.Context, target string, settings config.Config, options Options) error {
	named, version, _ := strings.Cut(target, "@")
	id, err := resource.ParseID(named)
	if err != nil {
		return &ConfigError{err}
	}
	settings.HTTP.Listen, settings.StartFrozen = "", ""
	p, err := assemble(ctx, settings, options)
	if err != nil {
		return err
	}
	defer p.close()
	ctx, cancel := context.WithTimeout(ctx, tryTimeout)
	defer cancel()
	workerOptions := p.workerOptions()
	workerOptions.DeploymentOptions = worker.DeploymentOptions{}
	run := fmt.Sprintf("%s%016x", workflows.TryIDPrefix, rand.Uint64())
	w, closeClient, err := p.startWorker(ctx, run, workerOptions)
	if err != nil {
		return err
	}
	defer closeClient()
	defer w.Stop()
	var result activities.TryChecksResult
	started, err := p.temporal.ExecuteWorkflow(ctx, client.StartWorkflowOptions{ID: run, TaskQueue: run, WorkflowExecutionTimeout: tryTimeout},
		workflows.TryChecksWorkflow, activities.TryChecksInput{ID: id, APIVersion: version})
	if err == nil {
		err = started.Get(ctx, &result)
	}
	switch {
	case err != nil:
		return fmt.Errorf("try the checks of %s: %w", id.Short(), err)
	case result.Verdict.Stops():
		return errors.New(text.OneLine(result.Verdict.Text()))
	}
	for _, line := range result.Lines() {
		fmt.Fprintln(options.Stdout, line)
	}
	if failed := result.Failed(); failed > 0 {
		return fmt.Errorf("%d of %d checks failed: a pass stops where a check cannot decide", failed, len(result.Trials))
	}
	return nil
}
