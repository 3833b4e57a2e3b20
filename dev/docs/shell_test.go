package docs

import (
	"bufio"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// commandTimeout bounds one command of a page. None compiles more than Armature itself:
// the programs and their dependencies are built before the first page (fillCache).
const commandTimeout = 10 * time.Minute

// shell is a bash in which the commands of a page run one after the other.
type shell struct {
	t testing.TB
	// folder is the copy of the repository in which it began.
	folder string
	bash   *exec.Cmd
	input  io.Writer
	lines  chan string
	// marker ends the output of a command.
	marker string
	// background are the commands that keep running.
	background []command
}

// startShell starts a bash in a folder. It and its background processes end with the
// test.
func startShell(t testing.TB, folder string, environment []string) *shell {
	t.Helper()
	s := &shell{t: t, folder: folder, lines: make(chan string, 1000), marker: "end-" + rand.Text()}
	s.bash = exec.Command("bash", "--noprofile", "--norc")
	s.bash.Dir, s.bash.Env = folder, environment
	s.bash.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	input, err := s.bash.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	output, written, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	s.input, s.bash.Stdout, s.bash.Stderr = input, written, written
	if err := s.bash.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = syscall.Kill(-s.bash.Process.Pid, syscall.SIGKILL)
		_ = s.bash.Wait() // killed: the state has no meaning
		_ = written.Close()
		for range s.lines { // drains the lines, so that the reader can end
		}
		_ = output.Close()
	})
	go func() {
		defer close(s.lines)
		for scanner := bufio.NewScanner(output); scanner.Scan(); {
			s.lines <- scanner.Text()
		}
	}()
	s.write("set -o pipefail\n")
	return s
}

func (s *shell) write(text string) {
	s.t.Helper()
	if _, err := io.WriteString(s.input, text); err != nil {
		s.t.Fatalf("write to the shell: %v", err)
	}
}

// run runs one command and returns its output and its exit code.
func (s *shell) run(c command) (output []string, exit int) {
	s.t.Helper()
	text := c.text
	if c.background {
		comment := strings.LastIndex(text, "#")
		text = fmt.Sprintf("%s >>'%s' 2>&1 &\nrunning+=($!)", strings.TrimSpace(text[:comment]), s.backgroundLog(len(s.background)))
		s.background = append(s.background, c)
	}
	// A command inherits the shell's standard input and must not read it.
	s.write("{ " + text + "\n} </dev/null\nprintf '\\n%s %d\\n' " + s.marker + " $?\n")
	timeout := time.NewTimer(commandTimeout)
	defer timeout.Stop()
	for {
		select {
		case line, more := <-s.lines:
			if !more {
				s.t.Fatalf("the shell ended\n%s", strings.Join(output, "\n"))
			}
			if code, ended := strings.CutPrefix(line, s.marker+" "); ended {
				exit, err := strconv.Atoi(code)
				if err != nil {
					s.t.Fatalf("read exit code: %v", err)
				}
				return output, exit
			}
			output = append(output, line)
		case <-timeout.C:
			s.t.Fatalf("the command did not end in %s:\n%s\n%s", commandTimeout, c.text, strings.Join(output, "\n"))
		}
	}
}

// backgroundLog returns the file with the output of a background command.
func (s *shell) backgroundLog(i int) string {
	return filepath.Join(s.folder, fmt.Sprintf("background-%d.log", i))
}

// backgroundOutput returns what the background commands have written.
func (s *shell) backgroundOutput() string {
	var b strings.Builder
	for i, c := range s.background {
		written, err := os.ReadFile(s.backgroundLog(i))
		if err != nil {
			written = []byte(err.Error())
		}
		fmt.Fprintf(&b, "\nand %s wrote:\n%s", c.text, written)
	}
	return b.String()
}

// stillRunning fails the test where a background command has ended.
func (s *shell) stillRunning() {
	s.t.Helper()
	for i, c := range s.background {
		if output, exit := s.run(command{text: fmt.Sprintf("kill -0 ${running[%d]} || { cat '%s'; false; }", i, s.backgroundLog(i))}); exit != 0 {
			s.t.Errorf("line %d: %s\nhas ended:\n%s", c.line, c.text, strings.Join(output, "\n"))
		}
	}
}

// copyRepository copies the files into a new folder that git tracks or would track: tools that
// tests install are thousands more.
func copyRepository(root, folder string) error {
	command := exec.Command("git", "-C", root, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	out, err := command.Output()
	if err != nil {
		return fmt.Errorf("list the files of the repository: %w", err)
	}
	for name := range strings.SplitSeq(strings.TrimRight(string(out), "\x00"), "\x00") {
		from, to := filepath.Join(root, name), filepath.Join(folder, name)
		info, err := os.Lstat(from)
		if errors.Is(err, fs.ErrNotExist) || err == nil && !info.Mode().IsRegular() {
			continue
		}
		data, err := os.ReadFile(from)
		if err == nil {
			err = os.MkdirAll(filepath.Dir(to), 0o755)
		}
		if err == nil {
			err = os.WriteFile(to, data, info.Mode().Perm())
		}
		if err != nil {
			return fmt.Errorf("copy the repository: %w", err)
		}
	}
	return nil
}
