package main

import (
	"errors"
	"fmt"
)

// Exit codes; they are documented in `armature --help` and never renumbered.
const (
	exitOK          = 0
	exitFailed      = 1
	exitBadInput    = 2
	exitUnreachable = 3
)

// exitHelp is their text in the help.
const exitHelp = `Exit codes:
  0  done
  1  not ready, failed, refused, not managed, or out of time
  2  bad input: flags, manifests or configuration; nothing was started
  3  Temporal is unreachable, or no worker answers`

// fault is an error with the exit code it leads to. Its text is for the user:
// what happened, why, and what to do next.
type fault struct {
	code int
	err  error
}

func (f *fault) Error() string { return f.err.Error() }
func (f *fault) Unwrap() error { return f.err }

func failed(format string, args ...any) error {
	return &fault{code: exitFailed, err: fmt.Errorf(format, args...)}
}

func badInput(format string, args ...any) error {
	return &fault{code: exitBadInput, err: fmt.Errorf(format, args...)}
}

func unreachable(format string, args ...any) error {
	return &fault{code: exitUnreachable, err: fmt.Errorf(format, args...)}
}

// exitCode is the code of an error. What is not a fault comes from cobra itself
// (an unknown command), for every command wraps its own: bad input.
func exitCode(err error) int {
	var f *fault
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &f):
		return f.code
	}
	return exitBadInput
}
