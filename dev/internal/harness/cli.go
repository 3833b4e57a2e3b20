package harness

import (
	"bytes"
	"context"
	"errors"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"
)

// cliTimeout bounds one call of the CLI beyond its own --timeout, which should
// end it first.
const cliTimeout = 3 * time.Minute

// limit is how long a call of the CLI may take.
func limit(args []string) time.Duration {
	if i := slices.Index(args, "--timeout"); i >= 0 && i+1 < len(args) {
		if own, err := time.ParseDuration(args[i+1]); err == nil {
			return cliTimeout + own
		}
	}
	return cliTimeout
}

// Result is what a call of the CLI left behind.
type Result struct {
	Args []string
	// Code is the exit code; Out and Err what it wrote.
	Code     int
	Out, Err string
	// CPU is the time of processors that it took.
	CPU time.Duration
}

// String shows the call as a failed test should.
func (r Result) String() string {
	return "armature " + strings.Join(r.Args, " ") + "\nexit code " + strconv.Itoa(r.Code) +
		"\n--- out\n" + r.Out + "--- err\n" + r.Err
}

// CLI runs armature in the world's folder, without a terminal.
func (w *World) CLI(args ...string) Result {
	w.T.Helper()
	return w.CLIWith("", nil, args...)
}

// CLIWith is CLI with something on standard input and more environment, which
// overrides the world's.
func (w *World) CLIWith(stdin string, env []string, args ...string) Result {
	w.T.Helper()
	ctx, cancel := context.WithTimeout(w.T.Context(), limit(args))
	defer cancel()
	command := exec.CommandContext(ctx, w.Binaries.CLI, args...)
	var out, err bytes.Buffer
	command.Dir, command.Env = w.Folder, w.environment(env...)
	command.Stdin, command.Stdout, command.Stderr = strings.NewReader(stdin), &out, &err
	failed := command.Start()
	if failed == nil {
		if w.Started != nil {
			w.Started(command.Process.Pid)
		}
		failed = command.Wait()
	}
	var exit *exec.ExitError
	if failed != nil && !errors.As(failed, &exit) {
		w.T.Fatalf("run armature %s: %v", strings.Join(args, " "), failed)
	}
	if ctx.Err() != nil {
		w.T.Fatalf("armature %s did not end in %s\n%s%s", strings.Join(args, " "), limit(args), &out, &err)
	}
	state := command.ProcessState
	return Result{Args: args, Code: state.ExitCode(), Out: out.String(), Err: err.String(), CPU: state.UserTime() + state.SystemTime()}
}

// MustCLI is CLI that fails the test unless the exit code is 0.
func (w *World) MustCLI(args ...string) Result {
	w.T.Helper()
	result := w.CLI(args...)
	if result.Code != 0 {
		w.T.Fatalf("want exit code 0 of %s", result)
	}
	return result
}
