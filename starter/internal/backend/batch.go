package backend

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/armature-io/armature/starter/internal/cli"
)

// Sender sends message i and returns the result as text.
type Sender = func(ctx context.Context, i int) (string, error)

// MaxAttempts bounds how often in a row a message is sent that a busy worker does
// not handle in time. Every message may be repeated.
const MaxAttempts = 3

// Batch is one message to each of its records.
type Batch struct {
	Records []Record
	Send    Sender
	// Done prints the result of a record, Problem a sentence about one that has none.
	Done    func(name, result string)
	Problem func(name, problem string)

	mu       sync.Mutex
	done     int
	problems []problem
}

// problem is the error of one record.
type problem struct {
	at      int
	err     error
	refused bool
}

// Run sends the messages in waves of positions, at most limit at a time: each wave
// starts when all messages of the one before are complete. It prints each result as it
// arrives, and what was refused or failed at the end. Only an error that every other
// message would have too ends it: Temporal or every worker is away, or the user
// interrupted it.
func (b *Batch) Run(ctx context.Context, waves [][]int, limit int) error {
	var ended error
	for _, wave := range waves {
		ended = ForEach(ctx, len(wave), limit, func(ctx context.Context, at int) error { return b.one(ctx, wave[at]) })
		if ended != nil {
			break
		}
	}
	total := len(b.Records)
	if ended == nil && total == 1 && len(b.problems) == 1 && !b.problems[0].refused {
		return WithName(RecordName(b.Records[0]), b.problems[0].err)
	}
	slices.SortFunc(b.problems, func(x, y problem) int { return x.at - y.at })
	for _, p := range b.problems {
		text := "failed: " + p.err.Error()
		if p.refused {
			text = "refused: " + p.err.Error()
		}
		b.Problem(cli.OneLine(RecordName(b.Records[p.at])), text)
	}
	switch {
	case errors.Is(ended, ErrInterrupted):
		return cli.Failed("interrupted: %d of %d were sent and continue; repeat the command for the rest", b.done, total)
	case ended != nil:
		return ended
	}
	return b.summary()
}

// summary returns the error of a batch whose messages were all sent, nil if every record
// has a result. Its exit code is that of the problems if they have the same one.
func (b *Batch) summary() error {
	if len(b.problems) == 0 {
		return nil
	}
	refused, code := 0, cli.ExitCode(WithExitCode(b.problems[0].err))
	for _, p := range b.problems {
		if p.refused {
			refused++
		}
		if cli.ExitCode(WithExitCode(p.err)) != code {
			code = cli.ExitFailed
		}
	}
	all := cli.CountOf(len(b.Records), "resource was", "resources were")
	text := fmt.Sprintf("%d of %s refused (see above); the others were accepted", refused, all)
	if failed := len(b.problems) - refused; failed > 0 {
		text = fmt.Sprintf("%d of %s not reached (see above); ", failed, all)
		if refused > 0 {
			text += fmt.Sprintf("%d refused; ", refused)
		}
		text += "the others were accepted; repeat the command for the rest"
	}
	return &cli.ExitError{Code: code, Err: errors.New(text)}
}

// one sends one message. It returns an error only if the others would have it too.
func (b *Batch) one(ctx context.Context, i int) error {
	text, err := b.retry(ctx, i)
	b.mu.Lock()
	defer b.mu.Unlock()
	_, refused := errors.AsType[*RefusedError](err)
	switch {
	case err == nil:
		b.done++
		b.Done(cli.OneLine(RecordName(b.Records[i])), text)
	case b.concernsAll(err):
		return WithName(RecordName(b.Records[i]), err)
	default:
		b.problems = append(b.problems, problem{at: i, err: err, refused: refused})
	}
	return nil
}

// concernsAll reports whether every other message would have the same error: the user
// interrupted the command, Temporal is away or refuses the namespace, or no worker
// completed any message.
func (b *Batch) concernsAll(err error) bool {
	_, server := errors.AsType[*ServerError](err)
	noWorker, none := errors.AsType[*NoWorkerError](err)
	return errors.Is(err, ErrInterrupted) || server || none && !noWorker.OtherQueue && b.handledLocked() == 0
}

// retry sends a message until a worker handles it. If another message completed, or
// a worker polls, a timeout means a busy worker. The attempts start again
// whenever another message completes.
func (b *Batch) retry(ctx context.Context, i int) (string, error) {
	for attempt := 1; ; attempt++ {
		before := b.handled()
		text, err := b.Send(ctx, i)
		noWorker, ok := errors.AsType[*NoWorkerError](err)
		if !ok || noWorker.OtherQueue {
			return text, err
		}
		after := b.handled()
		switch {
		case after > before:
			attempt = 0
		case attempt >= MaxAttempts || after == 0 && !noWorker.Busy:
			return text, err
		}
	}
}

// handled returns the number of messages that a worker handled.
func (b *Batch) handled() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.handledLocked()
}

func (b *Batch) handledLocked() int {
	handled := b.done
	for _, p := range b.problems {
		if p.refused {
			handled++
		}
	}
	return handled
}

// RecordName returns the type and name of a record.
func RecordName(r Record) string {
	if r.ID.IsZero() {
		return r.DisplayName()
	}
	return cli.KindAndName(r.ID)
}

// WithName adds the resource to an error and keeps the exit code; no error stays none.
func WithName(name string, err error) error {
	if err == nil || errors.Is(err, ErrInterrupted) {
		return err
	}
	return &cli.ExitError{Code: cli.ExitCode(WithExitCode(err)), Err: fmt.Errorf("%s: %w", name, err)}
}
