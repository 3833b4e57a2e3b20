package screen

import (
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/starter/internal/backend"
	"github.com/armature-io/armature/workflows"
)

const (
	group    = "/subscriptions/11111111-2222-3333-4444-555555555555/resourceGroups/rg1"
	cluster  = group + "/providers/Microsoft.Kusto/clusters/adx"
	database = cluster + "/databases/telemetry"
	vnet     = group + "/providers/Microsoft.Network/virtualNetworks/v1"
	endpoint = group + "/providers/Microsoft.Network/privateEndpoints/pe1"
	account  = group + "/providers/Microsoft.Storage/storageAccounts/sa1"
)

// noon returns the time of the tests.
func noon() time.Time { return time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC) }

func mustID(t *testing.T, text string) resource.ID {
	t.Helper()
	id, err := resource.ParseID(text)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// blocked returns the status of a resource that has been blocked for two minutes.
func blocked(reason resource.Reason, message string, on ...resource.ID) workflows.Status {
	return workflows.Status{
		Phase: workflows.PhaseBlocked, WaitingFor: on,
		Condition: resource.Condition{Severity: resource.SeverityWarning, Reason: reason, Message: message, LastTransitionTime: noon().Add(-2 * time.Minute)},
	}
}

// TestTreeByReference verifies that a resource without a visible owner is drawn below
// what it needs, and that a cycle of needs is drawn too.
func TestTreeByReference(t *testing.T) {
	progress := func(id string, needs ...string) Progress {
		v := backend.View{Status: workflows.Status{ID: mustID(t, id)}}
		for _, need := range needs {
			v.Needs = append(v.Needs, mustID(t, need))
		}
		return Progress{View: v}
	}
	list := []Progress{
		progress(account, vnet), progress(vnet), progress(endpoint, vnet, account),
		progress(vnet + "/subnets/a"), progress(cluster, database), progress(database, endpoint),
	}
	var got []string
	for _, r := range tree(list, []int{0, 1, 2, 3, 4, 5}) {
		got = append(got, r.prefix+list[r.index].View.ID.Name())
	}
	want := "v1\n├ sa1\n├ pe1\n└ a\nadx\n└ telemetry"
	if text := strings.Join(got, "\n"); text != want {
		t.Errorf("tree is\n%s\nwant\n%s", text, want)
	}
	cycle := []Progress{progress(account, vnet), progress(vnet, account)}
	if rows := tree(cycle, []int{0, 1}); len(rows) != 2 {
		t.Errorf("%d rows of a cycle, want 2", len(rows))
	}
}

func TestFit(t *testing.T) {
	for name, tc := range map[string]struct {
		reason  string
		line    string
		columns int
		want    string
	}{
		"short":  {reason: "short lines are unchanged", line: "abc", columns: 5, want: "abc"},
		"long":   {reason: "a cut line ends with an ellipsis", line: "abcdef", columns: 4, want: "abc…"},
		"wide":   {reason: "a wide character takes two columns", line: "角色角色", columns: 6, want: "角色…"},
		"escape": {reason: "text from Azure must not move the cursor", line: "a\x1b[2Jb\rc", columns: 20, want: "a[2Jb c"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := Fit(tc.line, tc.columns); got != tc.want {
				t.Errorf("%s: %q, want %q", tc.reason, got, tc.want)
			}
		})
	}
}

// TestBrief verifies the contents of a line of the tree.
func TestBrief(t *testing.T) {
	two := blocked(resource.ReasonReferenceNotReady, "2 are not ready", mustID(t, cluster), mustID(t, vnet))
	failed := blocked("SkuNotAvailable", "no such SKU")
	failed.Phase = workflows.PhaseFailed
	operating := workflows.Status{Phase: workflows.PhaseOperating, Operation: "PUT", OperationSince: noon().Add(-10 * time.Minute)}
	ready := workflows.Status{Phase: workflows.PhaseReady, Condition: resource.Condition{Ready: true, Reason: resource.ReasonSucceeded}}
	for name, tc := range map[string]struct {
		reason  string
		outcome Progress
		want    string
	}{
		"operating": {reason: "the age of the operation is shown", outcome: Progress{View: backend.View{Status: operating}}, want: "Operating 10m: PUT in progress in Azure"},
		"two":       {reason: "the awaited resource is named", outcome: Progress{View: backend.View{Status: two}}, want: "Blocked 2m, waits for adx and 1 more: 2 are not ready"},
		"blocked":   {reason: "the blocker replaces the message", outcome: Progress{View: backend.View{Status: failed}, Blocker: "not retried"}, want: "Failed 2m: not retried"},
		"done":      {reason: "a settled resource has no details", outcome: Progress{View: backend.View{Status: ready}, Done: true}, want: "Ready"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := (Painter{Now: noon()}).brief(tc.outcome); got != tc.want {
				t.Errorf("%s: %q, want %q", tc.reason, got, tc.want)
			}
		})
	}
}
