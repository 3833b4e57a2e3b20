package audit

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	logspb "go.opentelemetry.io/proto/otlp/logs/v1"
	"google.golang.org/protobuf/proto"
)

func line(t *testing.T, key string) Line {
	t.Helper()
	l, err := newLine(Record{Key: key, Event: EventWrite, Result: ResultRefused, ID: "/subscriptions/s", Method: "PUT"}, time.Unix(1, 0))
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// TestFileFollowsRotation moves the file away between two lines, and cuts the last line off
// as a worker that was killed does.
func TestFileFollowsRotation(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	sink, err := OpenFile(path, true)
	if err != nil {
		t.Fatal(err)
	}
	write := func(key string) {
		if err := sink.Write(t.Context(), []Line{line(t, key)}); err != nil {
			t.Fatal(err)
		}
	}
	write("a")
	if err := os.Rename(path, path+".1"); err != nil {
		t.Fatal(err)
	}
	write("b")
	if err := sink.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path+".cut", []byte(`{"key":"c`), 0o600); err != nil {
		t.Fatal(err)
	}
	if sink, err = OpenFile(path+".cut", false); err != nil {
		t.Fatal(err)
	}
	write("d")
	for name, want := range map[string]string{path + ".1": `"key":"a"`, path: `"key":"b"`, path + ".cut": "{\"key\":\"c\n{"} {
		content, err := os.ReadFile(name)
		if err != nil || !strings.Contains(string(content), want) || !strings.HasSuffix(string(content), "}\n") {
			t.Errorf("%s contains %q (%v), want %s", name, content, err, want)
		}
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file has mode %v (%v), want 0600", info.Mode(), err)
	}
}

// endpoint is a server that returns the next status to each request.
type endpoint struct {
	mu       sync.Mutex
	statuses []int
	keys     []string
	bodies   [][]byte
	header   http.Header
}

func (e *endpoint) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	e.mu.Lock()
	defer e.mu.Unlock()
	e.header = r.Header
	status := http.StatusOK
	if len(e.statuses) > 0 {
		status, e.statuses = e.statuses[0], e.statuses[1:]
	}
	if status == http.StatusOK {
		e.bodies = append(e.bodies, body)
		for text := range strings.SplitSeq(strings.TrimSpace(string(body)), "\n") {
			if _, rest, found := strings.Cut(text, `"key":"`); found {
				e.keys = append(e.keys, rest[:1])
			}
		}
	}
	w.WriteHeader(status)
}

func (e *endpoint) got() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return strings.Join(e.keys, "")
}

// TestEndpoint checks what an endpoint gets, and which answers mean that it has the lines.
func TestEndpoint(t *testing.T) {
	cases := map[string]struct {
		reason   string
		statuses []int
		err      bool
		want     string
	}{
		"Taken":    {"200 means that it has the lines", nil, false, "abc"},
		"Failed":   {"5xx means that it has none", []int{500}, true, ""},
		"Denied":   {"a token may be wrong for a while", []int{401}, true, ""},
		"Redirect": {"a redirect would take the token along", []int{302}, true, ""},
		"TooLarge": {"a batch that is too large is sent in halves", []int{413}, false, "abc"},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			handler := &endpoint{statuses: test.statuses}
			server := httptest.NewServer(handler)
			defer server.Close()
			sink, err := NewEndpoint(server.URL+"/lines?key=hidden", nil, func() (string, error) { return "t0ken", nil })
			if err != nil {
				t.Fatal(err)
			}
			err = sink.Write(t.Context(), []Line{line(t, "a"), line(t, "b"), line(t, "c")})
			if (err != nil) != test.err || handler.got() != test.want {
				t.Errorf("got %q and error %v, want %q: %s", handler.got(), err, test.want, test.reason)
			}
			if err != nil && strings.Contains(err.Error(), "hidden") {
				t.Errorf("the error contains the query: %v", err)
			}
			if handler.header.Get("Authorization") != "Bearer t0ken" || handler.header.Get("Idempotency-Key") == "" {
				t.Errorf("the request had the headers %v", handler.header)
			}
		})
	}
	for _, target := range []string{"http://collector.example/x", "https://user:pass@host/", "ftp://host", "::"} {
		if _, err := NewEndpoint(target, nil, nil); err == nil {
			t.Errorf("%s is accepted", target)
		}
	}
}

