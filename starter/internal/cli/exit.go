// Package cli owns all that commands share with their user: the streams (one writer for
// every output, an input that ends with its command), signals, exit codes and the errors
// that carry them, errors of flags, and the names, durations and counts in sentences. It
// knows cobra, but neither Temporal nor any command.
package cli

import (
	"errors"
	"fmt"
)

// Exit codes. `armature --help` documents them; they are never renumbered.
const (
	ExitOK          = 0
	ExitFailed      = 1
	ExitBadInput    = 2
	ExitUnreachable = 3
)

// ExitHelp documents the exit codes in the help of a command.
const ExitHelp = `Exit codes:
  0  success
  1  not ready, failed, refused, not managed, or timed out
  2  bad input: flags, manifests or configuration; nothing was started
  3  Temporal is unreachable, or no worker responds
  130, 143, 141  ended by SIGINT (Ctrl-C), by SIGTERM, or by the end of the output's reader`

// ExitError is an error with its exit code. Its text is for the user: what
// happened, why, and what to do next.
type ExitError struct {
	Code int
	Err  error
}

func (e *ExitError) Error() string { return e.Err.Error() }
func (e *ExitError) Unwrap() error { return e.Err }

// Failed returns an error with ExitFailed. The format is fmt.Errorf's.
func Failed(format string, args ...any) error {
	return &ExitError{Code: ExitFailed, Err: fmt.Errorf(format, args...)}
}

// BadInput returns an error with ExitBadInput. The format is fmt.Errorf's.
func BadInput(format string, args ...any) error {
	return &ExitError{Code: ExitBadInput, Err: fmt.Errorf(format, args...)}
}

// Unreachable returns an error with ExitUnreachable. The format is fmt.Errorf's.
func Unreachable(format string, args ...any) error {
	return &ExitError{Code: ExitUnreachable, Err: fmt.Errorf(format, args...)}
}

// ExitCode returns the exit code of an error. Every command wraps its own errors,
// so an error without a code comes from cobra (an unknown command): bad input.
func ExitCode(err error) int {
	if err == nil {
		return ExitOK
	}
	if e, ok := errors.AsType[*ExitError](err); ok {
		return e.Code
	}
	return ExitBadInput
}
