package armsim_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/armature-io/armature/armsim"
)

const (
	sub      = "11111111-2222-3333-4444-555555555555"
	root     = "/subscriptions/" + sub
	group    = root + "/resourceGroups/rg1"
	version  = "?api-version=2024-03-01"
	vnet     = group + "/providers/Microsoft.Network/virtualNetworks/vnet1"
	cluster  = group + "/providers/Microsoft.Kusto/clusters/adx"
	database = cluster + "/databases/db1"
	plain    = group + "/providers/Microsoft.Example/things/t1"

	tenant   = "aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee"
	clientID = "cccccccc-0000-0000-0000-000000000001"
	planted  = "a-planted-client-secret"
)

// testClock is a clock for real time that tests advance.
type testClock struct {
	mu  sync.Mutex
	now time.Time
}

func newTestClock() *testClock {
	return &testClock{now: time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)}
}

func (c *testClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *testClock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// harness is a simulator with a test clock.
type harness struct {
	*armsim.Simulator
	t     *testing.T
	clock *testClock
}

func newHarness(t *testing.T, options armsim.Options) *harness {
	t.Helper()
	clock := newTestClock()
	options.Clock = clock.Now
	return &harness{armsim.New(options), t, clock}
}

type response struct {
	status int
	header http.Header
	body   map[string]any
	raw    string
}

func (r response) at(path string) any {
	var value any = r.body
	for _, name := range strings.Split(path, ".") {
		o, ok := value.(map[string]any)
		if !ok {
			return nil
		}
		value = o[name]
	}
	return value
}

func (r response) code() string {
	code, _ := r.at("error.code").(string)
	return code
}

// do sends a request without a network. Headers are name, value, name, value.
func (h *harness) do(method, url, body string, headers ...string) response {
	h.t.Helper()
	request := httptest.NewRequest(method, url, bytes.NewBufferString(body))
	for i := 0; i+1 < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	recorder := httptest.NewRecorder()
	h.ServeHTTP(recorder, request)
	return readResponse(h.t, recorder.Result())
}

func readResponse(t *testing.T, r *http.Response) response {
	t.Helper()
	data, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatalf("read response: %v", err)
	}
	out := response{status: r.StatusCode, header: r.Header, raw: string(data)}
	if strings.HasPrefix(strings.TrimSpace(out.raw), "{") {
		if err := json.Unmarshal(data, &out.body); err != nil {
			t.Fatalf("parse response %q: %v", data, err)
		}
	}
	return out
}

func (h *harness) want(r response, status int, code string) {
	h.t.Helper()
	if r.status != status || r.code() != code {
		h.t.Fatalf("got %d %q, want %d %q: %s", r.status, r.code(), status, code, r.raw)
	}
}

func (h *harness) wantAt(r response, path string, want any) {
	h.t.Helper()
	if got := r.at(path); fmt.Sprint(got) != fmt.Sprint(want) {
		h.t.Fatalf("%s is %v, want %v: %s", path, got, want, r.raw)
	}
}

// makeGroup creates the resource group of the tests.
func (h *harness) makeGroup() {
	h.t.Helper()
	h.want(h.do("PUT", group+version, `{"location":"westus2"}`), 201, "")
}

// pass advances simulated time.
func (h *harness) pass(d time.Duration) { h.clock.Advance(d) }
