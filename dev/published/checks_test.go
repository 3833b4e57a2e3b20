package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/armature-io/armature/armsim"
	"github.com/armature-io/armature/types"
)

type corpusRow struct {
	ID         string         `json:"id"`
	Type       string         `json:"type"`
	APIVersion string         `json:"apiVersion"`
	PutBody    map[string]any `json:"putBody"`
}

// TestChecksAgree spoils recorded bodies, and compares the findings of the product with
// the refusals of a simulator that validates.
func TestChecksAgree(t *testing.T) {
	mutations := map[string]func(name string, value any, in map[string]any) bool{
		"misspelt":    misspell,
		"removed":     remove,
		"wrong kind":  changeKind,
		"wrong value": changeValue,
	}
	type count struct{ agreed, refused, all int }
	counts, known := map[string]count{}, map[string]bool{}
	for _, row := range readCorpus(t) {
		if known[row.Type+row.APIVersion] {
			continue // one body of each shape
		}
		known[row.Type+row.APIVersion] = true
		sim := simulatorFor(t, row)
		shape := types.Lookup(row.Type, row.APIVersion)
		if shape == nil {
			t.Fatalf("%s@%s is not published", row.Type, row.APIVersion)
		}
		for operator, mutate := range mutations {
			for _, path := range membersOf(row.PutBody, nil) {
				body := cloneJSON(t, row.PutBody)
				if !mutateAt(body, path, mutate) {
					continue
				}
				found, refusal := findingsOf(shape, body), refusalOf(t, sim, row, body)
				c := counts[operator]
				c.all++
				if refusal != "" {
					c.refused++
				}
				if (len(found) > 0) == (refusal != "") {
					c.agreed++
				} else if c.all-c.agreed < 6 {
					t.Errorf("%s@%s, %s %v: the product finds %v, the simulator %q", row.Type, row.APIVersion, operator, path, found, refusal)
				}
				counts[operator] = c
			}
		}
	}
	for operator := range mutations {
		c := counts[operator]
		t.Logf("%s: both agree on %d of %d bodies, %d refused", operator, c.agreed, c.all, c.refused)
		if c.refused == 0 {
			t.Errorf("%s: no body is refused", operator)
		}
	}
}

// findingsOf returns the findings of the kinds that the simulator has too.
func findingsOf(shape *types.Shape, body map[string]any) []types.Finding {
	return slices.DeleteFunc(shape.Check(body), func(f types.Finding) bool {
		return !slices.Contains([]types.Rule{types.UnknownProperty, types.MisplacedProperty, types.WrongKind, types.ValueNotAllowed, types.UnknownDiscriminator, types.MissingProperty}, f.Rule)
	})
}

// simulatorFor returns a simulator that validates, with the parents of a resource.
func simulatorFor(t *testing.T, row corpusRow) *armsim.Simulator {
	t.Helper()
	sim := armsim.New(armsim.Options{Validate: true})
	if err := sim.Put(row.ID, map[string]any{}); err != nil {
		t.Fatal(err)
	}
	return sim
}

// refusalOf returns the message of the simulator if it refuses a creation because of the
// body, else "".
func refusalOf(t *testing.T, sim *armsim.Simulator, row corpusRow, body map[string]any) string {
	t.Helper()
	sim.Delete(row.ID) // its parents stay
	raw, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	recorder := httptest.NewRecorder()
	path := (&url.URL{Path: row.ID}).EscapedPath()
	sim.ServeHTTP(recorder, httptest.NewRequest("PUT", path+"?api-version="+row.APIVersion, bytes.NewReader(raw)))
	text := recorder.Body.String()
	for _, word := range []string{"Could not find member", "not found in JSON", "Error converting", "Cannot deserialize", "UnmarshalError",
		"is missing (null)", "Values for request parameters", "The value of parameter"} {
		if recorder.Code == 400 && strings.Contains(text, word) {
			return text
		}
	}
	return ""
}

// membersOf returns the paths of all members of objects, without the items of lists.
func membersOf(value map[string]any, above []string) [][]string {
	var paths [][]string
	for _, name := range slices.Sorted(maps.Keys(value)) {
		if name == "name" && above == nil {
			continue // the product ignores it, because the URL contains it
		}
		path := append(slices.Clone(above), name)
		paths = append(paths, path)
		if below, ok := value[name].(map[string]any); ok {
			paths = append(paths, membersOf(below, path)...)
		}
	}
	return paths
}

func mutateAt(body map[string]any, path []string, mutate func(string, any, map[string]any) bool) bool {
	for _, name := range path[:len(path)-1] {
		body = body[name].(map[string]any) // membersOf passed it
	}
	name := path[len(path)-1]
	return mutate(name, body[name], body)
}

func misspell(name string, value any, in map[string]any) bool {
	if len(name) < 3 {
		return false
	}
	delete(in, name)
	in[name[:1]+name[2:]+name[1:2]] = value
	return true
}

func remove(name string, _ any, in map[string]any) bool {
	delete(in, name)
	return name != "location" // ARM requires it of more types than are published so
}

func changeKind(name string, value any, in map[string]any) bool {
	switch value.(type) {
	case bool:
		in[name] = "text"
	case string, json.Number:
		in[name] = map[string]any{}
	case map[string]any, []any:
		in[name] = "text"
	default:
		return false
	}
	return true
}

func changeValue(name string, value any, in map[string]any) bool {
	text, ok := value.(string)
	if !ok || text == "" {
		return false
	}
	in[name] = "unheard-of" // far from every value, so that open lists give no warning
	return true
}

func cloneJSON(t *testing.T, value map[string]any) map[string]any {
	t.Helper()
	raw, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var out map[string]any
	if err := d.Decode(&out); err != nil {
		t.Fatal(err)
	}
	return out
}

func readCorpus(t *testing.T) []corpusRow {
	t.Helper()
	dir := os.Getenv("ARM_CORPUS")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared", "corpus")
	}
	packed, err := os.Open(filepath.Join(dir, "drift.jsonl.gz"))
	if err != nil {
		t.Skipf("no recorded traffic; set ARM_CORPUS to its folder: %v", err)
	}
	defer func() { _ = packed.Close() }() // only read
	unpacked, err := gzip.NewReader(packed)
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
