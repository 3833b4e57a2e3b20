package activities

import (
	"slices"
	"strings"
	"testing"

	"github.com/armature-io/armature/arm"
	"github.com/armature-io/armature/resource"
)

// readOnly makes the worker of a world read-only.
func readOnly(s *setup) {
	s.options.ReadOnly = true
	s.client = func(o *arm.Options) { o.ReadOnly = true }
}

// TestGuardReadOnly checks that a read-only worker reads, compares and plans, and that
// every step that writes ends in words.
//
//guard:read-only
func TestGuardReadOnly(t *testing.T) {
	t.Parallel()
	w := newWorld(t, readOnly)
	w.put(thingText, thingBody)
	d := desired(t, thingText, `{"location":"westus2","tags":{"a":"1"}}`)
	put, _ := finish(w, w.acts.PutResource, PutResourceInput{Desired: d, ObservedAt: w.now()})
	want(t, put.Verdict, resource.ActionBlock, resource.ReasonReadOnly, resource.RetryVerySlow, "this worker is read-only")
	deleted, _ := finish(w, w.acts.DeleteResource, DeleteResourceInput{Desired: d})
	want(t, deleted.Verdict, resource.ActionBlock, resource.ReasonReadOnly, resource.RetryVerySlow, "this worker is read-only")
	purged, _ := finish(w, w.acts.PurgeResource, PurgeResourceInput{Desired: d})
	want(t, purged.Verdict, resource.ActionBlock, resource.ReasonReadOnly, resource.RetryVerySlow)
	registered, _ := finish(w, w.acts.RegisterProvider, RegisterProviderInput{ID: id(t, thingText), Namespace: "Contoso.Things"})
	if put.Sent || put.Unknown || deleted.Accepted || !deleted.Unsent {
		t.Errorf("a read-only worker sent something: %+v, %+v, %+v", put, deleted, registered)
	}
	planned, _ := finish(w, w.acts.PlanResource, PlanResourceInput{Desired: d})
	if planned.Action != PlanUpdate || len(planned.Differences) == 0 || !strings.Contains(planned.Held, "read-only") {
		t.Errorf("the plan of a read-only worker is %+v", planned)
	}
	got, _ := finish(w, w.acts.GetResource, GetResourceInput{Target: d.Target()})
	if !got.Exists {
		t.Errorf("a read of a read-only worker returns %+v", got.Verdict)
	}
	w.wantReadsOnly()
}

// TestGuardReadOnlyClient checks that nothing slips past the steps: the client of a
// read-only worker refuses the writes of extensions and of connections with names, and what
// it refuses is a verdict.
//
//guard:read-only
func TestGuardReadOnlyClient(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(s *setup) { s.client = func(o *arm.Options) { o.ReadOnly = true } })
	w.put(thingText, thingBody)
	d := desired(t, thingText, `{"location":"westus2","tags":{"a":"1"}}`)
	put, _ := finish(w, w.acts.PutResource, PutResourceInput{Desired: d, ObservedAt: w.now()})
	if put.Verdict.Reason != resource.ReasonReadOnly || put.Verdict.Class != resource.RetryVerySlow || put.Sent || put.Unknown {
		t.Errorf("a PUT past the guard of the steps: %+v", put)
	}
	deleted, _ := finish(w, w.acts.DeleteResource, DeleteResourceInput{Desired: d})
	if deleted.Verdict.Reason != resource.ReasonReadOnly || deleted.Accepted {
		t.Errorf("a DELETE past the guard of the steps: %+v", deleted)
	}
	client := w.acts.request(d).Client
	if _, err := client.Post(w.writes(t.Context()), d.ID, "sync", d.APIVersion, nil); err == nil {
		t.Error("an extension sent a POST by a read-only worker")
	}
	if _, err := w.acts.Client.RegisterProvider(w.writes(t.Context()), d.ID.Subscription(), "Contoso.Things"); err == nil {
		t.Error("a read-only worker registered a provider")
	}
	w.wantReadsOnly()
}

// wantReadsOnly fails the test when a request could have changed something.
func (w *world) wantReadsOnly() {
	w.t.Helper()
	writes := slices.DeleteFunc(w.requests(), func(r string) bool { return strings.HasPrefix(r, "GET ") || strings.HasPrefix(r, "HEAD ") })
	if len(writes) > 0 {
		w.t.Errorf("requests that could change something: %v", writes)
	}
}
