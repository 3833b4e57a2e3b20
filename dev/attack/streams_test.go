package main

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/armature-io/armature/dev/internal/hostile"
)

// ends bounds the time in which a command ends after a signal.
const ends = 15 * time.Second

// command is a running program of the tests.
type command struct {
	*exec.Cmd
	out, err bytes.Buffer
	exited   chan struct{}
}

// startCLI starts armature in a folder, without a Temporal server.
func startCLI(t *testing.T, folder string, stdin io.Reader, stdout *os.File, args ...string) *command {
	t.Helper()
	c := &command{Cmd: exec.Command(programs(t).CLI, args...), exited: make(chan struct{})}
	c.Dir, c.Stdin, c.Stderr = folder, stdin, &c.err
	c.Env = []string{"HOME=" + folder, "PATH=" + os.Getenv("PATH"), "TEMPORAL_ADDRESS=127.0.0.1:1"}
	c.Stdout = &c.out
	if stdout != nil {
		c.Stdout = stdout
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = c.Wait() // the process state has the exit code
		close(c.exited)
	}()
	t.Cleanup(func() {
		_ = c.Process.Kill()
		<-c.exited
	})
	return c
}

// end waits until the command has ended and returns its exit code, -1 for a signal.
func (c *command) end(t *testing.T) int {
	t.Helper()
	select {
	case <-c.exited:
		return c.ProcessState.ExitCode()
	case <-time.After(ends):
		t.Fatalf("armature %s did not end within %s\n%s%s", strings.Join(c.Args[1:], " "), ends, &c.out, &c.err)
		return 0
	}
}

// TestSignals checks that a signal ends a command that reads an input without an end.
func TestSignals(t *testing.T) {
	t.Parallel()
	for name, signal := range map[string]os.Signal{"interrupt": os.Interrupt, "terminate": syscall.SIGTERM} {
		for _, args := range [][]string{{"validate", "-f", "-"}, {"plan", "-f", "-"}, {"apply", "-f", "-"}} {
			t.Run(name+" "+args[0], func(t *testing.T) {
				t.Parallel()
				reader, writer, err := os.Pipe()
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _, _ = reader.Close(), writer.Close() })
				c := startCLI(t, t.TempDir(), reader, nil, args...)
				if _, err := writer.WriteString("type: Microsoft."); err != nil {
					t.Fatal(err)
				}
				select {
				case <-c.exited:
					t.Fatalf("the command ended before the signal:\n%s%s", &c.out, &c.err)
				case <-time.After(time.Second): // it reads now
				}
				if err := c.Process.Signal(signal); err != nil {
					t.Fatal(err)
				}
				if code := c.end(t); code == 0 {
					t.Error("an interrupted command reports success")
				}
			})
		}
	}
}

// TestSpecialFiles checks that files without an end, and links out of the folder, are
// refused or left out, and never read.
func TestSpecialFiles(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	secret := filepath.Join(folder, "credentials.json")
	write(t, secret, `{"type": "s3cretvalue", "s3cretkey": 1}`)
	stack := filepath.Join(folder, "stack")
	write(t, filepath.Join(stack, "group.yaml"), "type: Microsoft.Resources/resourceGroups@2021-04-01\nname: g\nowner: "+subscription+"\nbody: {location: westus2}\n")
	kinds := map[string]func(path string) error{
		"pipe":  func(path string) error { return syscall.Mkfifo(path, 0o600) },
		"zeros": func(path string) error { return os.Symlink("/dev/zero", path) },
		"link":  func(path string) error { return os.Symlink(secret, path) },
		"tree":  func(path string) error { return os.Symlink(folder, path) },
	}
	for name, create := range kinds {
		for _, whole := range []bool{true, false} {
			test := name + " alone"
			at := filepath.Join(t.TempDir(), "pr")
			write(t, filepath.Join(at, "group.yaml"), read(t, filepath.Join(stack, "group.yaml")))
			if err := create(filepath.Join(at, "evil.json")); err != nil {
				t.Fatal(err)
			}
			source := filepath.Join(at, "evil.json")
			if whole {
				test, source = name+" in a folder", at
			}
			if !whole && name != "pipe" && name != "zeros" {
				continue // a user may name a link
			}
			t.Run(test, func(t *testing.T) {
				t.Parallel()
				c := startCLI(t, at, nil, nil, "validate", "-f", source)
				c.end(t)
				if shown := c.out.String() + c.err.String(); strings.Contains(shown, "s3cret") {
					t.Errorf("a file outside of the folder is shown:\n%s", shown)
				}
			})
		}
	}
}

