package starter

import (
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/starter/internal/backend"
	"github.com/armature-io/armature/starter/internal/cli"
	"github.com/armature-io/armature/workflows"
	"github.com/google/go-cmp/cmp"
)

func readyStatus() workflows.Status {
	return workflows.Status{
		Policy: resource.PolicyManage, Interval: time.Hour, Generation: 1, Phase: workflows.PhaseReady, Pass: 4,
		Condition: resource.Condition{Ready: true, Reason: resource.ReasonSucceeded, Message: "in sync", ObservedGeneration: 1, LastTransitionTime: noon().Add(-26 * time.Hour)},
		NextTry:   noon().Add(52 * time.Minute),
	}
}

func blockedStatus(t *testing.T) workflows.Status {
	t.Helper()
	return workflows.Status{
		Policy: resource.PolicyManage, Interval: time.Hour, Labels: map[string]string{"stack": "prod", "team": "data"},
		Generation: 3, Phase: workflows.PhaseBlocked, Pass: 7, Attempts: 5,
		Condition: resource.Condition{
			Severity: resource.SeverityWarning, Reason: resource.ReasonReconciliationBlocked, ObservedGeneration: 2,
			Message:            "the cluster adx is Updating; a database can be changed when it is Running",
			LastTransitionTime: noon().Add(-130 * time.Second), Origin: "rule cluster-busy (adx.rules.yaml:12)",
		},
		WaitingFor: []resource.ID{mustID(t, cluster)}, WaitingSince: noon().Add(-130 * time.Second),
		NextTry:       noon().Add(20 * time.Second),
		Differences:   []resource.Difference{{Path: "properties.softDeletePeriod", Observed: "P30D", Desired: "P31D"}, {Path: "tags.team", Desired: "data"}},
		DifferencesAt: noon().Add(-25 * time.Hour),
		Decisions: []workflows.Decision{
			{At: noon().Add(-25 * time.Hour), Count: 1, Pass: 2, Step: "PreCheck", Action: resource.ActionProceed, Message: "2 differences"},
			{At: noon().Add(-130 * time.Second), Count: 5, Pass: 7, Step: "CheckOwner", Action: resource.ActionBlock, Reason: resource.ReasonReconciliationBlocked, Message: "the cluster adx is Updating", Origin: "rule cluster-busy (adx.rules.yaml:12)"},
		},
	}
}

func sampleWorld(t *testing.T) *world {
	t.Helper()
	w := newWorld()
	w.temporal.manage(t, database, blockedStatus(t))
	w.temporal.manage(t, cluster, readyStatus())
	return w
}

func TestOutput(t *testing.T) {
	cases := map[string]struct {
		reason string
		args   []string
		silent bool
		stderr string
	}{
		"get.txt":            {reason: "one line a resource, by name", args: []string{"get"}},
		"get-wide.txt":       {reason: "everything on one line", args: []string{"get", "-o", "wide"}},
		"get.json":           {reason: "for machines: full times, durations as text", args: []string{"get", "-o", "json"}},
		"get.yaml":           {reason: "the same names as JSON", args: []string{"get", "telemetry", "-o", "yaml"}},
		"get-silent.txt":     {reason: "search attributes when no worker responds", args: []string{"get"}, silent: true, stderr: "no worker responds"},
		"describe-wide.txt":  {reason: "nothing is cut off", args: []string{"describe", "adx/telemetry", "-o", "wide"}},
		"describe.json":      {reason: "get's list, and where the workflow is", args: []string{"describe", "adx/telemetry", "-o", "json"}},
		"describe.yaml":      {reason: "the same names as JSON", args: []string{"describe", "-l", "stack=prod", "-o", "yaml"}},
		"get-phase.txt":      {reason: "one phase, in any case of letters", args: []string{"get", "--phase", "blocked"}},
		"why.yaml":           {reason: "the same names as JSON", args: []string{"why", "adx/telemetry", "-o", "yaml"}},
		"why-wide.txt":       {reason: "as the table, in full length", args: []string{"why", "adx/telemetry", "-o", "wide"}},
		"why-many.json":      {reason: "causes, for machines", args: []string{"why", "-o", "json"}},
		"why-many.yaml":      {reason: "the same names as JSON", args: []string{"why", "--all", "-o", "yaml"}},
		"why-many-wide.txt":  {reason: "every name of a cause", args: []string{"why", "-l", "stack=prod", "-o", "wide"}},
		"describe.txt":       {reason: "a blocked resource on one screen", args: []string{"describe", "adx/telemetry"}},
		"describe-ready.txt": {reason: "a ready one", args: []string{"describe", cluster}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := sampleWorld(t)
			w.temporal.silent = tc.silent
			if code := w.run(tc.args...); code != cli.ExitOK {
				t.Errorf("%s: exit code %d: %s", tc.reason, code, w.err)
			}
			golden(t, name, w.out.String())
			if !strings.Contains(w.err.String(), tc.stderr) || tc.stderr == "" && w.err.Len() > 0 {
				t.Errorf("%s: stderr is %q, want %q", tc.reason, w.err, tc.stderr)
			}
			if lines := strings.Count(w.out.String(), "\n"); strings.HasPrefix(name, "describe") && strings.HasSuffix(name, ".txt") && lines > 40 {
				t.Errorf("%s: %d lines are more than a screen", tc.reason, lines)
			}
		})
	}
}