// TestSpill checks that an outage of the endpoint stops nothing, that a restart sends what is
// left, in order, and that a full file refuses lines.
func TestSpill(t *testing.T) {
	t.Parallel()
	handler := &endpoint{statuses: []int{500, 503, 500}}
	server := httptest.NewServer(handler)
	defer server.Close()
	path := filepath.Join(t.TempDir(), "spill")
	open := func(target string) *Spill {
		next, err := NewEndpoint(target, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		spill, err := NewSpill(path, 1000, next, func(error) {})
		if err != nil {
			t.Fatal(err)
		}
		return spill
	}
	away := open("http://127.0.0.1:1")
	for _, key := range []string{"a", "b"} {
		if err := away.Write(t.Context(), []Line{line(t, key)}); err != nil {
			t.Fatalf("the outage stops a write: %v", err)
		}
	}
	if err := away.Write(t.Context(), []Line{line(t, strings.Repeat("x", 1000))}); err == nil {
		t.Error("a full file takes a line")
	}
	if _, err := NewSpill(path, 1000, away.next, func(error) {}); err == nil {
		t.Error("two workers use one file")
	}
	away.stop() // as a worker that is killed: nothing waits for the endpoint
	<-away.ended
	_ = away.file.Close()
	back := open(server.URL)
	if err := back.Write(t.Context(), []Line{line(t, "c")}); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(20 * time.Second); back.Unsent() > 0 && time.Now().Before(end); {
		wait(t.Context(), 10*time.Millisecond, nil)
	}
	if err := back.Close(); err != nil {
		t.Fatal(err)
	}
	if got := handler.got(); got != "abc" {
		t.Errorf("the endpoint got %q, want abc", got)
	}
	if content, err := os.ReadFile(path); err != nil || len(content) != 0 {
		t.Errorf("the file has %d bytes left (%v)", len(content), err)
	}
}

// TestCollector decodes what a collector gets.
func TestCollector(t *testing.T) {
	handler := &endpoint{}
	server := httptest.NewServer(handler)
	defer server.Close()
	sink, err := NewCollector(server.URL, "v1", nil, http.Header{"X-Tenant": {"a"}})
	if err != nil {
		t.Fatal(err)
	}
	sent := line(t, "a")
	if err := sink.Write(t.Context(), []Line{sent, line(t, "b")}); err != nil {
		t.Fatal(err)
	}
	var logs logspb.LogsData
	if err := proto.Unmarshal(handler.bodies[0], &logs); err != nil {
		t.Fatal(err)
	}
	records := logs.GetResourceLogs()[0].GetScopeLogs()[0].GetLogRecords()
	attributes := map[string]string{}
	for _, attribute := range records[0].GetAttributes() {
		attributes[attribute.GetKey()] = attribute.GetValue().GetStringValue()
	}
	want := map[string]string{
		"armature.audit.key": "a", "armature.audit.result": "refused", "azure.resource.id": "/subscriptions/s", "http.request.method": "PUT",
	}
	if diff := cmp.Diff(want, attributes); diff != "" || len(records) != 2 {
		t.Errorf("%d records with the attributes (-want +got):\n%s", len(records), diff)
	}
	if body := records[0].GetBody().GetStringValue(); body != string(sent.JSON) || records[0].GetEventName() != "armature.audit.write" || records[0].GetSeverityText() != "WARN" {
		t.Errorf("the record is %v", records[0])
	}
	if handler.header.Get("X-Tenant") != "a" || handler.header.Get("Content-Type") != "application/x-protobuf" {
		t.Errorf("the request had the headers %v", handler.header)
	}
	// partial_success { rejected_log_records: 2, error_message: "no" }
	if n := rejected([]byte{0x0a, 0x06, 0x08, 0x02, 0x12, 0x02, 'n', 'o'}); n != 2 {
		t.Errorf("%d rejected records were read, want 2", n)
	}
	if n := rejected(nil); n != 0 {
		t.Errorf("an empty answer rejects %d records", n)
	}
}
