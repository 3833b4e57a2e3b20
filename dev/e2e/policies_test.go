package e2e

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/armsim"
	"github.com/armature-io/armature/dev/internal/harness"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/workflows"
)

// TestPolicies checks the settings of a manifest and of flags beside the body.
func TestPolicies(t *testing.T) {
	t.Parallel()
	w := harness.New(t, binaries, harness.Options{})
	w.StartWorker(harness.WorkerOptions{})
	s := scenarios{w}
	for name, play := range map[string]func(*testing.T, scenarios, thing){
		"once": playOnce, "once-fatal": playOnceFatal, "detach": playDetach, "ignore": playIgnore, "cascade": playCascade, "dependents": playDependents, "below-unmanaged": playBelowUnmanaged,
	} {
		s.putGroup(name)
		t.Run(name, func(t *testing.T) {
			play(t, scenarios{s.On(t)}, thing{group: name, name: name, interval: "1h"})
		})
	}
}

// applyMore applies a thing with more lines under reconcile.
func (s scenarios) applyMore(r thing, size, more string, flags ...string) harness.Result {
	s.T.Helper()
	text := strings.Replace(r.manifest(size), "reconcile: {", "reconcile: {"+more+", ", 1)
	return s.MustCLI(append([]string{"apply", "-f", s.Write(r.name+".yaml", text)}, flags...)...)
}

// playOnce checks that the run ends when Ready, and that nothing is managed then.
func playOnce(t *testing.T, s scenarios, r thing) {
	s.MustCLI("apply", "-f", s.Write("once.yaml", r.manifest("small")), "--once", "--wait", "--timeout", "30s")
	var status workflows.Status
	if err := s.end(r, &status); err != nil {
		t.Fatalf("the run of --once did not end well: %v", err)
	}
	if !status.Condition.Ready || s.Sim.Count(http.MethodPut, r.id()) != 1 {
		t.Errorf("%+v after %d PUTs, want Ready after one", status.Condition, s.Sim.Count(http.MethodPut, r.id()))
	}
	if refused := s.CLI("reconcile", r.id()); refused.Code != 1 || !strings.Contains(refused.Err, "not managed") {
		t.Errorf("after --once nothing is managed, but %s", refused)
	}
}

// playOnceFatal checks that a permanent failure fails the run, with its reason.
func playOnceFatal(t *testing.T, s scenarios, r thing) {
	s.refusePut(r)
	s.CLI("apply", "-f", s.Write("once-fatal.yaml", r.manifest("small")), "--once")
	err := s.end(r, nil)
	if err == nil || !strings.Contains(err.Error(), "InvalidRequestContent") {
		t.Errorf("the run ended with %v, want the code of ARM", err)
	}
}

// end waits for the end of a run, half a minute at most.
func (s scenarios) end(r thing, result any) error {
	ctx, cancel := context.WithTimeout(s.T.Context(), 30*time.Second)
	defer cancel()
	return s.Client.GetWorkflow(ctx, s.WorkflowID(r.id()), "").Get(ctx, result)
}

// playDetach checks that Armature stops managing the resource without a request.
func playDetach(t *testing.T, s scenarios, r thing) {
	s.applyMore(r, "small", "policy: detach-on-delete", "--wait", "--timeout", "30s")
	before := s.Sim.Counters().ByID[strings.ToLower(r.id())]
	s.MustCLI("delete", r.id(), "--yes", "--wait", "--timeout", "30s")
	after := s.Sim.Counters().ByID[strings.ToLower(r.id())]
	if before[http.MethodGet] != after[http.MethodGet] || after[http.MethodDelete] != 0 || after[http.MethodPut] != 1 {
		t.Errorf("the detach made requests: %v before, %v after", before, after)
	}
	if len(stored(s.World, r.id())) != 1 {
		t.Error("the resource is gone from Azure")
	}
}

// playIgnore checks that an ignored path is no drift, and that a PUT for another
// reason sends the observed value of the path.
func playIgnore(t *testing.T, s scenarios, r thing) {
	s.applyMore(r, "small", "ignore: [properties.size, properties.count]", "--wait", "--timeout", "30s")
	s.Sim.Patch(r.id(), map[string]any{"properties": map[string]any{"size": "large", "count": 7}})
	s.MustCLI("reconcile", r.id(), "--wait", "--timeout", "30s")
	if puts := s.Sim.Count(http.MethodPut, r.id()); puts != 1 {
		t.Errorf("%d PUTs, want none for an ignored path", puts-1)
	}
	s.Sim.Patch(r.id(), map[string]any{"tags": map[string]any{"purpose": "other"}})
	s.MustCLI("reconcile", r.id(), "--wait", "--timeout", "30s")
	if puts := s.Sim.Count(http.MethodPut, r.id()); puts != 2 {
		t.Errorf("%d PUTs, want the second for the tag", puts)
	}
	now := stored(s.World, r.id())
	if len(now) != 1 {
		t.Fatalf("%d resources stored, want one", len(now))
	}
	properties, _ := now[0].Body["properties"].(map[string]any)
	tags, _ := now[0].Body["tags"].(map[string]any)
	if properties["size"] != "large" || properties["count"] != 7.0 || tags["purpose"] != "e2e" {
		t.Errorf("after the PUT the resource is %v, want the ignored size and count kept and the tag put back", now[0].Body)
	}
}

