package activities

import (
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/resource"
)

func contains(text, part string) bool { return strings.Contains(text, part) }

func TestOverdue(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason  string
		after   time.Duration
		exempt  []string
		state   string
		late    time.Duration
		overdue bool
	}{
		"Late":       {reason: "more than an hour by default", state: `"provisioningState":"Updating"`, late: time.Hour, overdue: true},
		"NotYet":     {reason: "not before", state: `"provisioningState":"Updating"`, late: time.Hour - time.Second},
		"Configured": {reason: "or as configured", after: time.Minute, state: `"provisioningState":"Updating"`, late: 2 * time.Minute, overdue: true},
		"Never":      {reason: "negative is never", after: -1, state: `"provisioningState":"Updating"`, late: 1000 * time.Hour},
		"OwnerRests": {reason: "an owner that rests on purpose", exempt: []string{"stopped"}, state: `"state":"Stopped"`, late: 3 * time.Hour},
		"NotExempt":  {reason: "only the words that are configured", exempt: []string{"Paused"}, state: `"state":"Stopped"`, late: 3 * time.Hour, overdue: true},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, func(s *setup) { s.options.OverdueAfter, s.options.OverdueExempt = c.after, c.exempt })
			w.put(clusterText, `{"location":"westus2","properties":{`+c.state+`}}`)
			got := local(w, w.acts.CheckOwner, CheckOwnerInput{Desired: desired(t, databaseText, `{}`), NotReadyFor: c.late}).Verdict
			severity := resource.SeverityWarning
			if c.overdue {
				severity = resource.SeverityError
			}
			if got.Action != resource.ActionBlock || got.Overdue != c.overdue || c.overdue && got.Severity != severity || got.Class == resource.RetryNone {
				t.Errorf("%s: %+v, want overdue %t, tried again all the same", c.reason, got, c.overdue)
			}
			if logged := contains(w.log.String(), "resource is overdue"); logged != c.overdue {
				t.Errorf("%s: logged %t", c.reason, logged)
			}
		})
	}
}

// TestOverdueOfItself holds that the post-check of a resource that rests on
// purpose is not overdue, and that a good verdict never is.
func TestOverdueOfItself(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(s *setup) { s.options.OverdueExempt = []string{"Failed"} })
	late := PostCheckInput{Desired: desired(t, thingText, thingBody), NotReadyFor: 5 * time.Hour}
	for state, want := range map[string]struct{ stops, overdue bool }{
		"Canceled": {true, true}, "Failed": {true, false}, "Succeeded": {false, false},
	} {
		late.Observed = []byte(`{"properties":{"provisioningState":"` + state + `"}}`)
		if got := local(w, w.acts.PostCheck, late).Verdict; got.Stops() != want.stops || got.Overdue != want.overdue {
			t.Errorf("%s: stops %t, overdue %t, want %+v", state, got.Stops(), got.Overdue, want)
		}
	}
}
