package starter

import (
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"
	"unsafe"
)

// openTerminal opens a pseudo-terminal: what is written to the second end is read
// from the first.
func openTerminal(t *testing.T) (reads, writes *os.File) {
	t.Helper()
	reads, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("there are no pseudo-terminals here: %v", err)
	}
	t.Cleanup(func() { _ = reads.Close() })
	var number, locked uint32
	for request, at := range map[uintptr]*uint32{syscall.TIOCGPTN: &number, syscall.TIOCSPTLCK: &locked} {
		if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, reads.Fd(), request, uintptr(unsafe.Pointer(at))); errno != 0 {
			t.Fatal(errno)
		}
	}
	writes, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	return reads, writes
}

// TestEscapeCodes verifies the escape codes on a real terminal and on a pipe.
func TestEscapeCodes(t *testing.T) {
	const color, redraw = "\x1b[32m", "\x1b[J"
	commands := map[string][]string{
		"get":      {"get"},
		"describe": {"describe", "adx"},
		"wait":     {"wait", "--timeout", "2s"},
		"watch":    {"get", cluster, "--watch"},
	}
	cases := map[string]struct {
		reason        string
		pipe          bool
		environ       []string
		colors, draws bool
	}{
		"terminal":       {reason: "it shows colors and redraws", environ: []string{"TERM=xterm-256color"}, colors: true, draws: true},
		"NO_COLOR":       {reason: "no colors, and redrawing is none", environ: []string{"TERM=xterm-256color", "NO_COLOR=1"}, draws: true},
		"NO_COLOR empty": {reason: "an empty variable counts as not set (no-color.org)", environ: []string{"TERM=xterm", "NO_COLOR="}, colors: true, draws: true},
		"dumb":           {reason: "it can append only", environ: []string{"TERM=dumb"}},
		"pipe":           {reason: "a file or another program reads", pipe: true, environ: []string{"TERM=xterm-256color"}},
	}
	for name, tc := range cases {
		for command, args := range commands {
			t.Run(name+" "+command, func(t *testing.T) {
				reads, writes, err := os.Pipe()
				if !tc.pipe {
					reads, writes = openTerminal(t)
				}
				if err != nil {
					t.Fatal(err)
				}
				w := sampleWorld(t)
				w.environment = tc.environ
				w.detect(os.Stdin, writes)
				w.app.out = writes
				// Only a resource that ends ends a watch.
				if command == "watch" {
					w.temporal.end("Completed", readyStatus())
				}
				output := make(chan string)
				go func() {
					all, _ := io.ReadAll(reads) // a terminal that is closed is an error to its reader
					output <- string(all)
				}()
				w.run(args...)
				_ = writes.Close()
				text := <-output
				if text == "" {
					t.Fatal("nothing was written")
				}
				if got := strings.Contains(text, color); got != tc.colors {
					t.Errorf("%s: colors %t, want %t: %q", tc.reason, got, tc.colors, text)
				}
				draws := tc.draws && (command == "wait" || command == "watch")
				if got := strings.Contains(text, redraw); got != draws {
					t.Errorf("%s: redraws %t, want %t: %q", tc.reason, got, draws, text)
				}
				if !tc.colors && !draws && strings.Contains(text, "\x1b") {
					t.Errorf("%s: escape codes in %q", tc.reason, text)
				}
			})
		}
	}
}