// playCascade deletes a group with --cascade: managed resources first, by their own
// workflows, and the others with the group.
func playCascade(t *testing.T, s scenarios, r thing) {
	owner := s.applyGroup(r.group)
	s.applyMore(r, "small", "timeout: 1h", "--wait", "--timeout", "30s")
	foreign := owner + "/providers/Microsoft.Example/things/foreign"
	s.Sim.Call(http.MethodPut, "/resources", map[string]any{"id": foreign, "body": map[string]any{"location": "westus2"}}, nil)
	s.MustCLI("delete", owner, "--yes", "--cascade", "--wait", "--timeout", "60s")
	if left := stored(s.World, owner+"*"); len(left) != 0 {
		t.Errorf("the cascade left %+v", left)
	}
	counters := s.Sim.Counters().ByID
	if s.Sim.Count(http.MethodDelete, owner) != 1 || s.Sim.Count(http.MethodDelete, r.id()) != 1 || s.Sim.Count(http.MethodDelete, foreign) != 0 {
		t.Errorf("requests %v, want one DELETE of the managed thing, then one of the group, which takes the other along", counters)
	}
	if status, err := s.Status(r.id()); err != nil || !status.Deleted {
		t.Errorf("the managed thing is left as %+v (%v), want its workflow ended by the cascade", status, err)
	}
}

// playDependents deletes a group with a managed thing: the deletion waits for the
// thing, names it, and completes once the thing is deleted.
func playDependents(t *testing.T, s scenarios, r thing) {
	owner := s.applyGroup(r.group)
	s.applyMore(r, "small", "timeout: 1h", "--wait", "--timeout", "30s")
	s.RequestDelete(owner, workflows.DeleteInput{})
	status := s.UntilStatus(20*time.Second, owner, "waits for its thing", func(status workflows.Status) bool {
		return status.Condition.Reason == resource.ReasonWaitingForDependents
	})
	if !strings.Contains(status.Condition.Message, r.name+" (Microsoft.Example/things)") || !strings.Contains(status.Condition.Message, "--cascade") {
		t.Errorf("the block does not name the thing and the way out: %s", status.Condition.Message)
	}
	if len(status.WaitingFor) != 1 || !strings.EqualFold(status.WaitingFor[0].String(), r.id()) || !status.Deleting || status.NextTry.IsZero() {
		t.Errorf("status %+v, want a deletion that waits for the thing and is tried again", status)
	}
	if deletes := s.Sim.Count(http.MethodDelete, owner); deletes != 0 {
		t.Errorf("the group got %d DELETEs while a dependent is managed", deletes)
	}
	s.MustCLI("delete", r.id(), "--yes", "--wait", "--timeout", "30s")
	s.MustCLI("wait", owner, "--for", "deleted", "--timeout", "60s")
	if left := stored(s.World, owner+"*"); len(left) != 0 {
		t.Errorf("the deletion left %+v", left)
	}
}

// playBelowUnmanaged deletes a thing with an unmanaged part, in which there is a managed
// piece: the piece names only the part as its owner, and still holds back the deletion.
func playBelowUnmanaged(t *testing.T, s scenarios, r thing) {
	s.applyMore(r, "small", "timeout: 1h", "--wait", "--timeout", "30s")
	part := r.id() + "/parts/p'1"
	s.Sim.Call(http.MethodPut, "/resources", map[string]any{"id": part, "body": map[string]any{"properties": map[string]any{}}}, nil)
	piece := part + "/pieces/x"
	s.MustCLI("apply", "-f", s.Write("piece.yaml", "type: Microsoft.Example/things/parts/pieces@2024-01-01\nname: x\nowner: \""+part+"\"\nbody: {properties: {size: small}}\n"), "--wait", "--timeout", "30s")
	s.RequestDelete(r.id(), workflows.DeleteInput{})
	status := s.UntilStatus(20*time.Second, r.id(), "waits for the piece", func(status workflows.Status) bool {
		return status.Condition.Reason == resource.ReasonWaitingForDependents
	})
	if len(status.WaitingFor) != 1 || !strings.EqualFold(status.WaitingFor[0].String(), piece) || s.Sim.Count(http.MethodDelete, r.id()) != 0 {
		t.Errorf("status %+v after %d DELETEs, want a deletion that waits for the piece", status, s.Sim.Count(http.MethodDelete, r.id()))
	}
	s.MustCLI("delete", piece, "--yes", "--wait", "--timeout", "30s")
	s.MustCLI("wait", r.id(), "--for", "deleted", "--timeout", "60s")
}

// refusePut makes every PUT of the thing fail permanently.
func (s scenarios) refusePut(r thing) {
	s.T.Helper()
	s.Sim.Call(http.MethodPost, "/faults", armsim.Fault{
		ID: r.name, Method: http.MethodPut, Path: r.id(), Status: http.StatusBadRequest,
		Code: "InvalidRequestContent", Message: "The request content was invalid.",
	}, nil)
}
