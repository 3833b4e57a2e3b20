package types_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"errors"

	"github.com/klauspost/compress/zstd"

	"github.com/armature-io/armature/types"
)

// minAccepted are the least shares of bodies without a fault.
const minRecordedAccepted, minExamplesAccepted = 0.998, 0.995

// acceptedBody is a PUT body that Azure accepted, or that a provider publishes as an
// example.
type acceptedBody struct {
	Type, Version string
	Source        string
	Body          map[string]any
}

// TestCorpusAccepted scores Check on bodies that are right: PUT bodies that Azure
// accepted (ARM_CORPUS names the folder of the recorded traffic), and the examples in
// testdata. A finding in one of them is rarely justified. Only the public half of the
// traffic has least scores: with another corpus the test measures and does not fail.
func TestCorpusAccepted(t *testing.T) {
	scores := map[string]struct {
		suffix string
		bodies []acceptedBody
		floor  float64
	}{
		"recorded": {"", recordedBodies(t), minRecordedAccepted},
		"examples": {".examples", exampleBodies(t), minExamplesAccepted},
	}
	for _, name := range []string{"recorded", "examples"} {
		score := scores[name]
		accepted, clean := 0, 0
		for _, b := range score.bodies {
			findings := types.Lookup(b.Type, b.Version).Check(b.Body)
			if len(findings) == 0 {
				clean++
			}
			if !slices.ContainsFunc(findings, func(f types.Finding) bool { return f.Fault }) {
				accepted++
			}
			for _, f := range findings {
				if f.Fault || testing.Verbose() {
					t.Logf("%s@%s %s (%s, fault: %t)", b.Type, b.Version, f, f.Rule, f.Fault)
				}
			}
		}
		fmt.Printf("score types.accepted%s %d/%d\n", score.suffix, accepted, len(score.bodies))
		fmt.Printf("score types.clean%s %d/%d\n", score.suffix, clean, len(score.bodies))
		if os.Getenv("ARM_CORPUS") == "" && float64(accepted) < score.floor*float64(len(score.bodies)) {
			t.Errorf("%s: %d of %d bodies have no fault, want %v", name, accepted, len(score.bodies), score.floor)
		}
	}
}

// recordedBodies returns the PUT bodies of the recorded traffic whose type and version
// are published.
func recordedBodies(t *testing.T) []acceptedBody {
	t.Helper()
	folder := os.Getenv("ARM_CORPUS")
	if folder == "" {
		folder = filepath.Join("..", "..", "shared", "corpus")
	} else if !filepath.IsAbs(folder) {
		folder = filepath.Join("..", folder) // relative to the repository's root
	}
	file, err := os.Open(filepath.Join(folder, "drift.jsonl.gz"))
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("recorded traffic is not part of the repository: set ARM_CORPUS to its folder")
	}
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	unpacked, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	var bodies []acceptedBody
	n := 0
	for line := range jsonLines(t, unpacked) {
		if n++; testing.Short() && n%10 != 0 {
			continue
		}
		var pair struct {
			Cassette, Type, APIVersion string
			PutBody                    map[string]any
		}
		decode(t, line, &pair)
		if shape := types.Lookup(pair.Type, pair.APIVersion); shape != nil && shape.Exact && pair.PutBody != nil {
			bodies = append(bodies, acceptedBody{Type: pair.Type, Version: pair.APIVersion, Source: pair.Cassette, Body: pair.PutBody})
		}
	}
	return bodies
}

// exampleBodies returns the bodies of testdata/examples.jsonl.zst; its README has their
// sources.
func exampleBodies(t *testing.T) []acceptedBody {
	t.Helper()
	packed, err := os.Open(filepath.Join("testdata", "examples.jsonl.zst"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = packed.Close() }()
	unpacked, err := zstd.NewReader(packed)
	if err != nil {
		t.Fatal(err)
	}
	defer unpacked.Close()
	var bodies []acceptedBody
	for line := range jsonLines(t, unpacked) {
		var b acceptedBody
		decode(t, line, &b)
		bodies = append(bodies, b)
	}
	return bodies
}

func jsonLines(t *testing.T, from io.Reader) func(func([]byte) bool) {
	return func(yield func([]byte) bool) {
		lines := bufio.NewScanner(from)
		lines.Buffer(nil, 16<<20)
		for lines.Scan() {
			if !yield(lines.Bytes()) {
				return
			}
		}
		if err := lines.Err(); err != nil {
			t.Fatal(err)
		}
	}
}

func decode(t *testing.T, line []byte, into any) {
	t.Helper()
	decoder := json.NewDecoder(bytes.NewReader(line))
	decoder.UseNumber()
	if err := decoder.Decode(into); err != nil {
		t.Fatal(err)
	}
}
