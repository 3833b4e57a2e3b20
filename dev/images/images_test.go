package images

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/dev/internal/freeport"
	"github.com/armature-io/armature/dev/internal/overlay"
	"github.com/armature-io/armature/dev/temporaldev"
	"github.com/armature-io/armature/workflows"
)

// programsVariable names the folder of the programs. The archives are written there too.
const programsVariable = "IMAGES"

// patience bounds each wait.
const patience = 3 * time.Minute

// manifest has a resource and its group.
const manifest = `type: Microsoft.Resources/resourceGroups@2021-04-01
name: images
owner: /subscriptions/11111111-2222-3333-4444-555555555555
body: {location: westus2}
---
type: Microsoft.ManagedIdentity/userAssignedIdentities@2023-01-31
name: image
owner: images
body: {location: westus2}
`

// images runs containers of the images, as the user and with the entrypoint of each.
type images struct {
	t      *testing.T
	store  Store
	starts map[string][]string // the entrypoint of each image
}

// TestCreation builds the images and runs worker, CLI and simulator from them: a resource becomes
// Ready.
func TestCreation(t *testing.T) {
	programs := os.Getenv(programsVariable)
	if programs == "" {
		t.Skip("it takes root, buildah and the programs of make dist: make images brings them")
	}
	root, err := overlay.FindRoot()
	if err != nil {
		t.Fatal(err)
	}
	if err := Build(t.Context(), Options{
		Dockerfile: filepath.Join(root, "Dockerfile"), Programs: programs, Folder: programs,
		Tag: "local", Platforms: []string{"linux/" + runtime.GOARCH}, Time: time.Unix(0, 0),
	}); err != nil {
		t.Fatal(err)
	}
	i := images{t: t, store: Store{Folder: t.TempDir()}, starts: map[string][]string{}}
	for _, name := range Names() {
		i.create(name, filepath.Join(programs, Archive(name)))
	}
	server, err := temporaldev.Start(t.Context(), t.TempDir(), temporaldev.Options{SearchAttributes: workflows.SearchAttributes()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Stop() })
	i.creation(server.Address())
}

// creation runs the containers on a Temporal server.
func (i images) creation(temporal string) {
	i.t.Helper()
	ports, err := freeport.Reserve(0, 0)
	if err != nil {
		i.t.Fatal(err)
	}
	i.t.Cleanup(ports.Release)
	simulator, health := freeport.Address(ports.Numbers[0]), freeport.Address(ports.Numbers[1])
	serve := []string{"--listen=" + simulator, "--https", "--cert-dir=/tls"}
	i.start("armsim", nil, append(serve, "--time-scale=60")...)
	i.until("armsim", nil, append(serve, "--probe")...)

	temporal = "--env=TEMPORAL_ADDRESS=" + temporal
	worker := []string{
		temporal, "--env=ARMATURE_HTTP_LISTEN=" + health, "--env=ARMATURE_AZURE_CLOUD=custom",
		"--env=ARMATURE_AZURE_ENDPOINT=https://" + simulator, "--env=ARMATURE_AZURE_CREDENTIAL=none",
		"--env=ARMATURE_AZURE_CA_FILE=/tls/ca.pem", "--volume=" + i.buildah("mount", "armsim") + "/tls:/tls:ro",
	}
	i.start("worker", worker)
	i.until("worker", worker, "probe")

	work := i.t.TempDir()
	if err := os.WriteFile(filepath.Join(work, "image.yaml"), []byte(manifest), 0o644); err != nil {
		i.t.Fatal(err)
	}
	cli := []string{temporal, "--volume=" + work + ":/work:ro"}
	i.t.Logf("armature apply prints:\n%s", i.must("cli", cli, "apply", "-f", ".", "--wait", "--timeout", patience.String()))
	var resources []struct{ Phase workflows.Phase }
	out := i.must("cli", cli, "get", "-o", "json")
	if err := json.Unmarshal([]byte(out), &resources); err != nil || len(resources) != 2 || resources[0].Phase != workflows.PhaseReady || resources[1].Phase != workflows.PhaseReady {
		i.t.Errorf("want two resources that are Ready: %v\n%s", err, out)
	}
}

// buildah runs a command that must succeed, and returns its output.
func (i images) buildah(arguments ...string) string {
	i.t.Helper()
	out, err := i.store.Buildah(i.t.Context(), arguments...)
	if err != nil {
		i.t.Fatal(err)
	}
	return out
}

// create creates the container of an image and reads its entrypoint, which buildah does not run.
func (i images) create(name, archive string) {
	i.t.Helper()
	i.buildah("from", "--quiet", "--name", name, "oci-archive:"+archive)
	var config struct {
		OCIv1 struct{ Config struct{ Entrypoint []string } }
	}
	if err := json.Unmarshal([]byte(i.buildah("inspect", name)), &config); err != nil {
		i.t.Fatal(err)
	}
	i.starts[name] = config.OCIv1.Config.Entrypoint
}

// command returns the command that runs a program of a container.
func (i images) command(name string, options, arguments []string) *exec.Cmd {
	run := slices.Concat([]string{"run", "--isolation", "chroot"}, options, []string{name, "--"}, i.starts[name], arguments)
	return i.store.Command(i.t.Context(), run...)
}

// start runs a container until the test ends. A failed test logs its output.
func (i images) start(name string, options []string, arguments ...string) {
	i.t.Helper()
	command := i.command(name, options, arguments)
	var output bytes.Buffer
	command.Stdout, command.Stderr = &output, &output
	if err := command.Start(); err != nil {
		i.t.Fatal(err)
	}
	i.t.Cleanup(func() {
		_ = command.Wait() // the context of the test has ended it
		if i.t.Failed() {
			i.t.Logf("output of %s:\n%s", name, output.String())
		}
	})
}

// must runs a program of a container that must succeed, and returns its standard output.
func (i images) must(name string, options []string, arguments ...string) string {
	i.t.Helper()
	command := i.command(name, options, arguments)
	var stderr bytes.Buffer
	command.Stderr = &stderr
	out, err := command.Output()
	if err != nil {
		i.t.Fatalf("%s %s: %v\n%s%s", name, strings.Join(arguments, " "), err, out, stderr.String())
	}
	return string(out)
}

// until repeats a program of a container until it succeeds.
func (i images) until(name string, options []string, arguments ...string) {
	i.t.Helper()
	ctx, cancel := context.WithTimeout(i.t.Context(), patience)
	defer cancel()
	ticker := time.NewTicker(300 * time.Millisecond)
	defer ticker.Stop()
	for {
		out, err := i.command(name, options, arguments).CombinedOutput()
		if err == nil {
			return
		}
		select {
		case <-ctx.Done():
			i.t.Fatalf("%s is not healthy after %s: %v\n%s", name, patience, err, out)
		case <-ticker.C:
		}
	}
}
