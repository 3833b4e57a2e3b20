package starter

import (
	"context"
	"errors"

	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/starter/internal/backend"
	"github.com/armature-io/armature/starter/internal/cli"
	"github.com/armature-io/armature/starter/internal/wait"
)

// sendAll sends one message for each record, in order and at most limit at a time. A result
// without a text is not printed.
func (a *app) sendAll(ctx context.Context, records []backend.Record, limit int, send backend.Sender) error {
	all := make([]int, len(records))
	for i := range all {
		all[i] = i
	}
	return a.sendWaves(ctx, records, [][]int{all}, limit, send)
}

// sendWaves is sendAll in waves of positions.
func (a *app) sendWaves(ctx context.Context, records []backend.Record, waves [][]int, limit int, send backend.Sender) error {
	sending := backend.Batch{
		Records: records, Send: send,
		Done: func(name, result string) {
			if result != "" {
				a.printf("%s  %s\n", name, result)
			}
		},
		Problem: func(name, problem string) { a.note("%s  %s", name, problem) },
	}
	return sending.Run(ctx, waves, limit)
}

// request is one message to each resource of a selection.
type request struct {
	targets backend.Selection
	// confirm may refuse the records before anything is sent, or leave some out; nil accepts
	// all.
	confirm func(ctx context.Context, b *connection, records []backend.Record) ([]backend.Record, error)
	// send sends the message to one resource and returns the result as text.
	send func(ctx context.Context, b *connection, w *wait.Resource) (string, error)
	// ends is set when the command ends the management: what is no longer managed needs
	// no message.
	ends bool
	// goal is what the command then waits for.
	goal wait.Goal
	wait waitOptions
}

// sendSelected sends the message of a request to its targets, of which there must be
// at least one, and waits if the request does.
func (a *app) sendSelected(ctx context.Context, r request) error {
	if err := checkTargets(r.targets); err != nil {
		return err
	}
	b, err := a.connection(ctx)
	if err != nil {
		return err
	}
	records, err := backend.Targets(ctx, b, r.targets)
	if err == nil {
		err = checkManaged(records, r)
	}
	if err == nil && len(records) == 0 {
		err = r.targets.NoMatch()
	}
	if err == nil && r.confirm != nil {
		records, err = r.confirm(ctx, b, records)
	}
	if err != nil || len(records) == 0 {
		return err
	}
	expected, gone := wait.All(records), make([]bool, len(records))
	err = a.sendAll(ctx, records, backend.MaxParallel, func(ctx context.Context, i int) (string, error) {
		text, err := r.send(ctx, b, &expected[i])
		if backend.IsNotManaged(err) {
			text, err = r.gone(ctx, b, records[i])
			gone[i] = err == nil && r.goal == wait.Ready
			return text, err
		}
		if noWorker, ok := errors.AsType[*backend.NoWorkerError](err); ok {
			return text, backend.ExplainNoWorker(ctx, b, records[i], noWorker)
		}
		return text, err
	})
	if err != nil || !r.wait.on {
		return err
	}
	remaining := expected[:0]
	for i, w := range expected {
		if !gone[i] {
			remaining = append(remaining, w)
		}
	}
	return a.wait(ctx, b, remaining, r.goal, r.wait.timeout)
}

// gone returns the result for a resource with a workflow that ended since it was chosen. What a
// deletion asks for is done where the workflow deleted the resource, and a selector no
// longer chooses it.
func (r request) gone(ctx context.Context, b *connection, chosen backend.Record) (string, error) {
	ended, err := b.Record(ctx, chosen.WorkflowID)
	switch {
	case err != nil && !errors.Is(err, backend.ErrNotManaged):
		return "", err
	case r.ends && ended.IsDeleted():
		return "already deleted", nil
	case r.ends && r.goal != wait.Deleted:
		return "already no longer managed", nil
	case !r.ends && r.targets.IsQuery():
		return "no longer managed; skipped", nil
	}
	return "", cli.Failed("it is no longer managed; nothing was started")
}

// checkManaged returns an error for records with a workflow that ended, unless the request is
// done with that: no workflow would receive a message.
func checkManaged(records []backend.Record, to request) error {
	var errs []error
	for _, r := range records {
		if !r.Running && (!to.ends || !r.IsDeleted()) {
			errs = append(errs, cli.Failed("find %s: it is not managed (its workflow ended: %s); nothing was started", r.DisplayName(), r.Ended))
		}
	}
	if len(errs) == 0 {
		return nil
	}
	return &cli.ExitError{Code: cli.ExitFailed, Err: errors.Join(errs...)}
}

// recordsOf returns the records of manifests.
func recordsOf(resources []resource.Desired) []backend.Record {
	records := make([]backend.Record, len(resources))
	for i, desired := range resources {
		records[i] = backend.RecordOfDesired(desired)
	}
	return records
}

// idLines returns the IDs of records, for a question.
func idLines(records []backend.Record) []string {
	lines := make([]string, len(records))
	for i, r := range records {
		lines[i] = r.ID.String()
	}
	return lines
}
