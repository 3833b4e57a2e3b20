package azure_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/armature-io/armature/armsim"
	"github.com/armature-io/armature/extensions/extensiontest"
	"github.com/armature-io/armature/internal/extensionhost"
	"github.com/armature-io/armature/resource"
)

// simulation is a simulated Azure with a clock that only the test advances, checked
// by the built-in extensions. A check gets the body of a GET.
type simulation struct {
	*armsim.Simulator
	t        *testing.T
	registry *extensionhost.Registry
	mu       sync.Mutex
	now      time.Time
}

func newSimulation(t *testing.T) *simulation {
	t.Helper()
	a := &simulation{t: t, registry: builtIn(t), now: time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)}
	a.Simulator = armsim.New(armsim.Options{Seed: 1, Clock: func() time.Time {
		a.mu.Lock()
		defer a.mu.Unlock()
		return a.now
	}})
	a.put(groupID, `{"location":"westus2"}`)
	return a
}

func (a *simulation) pass(d time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.now = a.now.Add(d)
}

// call sends one request; an error response ends the test.
func (a *simulation) call(method, id, body string) *httptest.ResponseRecorder {
	a.t.Helper()
	recorder := httptest.NewRecorder()
	a.ServeHTTP(recorder, httptest.NewRequest(method, id+"?api-version=2023-08-15", strings.NewReader(body)))
	if recorder.Code >= http.StatusBadRequest && recorder.Code != http.StatusNotFound {
		a.t.Fatalf("%s %s returned %d: %s", method, id, recorder.Code, recorder.Body)
	}
	return recorder
}

// put starts a write; made also waits until it is done.
func (a *simulation) put(id, body string) { a.t.Helper(); a.call(http.MethodPut, id, body) }

func (a *simulation) made(id, body string) { a.t.Helper(); a.put(id, body); a.pass(time.Hour) }

// object returns a resource as a GET returns it now; it may be absent.
func (a *simulation) object(id, desired string) *resource.Object {
	a.t.Helper()
	answer := a.call(http.MethodGet, id, "")
	if answer.Code == http.StatusNotFound {
		return object(a.t, id, desired, "")
	}
	return object(a.t, id, desired, answer.Body.String())
}

func (a *simulation) ownerCheck(id string) resource.Verdict {
	a.t.Helper()
	obj := object(a.t, id, `{}`, "")
	return a.registry.CheckOwner(a.t.Context(), extensionhost.Request{
		Object: obj, Owner: a.object(obj.ID.Owner().String(), ""), Client: &extensiontest.Client{},
	})
}

func (a *simulation) preCheck(id, desired string) resource.Verdict {
	a.t.Helper()
	return a.registry.PreCheck(a.t.Context(), extensionhost.Request{Object: a.object(id, desired), Client: &extensiontest.Client{}, Now: a.now})
}

func (a *simulation) postCheck(id string) resource.Verdict {
	a.t.Helper()
	return a.registry.PostCheck(a.t.Context(), extensionhost.Request{Object: a.object(id, `{}`), Client: &extensiontest.Client{}})
}

// want checks the action of a verdict and a part of its message.
func (a *simulation) want(what string, got resource.Verdict, action resource.Action, says string) {
	a.t.Helper()
	if got.Action != action || !strings.Contains(got.Message, says) {
		a.t.Errorf("%s: got %s %s (%s), want %s with %q in the message", what, got.Action, got.Reason, got.Message, action, says)
	}
}
