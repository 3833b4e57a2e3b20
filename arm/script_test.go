package arm

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/cloud"

	"github.com/armature-io/armature/resource"
)

const (
	clusterID  = "/subscriptions/11111111-1111-1111-1111-111111111111/resourceGroups/rg1/providers/Microsoft.Kusto/clusters/c1"
	apiVersion = "2023-08-15"
)

// reply is one scripted response; {host} in headers and body is the server's URL.
type reply struct {
	status int
	header map[string]string
	body   string
}

// received is one request as the server received it.
type received struct {
	method, uri string
	header      http.Header
	body        string
}

// script is a server that sends its replies in order, then 500.
type script struct {
	*httptest.Server
	mu      sync.Mutex
	replies []reply
	seen    []received
}

func newScript(t *testing.T, replies ...reply) *script {
	t.Helper()
	s := &script{replies: replies}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

func (s *script) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen = append(s.seen, received{r.Method, r.RequestURI, r.Header, string(body)})
	if len(s.replies) == 0 {
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	next := s.replies[0]
	s.replies = s.replies[1:]
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Ms-Request-Id", "request-1")
	for name, value := range next.header {
		w.Header().Set(name, strings.ReplaceAll(value, "{host}", s.URL))
	}
	w.WriteHeader(next.status)
	_, _ = io.WriteString(w, strings.ReplaceAll(next.body, "{host}", s.URL))
}

func (s *script) requests() []received {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]received(nil), s.seen...)
}

func (s *script) client(t *testing.T, change func(*Options)) *Client {
	t.Helper()
	return clientFor(t, s.URL, change)
}

func clientFor(t *testing.T, url string, change func(*Options)) *Client {
	t.Helper()
	options := Options{Cloud: cloudAt(url)}
	if change != nil {
		change(&options)
	}
	client, err := NewClient(options)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

func cloudAt(url string) cloud.Configuration {
	return cloud.Configuration{
		ActiveDirectoryAuthorityHost: url,
		Services:                     map[cloud.ServiceName]cloud.ServiceConfiguration{cloud.ResourceManager: {Endpoint: url, Audience: url}},
	}
}

func parseID(t *testing.T, text string) resource.ID {
	t.Helper()
	id, err := resource.ParseID(text)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func testContext(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	t.Cleanup(cancel)
	return ctx
}

func asError(t *testing.T, err error) *Error {
	t.Helper()
	var answer *Error
	if !errors.As(err, &answer) {
		t.Fatalf("got error %v, want an *Error", err)
	}
	return answer
}

// roundTripJSON returns a value after JSON encoding and decoding, as in a heartbeat or
// a history.
func roundTripJSON[T any](t *testing.T, value T) T {
	t.Helper()
	raw, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	var back T
	if err := json.Unmarshal(raw, &back); err != nil {
		t.Fatal(err)
	}
	return back
}
