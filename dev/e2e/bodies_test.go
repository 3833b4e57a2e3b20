package e2e

import (
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/armature-io/armature/armsim"
	"github.com/armature-io/armature/dev/internal/harness"
	"github.com/armature-io/armature/manifest"
	"github.com/armature-io/armature/resource"
)

// bodiesCount is the number of recorded bodies that the test applies.
const bodiesCount = 100

// recorded is a line of the recorded traffic: a PUT and the GET after it.
type recorded struct {
	armsim.Recording
	id         resource.ID
	APIVersion string `json:"apiVersion"`
	// Expected is "insync" for a body that Azure took as it was.
	Expected string `json:"expected"`
}

// TestRecordedBodies applies recorded bodies by the CLI to a simulator that returns
// what Azure returned, and reconciles them three times: values that Azure stores
// differently are not written again.
func TestRecordedBodies(t *testing.T) {
	t.Parallel()
	chosen := chooseBodies(t, readCorpus(t))
	options := armsim.Options{TimeScale: 3600}
	for _, r := range chosen {
		options.Recordings = append(options.Recordings, r.Recording)
	}
	w := harness.New(t, binaries, harness.Options{Simulator: options})
	quickPolls(w)
	w.StartWorker(harness.WorkerOptions{})
	for _, r := range chosen {
		w.Sim.Call(http.MethodPut, "/resources", map[string]any{"id": r.ID + "/providers/Microsoft.Example/extras/x", "body": map[string]any{}}, nil)
		w.Sim.Call(http.MethodDelete, "/resources?id="+r.ID, nil, nil) // its parents stay
		w.Write("bodies/"+r.file(), r.manifest(t))
	}
	w.Sim.Reset()
	w.MustCLI("apply", "-f", "bodies", "--wait", "--timeout", "120s")
	t.Logf("score bodies.puts.apply %d/%d", bodyPuts(w, chosen, 1), len(chosen))
	for round := 1; round <= 3; round++ {
		w.Sim.Reset()
		w.MustCLI("reconcile", "-l", "stack=bodies", "--wait", "--timeout", "120s")
		puts := bodyPuts(w, chosen, 1)
		t.Logf("score bodies.puts.round%d %d/%d", round, puts, len(chosen))
		if round == 3 && puts != 0 {
			t.Errorf("%d PUTs in the third round, want none", puts)
		}
	}
	plan(w, 0, "-f", "bodies")
}

// bodyPuts counts the PUTs since the last reset; none got more than most.
func bodyPuts(w *harness.World, chosen []recorded, most int) int {
	w.T.Helper()
	counters, puts := w.Sim.Counters(), 0
	for _, r := range chosen {
		n := counters.Writes[strings.ToLower(r.ID)]
		if puts += n; n > most {
			w.T.Errorf("%d accepted PUTs of %s, want at most %d", n, r.ID, most)
		}
	}
	return puts
}

// readCorpus reads the recorded traffic; without it the test is skipped.
func readCorpus(t *testing.T) []recorded {
	t.Helper()
	dir := os.Getenv("ARM_CORPUS")
	if dir == "" {
		root, err := harness.Root(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		dir = filepath.Join(root, "..", "shared", "corpus")
	}
	file, err := os.Open(filepath.Join(dir, "drift.jsonl.gz"))
	if err != nil {
		t.Skipf("no recorded traffic; set ARM_CORPUS to its folder: %v", err)
	}
	defer func() { _ = file.Close() }() // only read
	unzipped, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	var all []recorded
	for decoder := json.NewDecoder(unzipped); ; {
		var r recorded
		err := decoder.Decode(&r)
		if errors.Is(err, io.EOF) {
			return all
		}
		if err == nil {
			r.id, err = resource.ParseID(r.ID)
		}
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, r)
	}
}

// chooseBodies takes first what Azure did not store as it was sent, then one body
// of each type in turn. Bodies that a manifest may not state (literal secrets)
// and resources within each other are left out.
func chooseBodies(t *testing.T, all []recorded) []recorded {
	t.Helper()
	seen := map[string]int{}
	rank := func(r recorded) int {
		if r.Expected != "insync" {
			return 0
		}
		seen[r.id.Type()]++
		return seen[r.id.Type()]
	}
	ranked := make([][]recorded, len(all)+1)
	for _, r := range all {
		at := rank(r)
		ranked[at] = append(ranked[at], r)
	}
	var chosen []recorded
	folder, refused := t.TempDir(), 0
	for _, r := range slices.Concat(ranked...) {
		if len(chosen) == bodiesCount {
			break
		}
		if slices.ContainsFunc(chosen, func(other recorded) bool { return within(r.id, other.id) || within(other.id, r.id) }) {
			continue
		}
		path := filepath.Join(folder, r.file())
		if err := os.WriteFile(path, []byte(r.manifest(t)), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := manifest.Load(manifest.Options{}, path); err != nil {
			refused++
			continue
		}
		chosen = append(chosen, r)
	}
	t.Logf("%d bodies of the recorded traffic chosen, %d left out because a manifest may not state them", len(chosen), refused)
	return chosen
}

// within reports whether a resource is another one or in it.
func within(inner, outer resource.ID) bool {
	return strings.HasPrefix(inner.Key()+"/", outer.Key()+"/")
}

func (r recorded) file() string {
	return strings.ReplaceAll(strings.Trim(r.id.Key(), "/"), "/", "_")[max(0, len(r.id.Key())-180):] + ".json"
}

// manifest is the recorded body as people would write it.
func (r recorded) manifest(t *testing.T) string {
	t.Helper()
	body := map[string]any{}
	for name, value := range r.PutBody {
		if name != "name" {
			body[name] = value
		}
	}
	owner := r.id.Owner().String()
	if resource.ContainerAPIVersion(r.id.Owner()) == "" {
		owner += "@" + r.APIVersion
	}
	raw, err := json.Marshal(map[string]any{
		"type": r.id.Type() + "@" + r.APIVersion, "name": r.id.Name(), "owner": owner, "body": body,
		"reconcile": map[string]any{"interval": 0}, "labels": map[string]string{"stack": "bodies"},
	})
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%s\n", raw)
}
