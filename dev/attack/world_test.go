package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/armature-io/armature/armsim"
	"github.com/armature-io/armature/dev/internal/harness"
	"github.com/armature-io/armature/dev/internal/hostile"
	"github.com/armature-io/armature/dev/temporaldev"
	"github.com/armature-io/armature/workflows"
)

// servers are what the scenes share: the programs, and one Temporal server.
type servers struct {
	folder   string
	binaries harness.Binaries
	temporal *temporaldev.Server
	err      error
}

var (
	shared servers
	// build and start run once, for the first test that needs them.
	build, start sync.Once
)

func TestMain(m *testing.M) { os.Exit(runTests(m)) }

func runTests(m *testing.M) int {
	folder, err := os.MkdirTemp("", "armature-attack-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	shared.folder = folder
	code := m.Run()
	if shared.temporal != nil {
		_ = shared.temporal.Stop()
	}
	_ = os.RemoveAll(folder)
	return code
}

// programs returns the paths of worker and CLI.
func programs(t testing.TB) harness.Binaries {
	t.Helper()
	build.Do(func() { shared.binaries, shared.err = harness.Build(context.Background(), shared.folder) })
	if shared.err != nil {
		t.Fatal(shared.err)
	}
	return shared.binaries
}

// temporalAddress returns host:port of the shared Temporal server.
func temporalAddress(t testing.TB) string {
	t.Helper()
	start.Do(func() {
		options := temporaldev.Options{SearchAttributes: workflows.SearchAttributes()}
		shared.temporal, shared.err = temporaldev.Start(context.Background(), filepath.Join(shared.folder, "temporal"), options)
	})
	if shared.err != nil {
		t.Fatal(shared.err)
	}
	return shared.temporal.Address()
}

// subscription is the one of all scenes; their groups differ.
const subscription = "/subscriptions/11111111-2222-3333-4444-555555555555"

// recovers bounds the time until a resource is Ready after hostile answers.
const recovers = 2 * time.Minute

// scene is a worker between a hostile ARM and the shared Temporal server, with a task
// queue and a resource group of its own.
type scene struct {
	*harness.World
	name string
	// arm answers for ARM and its authority; sim has the honest state behind it.
	arm *hostile.Server
	sim *armsim.Simulator
	// elsewhere is a host that the worker has no reason to contact.
	elsewhere *hostile.Server
	worker    *harness.Worker
}

// newScene starts the servers of a scene and no worker.
func newScene(t testing.TB, name string) *scene {
	t.Helper()
	s := &scene{name: name}
	s.World = harness.New(t, programs(t), harness.Options{Temporal: temporalAddress(t)})
	s.Env = append(s.Env, "ARMATURE_TASK_QUEUE=attack-"+name)
	s.sim = armsim.New(armsim.Options{TimeScale: 60, RequireAuth: true, TenantID: harness.TenantID, ClientID: harness.ClientID, ClientSecret: harness.ClientSecret})
	s.arm, s.elsewhere = hostile.Start(t, s.sim), hostile.Start(t, nil)
	t.Cleanup(func() {
		for _, request := range s.elsewhere.Requests("") {
			t.Errorf("the foreign host received %s %s with Authorization %.12q", request.Method, request.Path, request.Authorization)
		}
	})
	s.put(s.group(), map[string]any{"location": "westus2"})
	return s
}

// environment returns the worker's settings: a token from the hostile authority, and
// trust in every hostile server.
func (s *scene) environment() []string {
	return []string{
		"ARMATURE_AZURE_CLOUD=custom", "ARMATURE_AZURE_ENDPOINT=" + s.arm.URL(), "ARMATURE_AZURE_AUTHORITY_HOST=" + s.arm.URL(),
		"ARMATURE_AZURE_CA_FILE=" + s.arm.CAFile(s.Folder), "ARMATURE_AZURE_CREDENTIAL=client-secret",
		"AZURE_TENANT_ID=" + harness.TenantID, "AZURE_CLIENT_ID=" + harness.ClientID, "AZURE_CLIENT_SECRET=" + harness.ClientSecret,
		"ARMATURE_MASK_KEY=env:ATTACK_MASK_KEY", "ATTACK_MASK_KEY=0123456789abcdef0123456789abcdef",
	}
}

// serve starts the worker, with variables that override the scene's.
func (s *scene) serve(env ...string) *scene {
	s.T.Helper()
	s.worker = s.StartWorker(harness.WorkerOptions{Env: append(s.environment(), env...)})
	return s
}

func (s *scene) group() string { return subscription + "/resourceGroups/attack-" + s.name }

// id returns the ID of a thing, a type that the simulator has no table for.
func (s *scene) id(name string) string {
	return s.group() + "/providers/Microsoft.Example/things/" + name
}

// manifest writes a manifest of a thing with further members of its body, and returns
// the file.
func (s *scene) manifest(name, properties string, more ...string) string {
	s.T.Helper()
	if properties == "" {
		properties = "size: 1"
	}
	return s.Write(name+".yaml", fmt.Sprintf(`type: Microsoft.Example/things@2021-01-01
name: %s
owner: %s
body: {location: westus2, properties: {%s}}
%s
`, name, s.group(), properties, strings.Join(more, "\n")))
}

// apply applies a thing.
func (s *scene) apply(name string) {
	s.T.Helper()
	s.MustCLI("apply", "-f", s.manifest(name, ""))
}

// put stores a resource in ARM without the worker.
func (s *scene) put(id string, body map[string]any) {
	s.T.Helper()
	if err := s.sim.Put(id, body); err != nil {
		s.T.Fatal(err)
	}
}

// writes returns the number of writes of a method that ARM accepted for an ID.
func (s *scene) writes(method, id string) int {
	count := 0
	for _, write := range s.sim.Writes() {
		if write.Method == method && strings.EqualFold(write.ID, id) {
			count++
		}
	}
	return count
}

// ready waits until a resource is Ready, and checks that ARM accepted one PUT of it.
func (s *scene) ready(id string) {
	s.T.Helper()
	s.UntilPhase(recovers, id, workflows.PhaseReady)
	if puts := s.writes(http.MethodPut, id); puts != 1 {
		s.T.Errorf("ARM accepted %d PUTs of %s, want 1", puts, id)
	}
}

// on returns the scene for a subtest.
func (s *scene) on(t *testing.T) *scene {
	other := *s
	other.World = s.On(t)
	return &other
}

// maxCases is the number of cases of a scene that run at once. They mostly wait.
const maxCases = 12

// sideBySide runs subtests in parallel, independent of the number of processors.
func sideBySide(t *testing.T, cases map[string]func(*testing.T)) {
	t.Helper()
	slots := make(chan struct{}, maxCases)
	var running sync.WaitGroup
	for name, run := range cases {
		running.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			t.Run(name, run)
		})
	}
	running.Wait()
}
