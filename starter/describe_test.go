package starter

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/starter/internal/backend"
	"github.com/armature-io/armature/starter/internal/cli"
	"github.com/armature-io/armature/workflows"
)

// TestDescribeManyDependents verifies that a group which waits for a hundred
// resources is still one screen.
func TestDescribeManyDependents(t *testing.T) {
	w := newWorld()
	status := blockedStatus(t)
	status.WaitingFor = nil
	for i := range 100 {
		status.WaitingFor = append(status.WaitingFor, mustID(t, fmt.Sprintf("%s/databases/d%d", cluster, i)))
	}
	w.temporal.manage(t, cluster, status)
	if code := w.run("describe", cluster); code != cli.ExitOK {
		t.Fatalf("exit code %d: %s", code, w.err)
	}
	if lines := strings.Count(w.out.String(), "\n"); lines > 40 {
		t.Errorf("%d lines are more than a screen", lines)
	}
	if !strings.Contains(w.out.String(), "and 96 more") {
		t.Errorf("the page lacks the number of other resources it waits for:\n%s", w.out)
	}
}

// TestDescribePaused verifies that a pause is what the next try waits for.
func TestDescribePaused(t *testing.T) {
	for name, tc := range map[string]struct {
		reason   string
		deleting bool
		want     string
	}{
		"paused":   {reason: "no pass starts by itself", want: "after `armature resume`"},
		"deleting": {reason: "a deletion continues while paused", deleting: true, want: "in 20s"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld()
			status := blockedStatus(t)
			status.Paused, status.Deleting, status.WaitingFor = true, tc.deleting, []resource.ID{}
			w.temporal.manage(t, cluster, status)
			w.run("describe", cluster)
			if !strings.Contains(w.out.String(), tc.want) {
				t.Errorf("%s: the page lacks %q:\n%s", tc.reason, tc.want, w.out)
			}
		})
	}
}

// TestDescribeOptionalLines verifies the lines that few pages have.
func TestDescribeOptionalLines(t *testing.T) {
	cases := map[string]struct {
		reason string
		change func(t *testing.T, f *fakeTemporal, s *workflows.Status)
		want   []string
	}{
		"overdue": {reason: "since when it is not Ready", change: func(_ *testing.T, _ *fakeTemporal, s *workflows.Status) {
			s.Overdue, s.NotReadySince = true, noon().Add(-5*time.Hour)
		}, want: []string{"Overdue      not Ready since 07:00:00Z (5h ago)", "Blocked (overdue)"}},
		"owned": {reason: "values of other owners, apart from those that Azure keeps", change: func(_ *testing.T, _ *fakeTemporal, s *workflows.Status) {
			s.Kept, s.Owned = []string{"properties.size"}, []string{"sku.capacity belongs to autoscale setting a1", "properties.count belongs to reconcile.initial"}
		}, want: []string{"Azure keeps  properties.size (Azure's", "Kept         sku.capacity belongs to autoscale setting a1\n             properties.count belongs to reconcile.initial\n"}},
		"needs": {reason: "what it depends on beside its owner", change: func(t *testing.T, _ *fakeTemporal, s *workflows.Status) {
			s.Needs = []resource.ID{mustID(t, cluster).Owner(), mustID(t, vnet), mustID(t, account)}
		}, want: []string{"Needs        " + vnet + "\n             " + account + "\n"}},
		"stuck": {reason: "a failing worker is not reported as missing", change: func(t *testing.T, f *fakeTemporal, _ *workflows.Status) {
			f.change(t, cluster, func(r *backend.Record) {
				r.Stuck, r.TaskQueue = "its workflow task fails (NonDeterministicError, attempt 7)", "q7"
			})
		}, want: []string{"Worker       its workflow task fails (NonDeterministicError, attempt 7): workers on task queue q7 cannot complete it; read the worker's log, and run `worker replay " + cluster + "` of their version to find where it differs from the history", "note: 1 resource is stuck"}},
		"checks": {reason: "which links and rules decided", change: func(_ *testing.T, f *fakeTemporal, _ *workflows.Status) {
			f.checks = "3f2a9c01b7"
		}, want: []string{"Checks       3f2a9c01b7 (fingerprint of the links and rules of its last pass)\n"}},
		"no worker": {reason: "names the queue of the workflow, not that of the flag", change: func(t *testing.T, f *fakeTemporal, _ *workflows.Status) {
			f.silent = true
			f.change(t, cluster, func(r *backend.Record) { r.TaskQueue = "q7" })
		}, want: []string{"Worker       no worker responds on task queue q7", "note: no worker responds on task queue q7"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld()
			status := blockedStatus(t)
			w.temporal.manage(t, cluster, status)
			tc.change(t, w.temporal, &w.temporal.statuses[strings.ToLower(cluster)][0])
			if code := w.run("describe", cluster); code != cli.ExitOK {
				t.Errorf("%s: exit code %d: %s", tc.reason, code, w.err)
			}
			w.run("get")
			for _, text := range tc.want {
				if !strings.Contains(w.out.String()+w.err.String(), text) {
					t.Errorf("%s: the page lacks %q:\n%s%s", tc.reason, text, w.out, w.err)
				}
			}
		})
	}
}

// TestDescribeResolvedDifferences verifies that describe does not present corrected
// differences as current.
func TestDescribeResolvedDifferences(t *testing.T) {
	w := newWorld()
	status := readyStatus()
	status.Differences, status.DifferencesAt = []resource.Difference{{Path: "sku.name", Observed: "a", Desired: "b"}}, noon()
	w.temporal.manage(t, cluster, status)
	w.run("describe", "adx")
	if !strings.Contains(w.out.String(), "resolved since; observed -> desired") {
		t.Errorf("the page is\n%s", w.out)
	}
}

// TestDescribeChecks verifies that the fingerprint is in JSON too.
func TestDescribeChecks(t *testing.T) {
	w := newWorld()
	w.temporal.manage(t, cluster, readyStatus())
	w.temporal.checks = "3f2a9c01b7"
	if code := w.run("describe", "adx", "-o", "json"); code != cli.ExitOK || !strings.Contains(w.out.String(), `"checks": "3f2a9c01b7"`) {
		t.Errorf("exit code %d:\n%s%s", code, w.out, w.err)
	}
}
