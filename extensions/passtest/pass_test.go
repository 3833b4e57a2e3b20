package passtest_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/armature-io/armature/armsim"
	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/extensions/passtest"
	"github.com/armature-io/armature/extensions/rules"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/workflows"
)

func TestBlockedUntilAnotherResourceIsFree(t *testing.T) {
	result := passtest.Run(t, own(peerWaiter{}), passtest.Script{
		Manifest: manifest(1), Azure: map[string]string{peer: updating},
		Events: []passtest.Event{{After: 10 * time.Minute, ID: peer, Patch: succeeded}},
	})
	first := result.Passes[0]
	if v := first.Of("PreCheck"); v.Action != resource.ActionBlock || v.Message != `Peer p1 is Updating` || len(v.WaitingFor) != 1 {
		t.Errorf("the first pre-check is %+v, want a block by the peer", v)
	}
	if first.Phase != workflows.PhaseBlocked || first.Condition.Reason != resource.ReasonReconciliationBlocked || first.Wait > 2*time.Second {
		t.Errorf("after the first pass %s %s, wait %s, want Blocked and a short wait", first.Phase, first.Condition.Reason, first.Wait)
	}
	at, ready := result.ReadyAfter()
	if !ready || at < 10*time.Minute || at > 14*time.Minute {
		t.Errorf("Ready after %s (%v), want within the longest wait after 10 minutes:\n%s", at, ready, result)
	}
	for i, wait := range result.Waits() {
		if p := result.Passes[i]; p.Phase == workflows.PhaseBlocked && (wait <= 0 || wait > 4*time.Minute) {
			t.Errorf("the wait after pass %d is %s, want one of the class Slow", i+1, wait)
		}
	}
	if got := len(result.Bodies(thing)); got != 1 {
		t.Errorf("%d PUTs, want 1:\n%s", got, result)
	}
	if methods := result.Methods(thing); slices.Index(methods, http.MethodPut) < slices.Index(methods, http.MethodGet) {
		t.Errorf("requests %v, want no PUT before a GET", methods)
	}
	if !strings.Contains(result.Log, "Peer p1 is Updating") {
		t.Errorf("the log has no line of the block:\n%s", result.Log)
	}
}

// TestWake holds that a managed resource ends the wait of another one at once.
func TestWake(t *testing.T) {
	result := passtest.Run(t, own(peerWaiter{}), passtest.Script{
		Manifest: manifest(1), Azure: map[string]string{peer: updating},
		Events: []passtest.Event{{After: 10 * time.Minute, ID: peer, Patch: succeeded, Wakes: true}},
	})
	if at, ready := result.ReadyAfter(); !ready || at != 10*time.Minute {
		t.Errorf("Ready after %s (%v), want at the wake:\n%s", at, ready, result)
	}
}

// TestPostCheckFailureRequeues holds what an author cannot see in a unit test: a failure
// is tried again, without a second PUT.
func TestPostCheckFailureRequeues(t *testing.T) {
	result := passtest.Run(t, own(approval{}), passtest.Script{
		Manifest: manifest(1),
		Events:   []passtest.Event{{After: 5 * time.Minute, ID: thing, Patch: `{"properties": {"approved": true}}`}},
	})
	first := result.Passes[0]
	if first.Condition.Ready || first.Condition.Reason != resource.ReasonPostReconciliationFailure || first.Wait == 0 {
		t.Errorf("after the first pass %+v, wait %s", first.Condition, first.Wait)
	}
	if at, ready := result.ReadyAfter(); !ready || at < 5*time.Minute || at > 9*time.Minute || len(result.Passes) < 4 {
		t.Errorf("Ready after %s (%v) in %d passes:\n%s", at, ready, len(result.Passes), result)
	}
	if n := len(result.Bodies(thing)); n != 1 {
		t.Errorf("%d PUTs, want 1:\n%s", n, result)
	}
	if !strings.Contains(result.Log, `msg="verdict of PostReconcileCheck"`) || !strings.Contains(result.Log, "The thing is not approved") {
		t.Errorf("the log has no line of the failure:\n%s", result.Log)
	}
}

// TestErrorStopsPUTs holds that severity Error reads once per interval and writes nothing.
func TestErrorStopsPUTs(t *testing.T) {
	result := passtest.Run(t, own(refuser{}), passtest.Script{Manifest: manifest(1), For: 3 * time.Hour})
	if n := len(result.Bodies(thing)); n != 0 || len(result.Passes) < 2 || len(result.Passes) > 5 {
		t.Errorf("%d PUTs in %d passes, want none, and a pass per interval:\n%s", n, len(result.Passes), result)
	}
	if c := result.Last().Condition; c.Severity != resource.SeverityError || c.Reason != "SizeRefused" {
		t.Errorf("condition %+v", c)
	}
}

