package docs

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/armsim"
	"github.com/armature-io/armature/dev/internal/harness"
	"github.com/armature-io/armature/workflows"
)

// world is what runs beside a shell.
type world struct {
	// temporal is set where Temporal and the simulator run.
	temporal bool
	// empty leaves Temporal as it comes, without search attributes.
	empty bool
	// start begins the rest; nil for nothing.
	start func(session)
}

// worlds are those that a page may name.
var worlds = map[string]world{
	// shell is a checkout of the repository, nothing else.
	"shell": {},
	// temporal has a Temporal server as it comes, and a simulator; no worker.
	"temporal": {temporal: true, empty: true},
	// ready has a worker too.
	"ready": {temporal: true, start: session.startWorker},
	// demo has the examples applied and Ready.
	"demo": {temporal: true, start: func(s session) { s.startWorker(); s.applyExamples() }},
	// waiting is the demo while its cluster is Updating and does not end: the
	// databases are Blocked.
	"waiting": {temporal: true, start: func(s session) { s.startWorker(); s.applyExamples(); s.holdCluster() }},
}

const (
	// password is the one secret that the examples name.
	password = "ARMATURE_SECRET_POSTGRES_PASSWORD=docs-postgres-4711"
	// maskKey replaces the file that the reader's configuration names.
	maskKey = "ARMATURE_MASK_KEY=env:DOCS_MASK_KEY"
	cluster = "/subscriptions/11111111-2222-3333-4444-555555555555/resourceGroups/armature-demo/providers/Microsoft.Kusto/clusters/adx"
	// placeholder is the address that pages use for the reader's Temporal server, and
	// simulator the simulator of the demo.
	placeholder = "temporal.example.com:7233"
	simulator   = "http://127.0.0.1:8443"
)

// session is a shell with what runs beside it; world is nil for a bare shell.
type session struct {
	*shell
	world *harness.World
}

// newSession starts a shell in a fresh copy of the repository.
func newSession(t testing.TB, name string) session {
	t.Helper()
	beside, known := worlds[name]
	if !known {
		t.Fatalf("session %q is not known; see worlds", name)
	}
	root, err := harness.Root(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(t.TempDir(), "armature")
	if err := copyRepository(root, folder); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(folder, os.DirFS("testdata")); err != nil { // the reader's own files
		t.Fatal(err)
	}
	environment := append(goEnvironment(t), "HOME="+folder, "TZ=UTC",
		"PATH="+filepath.Dir(binaries.CLI)+string(os.PathListSeparator)+os.Getenv("PATH"))
	if !beside.temporal {
		return session{shell: startShell(t, folder, environment)}
	}
	w := harness.New(t, binaries, harness.Options{
		Simulator: armsim.Options{TimeScale: 600}, NoSearchAttributes: beside.empty,
	})
	w.Sim.Call(http.MethodPost, "/operations", armsim.OperationRule{Spec: armsim.OperationSpec{RetryAfter: []float64{60}}}, nil)
	s := session{world: w, shell: startShell(t, folder, append(append(w.WorkerEnvironment(), "ARMATURE_HTTP_LISTEN=127.0.0.1:0", maskKey, "DOCS_MASK_KEY=docs-mask-key-4711-0815"), environment...))}
	if beside.start != nil {
		beside.start(s)
	}
	return s
}

// goFlags are those of all builds here.
const goFlags = "-buildvcs=false -trimpath"

// goEnvironment keeps the caches of Go: the copy of the repository is new. With
// -trimpath the folder does not matter to them.
func goEnvironment(t testing.TB) []string {
	t.Helper()
	var environment []string
	names := []string{"GOCACHE", "GOMODCACHE", "GOPROXY", "GOSUMDB", "GOTOOLCHAIN", "CGO_ENABLED"}
	out, err := exec.CommandContext(t.Context(), "go", append([]string{"env"}, names...)...).Output()
	if err != nil {
		t.Fatal(err)
	}
	for i, value := range strings.Split(strings.TrimSpace(string(out)), "\n") {
		environment = append(environment, names[i]+"="+value)
	}
	return append(environment, "GOFLAGS="+goFlags)
}

func (s session) startWorker() {
	s.t.Helper()
	s.world.StartWorker(harness.WorkerOptions{Env: []string{password}})
}

func (s session) applyExamples() {
	s.t.Helper()
	s.world.MustCLI("apply", "-f", filepath.Join(s.folder, "examples"), "--wait", "--timeout", "4m", "--worker-timeout", "1m") // a machine may be busy
}

func (s session) holdCluster() {
	s.t.Helper()
	s.world.Sim.Call(http.MethodPost, "/holds", armsim.Hold{ID: cluster}, nil)
	s.world.Sim.Patch(cluster, map[string]any{"sku": map[string]any{"capacity": 3}})
	s.world.MustCLI("reconcile", cluster)
	s.world.Until(60*time.Second, "lists show the operation of the cluster", func() (bool, string) {
		out := s.world.MustCLI("get", "--phase", string(workflows.PhaseOperating)).Out
		return strings.Contains(out, "Operating"), out
	})
	for _, name := range []string{"telemetry", "audit", "traces"} {
		s.world.MustCLI("reconcile", cluster+"/databases/"+name)
		s.world.UntilPhase(60*time.Second, cluster+"/databases/"+name, workflows.PhaseBlocked)
	}
}

// here is a command with the session's own addresses in it.
func (s session) here(c command) command {
	if s.world != nil {
		c.text = strings.NewReplacer(placeholder, s.world.Temporal.Address(), simulator, s.world.Sim.URL()).Replace(c.text)
	}
	return c
}
