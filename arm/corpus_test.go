package arm

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// recordedError is one line of the recorded failures.
type recordedError struct {
	Via, Method, Type, Observed string
	Status, Count               int
	Code                        any // a string, or null
	BodyShape                   string
	Body                        string
	Headers                     map[string]string
	RetryAfter                  []string
	Context                     map[string]int
}

// TestRecordedErrors checks parser and table with recorded traffic.
func TestRecordedErrors(t *testing.T) {
	lines := corpus[recordedError](t, "errors.jsonl.gz")
	var parsed, missed, absent, unproven int
	for _, line := range lines {
		e := line.parsed()
		if code, ok := line.Code.(string); ok && line.BodyShape != "html/text" {
			parsed++
			if e.Code != code && len(line.Body) < 3000 { // longer bodies were cut
				missed++
				t.Logf("%s %d: got code %q, want %q", line.BodyShape, line.Status, e.Code, code)
			}
		}
		name := line.Method + " " + line.Type + " " + e.Error()
		switch line.Observed {
		case "absent", "gone":
			absent++
			if e.Class != ClassAbsent {
				unproven++
				t.Logf("absent, and not believed: %s", name)
			}
		case "retryable":
			if e.Class == ClassAbsent || e.Class == ClassNone {
				t.Errorf("%s succeeded on a retry, got class %s", name, e.Class)
			}
		case "terminal":
			if e.Class == ClassFast || e.Class == ClassConflict || e.Class == ClassThrottled {
				t.Errorf("%s never succeeded, got class %s", name, e.Class)
			}
		default:
			if e.Class == ClassAbsent {
				t.Errorf("%s (%s) is not absent", name, line.Observed)
			}
		}
		if line.Status == http.StatusTooManyRequests && e.Class != ClassConflict {
			t.Errorf("%s: the recorded 429 are conflicts, got class %s", name, e.Class)
		}
	}
	t.Logf("%d errors, %d with a code, %d read wrongly; %d absences, %d not believed", len(lines), parsed, missed, absent, unproven)
	if missed > 0 {
		t.Errorf("the code of %d of %d bodies was not read", missed, parsed)
	}
	if unproven*20 > absent {
		t.Errorf("%d of %d recorded absences are not classified as absent: more than 5 %%", unproven, absent)
	}
}

// TestErrorTableGeneralizes removes, for one provider after the other, the rows that
// only this provider's recordings support, and classifies its errors without them:
// the table must not depend on knowing a provider.
func TestErrorTableGeneralizes(t *testing.T) {
	full := errorTable
	providers := map[Row]map[string]bool{} // the providers that a recorded row decides for
	byProvider := map[string][]recordedError{}
	for _, line := range corpus[recordedError](t, "errors.jsonl.gz") {
		if line.Observed != "retryable" && line.Observed != "terminal" {
			continue
		}
		provider, _, _ := strings.Cut(line.Type, "/")
		byProvider[provider] = append(byProvider[provider], line)
		row := full.row(line.parsed())
		if providers[row] == nil {
			providers[row] = map[string]bool{}
		}
		providers[row][provider] = true
	}
	var right, all int
	for provider, lines := range byProvider {
		without := full.without(func(row Row) bool {
			return row.Source == srcRecorded && providers[row][provider] && len(providers[row]) == 1
		})
		var good, count int
		for _, line := range lines {
			row := without.row(line.parsed())
			slow := row.Class == ClassVerySlow || row.Class == ClassNone
			count += line.Count
			if slow == (line.Observed == "terminal") {
				good += line.Count
			}
		}
		t.Logf("%s: %d of %d", provider, good, count)
		right, all = right+good, all+count
	}
	t.Logf("without the rows of the own provider: %d of %d", right, all)
	if right*10 < all*9 {
		t.Errorf("%d of %d errors are classified correctly without the rows of their own provider", right, all)
	}
}

func (line recordedError) parsed() *Error {
	header := http.Header{}
	for name, value := range line.Headers {
		header.Set(name, value)
	}
	return newError(line.Method, line.Status, header, []byte(line.Body), clock(nil))
}

// without returns the table without some rows; the default row stays.
func (t table) without(drop func(Row) bool) table {
	keep := func(rows []Row) []Row {
		return slices.DeleteFunc(slices.Clone(rows), func(row Row) bool { return drop(row) && row != rows[len(rows)-1] })
	}
	return table{codes: keep(t.codes), words: keep(t.words), phrases: keep(t.phrases), statuses: t.statuses}
}

// corpus reads a file of recorded traffic, or skips the test.
func corpus[T any](t *testing.T, name string) []T {
	t.Helper()
	folder := os.Getenv("ARM_CORPUS")
	if folder == "" {
		folder = filepath.Join("..", "..", "shared", "corpus")
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
	for scanner.Scan() {
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
