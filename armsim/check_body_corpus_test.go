package armsim

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// maxDropped is the number of recorded bodies with a property that is published as
// read-only: routeTables@2020-11-01, hasBgpOverride of a route.
const maxDropped = 1

// TestCorpusShapes checks recorded PUTs, which Azure accepted, against the published
// types: none is refused as a creation, and everything in them is kept.
func TestCorpusShapes(t *testing.T) {
	accepted, complete, total := 0, 0, 0
	for _, row := range readCorpus(t) {
		total++
		id, ok := parseID(row.ID)
		if !ok {
			t.Fatalf("%s is no resource ID", row.ID)
		}
		q := &request{target: id, resourceType: id.resourceType(), apiVersion: row.APIVersion}
		if resp := q.readShape(); resp != nil {
			t.Fatal(resp.message)
		}
		if q.shape == nil {
			t.Errorf("%s@%s is not published", q.resourceType, q.apiVersion)
			continue
		}
		check := bodyCheck{creation: row.PutStatus == 201}
		check.value(q.shape, row.PutBody, spot{})
		for _, f := range check.findings {
			t.Errorf("%s@%s: %s", q.resourceType, q.apiVersion, f.words())
		}
		if len(check.findings) == 0 {
			accepted++
		}
		sent := cloneObject(row.PutBody)
		delete(sent, "name") // it is in the URL, too, and read-only in some types
		kept := keepPublished(q.shape, sent, nil)
		delete(kept, "name")
		if diff := cmp.Diff(sent, kept); diff == "" {
			complete++
		} else {
			t.Logf("%s@%s loses (-) and respells (+)\n%s", q.resourceType, q.apiVersion, diff)
		}
	}
	t.Logf("score armsim.accepted %d/%d", accepted, total)
	t.Logf("score armsim.kept %d/%d", complete, total)
	if total-complete > maxDropped {
		t.Errorf("%d bodies lose a property, more than %d", total-complete, maxDropped)
	}
}

type corpusRow struct {
	ID         string `json:"id"`
	APIVersion string `json:"apiVersion"`
	PutStatus  int    `json:"putStatus"`
	PutBody    object `json:"putBody"`
}

func readCorpus(t *testing.T) []corpusRow {
	t.Helper()
	dir := os.Getenv("ARM_CORPUS")
	if dir == "" {
		dir = filepath.Join("..", "..", "shared", "corpus")
	}
	packed, err := os.ReadFile(filepath.Join(dir, "drift.jsonl.gz"))
	if err != nil {
		t.Skipf("no recorded traffic; set ARM_CORPUS to its folder: %v", err)
	}
	unpacked, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	d := json.NewDecoder(unpacked)
	d.UseNumber()
	var rows []corpusRow
	for {
		var row corpusRow
		switch err := d.Decode(&row); {
		case errors.Is(err, io.EOF):
			return rows
		case err != nil:
			t.Fatal(err)
		}
		rows = append(rows, row)
	}
}