// TestErrorIsWoken holds the one statement about severity Error: the checks are made again
// once per interval, and at once when a resource changes that the block waits for, or when
// a user requests it. Nothing is written before the check passes.
func TestErrorIsWoken(t *testing.T) {
	script := passtest.Script{
		Manifest: manifest(1), Azure: map[string]string{peer: updating},
		Events: []passtest.Event{{After: 10 * time.Minute, ID: peer, Patch: succeeded, Wakes: true}},
	}
	result := passtest.Run(t, own(peerWaiter{severity: resource.SeverityError}), script)
	first := result.Passes[0]
	if first.Phase != workflows.PhaseFailed || first.Wait < 30*time.Minute || first.Wait > time.Hour {
		t.Errorf("after the first pass %s, wait %s, want Failed, and a pass per interval:\n%s", first.Phase, first.Wait, result)
	}
	if at, ready := result.ReadyAfter(); !ready || at != 10*time.Minute || len(result.Bodies(thing)) != 1 {
		t.Errorf("Ready after %s (%v), want one PUT at the wake:\n%s", at, ready, result)
	}
	script.Events[0].Wakes = false
	script.Events = append(script.Events, passtest.Event{After: 20 * time.Minute, Reconcile: true})
	result = passtest.Run(t, own(peerWaiter{severity: resource.SeverityError}), script)
	if at, ready := result.ReadyAfter(); !ready || at != 20*time.Minute {
		t.Errorf("Ready after %s (%v), want at the request of a user:\n%s", at, ready, result)
	}
}

func TestModifierAndApply(t *testing.T) {
	result := passtest.Run(t, own(stamper{}), passtest.Script{
		Manifest: manifest(1), Events: []passtest.Event{{After: 30 * time.Minute, Apply: manifest(2)}},
	})
	var got []any
	for _, body := range result.Bodies(thing) {
		got = append(got, body["properties"].(map[string]any)["stamp"], body["tags"])
	}
	if diff := cmp.Diff([]any{"size 1", nil, "size 2", nil}, got); diff != "" {
		t.Errorf("the bodies as sent (-want +got):\n%s\n%s", diff, result)
	}
	if result.Status.Generation != 2 {
		t.Errorf("generation %d, want 2", result.Status.Generation)
	}
}

// TestClassifierAndOperation holds faults, long-running operations and their polls.
func TestClassifierAndOperation(t *testing.T) {
	script := passtest.Script{
		Manifest: manifest(1),
		Simulator: armsim.Options{Operations: []armsim.OperationRule{{
			Type: thingType, Spec: armsim.OperationSpec{Shape: armsim.ShapeAsync, Seconds: 600},
		}}},
	}
	result := passtest.Run(t, own(final{}), script)
	p := result.Passes[0]
	if v := p.Of("PollOperation"); v.Action == "" || !p.Condition.Ready {
		t.Errorf("no poll of the operation, or not Ready:\n%s", result)
	}
	script.Events = []passtest.Event{{Do: func(s *armsim.Simulator) {
		s.AddFault(armsim.Fault{Method: http.MethodPut, Type: thingType, Status: http.StatusConflict, Code: "SizeIsFinal", Message: "The size is final."})
	}}}
	result = passtest.Run(t, own(final{}), script)
	v := result.Passes[0].Of("PutResource")
	if v.Class != resource.RetryNone || v.Reason != "SizeIsFinal" || len(result.Bodies(thing)) != 0 {
		t.Errorf("the classifier gave %s %s, want SizeIsFinal None:\n%s", v.Reason, v.Class, result)
	}
}

func TestForceAndDelete(t *testing.T) {
	result := passtest.Run(t, own(peerWaiter{}), passtest.Script{
		Manifest: manifest(1), Azure: map[string]string{peer: updating}, More: []extensions.Entry{own(emptier{})},
		Events: []passtest.Event{
			{After: 10 * time.Minute, Force: true},
			{After: 20 * time.Minute, Delete: true},
			{After: 25 * time.Minute, ID: thing, Patch: `{"properties": {"emptied": true}}`},
		},
	})
	if at, ready := result.ReadyAfter(); !ready || at != 10*time.Minute {
		t.Errorf("Ready after %s (%v), want at the forced pass:\n%s", at, ready, result)
	}
	if !result.Status.Deleted {
		t.Errorf("not deleted:\n%s", result)
	}
	methods := result.Methods(thing)
	if at := slices.Index(methods, http.MethodDelete); at < 0 || result.Last().At < 25*time.Minute {
		t.Errorf("requests %v, want a DELETE once it is emptied:\n%s", methods, result)
	}
}

// TestBlockedUntilDeleted holds that a block is tried again until the resource is deleted:
// a deletion asks no pre-check and ends it.
func TestBlockedUntilDeleted(t *testing.T) {
	result := passtest.Run(t, own(peerWaiter{}), passtest.Script{
		Manifest: manifest(1), Azure: map[string]string{peer: updating, thing: `{"location": "westus2", "properties": {"size": 2}}`},
		Events: []passtest.Event{{After: 30 * time.Minute, Delete: true}},
	})
	if n := len(result.Passes); n < 10 || !result.Status.Deleted || result.Last().At.Truncate(time.Minute) != 30*time.Minute {
		t.Errorf("%d passes, the last after %s, deleted %v, want tries until the deletion:\n%s", n, result.Last().At, result.Status.Deleted, result)
	}
	if n := len(result.Bodies(thing)); n != 0 {
		t.Errorf("%d PUTs, want none while it is blocked", n)
	}
}

