package e2e

import (
	"bytes"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/armature-io/armature/dev/chart"
	"github.com/armature-io/armature/dev/internal/freeport"
	"github.com/armature-io/armature/dev/internal/harness"
	"github.com/armature-io/armature/workflows"
)

// TestChartDemo renders the demo of the Helm chart, starts its containers as processes with
// exactly their arguments, environment and files, requests their probes as a kubelet does,
// and creates a resource with them. chart.Machine has what is replaced.
func TestChartDemo(t *testing.T) {
	t.Parallel()
	w := harness.New(t, binaries, harness.Options{})
	root, err := harness.Root(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	armsim := filepath.Join(w.Folder, "armsim")
	if err := harness.BuildProgram(t.Context(), root, "./armsim/cmd", armsim); err != nil {
		t.Fatal(err)
	}
	values, err := chart.Values(filepath.Join(root, chart.Folder, "ci", "demo-values.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	// The pages for a team ask their issuer at the first login.
	values["ui"] = map[string]any{
		"enabled": true, "baseUrl": "https://armature.example.com", "read": []any{"groups=ops"},
		"oidc": map[string]any{"issuer": "https://login.example.com", "clientId": "ui", "clientSecret": map[string]any{"existingSecret": "armature-ui"}},
	}
	objects, err := chart.Render(root, chart.Release{Name: "armature", Namespace: "demo"}, values)
	if err != nil {
		t.Fatal(err)
	}
	machine := &chart.Machine{
		Folder:    filepath.Join(w.Folder, "pods"),
		Programs:  map[string]string{"worker": w.Binaries.Worker, "armsim": armsim, "cli": w.Binaries.CLI},
		Addresses: map[string]string{"temporal-frontend.temporal.svc:7233": w.Temporal.Address()},
		Secrets:   map[string]map[string]string{"armature-mask-key": {"mask-key": strings.Repeat("k", 64)}, "armature-ui": {"client-secret": "s"}},
		FreePort:  func() int { return freePort(t) },
	}
	containers, err := machine.Containers(objects)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	var pods []*pod
	for _, c := range containers {
		names = append(names, c.Name)
		pods = append(pods, startPod(t, c))
	}
	if got := strings.Join(names, " "); got != "armature-armsim armature-codec armature-ui armature-worker-v1-2-3" {
		t.Fatalf("the demo has the containers %s", got)
	}
	for _, p := range pods {
		if len(p.Probes) < 2 {
			t.Errorf("%s has the probes %v, want liveness and readiness", p.Name, p.Probes)
		}
		for kind, url := range p.Probes {
			w.Until(2*time.Minute, fmt.Sprintf("the %s probe of %s succeeds", kind, p.Name), func() (bool, string) {
				status, body := request(url)
				return status == http.StatusOK, fmt.Sprintf("%s: %d %s\n%s", url, status, body, p.log())
			})
		}
	}

	// The demo works: the first version is current by itself, and the worker has a token of
	// the simulator.
	w.MustCLI("apply", "-f", w.Write("group.yaml", groupIn), "--wait", "--timeout", "60s")
	if status := w.UntilPhase(10*time.Second, group, workflows.PhaseReady); status.Generation != 1 {
		t.Errorf("the group has generation %d, want 1", status.Generation)
	}
	for _, p := range pods {
		p.stop(t)
	}
}

func freePort(t *testing.T) int {
	t.Helper()
	ports, err := freeport.Reserve(0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(ports.Release)
	return ports.Numbers[0]
}

// pod is a container that runs as a process.
type pod struct {
	chart.Container
	command *exec.Cmd
	output  string
	exited  chan struct{}
}

func startPod(t *testing.T, c chart.Container) *pod {
	t.Helper()
	output, err := os.Create(filepath.Join(t.TempDir(), c.Name+".log"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = output.Close() }()
	p := &pod{Container: c, output: output.Name(), exited: make(chan struct{})}
	p.command = exec.Command(c.Args[0], c.Args[1:]...)
	// A root that nothing can write to: the containers have one too.
	p.command.Dir, p.command.Env = "/", c.Env
	p.command.Stdout, p.command.Stderr = output, output
	if err := p.command.Start(); err != nil {
		t.Fatalf("start %s: %v", c.Name, err)
	}
	go func() {
		_ = p.command.Wait() // the process state has the exit code
		close(p.exited)
	}()
	t.Cleanup(func() {
		_ = p.command.Process.Kill()
		<-p.exited
	})
	return p
}

// stop stops the container as a kubelet does, which allows it the grace period of its pod.
func (p *pod) stop(t *testing.T) {
	t.Helper()
	if err := p.command.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatalf("stop %s: %v", p.Name, err)
	}
	grace := time.Duration(max(p.Grace, 30)) * time.Second // 30 s is Kubernetes' default
	select {
	case <-p.exited:
	case <-time.After(grace):
		t.Errorf("%s still runs after its grace period of %s\n%s", p.Name, grace, p.log())
		return
	}
	if code := p.command.ProcessState.ExitCode(); code != 0 {
		t.Errorf("%s exited with code %d\n%s", p.Name, code, p.log())
	}
}

func (p *pod) log() string {
	content, err := os.ReadFile(p.output)
	if err != nil {
		return err.Error()
	}
	return string(bytes.TrimSpace(content))
}

// request requests a probe. Like a kubelet it does not check certificates.
func request(url string) (status int, body string) {
	client := http.Client{Timeout: 5 * time.Second, Transport: &http.Transport{
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true,
	}}
	response, err := client.Get(url)
	if err != nil {
		return 0, err.Error()
	}
	defer func() { _ = response.Body.Close() }()
	content, err := io.ReadAll(io.LimitReader(response.Body, 4096))
	if err != nil {
		return 0, err.Error()
	}
	return response.StatusCode, string(content)
}
