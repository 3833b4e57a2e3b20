package arm

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
)

// recordedError is one line of the recorded failures.
type recordedError struct {
	Via, Method, Type, Observed string
	Status, Count               int
	Code                        *string
	BodyShape                   string
	Body                        string
	Headers                     map[string]string
	RetryAfter                  []string
	Context                     map[string]int
}

// TestRecordedErrors judges parser and table by recorded traffic.
func TestRecordedErrors(t *testing.T) {
	lines := corpus[recordedError](t, "errors.jsonl.gz")
	var parsed, missed, absent, unproven int
	for _, line := range lines {
		header := http.Header{}
		for name, value := range line.Headers {
			header.Set(name, value)
		}
		e := newError(line.Method, line.Status, header, []byte(line.Body), clock(nil))
		if line.Code != nil && line.BodyShape != "html/text" {
			parsed++
			if e.Code != *line.Code && len(line.Body) < 3000 { // longer bodies were cut
				missed++
				t.Logf("%s %d: got code %q, want %q", line.BodyShape, line.Status, e.Code, *line.Code)
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
				t.Errorf("%s passed when tried again, got class %s", name, e.Class)
			}
		case "terminal":
			if e.Class == ClassFast || e.Class == ClassConflict || e.Class == ClassThrottled {
				t.Errorf("%s never passed, got class %s", name, e.Class)
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
		t.Errorf("the code of %d bodies of %d was not read", missed, parsed)
	}
	if unproven*20 > absent {
		t.Errorf("%d of %d recorded absences are not believed: more than 5 %%", unproven, absent)
	}
}

// recordedOperation is one line of the recorded operations.
type recordedOperation struct {
	Shape, Method, Type, Outcome string
	Initial                      struct {
		Status                        int
		AzureAsyncOperation, Location string
		ProvisioningState             string
		BodyEmpty                     bool
		LocationIsResource            bool
		AsyncOperationIsResource      bool
		RetryAfter                    string
	}
	Polls []struct {
		Via, BodyStatus, ProvisioningState string
		Status                             int
	}
}

// TestRecordedOperations replays first answer and polls of every recorded PUT
// and DELETE and expects the recorded outcome.
func TestRecordedOperations(t *testing.T) {
	lines := corpus[recordedOperation](t, "lro.jsonl.gz")
	outcomes := map[string]int{}
	for _, line := range lines {
		if line.Method == http.MethodPost {
			continue
		}
		got := replay(t, line)
		outcomes[got]++
		switch {
		case line.Outcome == "succeeded" && got == OutcomeFailed,
			line.Outcome == "failed" && line.Initial.AzureAsyncOperation != "" && got == OutcomeSucceeded,
			line.Outcome == "canceled" && got != OutcomeCanceled:
			t.Errorf("%s %s %s: got %s, recorded %s", line.Method, line.Type, line.Shape, got, line.Outcome)
		}
	}
	t.Logf("%d operations: %v", len(lines), outcomes)
	if outcomes[OutcomeSucceeded]*10 < len(lines)*8 {
		t.Errorf("got outcomes %v of %d operations", outcomes, len(lines))
	}
}

// replay gives the outcome, "unfinished" when the record ends before.
func replay(t *testing.T, line recordedOperation) string {
	t.Helper()
	first := reply{status: line.Initial.Status, header: map[string]string{}}
	if line.Initial.AzureAsyncOperation != "" {
		first.header["Azure-AsyncOperation"] = "{host}/op/async"
	}
	if line.Initial.Location != "" {
		first.header["Location"] = "{host}/op/location"
		if line.Initial.LocationIsResource {
			first.header["Location"] = "{host}" + clusterID
		}
	}
	if !line.Initial.BodyEmpty {
		first.body = stateBody("", line.Initial.ProvisioningState)
	}
	via := viaResource
	if line.Initial.AzureAsyncOperation != "" {
		via = viaAsync
	} else if line.Initial.Location != "" && !line.Initial.LocationIsResource {
		via = viaLocation
	}
	replies := []reply{first}
	for _, poll := range line.Polls {
		if poll.Via == via {
			replies = append(replies, reply{status: poll.Status, body: stateBody(poll.BodyStatus, poll.ProvisioningState)})
		}
	}
	return run(t, &script{Server: &httptest.Server{URL: "http://127.0.0.1:1"}, replies: replies}, line.Method)
}

func run(t *testing.T, server *script, method string) string {
	t.Helper()
	client := server.client(t, func(o *Options) { o.Transport = unplugged{server} })
	id := parseID(t, clusterID)
	var op Operation
	var err error
	if method == http.MethodPut {
		op, err = client.Put(testContext(t), id, apiVersion, []byte(`{}`), PutOptions{})
	} else {
		op, err = client.Delete(testContext(t), id, apiVersion)
	}
	if err != nil {
		t.Fatal(err)
	}
	outcome, token := op.Outcome, op.Token
	for token != "" {
		poll, err := client.Poll(testContext(t), token)
		if err != nil {
			if server.left() == 0 {
				return "unfinished"
			}
			continue
		}
		outcome, token = poll.Outcome, poll.Token
	}
	return outcome
}

// unplugged calls a script without a network: the recordings are thousands.
type unplugged struct{ *script }

func (u unplugged) Do(r *http.Request) (*http.Response, error) {
	if r.Body == nil {
		r.Body = http.NoBody
	}
	recorder := httptest.NewRecorder()
	u.ServeHTTP(recorder, r)
	response := recorder.Result()
	response.Request = r
	return response, nil
}

func (s *script) left() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.replies)
}

func stateBody(status, state string) string {
	body := map[string]any{}
	if status != "" {
		body["status"] = status
	}
	if state != "" {
		body["properties"] = map[string]any{"provisioningState": state}
	}
	raw, _ := json.Marshal(body) // strings always encode
	return string(raw)
}

// corpus reads a file of recorded traffic, or skips.
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