// TestUntrustedManifests checks that names in manifests, and names of files, cannot write
// commands of CI or control characters into a log.
func TestUntrustedManifests(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	good := "type: Microsoft.Resources/resourceGroups@2021-04-01\nname: g\nowner: " + subscription + "\nbody: {location: westus2}\n"
	const evil = `evil\x1b]0;PWN\x07\n::error file=a::injected\u202etxet\u009b1m`
	sources := map[string]string{
		"key.yaml":                            good + "\"" + evil + "\": 1\n",
		"value.yaml":                          strings.Replace(good, "Microsoft.Resources", "\""+evil, 1),
		"property.yaml":                       strings.Replace(good, "{location: westus2}", "{location: westus2, \""+evil+"\": 1}", 1),
		"policy.yaml":                         good + "reconcile: {policy: \"" + evil + "\"}\n",
		"name.yaml":                           strings.Replace(good, "name: g", "name: \""+evil+"\"", 1),
		"a\x1b[31m\n::error::file\u202e.yaml": "nope: 1\n",
		"broken.json":                         "{\"a\": \x1b]0;PWN\x07}",
	}
	for name, text := range sources {
		write(t, filepath.Join(folder, name), text)
	}
	for _, format := range []string{"", "github", "json", "sarif", "junit"} {
		args := []string{"validate", "-f", folder}
		if format != "" {
			args = append(args, "-o", format)
		}
		c := startCLI(t, folder, nil, nil, args...)
		if code := c.end(t); code == 0 {
			t.Errorf("%s: faulty manifests pass:\n%s", args, &c.out)
		}
		shown := c.out.String() + c.err.String()
		if bad := unprintable(shown); bad != "" {
			t.Errorf("%s prints %s", args, bad)
		}
		for line := range strings.SplitSeq(shown, "\n") {
			if strings.HasPrefix(strings.TrimSpace(line), "::error") && strings.Contains(line, "::injected") && format != "github" || strings.HasPrefix(line, "::error::file") {
				t.Errorf("%s prints a command of CI: %q", args, line)
			}
		}
	}
}

// TestFullDisk checks that a command whose output could not be written fails.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	write(t, filepath.Join(folder, "group.yaml"), "type: Microsoft.Resources/resourceGroups@2021-04-01\nname: g\nowner: "+subscription+"\nbody: {location: westus2}\n")
	for _, args := range [][]string{{"version"}, {"types", "Microsoft.Kusto"}, {"validate", "-f", "."}, {"validate", "-f", ".", "-o", "json"}, {"init", "--print"}, {"completion", "bash"}, {"--help"}} {
		full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = full.Close() })
		if code := startCLI(t, folder, nil, full, args...).end(t); code == 0 {
			t.Errorf("armature %s reports success although nothing was written", strings.Join(args, " "))
		}
	}
}

// TestLogReaderLeaves checks that a worker works on when the reader of its log is gone.
func TestLogReaderLeaves(t *testing.T) {
	t.Parallel()
	s := newScene(t, "pipe")
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	worker := exec.Command(s.Binaries.Worker)
	worker.Env = append(append(s.WorkerEnvironment(), s.environment()...), "ARMATURE_HTTP_LISTEN=", "ARMATURE_LOG_LEVEL=debug")
	worker.Dir, worker.Stdout, worker.Stderr = s.Folder, writer, writer
	if err := worker.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = worker.Process.Kill()
		_ = worker.Wait()
	})
	if _, err := io.ReadFull(reader, make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(reader.Close(), writer.Close()); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"one", "two"} {
		s.arm.Answer(http.MethodGet, s.id(name), 1, hostile.Error(http.StatusBadRequest, "Odd", "logged"))
		s.MustCLI("apply", "-f", s.manifest(name, ""), "--wait", "--timeout", "60s")
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// maxResident returns the largest resident size of a command that has ended, in bytes.
func (c *command) maxResident() int64 {
	usage, ok := c.ProcessState.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	return usage.Maxrss << 10
}