// TestOwner holds that the owner exists unless the script states otherwise.
func TestOwner(t *testing.T) {
	result := passtest.Run(t, own(stamper{}), passtest.Script{Manifest: manifest(1), For: time.Minute})
	if _, ready := result.ReadyAfter(); !ready {
		t.Errorf("not Ready:\n%s", result)
	}
	result = passtest.Run(t, own(stamper{}), passtest.Script{Manifest: manifest(1), For: time.Minute, OwnerAbsent: true})
	if c := result.Last().Condition; c.Reason != resource.ReasonWaitingForOwner || len(result.Methods(thing)) != 0 {
		t.Errorf("condition %+v, want that the owner is absent:\n%s", c, result)
	}
}

// TestWritesOfLinks holds that a link's write of another resource passes the same gate as in
// a worker, and is in the result.
func TestWritesOfLinks(t *testing.T) {
	result := passtest.Run(t, own(exporter{}), passtest.Script{Manifest: manifest(1), For: 10 * time.Minute})
	bodies := result.Bodies(peer)
	if _, ready := result.ReadyAfter(); !ready || len(bodies) != 1 {
		t.Fatalf("%d PUTs of the peer, want 1, and Ready:\n%s\n%s", len(bodies), result, result.Log)
	}
	if diff := cmp.Diff(map[string]any{"location": "westus2", "properties": map[string]any{"of": "t1"}}, bodies[0]); diff != "" {
		t.Errorf("the body (-want +got):\n%s", diff)
	}
}

// TestManaged holds that the Ready condition of an owner is seen, and waited for.
func TestManaged(t *testing.T) {
	waiting := manifest(1) + "reconcile: {waitFor: ready}\n"
	result := passtest.Run(t, own(stamper{}), passtest.Script{
		Manifest: waiting, Managed: map[string]resource.Managed{group: {Reason: resource.ReasonOperationInProgress}},
		Events: []passtest.Event{{After: 5 * time.Minute, ID: group, Managed: &resource.Managed{Ready: true}, Wakes: true}},
	})
	if c := result.Passes[0].Condition; c.Reason != resource.ReasonWaitingForOwner {
		t.Errorf("condition %+v, want that the owner is awaited", c)
	}
	if at, ready := result.ReadyAfter(); !ready || at != 5*time.Minute {
		t.Errorf("Ready after %s (%v), want at the wake of the owner:\n%s", at, ready, result)
	}
}

// TestRules holds that the rules of a file can be the entry.
func TestRules(t *testing.T) {
	set, _, err := rules.Load("testdata/thing.rules.yaml")
	if err != nil {
		t.Fatal(err)
	}
	result := passtest.Run(t, extensions.Entry{Type: extensions.AllTypes, Link: set}, passtest.Script{Manifest: manifest(7)})
	if c := result.Passes[0].Condition; c.Message != "Size 7 is too large (number(desired.properties.size, 0) is 7)" || len(result.Bodies(thing)) != 0 {
		t.Errorf("condition %+v:\n%s", c, result)
	}
}

// TestPanicIsContained holds that the kit shows a panic as a worker does.
func TestPanicIsContained(t *testing.T) {
	result := passtest.Run(t, own(panicking{}), passtest.Script{Manifest: manifest(1), For: time.Minute})
	if c := result.Passes[0].Condition; c.Reason != resource.ReasonCheckFailed || !strings.Contains(c.Message, "panicked") {
		t.Errorf("condition %+v", c)
	}
	if !strings.Contains(result.Log, "links_test.go:") {
		t.Errorf("the log has no stack with the line of the link:\n%s", result.Log)
	}
}

func TestScriptsThatAreRefused(t *testing.T) {
	cases := map[string]struct {
		reason string
		script passtest.Script
		want   string
	}{
		"no manifest":    {reason: "nothing would be managed", script: passtest.Script{}, want: "no manifest found"},
		"bad manifest":   {reason: "an apply would refuse it", script: passtest.Script{Manifest: "type: x"}, want: "the manifest of the script"},
		"two manifests":  {reason: "one resource is managed", script: passtest.Script{Manifest: manifest(1) + "---\n" + strings.ReplaceAll(manifest(1), "t1", "t2")}, want: "2 manifests"},
		"no ID in Azure": {reason: "the simulator stores resources by ID", script: passtest.Script{Manifest: manifest(1), Azure: map[string]string{"p1": "{}"}}, want: "this is no resource ID"},
		"no JSON":        {reason: "the body is decoded", script: passtest.Script{Manifest: manifest(1), Azure: map[string]string{peer: "{"}}, want: "the body of " + peer},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := fatal(t, func(tb testing.TB) { passtest.Run(tb, own(peerWaiter{}), tc.script) }); !strings.Contains(got, tc.want) {
				t.Errorf("the test ends with %q, want %q: %s", got, tc.want, tc.reason)
			}
		})
	}
}
