package main

import (
	"context"
	"errors"
	"fmt"
	"sync"

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
	all := make([]int, len(records))
	for i := range all {
		all[i] = i
	}
	return a.sendWaves(ctx, records, [][]int{all}, limit, send)
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
	answer, err := s.retry(ctx, i)
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
	s.app.printf("%s  %s\n", name, answer)
	return nil
}

// retry sends a message until a worker responds. If another message completed, or
// a worker polls, a timeout means a busy worker. The attempts start again
// whenever another message completes.
func (s *batch) retry(ctx context.Context, i int) (string, error) {
	for attempt := 1; ; attempt++ {
		before := s.answered()
		answer, err := s.send(ctx, i)
		noWorker, ok := errors.AsType[*backend.NoWorkerError](err)
		if !ok {
			return answer, err
		}
		after := s.answered()
		switch {
		case after > before:
			attempt = 0
		case attempt >= maxSendAttempts || after == 0 && !noWorker.Busy:
			return answer, err
		}
	}
}

func (s *batch) answered() int {
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

// withName adds the resource to an error and keeps the exit code.
func withName(name string, err error) error {
	if errors.Is(err, backend.ErrInterrupted) {
		return err
	}
	return &cli.ExitError{Code: cli.ExitCode(backend.WithExitCode(err)), Err: fmt.Errorf("%s: %w", name, err)}
}

// sendNamed sends one message to each resource of a selection, of which there must be
// at least one. prepare gets the records and may return an error. The caller closes
// the connection if it is not nil.
func (a *app) sendNamed(ctx context.Context, s backend.Selection, prepare func(b *connection, records []backend.Record) (sender, error)) (*connection, error) {
	if err := checkTargets(s); err != nil {
		return nil, err
	}
	b, err := a.connection(ctx)
	if err != nil {
		return nil, err
	}
	records, err := backend.Targets(ctx, b, s)
	if err == nil {
		err = checkManaged(records)
	}
	if err == nil && len(records) == 0 {
		err = s.NoMatch()
	}
	if err != nil {
		return b, err
	}
	send, err := prepare(b, records)
	if err != nil {
		return b, err
	}
	return b, a.sendAll(ctx, records, backend.MaxParallel, func(ctx context.Context, i int) (string, error) {
		answer, err := send(ctx, i)
		if errors.Is(err, backend.ErrNotManaged) {
			return answer, cli.Failed("it is no longer managed; nothing was started")
		}
		if noWorker, ok := errors.AsType[*backend.NoWorkerError](err); ok {
			return answer, backend.ExplainNoWorker(ctx, b, records[i], noWorker)
		}
		return answer, err
	})
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

// recordsOf returns the records of what a command waits for.
func recordsOf(list []awaited) []backend.Record {
	records := make([]backend.Record, len(list))
	for i, w := range list {
		records[i] = w.Record
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