func TestSelectorQuery(t *testing.T) {
	w := sampleWorld(t)
	if code := w.run("get", "-l", "stack=prod,team=data"); code != cli.ExitOK {
		t.Fatalf("exit code %d: %s", code, w.err)
	}
	want := []string{"WorkflowType = 'ReconcileResource' AND ExecutionStatus = 'Running' AND ReconcileLabels = 'stack=prod' AND ReconcileLabels = 'team=data'"}
	if diff := cmp.Diff(want, w.temporal.queries); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestColors(t *testing.T) {
	w := sampleWorld(t)
	w.color = true
	if w.run("get"); !strings.Contains(w.out.String(), "\x1b[32mReady") {
		t.Errorf("Ready is not green:\n%q", w.out)
	}
	w = sampleWorld(t)
	if w.run("get"); strings.Contains(w.out.String(), "\x1b") {
		t.Errorf("colors without a terminal:\n%q", w.out)
	}
}

func TestKindAndName(t *testing.T) {
	cases := map[string]struct {
		reason string
		id     string
		want   string
	}{
		"kusto cluster":   {reason: "provider and type", id: cluster, want: "kusto cluster adx"},
		"group":           {reason: "no provider where the type includes it", id: group, want: "resource group rg1"},
		"storage":         {reason: "the type includes the provider", id: group + "/providers/Microsoft.Storage/storageAccounts/s1", want: "storage account s1"},
		"vnet":            {reason: "camel case becomes words, and one of them is the provider", id: group + "/providers/Microsoft.Network/virtualNetworks/v1", want: "virtual network v1"},
		"role assignment": {reason: "an extension resource has its own name", id: group + "/providers/Microsoft.Authorization/roleAssignments/r1", want: "role assignment r1"},
		"redis":           {reason: "no plural to take off", id: group + "/providers/Microsoft.Cache/redis/r1", want: "Redis cache r1"},
		"addresses":       {reason: "an acronym in front", id: group + "/providers/Microsoft.Network/publicIPAddresses/p1", want: "public ip address p1"},
		"policies":        {reason: "ies becomes y", id: group + "/providers/Microsoft.Network/firewallPolicies/p1", want: "firewall policy p1"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := cli.KindAndName(mustID(t, tc.id)); got != tc.want {
				t.Errorf("%s: %q, want %q", tc.reason, got, tc.want)
			}
		})
	}
}

func TestSpan(t *testing.T) {
	for want, d := range map[string]time.Duration{
		"0s": 0, "8s": 8 * time.Second, "2m10s": 130 * time.Second, "1h": time.Hour, "3h5m": 3*time.Hour + 5*time.Minute + time.Second,
		"4d2h": 98*time.Hour + 59*time.Minute, "1d": 24*time.Hour + 5*time.Second,
	} {
		if got := cli.Span(d); got != want {
			t.Errorf("cli.Span(%s) = %q, want %q", d, got, want)
		}
	}
}

func TestPhaseName(t *testing.T) {
	ready := workflows.Status{Phase: workflows.PhaseReady}
	deleted := workflows.Status{Phase: workflows.PhaseDeleting, Deleted: true}
	paused := workflows.Status{Phase: workflows.PhaseReady, Paused: true}
	deleting := workflows.Status{Phase: workflows.PhaseReady, Paused: true, Deleting: true}
	cases := map[string]struct {
		reason string
		view   backend.View
		want   string
	}{
		"ready":    {reason: "the phase itself", view: backend.View{Status: ready}, want: "Ready"},
		"paused":   {reason: "no step starts, whatever was before", view: backend.View{Status: paused}, want: "Paused"},
		"deleting": {reason: "a deletion works while paused", view: backend.View{Status: deleting}, want: "Deleting"},
		"deleted":  {reason: "Azure has it no more", view: backend.View{Status: deleted, Unmanaged: true, Ended: "Completed"}, want: "Deleted"},
		"once":     {reason: "the resource exists, its workflow ended", view: backend.View{Status: ready, Unmanaged: true, Ended: "Completed"}, want: "Ready (ended)"},
		"unknown":  {reason: "the server knows nothing of it", view: backend.View{Unmanaged: true}, want: "Unmanaged"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := tc.view.PhaseName(); got != tc.want {
				t.Errorf("%s: %q, want %q", tc.reason, got, tc.want)
			}
		})
	}
}
