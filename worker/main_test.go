//go:build unix

package main

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"
)

// realMain makes the test binary run as the worker.
const realMain = "TEST_RUNS_MAIN"

func TestMain(m *testing.M) {
	if os.Getenv(realMain) != "" {
		main()
	}
	os.Exit(m.Run())
}

// TestGuardLogReaderEnds checks that the worker survives the end of its log's reader:
// `worker 2>&1 | head -1` must not end it amid a PUT.
//
//guard:the-log-s-reader-may-end
func TestGuardLogReaderEnds(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	reads, writes, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	health := freeAddress(t)
	worker := exec.Command(self)
	worker.Env = append(os.Environ(), realMain+"=1", "TEMPORAL_ADDRESS="+freeAddress(t), "ARMATURE_HTTP_LISTEN="+health, "ARMATURE_AZURE_CREDENTIAL=none", "ARMATURE_AZURE_CLOUD=custom", "ARMATURE_AZURE_AUDIENCE=none",
		"ARMATURE_AZURE_ENDPOINT=http://"+freeAddress(t), "ARMATURE_LOG_LEVEL=debug")
	worker.Stdout, worker.Stderr = writes, writes
	if err := worker.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- worker.Wait() }()
	t.Cleanup(func() { _ = worker.Process.Kill() })
	_ = writes.Close()
	line, err := bufio.NewReader(reads).ReadString('\n')
	if err != nil {
		t.Fatalf("no log: %v", err)
	}
	_ = reads.Close()
	// It logs the shutdown and what it could not reach.
	for until := time.Now().Add(30 * time.Second); ; {
		response, err := http.Get("http://" + health + "/readyz")
		if err == nil {
			_ = response.Body.Close()
			break
		}
		select {
		case err := <-ended:
			t.Fatalf("the worker ended after the line %q: %v", line, err)
		case <-time.After(50 * time.Millisecond):
		}
		if time.Now().After(until) {
			t.Fatalf("no health after the line %q: %v", line, err)
		}
	}
	if err := worker.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-ended:
		if code := worker.ProcessState.ExitCode(); code != 0 {
			t.Errorf("exit code %d of a stop: %v", code, err)
		}
	case <-time.After(30 * time.Second):
		t.Error("it does not stop")
	}
}

// freeAddress returns an address of this host at which nothing listens.
func freeAddress(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return fmt.Sprint(listener.Addr())
}
