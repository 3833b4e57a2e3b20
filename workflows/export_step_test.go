package workflows_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/activities/exporting"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/workflows"
)

// exporting is a spec with two exports, the second with an interval of its own.
func exportingSpec(interval time.Duration) resource.Desired {
	spec := desired()
	spec.Exports = []resource.Export{
		{To: "keyvault:https://kv.vault.example/secrets/a", From: resource.ExportSource{Path: "properties.a"}},
		{To: "keyvault:https://kv.vault.example/secrets/b", From: resource.ExportSource{Path: "properties.b"}, Interval: interval},
	}
	return spec
}

// exports makes the activity remember what it compared, and returns the positions of each
// call.
func (r *run) exports() *[][]int {
	var due [][]int
	r.script.export = func(in activities.ExportValuesInput) activities.ExportValuesResult {
		due = append(due, in.Due)
		result := activities.ExportValuesResult{Verdict: resource.Verdict{Action: resource.ActionSuccess, Message: "wrote"}}
		for i, export := range in.Desired.Exports {
			one := exporting.Exported{To: export.To, Version: export.From.Path}
			for _, known := range in.Known {
				if known.To == export.To {
					one = known
				}
			}
			if slices.Contains(in.Due, i) {
				one.ComparedAt = r.Now()
			}
			result.Exports = append(result.Exports, one)
		}
		return result
	}
	return &due
}

// TestStepExport checks when the step runs: for resources with exports alone, and when
// the steps before it succeeded.
func TestStepExport(t *testing.T) {
	before := []string{"CheckOwner", "GetResource", "PreCheck", "PostCheck"}
	cases := map[string]struct {
		reason string
		spec   resource.Desired
		script func(*script)
		want   []string
	}{
		"exports":    {reason: "the step follows the post-check", spec: exportingSpec(0), want: append(slices.Clone(before), "ExportValues")},
		"no exports": {reason: "other resources have five steps", spec: desired(), want: before},
		"policy observe": {reason: "it writes nothing", want: before, spec: func() resource.Desired {
			spec := exportingSpec(0)
			spec.Policy = resource.PolicyObserve
			return spec
		}()},
		"not ready": {reason: "a value of a resource that is not ready may change", spec: exportingSpec(0), want: before, script: func(s *script) {
			s.post = func(activities.PostCheckInput) activities.PostCheckResult {
				return activities.PostCheckResult{Verdict: resource.Fail(resource.ReasonPostReconciliationFailure, resource.RetryVerySlow, "approval pending")}
			}
		}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := newRun(t)
			if tc.script != nil {
				tc.script(r.script)
			}
			r.apply(tc.spec)
			r.start(30 * time.Second)
			if diff := cmp.Diff(tc.want, r.script.calls); diff != "" {
				t.Errorf("%s: calls (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestExportLeavesTheVerdict checks that a written secret is a decision, and that the condition
// is the one of the post-check.
func TestExportLeavesTheVerdict(t *testing.T) {
	r := newRun(t)
	r.exports()
	r.script.post = func(activities.PostCheckInput) activities.PostCheckResult {
		return activities.PostCheckResult{Verdict: resource.Verdict{Action: resource.ActionSuccess, Message: "ready with a note"}}
	}
	status := r.statusAt(time.Minute)
	r.apply(exportingSpec(0))
	r.start(2 * time.Minute)
	if !status.Condition.Ready || status.Condition.Message != "ready with a note" {
		t.Errorf("the condition is %+v", status.Condition)
	}
	last := status.Decisions[len(status.Decisions)-1]
	if last.Step != "Export" || last.Message != "wrote" || len(status.Exports) != 2 || status.Exports[0].Version != "properties.a" || status.Exports[1].Version != "properties.b" {
		t.Errorf("the last decision is %+v, the exports %+v", last, status.Exports)
	}
}

// TestExportInterval checks that an export with an interval of its own is compared when that
// is over, sooner or later than the passes.
func TestExportInterval(t *testing.T) {
	cases := map[string]struct {
		reason   string
		interval time.Duration
		atLeast  int
		atMost   int
		passes   int
		most     int
	}{
		"shorter than the passes": {reason: "a rotation is to reach the vault soon", interval: 10 * time.Minute, atLeast: 20, atMost: 30, passes: 20, most: 40},
		"longer than the passes":  {reason: "the action is expensive", interval: 3 * time.Hour, atLeast: 2, atMost: 2, passes: 3, most: 10},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := newRun(t)
			due := r.exports()
			r.apply(exportingSpec(tc.interval))
			r.start(5 * time.Hour)
			second := 0
			for _, positions := range *due {
				if slices.Contains(positions, 1) {
					second++
				}
				if !slices.Contains(positions, 0) {
					t.Errorf("a pass left out the export without an interval: %v", positions)
				}
			}
			if second < tc.atLeast || second > tc.atMost || len(*due) < tc.passes || len(*due) > tc.most {
				t.Errorf("%s: compared %d times in %d passes", tc.reason, second, len(*due))
			}
		})
	}
}

// TestExportIsDueAtOnce checks that a PUT, a request of a user and a new manifest compare all
// exports, whatever their interval, and that a pass with none due has no command.
func TestExportIsDueAtOnce(t *testing.T) {
	r := newRun(t)
	due := r.exports()
	spec := exportingSpec(24 * time.Hour)
	spec.Exports = spec.Exports[1:]
	spec.Interval = time.Hour
	changed := spec
	changed.Exports = slices.Clone(spec.Exports)
	changed.Exports[0].From.Path = "properties.c"
	r.apply(spec)
	r.at(5*time.Hour, workflows.ReconcileUpdate, workflows.ReconcileInput{By: "ada@host"})
	r.at(7*time.Hour, workflows.ApplyUpdate, workflows.ApplyInput{Desired: changed, By: "ada@host"})
	r.start(9 * time.Hour)
	if len(*due) != 3 || r.count("PostCheck") < 6 {
		t.Errorf("compared %d times in %d passes; want three: the first, the request and the new manifest", len(*due), r.count("PostCheck"))
	}
}

// TestExportFails checks that an export that fails is not Ready, and that the next pass
// compares it again although its interval is not over.
func TestExportFails(t *testing.T) {
	r := newRun(t)
	due := r.exports()
	ok, calls := r.script.export, 0
	r.script.export = func(in activities.ExportValuesInput) activities.ExportValuesResult {
		if calls++; calls == 1 {
			return activities.ExportValuesResult{Exports: in.Known, Verdict: resource.Fail(resource.ReasonExportRefused, resource.RetrySlow, "no right")}
		}
		return ok(in)
	}
	status, later := r.statusAt(500*time.Millisecond), r.statusAt(time.Minute)
	r.apply(exportingSpec(24 * time.Hour))
	r.start(2 * time.Minute)
	if status.Condition.Ready || status.Condition.Reason != resource.ReasonExportRefused {
		t.Errorf("after a failure the condition is %+v", status.Condition)
	}
	if len(*due) != 1 || len((*due)[0]) != 2 || !later.Condition.Ready {
		t.Errorf("the next pass compared %v and the condition is %+v", *due, later.Condition)
	}
}
