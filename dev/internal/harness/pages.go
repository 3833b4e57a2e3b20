package harness

import (
	"bufio"
	"io"
	"os/exec"
	"strings"
)

// Pages is a running `armature ui`.
type Pages struct {
	// Address opens the pages once.
	Address string
	*exec.Cmd
}

// StartPages starts `armature ui` with further arguments. It is killed at the end of the test.
func (w *World) StartPages(args ...string) Pages {
	w.T.Helper()
	command := exec.Command(w.Binaries.CLI, append([]string{"ui"}, args...)...)
	command.Dir, command.Env = w.Folder, w.environment()
	out, err := command.StdoutPipe()
	if err == nil {
		err = command.Start()
	}
	if err != nil {
		w.T.Fatalf("start armature ui: %v", err)
	}
	w.T.Cleanup(func() {
		_ = command.Process.Kill() // it may have ended
		_ = command.Wait()
	})
	lines := bufio.NewReader(out)
	line, err := lines.ReadString('\n')
	if err != nil {
		w.T.Fatalf("armature ui printed %q: %v", line, err)
	}
	// It prints further addresses: a full pipe would stop it.
	go func() { _, _ = lines.WriteTo(io.Discard) }()
	return Pages{Address: strings.TrimSpace(line), Cmd: command}
}
