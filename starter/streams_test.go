//go:build unix

package starter

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/armature-io/armature/starter/internal/cli"
)

// realMain makes the test binary run as the CLI.
const realMain = "TEST_RUNS_MAIN"

func TestMain(m *testing.M) {
	if os.Getenv(realMain) != "" {
		os.Exit(Main(os.Args[1:], Options{}))
	}
	os.Exit(m.Run())
}

// process is a real process of the CLI.
type process struct {
	*exec.Cmd
	out, err bytes.Buffer
}

// realCLI returns a process that has not started, with a Temporal that refuses connections.
func realCLI(t *testing.T, args ...string) *process {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p := &process{Cmd: exec.Command(self, args...)}
	p.Env = append(os.Environ(), realMain+"=1", "TEMPORAL_CONFIG_FILE="+filepath.Join(t.TempDir(), "none.toml"), "TEMPORAL_ADDRESS=127.0.0.1:1", "NO_COLOR=1")
	p.Stdout, p.Stderr = &p.out, &p.err
	return p
}

// end waits for the process and returns its exit code, -1 for a signal.
func (p *process) end(t *testing.T) int {
	t.Helper()
	kill := time.AfterFunc(time.Minute, func() { _ = p.Process.Kill() })
	err := p.Wait()
	if !kill.Stop() {
		t.Fatalf("%v did not end: %s%s", p.Args[1:], &p.out, &p.err)
	}
	if _, exited := errors.AsType[*exec.ExitError](err); err != nil && !exited {
		t.Fatal(err)
	}
	return p.ProcessState.ExitCode()
}

// busy starts a command that waits for something that never comes, and returns when it
// does.
type busy func(t *testing.T) *process

func readingStdin(t *testing.T) *process {
	t.Helper()
	p := realCLI(t, "plan", "-f", "-")
	in, err := p.StdinPipe()
	if err == nil {
		err = p.Start()
	}
	if err == nil {
		// A pipe takes 64 KiB, so the rest of it is taken when the command reads.
		_, err = io.WriteString(in, strings.Repeat("# comment\n", 20_000))
	}
	if err != nil {
		t.Fatal(err)
	}
	<-time.After(300 * time.Millisecond) // it takes the rest
	return p
}

// openingFIFO starts a command whose configuration of Temporal is a FIFO. No command opens
// one that a user names, but the library that reads this file does.
func openingFIFO(t *testing.T) *process {
	t.Helper()
	path := filepath.Join(t.TempDir(), "temporal.toml")
	p := realCLI(t, "get")
	p.Env = append(p.Env, "TEMPORAL_CONFIG_FILE="+path)
	if err := errors.Join(syscall.Mkfifo(path, 0o600), p.Start()); err != nil {
		t.Fatal(err)
	}
	for begun := time.Now(); ; <-time.After(10 * time.Millisecond) {
		// This is an error until the command has opened the other end.
		writes, err := os.OpenFile(path, os.O_WRONLY|syscall.O_NONBLOCK, 0)
		if err == nil {
			t.Cleanup(func() { _ = writes.Close() })
			return p
		}
		if !errors.Is(err, syscall.ENXIO) || time.Since(begun) > time.Minute {
			t.Fatal(err)
		}
	}
}

func waitingForTemporal(t *testing.T) *process {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	p := realCLI(t, "get")
	p.Env = append(p.Env, "TEMPORAL_ADDRESS="+listener.Addr().String())
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := listener.Accept(); err != nil { // and never answer
		t.Fatal(err)
	}
	return p
}

// TestFirstSignalEndsEveryCommand checks that no command outlives a signal, with the exit
// codes of shells.
func TestFirstSignalEndsEveryCommand(t *testing.T) {
	t.Parallel()
	for name, start := range map[string]busy{"stdin": readingStdin, "fifo": openingFIFO, "temporal": waitingForTemporal} {
		for signal, code := range map[syscall.Signal]int{syscall.SIGINT: 130, syscall.SIGTERM: 143} {
			t.Run(name+" "+signal.String(), func(t *testing.T) {
				t.Parallel()
				p := start(t)
				begun := time.Now()
				if err := p.Process.Signal(signal); err != nil {
					t.Fatal(err)
				}
				if got := p.end(t); got != code {
					t.Errorf("exit code %d, want %d: %s", got, code, &p.err)
				}
				if took := time.Since(begun); took > 10*time.Second {
					t.Errorf("it took %s", took)
				}
				if p.out.Len() > 0 || name != "fifo" && !strings.Contains(p.err.String(), "interrupted") {
					t.Errorf("it wrote %q, and %q to standard error", &p.out, &p.err)
				}
			})
		}
	}
}

// TestSecondSignalKills checks that a second signal ends the process by its default action.
func TestSecondSignalKills(t *testing.T) {
	t.Parallel()
	p := openingFIFO(t)
	for range 2 {
		if err := p.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		<-time.After(200 * time.Millisecond)
	}
	if code := p.end(t); code != -1 {
		t.Errorf("exit code %d, want the signal itself", code)
	}
}

