package workflows_test

import (
	"testing"
	"time"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/armsim"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/workflows"
)

// refusing is a resource that differs and whose PUT ARM refuses for good; the pre-check
// honours the refusal like the real one.
func refusing(r *run) {
	r.script.pre = func(in activities.PreCheckInput) resource.Verdict {
		if in.Refusal != nil && in.Refusal.Sent == "hash" {
			return in.Refusal.Verdict
		}
		return resource.Verdict{Action: resource.ActionProceed, Message: "it differs"}
	}
	r.script.put = func(activities.PutResourceInput) (activities.PutResourceResult, error) {
		return activities.PutResourceResult{Verdict: resource.Fail("LocationRequired", resource.RetryNone, "no location"), Content: "hash"}, nil
	}
}

//guard:severity-error-stops-puts
func TestRefusedPutIsNotRepeated(t *testing.T) {
	cases := map[string]struct {
		reason  string
		arrange func(*run)
		puts    int
	}{
		"alone":   {"only readings follow", func(*run) {}, 1},
		"wake":    {"a change of another resource is no request", func(r *run) { wakeAt(r, 90*time.Minute) }, 1},
		"request": {"a user asks for one", func(r *run) { r.at(2*time.Hour, workflows.ReconcileUpdate, workflows.ReconcileInput{By: "ada@host"}) }, 2},
		"during": {"a user asks while the PUT is being refused", func(r *run) {
			put, first := r.script.put, true
			r.script.put = func(in activities.PutResourceInput) (activities.PutResourceResult, error) {
				if first {
					first = false
					r.UpdateWorkflow(workflows.ReconcileUpdate, "", (&updateResult{}).callbacks(), workflows.ReconcileInput{By: "ada@host"})
				}
				return put(in)
			}
		}, 2},
		"apply": {"another spec is another PUT", func(r *run) {
			spec := desired()
			spec.Body = []byte(`{"location":"eastus"}`)
			r.at(2*time.Hour, workflows.ApplyUpdate, workflows.ApplyInput{Desired: spec, By: "ada@host"})
		}, 2},
		"resume": {"a resume asks, too", func(r *run) {
			r.at(2*time.Hour, workflows.PauseUpdate, workflows.PauseInput{})
			r.at(3*time.Hour, workflows.ResumeUpdate, workflows.PauseInput{})
		}, 2},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			r := newRun(t)
			refusing(r)
			c.arrange(r)
			r.apply(desired())
			status := r.statusAt(6 * time.Hour)
			r.start(6*time.Hour + time.Minute)
			if got := r.count("PutResource"); got != c.puts {
				t.Errorf("%d PUTs in 6 h, want %d: %s", got, c.puts, c.reason)
			}
			if got := r.count("GetResource"); got < 6 || got > 10 {
				t.Errorf("%d readings in 6 h with an interval of an hour", got)
			}
			if status.Phase != workflows.PhaseFailed || status.Condition.Reason != "LocationRequired" || status.Condition.Severity != resource.SeverityError {
				t.Errorf("the condition does not stay: %s %+v", status.Phase, status.Condition)
			}
		})
	}
}

// wakeAt signals the change of another resource.
func wakeAt(r *run, delay time.Duration) {
	r.RegisterDelayedCallback(func() {
		r.SignalWorkflow(workflows.WakeSignal, workflows.WakeInput{ID: mustID(group), State: "Ready", At: r.Now()})
	}, delay)
}

// A verdict of the post-check is looked at again without a PUT, also when the resource
// differs meanwhile; the check of what exists decides whether it is lifted.
func TestErrorOfPostCheckHeals(t *testing.T) {
	r := newRun(t)
	var refusals []*activities.Refusal
	r.script.pre = func(in activities.PreCheckInput) resource.Verdict {
		refusals = append(refusals, in.Refusal)
		return resource.Verdict{Action: resource.ActionSkip, Reason: resource.ReasonInSync}
	}
	r.script.post = func(activities.PostCheckInput) activities.PostCheckResult {
		if r.count("PostCheck") < 4 {
			return activities.PostCheckResult{Verdict: resource.Verdict{
				Action: resource.ActionFailure, Reason: resource.ReasonPostReconciliationFailure,
				Severity: resource.SeverityError, Class: resource.RetryNone, Message: "rejected",
			}}
		}
		return activities.PostCheckResult{Verdict: resource.Verdict{Action: resource.ActionSuccess}}
	}
	r.apply(desired())
	healed := r.statusAt(4 * time.Hour)
	r.start(8 * time.Hour)
	if !healed.Condition.Ready || r.count("PutResource") != 0 {
		t.Errorf("after three tries: %+v, %d PUTs; want Ready without a PUT", healed.Condition, r.count("PutResource"))
	}
	for i, refusal := range refusals {
		if want := i > 0 && i < 4; (refusal != nil) != want || want && refusal.Sent != "" {
			t.Errorf("pass %d got the refusal %+v, want one of the post-check: %v", i+1, refusal, want)
		}
	}
}

