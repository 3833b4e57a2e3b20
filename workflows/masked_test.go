package workflows_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/workflows"
	"github.com/google/go-cmp/cmp"
)

// TestMasksComeFromTheBody checks that no client decides what is masked: neither one that
// leaves the lists out, nor one that sends others, nor the state of an earlier run.
//
//guard:masks-come-from-the-body
func TestMasksComeFromTheBody(t *testing.T) {
	spec := desired()
	spec.Body = json.RawMessage(`{"tags":{"apiKey":"public"},"properties":{"note":{"$secret":"env:ARMATURE_SECRET_A"}}}`)
	want := resource.Target{
		ID: spec.ID, APIVersion: spec.APIVersion,
		Secret: []string{"properties.note"}, SecretRefs: []string{"env:ARMATURE_SECRET_A"}, Plain: []string{"tags.apiKey"},
	}
	forged := spec
	forged.Secret, forged.SecretRefs, forged.Plain = []string{"other"}, []string{"env:ARMATURE_SECRET_B"}, []string{"properties.note"}
	cases := map[string]struct {
		reason  string
		applied *resource.Desired
		carried *resource.Desired
	}{
		"left out":     {reason: "a careless client", applied: &spec},
		"forged":       {reason: "a client that wants to see the value", applied: &forged},
		"forged state": {reason: "a state with the lists of a client", carried: &forged},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			r := newRun(t)
			var read, polled []resource.Target
			var written []resource.Desired
			r.script.get = func(in activities.GetResourceInput) activities.GetResourceResult {
				read = append(read, in.Target)
				return absent()
			}
			r.script.pre = create
			r.script.put = func(in activities.PutResourceInput) (activities.PutResourceResult, error) {
				written = append(written, in.Desired)
				return activities.PutResourceResult{Verdict: resource.Proceed("accepted"), Token: "t", Sent: true}, nil
			}
			r.script.poll = func(in activities.PollOperationInput) (activities.PollOperationResult, error) {
				polled = append(polled, in.Target)
				return activities.PollOperationResult{Verdict: resource.Verdict{Action: resource.ActionSuccess}}, nil
			}
			if c.applied != nil {
				r.apply(*c.applied)
			} else {
				r.input.State = &workflows.State{Spec: workflows.Spec{Desired: c.carried, Generation: 1}, Requests: workflows.Requests{Pass: true}}
			}
			r.start(time.Minute)
			if len(read) == 0 || len(polled) == 0 || len(written) == 0 {
				t.Fatalf("%s: %d reads, %d polls, %d PUTs", c.reason, len(read), len(polled), len(written))
			}
			for what, got := range map[string]resource.Target{"GetResource": read[0], "PollOperation": polled[0], "PutResource": written[0].Target()} {
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("%s: %s (-want +got):\n%s", c.reason, what, diff)
				}
			}
		})
	}
}

// TestListsOfTheClientAreStillCompared checks that an unchanged manifest is no new
// generation, whatever version of the client sent it.
func TestListsOfTheClientAreStillCompared(t *testing.T) {
	r := newRun(t)
	spec := desired()
	spec.Body = json.RawMessage(`{"tags":{"b":"1","a":"2"},"properties":{"note":{"$secret":"env:ARMATURE_SECRET_A"},"key":"/subscriptions/s"}}`)
	spec.Secret, spec.SecretRefs, spec.Plain = []string{"properties.note"}, []string{"env:ARMATURE_SECRET_A"}, []string{"properties.key"}
	r.apply(spec)
	again := r.at(time.Minute, workflows.ApplyUpdate, workflows.ApplyInput{Desired: spec, By: "ada@host"})
	r.start(2 * time.Minute)
	if got, _ := again.result.(workflows.ApplyResult); got.Changed || got.Generation != 1 {
		t.Errorf("the same manifest again: %+v, want generation 1, unchanged", again.result)
	}
}