// TestSpecialFilesAreRefused checks that no command waits for a FIFO, and none reads a
// device.
func TestSpecialFilesAreRefused(t *testing.T) {
	t.Parallel()
	fifo := filepath.Join(t.TempDir(), "m.yaml")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{fifo, filepath.Dir(fifo), "/dev/zero"} {
		for _, args := range [][]string{{"validate", "-f", path}, {"apply", "-f", path}, {"apply", "--plan-file", path}, {"init", "--print", path}} {
			p := realCLI(t, args...)
			if err := p.Start(); err != nil {
				t.Fatal(err)
			}
			code := p.end(t)
			if args[0] == "init" { // it uses what it can read
				continue
			}
			if code != cli.ExitBadInput || !strings.Contains(p.err.String()+p.out.String(), "regular file") {
				t.Errorf("%v: exit code %d, %s%s", args, code, &p.out, &p.err)
			}
		}
	}
}

// TestUnwrittenOutputFails checks that a command whose output is lost is not a success.
func TestUnwrittenOutputFails(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("there is no /dev/full here")
	}
	for name, args := range map[string][]string{
		"version": {"version"}, "help": {"--help"}, "types": {"types", "kusto"}, "types.json": {"types", "kusto", "-o", "json"}, "explain": {"explain", "Microsoft.Kusto/clusters"},
		"new": {"new", "Microsoft.Kusto/clusters"}, "schema": {"init", "--print", "testdata"}, "completion": {"completion", "bash"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
			if err != nil {
				t.Fatal(err)
			}
			defer full.Close()
			p := realCLI(t, args...)
			p.Stdout = full
			if err := p.Start(); err != nil {
				t.Fatal(err)
			}
			if code := p.end(t); code != cli.ExitFailed || !strings.Contains(p.err.String(), "the output is incomplete: write /dev/stdout: no space left on device") {
				t.Errorf("exit code %d: %s", code, &p.err)
			}
			reads, writes, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			_ = reads.Close()
			p = realCLI(t, args...)
			p.Stdout = writes
			if err := p.Start(); err != nil {
				t.Fatal(err)
			}
			_ = writes.Close()
			if code := p.end(t); code != 141 && code != -1 || p.err.Len() > 0 {
				t.Errorf("a closed pipe: exit code %d: %s", code, &p.err)
			}
		})
	}
}

// brokenWriter takes some bytes and then fails.
type brokenWriter struct {
	left int
	err  error
}

func (w *brokenWriter) Write(p []byte) (int, error) {
	if w.left -= len(p); w.left < 0 {
		return 0, w.err
	}
	return len(p), nil
}

// TestUnwrittenOutputOfCommands checks commands of a Temporal: a watch ends, changes are no
// success, a refusal keeps its code, and a reader that went away is no message.
func TestUnwrittenOutputOfCommands(t *testing.T) {
	for name, c := range map[string]struct {
		reason string
		args   []string
		err    error
		code   int
		quiet  bool
	}{
		"get":      {reason: "a list that nobody got", args: []string{"get"}, err: syscall.ENOSPC, code: cli.ExitFailed},
		"json":     {reason: "half a document", args: []string{"get", "-o", "json"}, err: syscall.ENOSPC, code: cli.ExitFailed},
		"watch":    {reason: "it would never end", args: []string{"get", "--watch"}, err: syscall.ENOSPC, code: cli.ExitFailed},
		"pipe":     {reason: "`head` took what it needs", args: []string{"get", "--watch"}, err: syscall.EPIPE, code: 141, quiet: true},
		"refused":  {reason: "its own failure comes first", args: []string{"describe", "nothing"}, err: syscall.ENOSPC, code: cli.ExitFailed, quiet: true},
		"selector": {reason: "bad input stays bad input", args: []string{"get", "-l", "x"}, err: syscall.ENOSPC, code: cli.ExitBadInput, quiet: true},
	} {
		t.Run(name, func(t *testing.T) {
			w := sampleWorld(t)
			w.app.out = &brokenWriter{err: c.err}
			if code := w.run(c.args...); code != c.code {
				t.Errorf("%s: exit code %d, want %d: %s", c.reason, code, c.code, w.err)
			}
			if got := strings.Contains(w.err.String(), "the output is incomplete"); got == c.quiet {
				t.Errorf("%s: standard error is %q", c.reason, w.err)
			}
		})
	}
}

// TestUnwrittenChangesAreNoChanges checks that plan does not report changes that it could not
// show.
func TestUnwrittenChangesAreNoChanges(t *testing.T) {
	w, _ := planWorld(t, "create")
	w.app.out = &brokenWriter{err: syscall.ENOSPC}
	if code := w.run("plan", "-f", labelledAdx(t)); code != cli.ExitFailed {
		t.Errorf("exit code %d, want %d: %s", code, cli.ExitFailed, w.err)
	}
}
