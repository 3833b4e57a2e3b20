package activities

import (
	"errors"
	"testing"
	"time"

	"github.com/armature-io/armature/armsim"
	"github.com/armature-io/armature/resource"
)

// TestOverdueAfter checks the limit that CheckOwner returns: the worker's setting,
// negative while the owner is in an exempt state.
func TestOverdueAfter(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		after  time.Duration
		exempt []string
		state  string
		want   time.Duration
	}{
		"Default":     {reason: "an hour by default", state: `"provisioningState":"Updating"`, want: time.Hour},
		"Configured":  {reason: "the configured limit", after: time.Minute, state: `"provisioningState":"Updating"`, want: time.Minute},
		"Never":       {reason: "a negative limit means never", after: -1, state: `"provisioningState":"Updating"`, want: -1},
		"OwnerExempt": {reason: "an owner that was stopped on purpose", exempt: []string{"stopped"}, state: `"state":"Stopped"`, want: -1},
		"NotExempt":   {reason: "only the configured states", exempt: []string{"Paused"}, state: `"state":"Stopped"`, want: time.Hour},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, func(s *setup) { s.options.OverdueAfter, s.options.OverdueExempt = c.after, c.exempt })
			w.put(clusterText, `{"location":"westus2","properties":{`+c.state+`}}`)
			got := local(w, w.acts.CheckOwner, CheckOwnerInput{Desired: desired(t, databaseText, `{}`)})
			if got.OverdueAfter != c.want {
				t.Errorf("%s: limit %s, want %s", c.reason, got.OverdueAfter, c.want)
			}
		})
	}
}

// TestOverdueAfterUnreadOwner checks that the limit is returned when the owner
// cannot be read, and by the first step of a delete pass.
func TestOverdueAfterUnreadOwner(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(s *setup) { s.options.OverdueAfter = time.Minute })
	w.fleet.err = errors.New("Temporal is away")
	dependents, _ := finish(w, w.acts.CheckDependents, CheckDependentsInput{ID: id(t, thingText)})
	w.fleet.err = nil
	if dependents.OverdueAfter != time.Minute {
		t.Errorf("CheckDependents: limit %s, want %s", dependents.OverdueAfter, time.Minute)
	}
	w.sim.AddFault(armsim.Fault{Status: 400, Code: "BadRequest"})
	got := local(w, w.acts.CheckOwner, CheckOwnerInput{Desired: desired(t, databaseText, `{}`)})
	if !got.Verdict.Stops() || got.OverdueAfter != time.Minute {
		t.Errorf("CheckOwner: %+v, limit %s, want %s", got.Verdict, got.OverdueAfter, time.Minute)
	}
}

// TestOverdueExempt checks that GetResource reports a state in which the resource
// is never overdue.
func TestOverdueExempt(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(s *setup) { s.options.OverdueExempt = []string{"stopped"} })
	for state, want := range map[string]bool{"Stopped": true, "Running": false} {
		w.put(thingText, `{"properties":{"state":"`+state+`"}}`)
		got, _ := finish(w, w.acts.GetResource, GetResourceInput{Target: resource.Target{ID: id(t, thingText), APIVersion: "2023-08-15"}})
		if got.OverdueExempt != want {
			t.Errorf("%s: exempt %t, want %t", state, got.OverdueExempt, want)
		}
	}
}
