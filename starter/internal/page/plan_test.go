package page

import (
	"context"
	"errors"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/starter/internal/plan"
)

// updatePlan returns the plan of an update with a difference.
func updatePlan(t *testing.T, fingerprint string) plan.Plan {
	t.Helper()
	desired := resource.Desired{ID: mustID(t, database), Name: "telemetry", APIVersion: "2023-08-15", Owner: mustID(t, cluster), Body: []byte(`{}`), Policy: resource.PolicyManage, Put: resource.PutReplace, Timeout: time.Hour}
	return plan.New([]resource.Desired{desired}, []activities.PlanResourceResult{{
		Action: activities.PlanUpdate, Fingerprint: fingerprint, Managed: true,
		Differences: []resource.Difference{{Path: "properties.softDeletePeriod", Desired: "P30D", Observed: "P1D", Rule: "value"}},
	}}, nil, plan.Consent{})
}

// saved returns a plan as its file has it.
func saved(t *testing.T, p plan.Plan, now time.Time) plan.File {
	t.Helper()
	path := filepath.Join(t.TempDir(), "stack.plan")
	if _, err := p.Write(path, "ann@laptop", now); err != nil {
		t.Fatal(err)
	}
	file, err := plan.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return file
}

func TestPlan(t *testing.T) {
	cases := map[string]struct {
		reason string
		now    func() (plan.Plan, error)
		want   []string
	}{
		"holds": {
			reason: "nothing changed since it was made", now: func() (plan.Plan, error) { return updatePlan(t, "one"), nil },
			want: []string{"The plan still holds", "armature apply --plan-file stack.plan", "ann@laptop (unverified)", "properties.softDeletePeriod", "P1D", "P30D", "update"},
		},
		"stale": {
			reason: "an apply would refuse it", now: func() (plan.Plan, error) { return updatePlan(t, "two"), nil },
			want: []string{"The plan is out of date", "1 resource", "was planned to be"},
		},
		"no worker": {
			reason: "only a worker can plan again", now: func() (plan.Plan, error) { return plan.Plan{}, errors.New("no worker responds") },
			want: []string{"Whether the plan still holds is not known", "no worker responds", "sha256:"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld()
			options, checks := w.options(), 0
			options.Plan = &SavedPlan{Name: "stack.plan", File: saved(t, updatePlan(t, "one"), w.now)}
			options.PlanAgain = func(context.Context, plan.File) (plan.Plan, error) {
				checks++
				return tc.now()
			}
			b := &browser{t: t, server: New(options, testHost)}
			first := b.server.door.address()
			if !strings.Contains(first, testHost+"/plan?token=") {
				t.Errorf("the first address is %s, want the plan", first)
			}
			b.cookies = b.get(strings.TrimPrefix(first, "http://"+testHost)).Result().Cookies()
			page := b.get("/plan").Body.String()
			for _, want := range tc.want {
				if !strings.Contains(page, want) {
					t.Errorf("%s: the page has no %q:\n%s", tc.reason, want, page)
				}
			}
			if b.get("/plan"); checks != 1 {
				t.Errorf("two looks plan %d times", checks)
			}
			w.pass(planEvery)
			if b.get("/plan"); checks != 2 {
				t.Errorf("a look after %s plans %d times in all", planEvery, checks)
			}
			w.err = errors.New("no response within 30s")
			w.pass(planEvery)
			if away := b.get("/plan").Body.String(); checks != 2 || !strings.Contains(away, "no response within 30s") || !strings.Contains(away, tc.want[0]) {
				t.Errorf("without Temporal it plans %d times in all, and the page is\n%s", checks, away)
			}
			if strings.Contains(page, `hx-get="/plan`) {
				t.Error("a visible page plans again by itself")
			}
		})
	}
	if answer := newWorld().visit(t).get("/plan"); answer.Code != http.StatusNotFound {
		t.Errorf("without a plan its page answers %d", answer.Code)
	}
}
