package starter

import (
	"strings"
	"testing"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/resource"
)

// TestPlanPreflight shows ARM's answers in each format: an objection with its place in the
// manifest, what ARM was not asked about, and the counts.
func TestPlanPreflight(t *testing.T) {
	objected := activities.PlanResourceResult{
		Action: activities.PlanError, Reason: "PreflightValidationCheckFailed", Severity: resource.SeverityError, Message: "ARM would refuse the PUT: 2 objections",
		Preflight: &activities.Preflight{Outcome: activities.PreflightObjected, Objections: []activities.Objection{
			{Code: "InvalidSku", Path: "sku.name", Message: "There is no such size."},
			{Code: "ResourceNameTaken", Message: "The name is taken."},
		}},
	}
	result := func(outcome activities.PreflightOutcome, reason string) activities.PlanResourceResult {
		return activities.PlanResourceResult{Action: activities.PlanCreate, Preflight: &activities.Preflight{Outcome: outcome, Reason: reason}}
	}
	cases := map[string]struct {
		reason string
		plans  map[string]activities.PlanResourceResult
		args   []string
		code   int
		golden string
	}{
		"Objected": {
			reason: "objections are errors", code: 1, golden: "plan-preflight.txt",
			plans: map[string]activities.PlanResourceResult{"adx": objected, "telemetry": result(activities.PreflightNotAsked, "it refers to adx, which the same plan creates first")},
		},
		"Markdown": {
			reason: "the comment has them too", code: 1, golden: "plan-preflight.md", args: []string{"-o", "markdown"},
			plans: map[string]activities.PlanResourceResult{"adx": objected, "telemetry": result(activities.PreflightUnsupported, "no preflight")},
		},
		"JSON": {
			reason: "programs get places and counts", code: 1, golden: "plan-preflight.json", args: []string{"-o", "json"},
			plans: map[string]activities.PlanResourceResult{"adx": objected, "telemetry": result(activities.PreflightNoObjection, "")},
		},
		"HTML": {
			reason: "so does the page", code: 1, args: []string{"-o", "html"},
			plans: map[string]activities.PlanResourceResult{"adx": objected},
		},
		"Nothing": {
			reason: "nothing found is no proof", code: 2, golden: "plan-preflight-nothing.txt",
			plans: map[string]activities.PlanResourceResult{"adx": result(activities.PreflightNoObjection, ""), "telemetry": result(activities.PreflightNoObjection, "")},
		},
		"InSync":     {reason: "no PUT is asked about", golden: "plan-preflight-in-sync.txt"},
		"WithDelete": {reason: "a deletion sends no PUT", code: 1, args: []string{"--delete"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld()
			w.temporal.plans = c.plans
			folder := labelledAdx(t)
			if code := w.run(append([]string{"plan", "--preflight", "-f", folder}, c.args...)...); code != c.code {
				t.Errorf("%s: exit code %d, want %d; %s", c.reason, code, c.code, w.err)
			}
			if name == "HTML" && !strings.Contains(w.out.String(), "<p>Preflight: ARM objects to 1 resource (1 asked, 0 not asked, 0 unsupported).</p>") {
				t.Errorf("%s: the page is %s", c.reason, w.out.String())
			}
			if c.golden != "" {
				golden(t, c.golden, strings.ReplaceAll(w.out.String(), folder, "FOLDER"))
			}
			for _, in := range w.temporal.inputs {
				if asked, ok := in.(activities.PlanResourceInput); ok && asked.Depth != activities.PlanPreflight {
					t.Errorf("%s: the plan of %s asks nothing", c.reason, asked.Desired.ID.Short())
				}
			}
		})
	}
}