// The real checks on the simulator.
//
//guard:severity-error-stops-puts
func TestRejectedEndpointIsApprovedLater(t *testing.T) {
	spec := specOf("Microsoft.Network/privateEndpoints/pe1", "2023-11-01", `{"location":"westus2","properties":{
		"subnet":{"id":"`+group+`/providers/Microsoft.Network/virtualNetworks/v1/subnets/s1"},
		"manualPrivateLinkServiceConnections":[{"name":"link","properties":{
			"privateLinkServiceId":"`+group+`/providers/Microsoft.Storage/storageAccounts/sa1","groupIds":["blob"]}}]}}`)
	s := newSimulated(t, spec)
	must(t, s.sim.Put(group+"/providers/Microsoft.Network/virtualNetworks/v1/subnets/s1", map[string]any{"properties": map[string]any{"addressPrefix": "10.0.0.0/24"}}))
	must(t, s.sim.Put(group+"/providers/Microsoft.Storage/storageAccounts/sa1", map[string]any{"location": "westus2"}))
	decide := func(status string) func(*armsim.Simulator) {
		return func(sim *armsim.Simulator) {
			if err := sim.Approve(armsim.Approval{ID: spec.ID.String(), Status: status}); err != nil {
				t.Error(err)
			}
		}
	}
	s.apply(spec)
	s.after(time.Minute, decide("Rejected"))
	rejected := s.statusAt(5*time.Hour + 30*time.Minute)
	s.after(6*time.Hour, decide("Approved"))
	approved := s.statusAt(7*time.Hour + time.Minute)
	s.start(8 * time.Hour)
	if rejected.Phase != workflows.PhaseFailed || rejected.Pass < 6 {
		t.Errorf("after 5 intervals: %s, pass %d (%s); want Failed and a reading in each", rejected.Phase, rejected.Pass, rejected.Condition.Message)
	}
	if !approved.Condition.Ready {
		t.Errorf("an interval after the approval: %+v, want Ready", approved.Condition)
	}
	if puts := s.sim.Counters().Writes[spec.ID.Key()]; puts != 1 {
		t.Errorf("%d PUTs, want the one that created it", puts)
	}
}

// A resource that another tool owns is created by the manifest once the other one is gone.
func TestNeverAdoptedIsCreatedLater(t *testing.T) {
	spec := specOf("Microsoft.Network/natGateways/nat1", "2023-11-01", `{"location":"westus2","sku":{"name":"Standard"}}`)
	spec.Adopt = resource.AdoptNever
	s := newSimulated(t, spec)
	must(t, s.sim.Put(spec.ID.String(), map[string]any{"location": "westus2", "sku": map[string]any{"name": "Standard"}}))
	s.apply(spec)
	s.after(5*time.Hour+30*time.Minute, func(sim *armsim.Simulator) { sim.Delete(spec.ID.String()) })
	before, after := s.statusAt(5*time.Hour+20*time.Minute), s.statusAt(7*time.Hour)
	s.start(7*time.Hour + time.Minute)
	if before.Phase != workflows.PhaseFailed || before.Condition.Reason != resource.ReasonAlreadyExists {
		t.Errorf("before: %s %+v, want AlreadyExists", before.Phase, before.Condition)
	}
	if !after.Condition.Ready {
		t.Errorf("after the other one was deleted: %+v, want Ready", after.Condition)
	}
	if puts := s.sim.Counters().Writes[spec.ID.Key()]; puts != 1 {
		t.Errorf("%d PUTs, want one", puts)
	}
}

// What ARM refuses for good gets no PUT in five intervals; another tool mends it.
func TestRefusedIsMendedElsewhere(t *testing.T) {
	spec := specOf("Microsoft.Network/natGateways/nat1", "2023-11-01", `{"location":"westus2","sku":{"name":"Standard"}}`)
	s := newSimulated(t, spec)
	s.sim.AddFault(armsim.Fault{Method: "PUT", Path: spec.ID.String(), Status: 400, Code: "InvalidRequestContent", Message: "no"})
	s.apply(spec)
	refused := s.statusAt(5*time.Hour + 30*time.Minute)
	s.after(5*time.Hour+31*time.Minute, func(sim *armsim.Simulator) {
		if err := sim.Put(spec.ID.String(), map[string]any{"location": "westus2", "sku": map[string]any{"name": "Standard"}}); err != nil {
			t.Error(err)
		}
	})
	mended := s.statusAt(7 * time.Hour)
	s.start(7*time.Hour + time.Minute)
	if refused.Condition.Reason != "InvalidRequestContent" || refused.Pass < 6 {
		t.Errorf("after 5 intervals: pass %d, %+v", refused.Pass, refused.Condition)
	}
	if puts := s.requests("PUT", spec.ID); puts != 1 {
		t.Errorf("%d PUTs were sent, want the one that was refused", puts)
	}
	if !mended.Condition.Ready {
		t.Errorf("after it was mended: %+v, want Ready", mended.Condition)
	}
}
