package activities

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"testing"

	"github.com/armature-io/armature/drift"
	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/resource"
)

func TestPostCheck(t *testing.T) {
	t.Parallel()
	size := []resource.Difference{{Path: "properties.size", Desired: "1", Observed: "7"}}
	cases := map[string]struct {
		reason      string
		observed    string
		put         bool
		differences []resource.Difference
		action      resource.Action
		why         resource.Reason
		class       resource.RetryClass
		parts       []string
		severity    resource.Severity
		remembers   bool
		notTaken    bool
	}{
		"Ready": {
			reason:   "in sync and Ready; the baseline keeps what the manifest states, so that a later removal is found",
			observed: thingBody, action: resource.ActionSuccess, why: resource.ReasonSucceeded, remembers: true,
		},
		"ReadyAfterPut": {
			reason: "a PUT that Azure accepted leaves an empty baseline", observed: thingBody, put: true, differences: size,
			action: resource.ActionSuccess, why: resource.ReasonSucceeded, remembers: true,
		},
		"Failed": {
			reason: "the state decides", observed: `{"properties":{"size":1,"provisioningState":"Failed"}}`,
			action: resource.ActionFailure, why: resource.ReasonPostReconciliationFailure, class: resource.RetrySlow, severity: resource.SeverityWarning, parts: []string{`"Failed"`},
		},
		"Canceled": {
			reason: "the state decides", observed: `{"properties":{"size":1,"provisioningState":"Canceled"}}`, put: true,
			action: resource.ActionFailure, why: resource.ReasonPostReconciliationFailure, class: resource.RetrySlow, severity: resource.SeverityWarning,
		},
		"InFlight": {
			reason: "not done yet; an intermediate state is not part of the baseline", observed: `{"properties":{"size":7,"provisioningState":"Updating"}}`, put: true,
			action: resource.ActionFailure, why: resource.ReasonPostReconciliationFailure, class: resource.RetrySlow, severity: resource.SeverityWarning,
		},
		"Absent": {
			reason: "accepted, and not visible", put: true,
			action: resource.ActionFailure, why: resource.ReasonPostReconciliationFailure, class: resource.RetrySlow, severity: resource.SeverityWarning, parts: []string{"does not show"},
		},
		"NotTaken": {
			reason: "Azure accepted the PUT and kept its own value: named, Ready, a warning", observed: `{"location":"westus2","properties":{"size":7}}`, put: true, differences: size,
			action: resource.ActionSuccess, why: resource.ReasonChangeNotTaken, severity: resource.SeverityWarning, parts: []string{"properties.size", "not written again"}, remembers: true, notTaken: true,
		},
		"Kept": {
			reason: "a difference that was no reason for the PUT is Azure's, and not reported", observed: `{"location":"westus2","properties":{"size":7}}`, put: true,
			action: resource.ActionSuccess, why: resource.ReasonSucceeded, remembers: true,
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			d := desired(t, thingText, thingBody)
			got := local(w, w.acts.PostCheck, PostCheckInput{Desired: d, Observed: json.RawMessage(c.observed), Put: c.put, Differences: c.differences})
			want(t, got.Verdict, c.action, c.why, c.class, c.parts...)
			if got.Verdict.Severity != c.severity || (got.Memory != nil) != c.remembers {
				t.Errorf("%s: got %+v", c.reason, got)
			}
			if !c.remembers {
				return
			}
			next := local(w, w.acts.PreCheck, PreCheckInput{Desired: d, Observed: json.RawMessage(c.observed), Memory: got.Memory}).Verdict
			if next.Action != resource.ActionSkip {
				t.Errorf("%s: the next pass corrects it: %+v", c.reason, next)
			}
			again := local(w, w.acts.PostCheck, PostCheckInput{Desired: d, Observed: json.RawMessage(c.observed), Memory: got.Memory})
			if (again.Verdict.Reason == resource.ReasonChangeNotTaken) != c.notTaken || again.Memory != nil {
				t.Errorf("%s: the next pass returns %+v", c.reason, again)
			}
		})
	}
}

// The baseline covers a kept difference for that value only.
func TestPostCheckBaselineEndsWithAChange(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d := desired(t, thingText, thingBody)
	post := local(w, w.acts.PostCheck, PostCheckInput{Desired: d, Observed: json.RawMessage(`{"location":"westus2","properties":{"size":7}}`), Put: true})
	got := local(w, w.acts.PreCheck, PreCheckInput{Desired: d, Observed: json.RawMessage(`{"location":"westus2","properties":{"size":8}}`), Memory: post.Memory}).Verdict
	want(t, got, resource.ActionProceed, resource.ReasonDrift, "", "properties.size is 8")
}

// early returns Ready in every state.
type early struct{ fail error }

func (early) PostReconcileCheck(
	context.Context, *resource.Object, *resource.Object, extensions.Resolver, extensions.ARMClient, *slog.Logger, extensions.PostReconcileCheckFunc,
) (extensions.PostReconcileCheckResult, error) {
	return extensions.PostReconcileCheckResultSuccess(), nil
}

func (e early) HandleSuccess(context.Context, *resource.Object, *resource.Object, extensions.Resolver, extensions.ARMClient, *slog.Logger, extensions.SuccessHandlerFunc) error {
	return e.fail
}

func TestPostCheckExtensions(t *testing.T) {
	t.Parallel()
	const updating = `{"location":"westus2","properties":{"size":7,"provisioningState":"Updating"}}`
	w := newWorld(t, func(s *setup) { s.entries = []extensions.Entry{{Type: "Contoso.Things/things", Link: early{}}} })
	got := local(w, w.acts.PostCheck, PostCheckInput{Desired: desired(t, thingText, thingBody), Observed: json.RawMessage(updating), Put: true})
	if got.Verdict.Action != resource.ActionSuccess || got.Memory != nil {
		t.Errorf("an intermediate state is in the baseline: %+v", got)
	}
	w = newWorld(t, func(s *setup) {
		s.entries = []extensions.Entry{{Type: "Contoso.Things/things", Link: early{fail: errors.New("no DNS record")}}}
	})
	got = local(w, w.acts.PostCheck, PostCheckInput{Desired: desired(t, thingText, thingBody), Observed: json.RawMessage(thingBody), Put: true})
	want(t, got.Verdict, resource.ActionError, resource.ReasonCheckFailed, resource.RetrySlow, "no DNS record")
	var memory drift.Baseline
	if got.Memory == nil || json.Unmarshal(got.Memory, &memory) != nil {
		t.Errorf("the difference after the PUT is in the baseline: %+v", got)
	}
}
