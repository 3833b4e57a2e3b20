package audit

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// fake is a sink that fails until it is mended.
type fake struct {
	mu     sync.Mutex
	broken bool
	keys   []string
	counts map[Outcome]int
}

func (f *fake) Name() string { return "fake" }
func (f *fake) Close() error { return nil }

func (f *fake) Write(_ context.Context, lines []Line) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.broken {
		return errors.New("the disk is full")
	}
	for _, line := range lines {
		f.keys = append(f.keys, line.Key+" "+string(line.Result))
	}
	return nil
}

func (f *fake) set(broken bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.broken = broken
}

func (f *fake) written() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]string(nil), f.keys...)
}

func (f *fake) count(_ string, outcome Outcome, lines int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.counts == nil {
		f.counts = map[Outcome]int{}
	}
	f.counts[outcome] += lines
}

// TestWriteWaitsForItsLine checks that a request may leave once its line is written, and not
// before; that what was pending is written later in order; and that nothing is lost.
//
//guard:audit-line-first
func TestWriteWaitsForItsLine(t *testing.T) {
	t.Parallel()
	sink := &fake{broken: true}
	journal := New(Options{Timeout: 50 * time.Millisecond, Count: sink.count}, sink)
	finish, err := journal.Begin(t.Context(), Record{Key: "held"})
	if unavailable, ok := errors.AsType[*UnavailableError](err); !ok || finish != nil || unavailable.Cause == nil {
		t.Fatalf("a request may leave without its line: %v", err)
	}
	sink.set(false)
	if finish, err = journal.Begin(context.WithoutCancel(t.Context()), Record{Key: "sent"}); err != nil {
		// The sink is tried again after a moment.
		journal.options.Timeout = time.Minute
		finish, err = journal.Begin(t.Context(), Record{Key: "sent"})
	}
	if err != nil {
		t.Fatal(err)
	}
	finish(Record{Key: "sent", Result: ResultAccepted})
	journal.Close(t.Context())
	got := map[string]bool{}
	for _, line := range sink.written() {
		got[line] = true
	}
	if diff := cmp.Diff(map[string]bool{"held sending": true, "sent sending": true, "sent accepted": true}, got); diff != "" {
		t.Errorf("the sink got (-want +got):\n%s", diff)
	}
	if sink.counts[OutcomeFailed] == 0 || sink.counts[OutcomeLost] != 0 {
		t.Errorf("counted %v, want failures and no loss", sink.counts)
	}
}

// TestBound checks that a full journal stops requests, and that the end of a request that
// was sent always has room.
func TestBound(t *testing.T) {
	t.Parallel()
	sink := &fake{}
	journal := New(Options{MaxPending: 4, Timeout: time.Minute, Count: sink.count}, sink)
	finish, err := journal.Begin(t.Context(), Record{Key: "sent"})
	if err != nil {
		t.Fatal(err)
	}
	sink.set(true)
	journal.options.Timeout = time.Millisecond
	for i := range 10 {
		if _, err := journal.Begin(t.Context(), Record{Key: fmt.Sprint("held", i)}); err == nil {
			t.Error("a request may leave while the sink is broken")
		}
	}
	if pending := journal.Pending(); pending > 4 {
		t.Errorf("%d lines are pending, want at most 4", pending)
	}
	finish(Record{Key: "sent", Result: ResultAccepted})
	sink.set(false)
	journal.Close(t.Context())
	lines := sink.written()
	if last := lines[len(lines)-1]; last != "sent accepted" || sink.counts[OutcomeLost] != 0 {
		t.Errorf("the sink got %v and lost %d, want the end of the request that was sent", lines, sink.counts[OutcomeLost])
	}
}

// TestContinue checks that audit.on-failure continue lets requests go, and counts what fails.
func TestContinue(t *testing.T) {
	t.Parallel()
	sink := &fake{broken: true}
	journal := New(Options{Timeout: time.Millisecond, LetWrite: true, Count: sink.count}, sink)
	finish, err := journal.Begin(t.Context(), Record{Key: "sent"})
	if err != nil {
		t.Fatalf("the request is held back: %v", err)
	}
	finish(Record{Key: "sent", Result: ResultAccepted})
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	journal.Close(ended)
	if sink.counts[OutcomeLost] != 2 {
		t.Errorf("counted %v, want the loss of both lines at the end of the worker", sink.counts)
	}
}

// stuck is a sink that does not return before it is released, as a pipe that nothing reads.
type stuck struct{ released chan struct{} }

func (stuck) Name() string { return "stuck" }
func (stuck) Close() error { return nil }

func (s stuck) Write(context.Context, []Line) error {
	<-s.released
	return nil
}

// TestStuckSink checks that a sink that does not return keeps no worker from ending, and that
// the lines of another sink are written.
func TestStuckSink(t *testing.T) {
	t.Parallel()
	healthy, hangs := &fake{}, stuck{make(chan struct{})}
	journal := New(Options{Timeout: time.Millisecond, LetWrite: true, Count: healthy.count}, hangs, healthy)
	finish, err := journal.Begin(t.Context(), Record{Key: "sent"})
	if err != nil {
		t.Fatal(err)
	}
	finish(Record{Key: "sent", Result: ResultAccepted})
	ended, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	closed := make(chan struct{})
	go func() {
		journal.Close(ended)
		close(closed)
	}()
	select {
	case <-closed:
	case <-time.After(time.Minute):
		t.Error("the worker does not end")
	}
	close(hangs.released)
	<-closed
	healthy.mu.Lock()
	defer healthy.mu.Unlock()
	if lost := healthy.counts[OutcomeLost]; lost != 2 || len(healthy.keys) != 2 {
		t.Errorf("%d lines of the stuck sink are lost and the other one has %v, want two of each", lost, healthy.keys)
	}
}

// TestNoJournal checks that a worker without an audit trail needs none.
func TestNoJournal(t *testing.T) {
	var journal *Journal
	finish, err := journal.Begin(t.Context(), Record{})
	if err != nil || journal.IsOn() || journal.Write(t.Context(), Record{}) != nil || journal.Pending() != 0 {
		t.Errorf("no journal is on, or fails: %v", err)
	}
	finish(Record{})
	journal.Close(t.Context())
}

func (f *fake) counted(outcome Outcome) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.counts[outcome]
}
