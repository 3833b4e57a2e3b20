package e2e

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	commonpb "go.temporal.io/api/common/v1"
	"google.golang.org/protobuf/encoding/protojson"

	"github.com/armature-io/armature/dev/internal/freeport"
	"github.com/armature-io/armature/internal/payload"
)

// codecMemory is the limit of the codec server's container in docker-compose.yml.
const codecMemory = 512 << 20

// TestGuardCodecMemory sends the codec server, a process with the memory of its
// container, requests of 250 KB that would decode to 1.6 GB.
//
//guard:bounds-of-the-codec-server
func TestGuardCodecMemory(t *testing.T) {
	address := startCodec(t)
	large := &commonpb.Payload{
		Metadata: map[string][]byte{"encoding": []byte("json/plain")}, Data: []byte(`"` + strings.Repeat("a", payload.MaxSize-100) + `"`),
	}
	encoded, err := payload.Codec().Encode([]*commonpb.Payload{large})
	if err != nil {
		t.Fatal(err)
	}
	request := func(count int) []byte {
		text, err := protojson.Marshal(&commonpb.Payloads{Payloads: slices.Repeat(encoded, count)})
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	bomb, honest := request(100), request(1)
	t.Logf("the request has %d bytes", len(bomb))
	var all sync.WaitGroup
	for i := range 24 {
		all.Go(func() {
			body, want := bomb, http.StatusBadRequest
			if i%3 == 0 {
				body, want = honest, http.StatusOK
			}
			if got := decode(t, address, body); got != want {
				t.Errorf("request %d: got %d, want %d", i, got, want)
			}
		})
	}
	all.Wait()
}

// decode sends a request from the Web UI and returns the status.
func decode(t *testing.T, address string, body []byte) int {
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+address+"/decode", bytes.NewReader(body))
	if err != nil {
		t.Error(err)
		return 0
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Origin", "http://127.0.0.1:8080")
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Error(err)
		return 0
	}
	defer func() { _ = response.Body.Close() }()
	if _, err := io.Copy(io.Discard, response.Body); err != nil {
		t.Error(err)
	}
	return response.StatusCode
}

// startCodec starts the codec server, and checks its peak of memory at the end.
func startCodec(t *testing.T) string {
	t.Helper()
	ports, err := freeport.Reserve(0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(ports.Release)
	address := freeport.Address(ports.Numbers[0])
	// The limit of address space is the hard one; Go reserves more than it uses.
	command := exec.CommandContext(context.WithoutCancel(t.Context()), "/bin/sh", "-c",
		`ulimit -v 2500000; exec "$0" codec --listen "$1"`, binaries.Worker, address)
	command.Env = append(os.Environ(), "GOMEMLIMIT="+strconv.Itoa(codecMemory*9/10))
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	var stderr bytes.Buffer
	command.Stdout, command.Stderr = writer, &stderr
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	_ = writer.Close() // the process has its own
	line := make([]byte, 100)
	if n, err := reader.Read(line); err != nil || !strings.Contains(string(line[:n]), "codec server at") {
		t.Fatalf("the codec server did not start: %q, %v", line[:n], err)
	}
	t.Cleanup(func() {
		status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", command.Process.Pid))
		peak := regexp.MustCompile(`VmHWM:\s+(\d+) kB`).FindSubmatch(status)
		if err != nil || peak == nil {
			t.Errorf("the codec server ended: %v\n%.500s", err, stderr.String())
		} else if kilobytes, _ := strconv.Atoi(string(peak[1])); kilobytes<<10 > codecMemory {
			t.Errorf("peak of %d kB, the container has %d", kilobytes, codecMemory>>10)
		} else {
			t.Logf("peak of %d MB", kilobytes>>10)
		}
		_ = command.Process.Kill()
		_ = command.Wait()
	})
	return address
}
