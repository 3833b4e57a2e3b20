package drift_test

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/armature-io/armature/drift"
	"github.com/armature-io/armature/resource"
)

// recordedPair is a line of drift.jsonl.gz: a PUT that Azure accepted and the
// first GET after it.
type recordedPair struct {
	Cassette    string          `json:"cassette"`
	ID          string          `json:"id"`
	Type        string          `json:"type"`
	APIVersion  string          `json:"apiVersion"`
	PutBody     json.RawMessage `json:"putBody"`
	PutResponse json.RawMessage `json:"putResponse"`
	GetBody     json.RawMessage `json:"getBody"`
	Expected    string          `json:"expected"`
}

// recordedChange is a line of drift_changed.jsonl.gz: the same resource was PUT
// with oldPut, read as oldGet, then PUT with newPut.
type recordedChange struct {
	Cassette   string          `json:"cassette"`
	ID         string          `json:"id"`
	Type       string          `json:"type"`
	APIVersion string          `json:"apiVersion"`
	OldPut     json.RawMessage `json:"oldPut"`
	OldGet     json.RawMessage `json:"oldGet"`
	NewPut     json.RawMessage `json:"newPut"`
	Expected   string          `json:"expected"`
	Kind       string          `json:"kind"`
}

// TestCorpus scores Compare on recorded traffic. ARM_CORPUS names the folder;
// docs/contributing/drift.md explains the scores. Only the public half has minimum scores: with
// another corpus the test measures and does not fail.
func TestCorpus(t *testing.T) {
	pairs := corpusLines[recordedPair](t, "drift.jsonl.gz")
	changes := corpusLines[recordedChange](t, "drift_changed.jsonl.gz")
	floors := map[string]float64{}
	if os.Getenv("ARM_CORPUS") == "" {
		floors = map[string]float64{
			"cold.insync": 0.93, "cold.changes": 1, "warm.insync": 0.995, "warm.changes": 1, "mutations": 0.995, "created.quiet": 0.99, "created.misspelt": 0.9,
		}
	}
	newDifferences := tally{}
	cold := scoreCold(t, pairs, changes, newDifferences)
	warm := scoreWarm(t, pairs, changes)
	operators := scoreMutations(t, pairs)
	created := scoreCreated(t, pairs)
	for _, s := range slices.Concat(cold, warm, operators, created) {
		fmt.Println(s)
		if floor, judged := floors[s.name]; judged && s.share() < floor {
			t.Errorf("%s: below %v", s, floor)
		}
	}
	fmt.Println("the ten most frequent newDifferences mismatches:")
	for _, line := range newDifferences.top(10) {
		fmt.Println("  " + line)
	}
}

// score counts how often the result was as expected.
type score struct {
	name         string
	right, total int
	// missed describes the first wrong results.
	missed []string
}

func (s *score) count(right bool, what string, args ...any) {
	s.total++
	if right {
		s.right++
	} else if len(s.missed) < 40 {
		s.missed = append(s.missed, fmt.Sprintf(what, args...))
	}
}

func (s *score) share() float64 {
	if s.total == 0 {
		return 1
	}
	return float64(s.right) / float64(s.total)
}

func (s *score) String() string { return fmt.Sprintf("score drift.%s %d/%d", s.name, s.right, s.total) }

// scoreCold compares without a baseline. Pairs labelled override or external have no
// correct result without one.
func scoreCold(t *testing.T, pairs []recordedPair, changes []recordedChange, newDifferences tally) []*score {
	inSync, differs := &score{name: "cold.insync"}, &score{name: "cold.changes"}
	providers := map[string]*score{}
	judge := func(expected string, id, kind string, desired, observed json.RawMessage, opts drift.Options) {
		if expected != "insync" && expected != "differs" {
			return
		}
		result := drift.Compare(body(t, desired), body(t, observed), opts)
		if expected == "differs" {
			differs.count(!result.InSync, "%s %s: no difference found", kind, id)
			return
		}
		inSync.count(result.InSync, "%s: %v", id, result.Differences)
		provider, _, _ := strings.Cut(kind, "/")
		if providers[provider] == nil {
			providers[provider] = &score{name: "cold.insync." + provider}
		}
		providers[provider].count(result.InSync, "")
		for _, d := range result.Differences {
			newDifferences.add(kind + " " + d.Path + " (" + d.Rule + ")")
		}
	}
	for _, p := range pairs {
		judge(p.Expected, p.ID, p.Type, p.PutBody, p.GetBody, comparison(p.ID, p.Type, p.APIVersion))
	}
	for _, c := range changes {
		judge(c.Expected, c.ID, c.Type, c.NewPut, c.OldGet, comparison(c.ID, c.Type, c.APIVersion))
	}
	logMissed(t, inSync, differs)
	for _, provider := range sortedNames(providers) {
		t.Log(providers[provider])
	}
	return []*score{inSync, differs}
}

// comparison returns the options that the activities use.
func comparison(id, resourceType, apiVersion string) drift.Options {
	parsed, _ := resource.ParseID(id) // an invalid ID is compared without one
	return drift.Options{ID: parsed, Type: resourceType, Facts: factsOf(resourceType), APIVersion: apiVersion, Key: []byte("corpus")}
}

func logMissed(t *testing.T, scores ...*score) {
	t.Helper()
	for _, s := range scores {
		for _, missed := range s.missed {
			t.Logf("%s: %s", s.name, missed)
		}
	}
}

func sortedNames[T any](m map[string]T) []string { return slices.Sorted(maps.Keys(m)) }

// tally counts names.
type tally map[string]int

func (c tally) add(name string) { c[name]++ }

func (c tally) top(n int) []string {
	names := make([]string, 0, len(c))
	for name := range c {
		names = append(names, name)
	}
	sort.Slice(names, func(i, j int) bool {
		return c[names[i]] > c[names[j]] || c[names[i]] == c[names[j]] && names[i] < names[j]
	})
	lines := make([]string, 0, n)
	for _, name := range names[:min(n, len(names))] {
		lines = append(lines, fmt.Sprintf("%4d %s", c[name], name))
	}
	return lines
}

// shortSample is the part of recorded traffic that runs with -short: each tenth line.
const shortSample = 10

// corpusLines reads a file of recorded traffic, or skips.
func corpusLines[T any](t *testing.T, name string) []T {
	t.Helper()
	folder := os.Getenv("ARM_CORPUS")
	if folder == "" {
		folder = filepath.Join("..", "..", "shared", "corpus")
	} else if !filepath.IsAbs(folder) {
		folder = filepath.Join("..", folder) // relative to the repository's root
	}
	file, err := os.Open(filepath.Join(folder, name))
	if errors.Is(err, fs.ErrNotExist) {
		t.Skipf("recorded traffic is not part of the repository: set ARM_CORPUS to a folder with %s", name)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	unzipped, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	var lines []T
	scanner := bufio.NewScanner(unzipped)
	scanner.Buffer(nil, 16<<20)
	for n := 0; scanner.Scan(); n++ {
		if strings.TrimSpace(scanner.Text()) == "" || testing.Short() && n%shortSample != 0 {
			continue
		}
		var line T
		if err := json.Unmarshal(scanner.Bytes(), &line); err != nil {
			t.Fatal(err)
		}
		lines = append(lines, line)
	}
	if err := scanner.Err(); err != nil {
		t.Fatal(err)
	}
	return lines
}
