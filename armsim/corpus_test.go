package armsim_test

import (
	"encoding/json"
	"net/url"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/armature-io/armature/armsim"
)

// TestCorpusBodies sends every recorded PUT to a simulator with the recordings: it is
// accepted, and after its operation the GET returns the recorded body.
func TestCorpusBodies(t *testing.T) {
	recordings, err := armsim.ReadRecordings(openCorpus(t, "drift.jsonl.gz"))
	if err != nil {
		t.Fatal(err)
	}
	good := 0
	for i, recording := range recordings {
		if err := play(t, recording); err != "" {
			t.Errorf("recording %d, %s: %s", i+1, recording.ID, err)
			continue
		}
		good++
	}
	t.Logf("score bodies.replayed %d/%d", good, len(recordings))
}

// openCorpus opens a file of the recorded traffic until the test ends; without it the test is
// skipped.
func openCorpus(t *testing.T, name string) *os.File {
	t.Helper()
	dir := os.Getenv("ARM_CORPUS")
	if dir == "" {
		dir = filepath.Join("..", "..", "shared", "corpus")
	}
	file, err := os.Open(filepath.Join(dir, name))
	if err != nil {
		t.Skipf("no recorded traffic; set ARM_CORPUS to its folder: %v", err)
	}
	t.Cleanup(func() { _ = file.Close() }) // only read
	return file
}

func play(t *testing.T, recording armsim.Recording) string {
	t.Helper()
	h := newHarness(t, armsim.Options{Recordings: []armsim.Recording{recording}})
	if err := h.Put(recording.ID+"/providers/Microsoft.Example/extras/x", map[string]any{}); err != nil {
		return err.Error()
	}
	h.Delete(recording.ID) // its parents stay
	body, err := json.Marshal(recording.PutBody)
	if err != nil {
		return err.Error()
	}
	id := (&url.URL{Path: recording.ID}).EscapedPath()
	if put := h.do("PUT", id+version, string(body)); put.status > 202 {
		return "the PUT is refused: " + put.raw
	}
	h.pass(24 * time.Hour)
	got := h.do("GET", id+version, "")
	if got.status != 200 {
		return "the GET is refused: " + got.raw
	}
	want := map[string]any{}
	data, err := json.Marshal(recording.GetBody)
	if err != nil {
		return err.Error()
	}
	if err := json.Unmarshal(data, &want); err != nil {
		return err.Error()
	}
	for _, tag := range []string{"etag", "id", "name", "type"} { // the server's own where the recording has none
		if want[tag] == nil || tag == "etag" {
			delete(want, tag)
			delete(got.body, tag)
		}
	}
	return cmp.Diff(want, got.body)
}
