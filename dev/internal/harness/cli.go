package harness

import (
	"bytes"
	"context"
	"errors"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// cliTimeout bounds one CLI call beyond its own --timeout, which should end it
// first.
const cliTimeout = 3 * time.Minute

// Patience is by how much a condition that must become true may exceed the time that tests
// name. Their times are those of a quiet machine.
const Patience = 4

// maxDuration returns how long a CLI call with these arguments may take.
func maxDuration(args []string) time.Duration {
	_, own := ownTimeout(args)
	return Patience*cliTimeout + own
}

// ownTimeout returns the --timeout of a CLI call and its place in the arguments, -1 without one.
func ownTimeout(args []string) (int, time.Duration) {
	if i := slices.Index(args, "--timeout") + 1; i > 0 && i < len(args) {
		if own, err := time.ParseDuration(args[i]); err == nil {
			return i, own
		}
	}
	return -1, 0
}

// Patient returns the arguments of a CLI call that must succeed, with [Patience] times its
// --timeout.
func Patient(args []string) []string {
	i, own := ownTimeout(args)
	if i < 0 {
		return args
	}
	args = slices.Clone(args)
	args[i] = (Patience * own).String()
	return args
}

// Result is the result of a CLI call.
type Result struct {
	Program string
	Args    []string
	// Code is the exit code; Out and Err are standard output and error.
	Code     int
	Out, Err string
	// CPU is the processor time of the call.
	CPU time.Duration
	// Answered is the time from the start to the first output, 0 without output.
	Answered time.Duration
}

// firstWrite keeps what is written, and when that began.
type firstWrite struct {
	kept  bytes.Buffer // not embedded: its ReadFrom would be used instead of Write
	begun time.Time
	after time.Duration
}

func (w *firstWrite) Write(p []byte) (int, error) {
	if w.after == 0 {
		w.after = time.Since(w.begun)
	}
	return w.kept.Write(p) //nolint:wrapcheck // it never fails
}

// String returns the call and its output for messages of failed tests. Errors are first: the
// end of a long message may be cut.
func (r Result) String() string {
	return filepath.Base(r.Program) + " " + strings.Join(r.Args, " ") + "\nexit code " + strconv.Itoa(r.Code) +
		"\n--- err\n" + r.Err + "--- out\n" + r.Out
}

// CLI runs armature in the world's folder, without a terminal.
func (w *World) CLI(args ...string) Result {
	w.T.Helper()
	return w.CLIWith("", nil, args...)
}

// CLIWith runs armature with standard input and variables that override the
// world's.
func (w *World) CLIWith(stdin string, env []string, args ...string) Result {
	w.T.Helper()
	return w.run(w.Binaries.CLI, stdin, env, args)
}

// Replay runs `worker replay` of a worker's program, with variables that override the world's.
func (w *World) Replay(worker string, env []string, args ...string) Result {
	w.T.Helper()
	return w.run(worker, "", env, append([]string{"replay"}, args...))
}

// Try runs `worker try` of the world's worker.
func (w *World) Try(args ...string) Result {
	w.T.Helper()
	env := append(w.Sim.environment(), w.Binaries.Settings...)
	return w.run(w.Binaries.Worker, "", env, append([]string{"try"}, args...))
}

// MustReplay replays the latest run of a resource, or all that runs, with the world's worker,
// and fails the test unless everything replays.
func (w *World) MustReplay(ids ...string) Result {
	w.T.Helper()
	result := w.Replay(w.Binaries.Worker, nil, ids...)
	if result.Code != 0 {
		w.T.Fatalf("want exit code 0 of %s", result)
	}
	return result
}

func (w *World) run(program, stdin string, env, args []string) Result {
	w.T.Helper()
	ctx, cancel := context.WithTimeout(w.T.Context(), maxDuration(args))
	defer cancel()
	command := exec.CommandContext(ctx, program, args...)
	out := firstWrite{begun: time.Now()}
	var err bytes.Buffer
	command.Dir, command.Env = w.Folder, w.environment(env...)
	command.Stdin, command.Stdout, command.Stderr = strings.NewReader(stdin), &out, &err
	failed := command.Start()
	if failed == nil {
		if w.Started != nil {
			w.Started(command.Process.Pid)
		}
		failed = command.Wait()
	}
	if _, isExit := errors.AsType[*exec.ExitError](failed); failed != nil && !isExit {
		w.T.Fatalf("run %s %s: %v", program, strings.Join(args, " "), failed)
	}
	if ctx.Err() != nil {
		w.T.Fatalf("%s %s did not exit within %s\n%s%s", program, strings.Join(args, " "), maxDuration(args), out.kept.String(), &err)
	}
	state := command.ProcessState
	return Result{Program: program, Args: args, Code: state.ExitCode(), Out: out.kept.String(), Err: err.String(), CPU: state.UserTime() + state.SystemTime(), Answered: out.after}
}

// workerLate is the exit code if a worker did not respond in time.
const workerLate = 3

// isLate reports whether a command failed because a worker, or Temporal, did not respond in
// time. A deletion then refuses what it could not ask.
func (r Result) isLate() bool {
	return r.Code == workerLate || strings.Contains(r.Out, "refused: NotKnown")
}

// MustCLI runs armature and fails the test unless the exit code is 0. It repeats the command as
// the CLI asks if the machine was too busy.
func (w *World) MustCLI(args ...string) Result {
	w.T.Helper()
	for try := 1; ; try++ {
		result := w.CLI(Patient(args)...)
		if result.Code == 0 {
			return result
		}
		if !result.isLate() || try == Patience {
			w.T.Fatalf("want exit code 0 of %s", result)
		}
		w.T.Logf("repeated, because the machine was too busy: armature %s\n%s", strings.Join(args, " "), result.Err)
	}
}
