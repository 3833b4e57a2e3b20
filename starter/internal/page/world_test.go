package page

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/internal/audit"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/starter/internal/backend"
	"github.com/armature-io/armature/workflows"
)

const (
	group    = "/subscriptions/11111111-2222-3333-4444-555555555555/resourceGroups/rg1"
	cluster  = group + "/providers/Microsoft.Kusto/clusters/adx"
	database = cluster + "/databases/telemetry"
	network  = group + "/providers/Microsoft.Network/virtualNetworks/vnet1"

	testHost = "127.0.0.1:8420"
)

func mustID(t testing.TB, text string) resource.ID {
	t.Helper()
	id, err := resource.ParseID(text)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// world is Temporal in memory, and the clock of the server.
type world struct {
	mu      sync.Mutex
	now     time.Time
	records []backend.Record
	// listed replaces the records of further lists, if set.
	listed   []backend.Record
	freezes  []workflows.Freeze
	workers  []backend.Poller
	statuses map[string]workflows.Status
	history  []audit.Record
	// spec is the manifest of every resource, observed its body in Azure; imports counts the
	// readings.
	spec     *resource.Desired
	observed activities.ImportResourceResult
	imports  int
	err      error
	// lists are the queries, around counts the requests for freezes and workers, asked those
	// for one resource.
	lists         []string
	around, asked int
	announced     []string
}

func newWorld(records ...backend.Record) *world {
	return &world{
		now: time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC), records: records, statuses: map[string]workflows.Status{},
		workers: []backend.Poller{{Identity: "worker-1", Last: time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)}},
	}
}

func (w *world) List(_ context.Context, query string) ([]backend.Record, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lists = append(w.lists, query)
	if w.listed != nil && len(w.lists) > 1 {
		return w.listed, w.err
	}
	return w.records, w.err
}

func (w *world) Record(_ context.Context, workflowID string) (backend.Record, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.asked++
	for _, r := range w.records {
		if r.WorkflowID == workflowID {
			return r, w.err
		}
	}
	return backend.Record{}, errors.Join(backend.ErrNotManaged, w.err)
}

func (w *world) Status(_ context.Context, workflowID string) (workflows.Status, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.asked++
	status, known := w.statuses[workflowID]
	if !known {
		return status, &backend.NoWorkerError{TaskQueue: "armature"}
	}
	return status, w.err
}

func (w *world) Freezes(context.Context) ([]workflows.Freeze, bool, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.around++
	return w.freezes, false, w.err
}

func (w *world) Pollers(context.Context) ([]backend.Poller, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.around++
	return w.workers, w.err
}

func (w *world) Memory(context.Context, string) (activities.WorkflowMemory, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return activities.WorkflowMemory{Desired: w.spec}, w.err
}

func (w *world) Import(context.Context, string, activities.ImportResourceInput) (activities.ImportResourceResult, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.imports++
	return w.observed, w.err
}

func (w *world) clock() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.now
}

func (w *world) pass(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now = w.now.Add(d)
	for i := range w.workers {
		w.workers[i].Last = w.now
	}
}

func (w *world) options() Options {
	return Options{
		Reader: w, Fleet: w, Specs: w, Namespace: "default", TaskQueue: "armature", Portal: "https://portal.azure.com", WebUI: "http://127.0.0.1:8233", Now: w.clock,
		History: func(context.Context, string) ([]audit.Record, string, error) {
			return w.history, "they begin here", w.err
		},
		Announce: func(address string) { w.announced = append(w.announced, address) },
	}
}

// browser sends requests to a server, with its cookies.
type browser struct {
	t       testing.TB
	server  *Server
	cookies []*http.Cookie
}

// visit returns a browser with a session.
func (w *world) visit(t testing.TB) *browser {
	t.Helper()
	b := &browser{t: t, server: New(w.options(), testHost)}
	answer := b.get(strings.TrimPrefix(b.server.door.address(), "http://"+testHost))
	if answer.Code != http.StatusSeeOther {
		t.Fatalf("the printed address answers %d: %s", answer.Code, answer.Body)
	}
	b.cookies = answer.Result().Cookies()
	return b
}

// get sends a GET with further headers, in pairs.
func (b *browser) get(path string, headers ...string) *httptest.ResponseRecorder {
	b.t.Helper()
	return b.send(http.MethodGet, path, headers...)
}

func (b *browser) send(method, path string, headers ...string) *httptest.ResponseRecorder {
	b.t.Helper()
	request := httptest.NewRequestWithContext(b.t.Context(), method, path, nil)
	request.Host = testHost
	for i := 0; i+1 < len(headers); i += 2 {
		if headers[i] == "Host" {
			request.Host = headers[i+1]
		}
		request.Header.Set(headers[i], headers[i+1])
	}
	for _, cookie := range b.cookies {
		request.AddCookie(cookie)
	}
	answer := httptest.NewRecorder()
	b.server.Handler().ServeHTTP(answer, request)
	return answer
}

// record returns the record of a resource in a phase.
func record(t testing.TB, id string, phase workflows.Phase, more ...func(*backend.Record)) backend.Record {
	t.Helper()
	r := backend.RecordOf(mustID(t, id))
	r.Phase, r.TaskQueue, r.Since = phase, "armature", time.Date(2026, 11, 21, 11, 0, 0, 0, time.UTC)
	r.Reason = resource.ReasonSucceeded
	for _, set := range more {
		set(&r)
	}
	if r.Summary == nil {
		r.Summary = &workflows.Summary{Phase: phase, Condition: resource.Condition{
			Ready: phase == workflows.PhaseReady, Reason: r.Reason, LastTransitionTime: r.Since, Message: "message of " + r.ID.Short(),
		}}
	}
	return r
}

func because(reason resource.Reason) func(*backend.Record) {
	return func(r *backend.Record) { r.Reason = reason }
}

func waitsFor(t testing.TB, ids ...string) func(*backend.Record) {
	return func(r *backend.Record) {
		for _, id := range ids {
			r.WaitingFor = append(r.WaitingFor, workflows.WaitingKey(mustID(t, id)))
		}
	}
}

func labeled(labels ...string) func(*backend.Record) {
	return func(r *backend.Record) { r.Labels = labels }
}
