package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"
)

// maxFarewell is how long a command may take to end after a signal. What it waits for
// may not end by itself.
const maxFarewell = time.Second

// SignalError is the cause of the context of a command that a signal ended.
type SignalError struct{ Signal syscall.Signal }

func (e SignalError) Error() string { return "interrupted by a signal: " + e.Signal.String() }

// ExitCode returns the exit code that shells use for the signal: 130 for SIGINT, 143 for
// SIGTERM.
func (e SignalError) ExitCode() int { return 128 + int(e.Signal) }

// Main runs a command and returns its exit code. The first SIGINT or SIGTERM cancels its
// context and ends it, also while it reads or computes; a second one ends the process
// immediately.
func Main(command func(ctx context.Context) int) int {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	ended := make(chan int, 1)
	go func() { ended <- command(ctx) }()
	select {
	case code := <-ended:
		return code
	case received := <-signals:
		signal.Reset(os.Interrupt, syscall.SIGTERM)
		number, _ := received.(syscall.Signal)
		cause := SignalError{Signal: number}
		cancel(cause)
		select {
		case code := <-ended:
			return code
		case <-time.After(maxFarewell):
			return cause.ExitCode()
		}
	}
}

// ErrReadInterrupted is the error of a Reader whose context has ended.
var ErrReadInterrupted = errors.New("interrupted")

// NewReader returns a reader whose Read ends with its context: reading a terminal or a pipe
// would wait for the other side.
func NewReader(ctx context.Context, in io.Reader) io.Reader { return &reader{ctx: ctx, in: in} }

type reader struct {
	ctx context.Context
	in  io.Reader
}

// chunk is the result of one read.
type chunk struct {
	data []byte
	err  error
}

// Read implements io.Reader. After the end of the context the read is abandoned.
func (r *reader) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	if r.ctx.Err() != nil {
		return 0, ErrReadInterrupted
	}
	read := make(chan chunk, 1)
	go func() {
		buffer := make([]byte, len(p))
		n, err := r.in.Read(buffer)
		read <- chunk{data: buffer[:n], err: err}
	}()
	select {
	case c := <-read:
		return copy(p, c.data), c.err
	case <-r.ctx.Done():
		return 0, ErrReadInterrupted
	}
}

// Interrupted returns the error of a command, or one that states the signal that ended
// it: what the signal interrupted may have failed for another reason.
func Interrupted(ctx context.Context, err error) error {
	cause, ok := errors.AsType[SignalError](context.Cause(ctx))
	if !ok || err == nil || err.Error() == "" || strings.HasPrefix(err.Error(), "interrupted") {
		return err
	}
	return cause
}

// Conclude returns the exit code of a command: code, unless a signal ended it, or it
// succeeded and its output is incomplete. It writes why the output is incomplete to errs,
// except when the reader went away: a pipe into `head` ends so.
func Conclude(ctx context.Context, code int, succeeded bool, out, errs *Writer) int {
	if cause, ok := errors.AsType[SignalError](context.Cause(ctx)); ok && !succeeded {
		return cause.ExitCode()
	}
	for _, w := range []*Writer{out, errs} {
		err := w.Err()
		if err == nil {
			continue
		}
		failure := 1
		if errors.Is(err, syscall.EPIPE) {
			failure = 128 + int(syscall.SIGPIPE)
		} else {
			fmt.Fprintf(errs, "armature: the output is incomplete: %v; free space, or write it elsewhere, and repeat the command\n", err)
		}
		if succeeded {
			return failure
		}
	}
	return code
}
