package corpus

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// shortSample is the part of recorded traffic that runs with -short: each tenth line.
const shortSample = 10

// read returns the lines of a file of recorded traffic, or skips the test.
func read[T any](t *testing.T, name string) []T {
	t.Helper()
	folder := os.Getenv("ARM_CORPUS")
	if folder == "" {
		folder = filepath.Join("..", "..", "..", "shared", "corpus") // beside the repository
	}
	file, err := os.Open(filepath.Join(folder, name))
	if errors.Is(err, fs.ErrNotExist) {
		t.Skipf("recorded traffic is no part of the repository: set ARM_CORPUS to a folder with %s", name)
	}
	must(t, err)
	defer file.Close()
	unzipped, err := gzip.NewReader(file)
	must(t, err)
	var lines []T
	scanner := bufio.NewScanner(unzipped)
	scanner.Buffer(nil, 16<<20)
	for n := 0; scanner.Scan(); n++ {
		if testing.Short() && n%shortSample != 0 {
			continue
		}
		var line T
		must(t, json.Unmarshal(scanner.Bytes(), &line))
		lines = append(lines, line)
	}
	must(t, scanner.Err())
	return lines
}

// text is a recorded string. A number is kept as text.
type text string

// UnmarshalJSON takes any JSON; null is "".
func (t *text) UnmarshalJSON(raw []byte) error {
	var s string
	switch err := json.Unmarshal(raw, &s); {
	case string(raw) == "null":
		*t = ""
	case err == nil:
		*t = text(s)
	default:
		*t = text(raw)
	}
	return nil
}

// score prints one result where scripts find it.
func score(name string, good, all int) { fmt.Printf("score %s %d/%d\n", name, good, all) }

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
