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
