package main

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/starter/internal/await"
	"github.com/armature-io/armature/starter/internal/backend"
	"github.com/armature-io/armature/starter/internal/cli"
)

// sender sends message i and returns the result as text.
type sender = func(ctx context.Context, i int) (string, error)

// maxSendAttempts bounds how often in a row a message is sent that a busy worker does
// not handle in time. Every message may be repeated.
const maxSendAttempts = 3

// sendAll sends one message for each record, in order and at most limit at a time, and
// prints each result as it arrives. A refusal is a line of its own and stops nothing;
// any other error (no worker, no Temporal) ends it.
func (a *app) sendAll(ctx context.Context, records []backend.Record, limit int, send sender) error {
	return a.sendWaves(ctx, records, [][]int{positions(records)}, limit, send)
}

// positions returns 0 to len(records)-1.
func positions(records []backend.Record) []int {
	all := make([]int, len(records))
	for i := range all {
		all[i] = i
	}
	return all
}

// sendWaves is sendAll in waves of positions: each wave starts when all messages of
// the one before are complete.
func (a *app) sendWaves(ctx context.Context, records []backend.Record, waves [][]int, limit int, send sender) error {
	s := batch{app: a, records: records, send: send}
	var err error
	for _, wave := range waves {
		if err = backend.ForEach(ctx, len(wave), limit, func(ctx context.Context, at int) error { return s.one(ctx, wave[at]) }); err != nil {
			break
		}
	}
	switch {
	case errors.Is(err, backend.ErrInterrupted):
		return cli.Failed("interrupted: %d of %d were sent and continue; repeat the command for the rest", s.done, len(records))
	case err != nil:
		return err
	case s.refused > 0:
		return cli.Failed("%d of %s refused (see above); the others were applied", s.refused, cli.CountOf(len(records), "resource was", "resources were"))
	}
	return nil
}

// batch sends the messages of one command and counts the results.
type batch struct {
	app           *app
	records       []backend.Record
	send          sender
	mu            sync.Mutex
	done, refused int
}

// one sends one message and prints its result.
func (s *batch) one(ctx context.Context, i int) error {
	text, err := s.retry(ctx, i)
	s.mu.Lock()
	defer s.mu.Unlock()
	name := displayName(s.records[i])
	if refusal, ok := errors.AsType[*backend.RefusedError](err); ok {
		s.refused++
		s.app.note("%s  refused: %s", name, refusal.Text)
		return nil
	}
	if err != nil {
		return withName(name, err)
	}
	s.done++
	s.app.printf("%s  %s\n", name, text)
	return nil
}

// retry sends a message until a worker handles it. If another message completed, or
// a worker polls, a timeout means a busy worker. The attempts start again
// whenever another message completes.
func (s *batch) retry(ctx context.Context, i int) (string, error) {
	for attempt := 1; ; attempt++ {
		before := s.handled()
		text, err := s.send(ctx, i)
		noWorker, ok := errors.AsType[*backend.NoWorkerError](err)
		if !ok {
			return text, err
		}
		after := s.handled()
		switch {
		case after > before:
			attempt = 0
		case attempt >= maxSendAttempts || after == 0 && !noWorker.Busy:
			return text, err
		}
	}
}

func (s *batch) handled() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.done + s.refused
}

// displayName returns the type and name of a record.
func displayName(r backend.Record) string {
	if r.ID.IsZero() {
		return r.DisplayName()
	}
	return cli.KindAndName(r.ID)
}

// withName adds the resource to an error and keeps the exit code; no error stays none.
func withName(name string, err error) error {
	if err == nil || errors.Is(err, backend.ErrInterrupted) {
		return err
	}
	return &cli.ExitError{Code: cli.ExitCode(backend.WithExitCode(err)), Err: fmt.Errorf("%s: %w", name, err)}
}

// request is one message to each resource of a selection.
type request struct {
	targets backend.Selection
	// confirm may refuse the records before anything is sent; nil accepts all.
	confirm func(records []backend.Record) error
	// send sends the message to one resource and returns the result as text.
	send func(ctx context.Context, b *connection, w *await.Resource) (string, error)
	// goal is what the command then waits for.
	goal await.Goal
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
		err = checkManaged(records)
	}
	if err == nil && len(records) == 0 {
		err = r.targets.NoMatch()
	}
	if err == nil && r.confirm != nil {
		err = r.confirm(records)
	}
	if err != nil {
		return err
	}
	expected := await.All(records)
	err = a.sendAll(ctx, records, backend.MaxParallel, func(ctx context.Context, i int) (string, error) {
		text, err := r.send(ctx, b, &expected[i])
		if errors.Is(err, backend.ErrNotManaged) {
			return text, cli.Failed("it is no longer managed; nothing was started")
		}
		if noWorker, ok := errors.AsType[*backend.NoWorkerError](err); ok {
			return text, backend.ExplainNoWorker(ctx, b, records[i], noWorker)
		}
		return text, err
	})
	if err != nil || !r.wait.on {
		return err
	}
	return a.wait(ctx, b, expected, r.goal, r.wait.timeout)
}

// checkManaged returns an error for records whose workflow ended: no workflow would
// receive a message.
func checkManaged(records []backend.Record) error {
	var errs []error
	for _, r := range records {
		if !r.Running {
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
