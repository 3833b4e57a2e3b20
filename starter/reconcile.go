package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/workflows"
	"github.com/spf13/cobra"
)

func (a *app) reconcileCommand() *cobra.Command {
	var (
		input   workflows.ReconcileInput
		targets selection
		wait    bool
		yes     bool
		timeout time.Duration
	)
	c := &cobra.Command{
		Use:   "reconcile NAME|ID... | -l SELECTOR",
		Short: "Run a pass now instead of at the next try",
		Long: `reconcile asks for a pass at once. --force skips, in that pass only, the owner
check and the guard against operations in flight; who did it and why stands in
the workflow's history. With --force or --drop-baseline, -l and --all ask first
(--yes answers; needed off a terminal).

` + exitHelp,
		Example: "  armature reconcile adx --wait\n  armature reconcile -l stack=prod\n  armature reconcile adx/telemetry --force --reason \"the cluster hangs in Updating, INC-42\"",
		RunE: func(c *cobra.Command, args []string) error {
			switch {
			case input.Force && input.Reason == "":
				return badInput("--force needs --reason: it stands in the history beside your name")
			case timeout < 0:
				return badInput("--timeout %s is negative; 0 means no limit", timeout)
			}
			input.By = a.by
			targets.names = args
			return a.reconcile(c.Context(), targets, reconciling{ReconcileInput: input, wait: wait, yes: yes, timeout: timeout})
		},
	}
	c.Flags().BoolVar(&input.Force, "force", false, "skip owner check and in-flight guard once (needs --reason)")
	c.Flags().BoolVar(&input.DropBaseline, "drop-baseline", false, "forget the differences that Azure keeps, so that they are written again")
	c.Flags().StringVar(&input.Reason, "reason", "", "why, for the history")
	a.addChooser(c, &targets, "everything that is managed")
	c.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	c.Flags().BoolVar(&wait, "wait", false, "wait until that pass made it Ready")
	c.Flags().DurationVar(&timeout, "timeout", defaultTimeout, "how long --wait waits; 0 = no limit")
	return c
}

// reconciling is what the user asked for.
type reconciling struct {
	workflows.ReconcileInput
	wait, yes bool
	timeout   time.Duration
}

// question is asked before many resources lose a guard at once.
func (r reconciling) question(s selection, records []record) question {
	q := question{lines: namesOf(records), yes: r.yes || !s.several() || !r.Force && !r.DropBaseline, must: true, kept: "nothing was sent"}
	switch what := count(len(records), "resource"); {
	case r.Force:
		q.verb, q.text = "--force with "+s.words()+" goes past the guards of "+what, "Go past owner check and in-flight guard of "+what+"?"
	default:
		q.verb, q.text = "--drop-baseline with "+s.words()+" writes anew what Azure keeps in "+what, "Write anew what Azure keeps in "+what+"?"
	}
	return q
}

func (a *app) reconcile(ctx context.Context, s selection, how reconciling) error {
	var expected []awaited
	b, err := a.sendNamed(ctx, s, func(b *backend, records []record) (sender, error) {
		expected = awaitAll(records)
		return func(ctx context.Context, i int) (string, error) {
			var result workflows.ReconcileResult
			err := b.update(ctx, records[i].WorkflowID, message{name: workflows.ReconcileUpdate, input: how.ReconcileInput, result: &result})
			expected[i].pass = result.Pass
			return fmt.Sprintf("reconciling (pass %d)", result.Pass) + untilResume(result.Paused), err
		}, a.ask(how.question(s, records))
	})
	if b != nil {
		defer b.close()
	}
	if err != nil || !how.wait {
		return err
	}
	return a.wait(ctx, b, expected, goalReady, how.timeout)
}

// namesOf are the IDs of records, for a question.
func namesOf(records []record) []string {
	names := make([]string, len(records))
	for i, r := range records {
		names[i] = r.ID.String()
	}
	return names
}

// sendNamed sends one message to each resource that a user named; at least one
// must be. prepare may refuse once it knows which. The backend is the caller's to
// close, where it is not nil.
func (a *app) sendNamed(ctx context.Context, s selection, prepare func(b *backend, records []record) (sender, error)) (*backend, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	if s.empty() {
		return nil, badInput("name the resources, or choose them with -l key=value or --all; `armature get` lists them")
	}
	b, err := a.connect(ctx, a)
	if err != nil {
		return nil, err
	}
	records, err := b.targets(ctx, s)
	if err == nil {
		err = needManaged(records)
	}
	if err == nil && len(records) == 0 {
		err = noneChosen(s)
	}
	if err != nil {
		return b, err
	}
	send, err := prepare(b, records)
	if err != nil {
		return b, err
	}
	ids := make([]resource.ID, len(records))
	for i, r := range records {
		ids[i] = r.ID
	}
	return b, a.sendAll(ctx, ids, parallel, func(ctx context.Context, i int) (string, error) {
		answer, err := send(ctx, i)
		var noWorker *noWorkerError
		switch {
		case errors.Is(err, errNotManaged):
			err = failed("it is not managed (any more); nothing was started")
		case errors.As(err, &noWorker):
			err = b.silence(ctx, records[i], noWorker)
		}
		return answer, err
	})
}

// silence says why a workflow does not answer: its worker fails, or none is there
// on the workflow's own task queue, which need not be that of the flag.
func (b *backend) silence(ctx context.Context, r record, noWorker *noWorkerError) error {
	fresh, err := b.record(ctx, r.WorkflowID)
	switch {
	case err == nil && fresh.Stuck != "":
		return unreachable("%s", fresh.stuckWords(cmp.Or(fresh.TaskQueue, noWorker.taskQueue)))
	case r.TaskQueue != "" && r.TaskQueue != noWorker.taskQueue:
		return &noWorkerError{taskQueue: r.TaskQueue}
	}
	return noWorker
}
