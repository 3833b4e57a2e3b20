package audit

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"
)

// Sink takes lines. Write returns nil once the lines are as safe as the sink makes them;
// after an error the same lines are written again. It is called by one goroutine.
type Sink interface {
	// Name is a constant for metrics and messages.
	Name() string
	Write(ctx context.Context, lines []Line) error
	Close() error
}

// Options configures a Journal. The zero value of each member works.
type Options struct {
	// MaxPending bounds the lines of a sink that are not written yet; default 10,000.
	MaxPending int
	// Timeout is how long a write may wait for its line; default 10 s.
	Timeout time.Duration
	// LetWrite lets writes go whose lines could not be written in time. They stay pending
	// as long as there is room.
	LetWrite bool
	Log      *slog.Logger
	// Count receives the number of lines that a sink wrote, failed to write, or lost.
	Count func(sink string, outcome Outcome, lines int)
	// Now is the clock; default time.Now.
	Now func() time.Time
}

// Outcome is the outcome of lines for metrics.
type Outcome string

// The outcomes. Failed lines are tried again, lost ones are not.
const (
	OutcomeWritten Outcome = "written"
	OutcomeFailed  Outcome = "failed"
	OutcomeLost    Outcome = "lost"
)

// UnavailableError reports that a line could not be written in time.
type UnavailableError struct{ Cause error }

// Error returns the cause with what it means.
func (e *UnavailableError) Error() string {
	return "the audit line could not be written: " + e.Cause.Error()
}

// Unwrap returns the cause.
func (e *UnavailableError) Unwrap() error { return e.Cause }

// Journal writes records to sinks. A nil Journal writes nothing.
type Journal struct {
	options Options
	queues  []*queue
}

// New returns a journal with at least one sink.
func New(options Options, sinks ...Sink) *Journal {
	if options.MaxPending <= 0 {
		options.MaxPending = 10_000
	}
	if options.Timeout <= 0 {
		options.Timeout = 10 * time.Second
	}
	if options.Log == nil {
		options.Log = slog.New(slog.DiscardHandler)
	}
	if options.Now == nil {
		options.Now = time.Now
	}
	if options.Count == nil {
		options.Count = func(string, Outcome, int) {}
	}
	j := &Journal{options: options}
	for _, sink := range sinks {
		j.queues = append(j.queues, newQueue(sink, options))
	}
	return j
}

// IsOn reports whether the journal writes records.
func (j *Journal) IsOn() bool { return j != nil && len(j.queues) > 0 }

// Write writes a record and waits until every sink has it. An error is an
// *UnavailableError; the record may be written later all the same.
func (j *Journal) Write(ctx context.Context, record Record) error {
	if !j.IsOn() {
		return nil
	}
	line, err := newLine(record, j.options.Now())
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, j.options.Timeout)
	defer cancel()
	var problems []error
	var waits []*entry
	for _, q := range j.queues {
		wait, err := q.add(line, false)
		problems = append(problems, err)
		waits = append(waits, wait)
	}
	if err := errors.Join(problems...); err != nil {
		return &UnavailableError{err}
	}
	return j.await(ctx, waits)
}

// await waits until all lines are written, or one is refused.
func (j *Journal) await(ctx context.Context, waits []*entry) error {
	for i, wait := range waits {
		if wait == nil {
			continue
		}
		select {
		case <-wait.done:
			if wait.refused != nil {
				return &UnavailableError{fmt.Errorf("%s: %w", j.queues[i].sink.Name(), wait.refused)}
			}
		case <-ctx.Done():
			return &UnavailableError{fmt.Errorf("%s: %w", j.queues[i].sink.Name(), j.queues[i].problem())}
		}
	}
	return nil
}

// Begin writes the record of a request that is about to leave, and returns the function
// that writes its end under the same key. Room for that line is kept from the start. An
// error means that the request must not be sent.
func (j *Journal) Begin(ctx context.Context, record Record) (finish func(Record), err error) {
	if !j.IsOn() {
		return func(Record) {}, nil
	}
	var reserved []*queue
	for _, q := range j.queues {
		if err = q.reserve(); err != nil {
			break
		}
		reserved = append(reserved, q)
	}
	if err == nil {
		record.Result = ResultSending
		err = j.Write(ctx, record)
	}
	if err != nil && !j.options.LetWrite {
		for _, q := range reserved {
			q.release()
		}
		return nil, err
	}
	if err != nil {
		j.options.Log.WarnContext(ctx, "a write is sent without an audit line, as audit.on-failure continue allows", "id", record.ID, "error", err)
	}
	return func(end Record) { j.finish(end, reserved) }, nil
}

// finish writes the end of a request. The request is sent: the line is not given up while
// the process runs, and the caller waits for a while only.
func (j *Journal) finish(end Record, reserved []*queue) {
	line, err := newLine(end, j.options.Now())
	if err != nil {
		j.options.Log.Error("cannot encode an audit line", "key", end.Key, "error", err)
		return
	}
	waits := make([]*entry, len(j.queues))
	for i, q := range j.queues {
		kept := false
		for _, with := range reserved {
			kept = kept || with == q
		}
		if waits[i], err = q.add(line, kept); err != nil {
			j.options.Count(q.sink.Name(), OutcomeLost, 1)
			j.options.Log.Error("an audit line is lost", "sink", q.sink.Name(), "line", string(line.JSON), "error", err)
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), j.options.Timeout)
	defer cancel()
	_ = j.await(ctx, waits) // it stays pending
}

// Pending returns the number of lines that are not written yet, of the sink with the most.
func (j *Journal) Pending() int {
	most := 0
	if j.IsOn() {
		for _, q := range j.queues {
			most = max(most, q.length())
		}
	}
	return most
}

// Close writes what is pending until ctx is done, and closes the sinks, all at once. Lines
// that remain are logged.
func (j *Journal) Close(ctx context.Context) {
	if !j.IsOn() {
		return
	}
	var group sync.WaitGroup
	for _, q := range j.queues {
		group.Go(func() { q.close(ctx) })
	}
	group.Wait()
}
