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

// noon is the clock of the tests.
func noon() time.Time { return time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC) }

func mustID(t *testing.T, text string) resource.ID {
	t.Helper()
	id, err := resource.ParseID(text)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// blocked returns the status of a resource that is blocked since two minutes.
func blocked(reason resource.Reason, message string, on ...resource.ID) workflows.Status {
	return workflows.Status{
		Phase: workflows.PhaseBlocked, WaitingFor: on,
		Condition: resource.Condition{Severity: resource.SeverityWarning, Reason: reason, Message: message, LastTransitionTime: noon().Add(-2 * time.Minute)},
	}
}

// TestProgressByReference holds that what has no owner here stands below what it
// needs, and that a ring of needs is drawn all the same.
func TestProgressByReference(t *testing.T) {
	at := func(id string, needs ...string) Progress {
		v := backend.View{Status: workflows.Status{ID: mustID(t, id)}}
		for _, need := range needs {
			v.Needs = append(v.Needs, mustID(t, need))
		}
		return Progress{View: v}
	}
	outcomes := []Progress{at(account, vnet), at(vnet), at(endpoint, vnet, account), at(vnet + "/subnets/a"), at(cluster, database), at(database, endpoint)}
	var got []string
	for _, r := range tree(outcomes, []int{0, 1, 2, 3, 4, 5}) {
		got = append(got, r.prefix+outcomes[r.index].View.ID.Name())
	}
	want := "v1\n├ sa1\n├ pe1\n└ a\nadx\n└ telemetry"
	if text := strings.Join(got, "\n"); text != want {
		t.Errorf("tree is\n%s\nwant\n%s", text, want)
	}
	ring := []Progress{at(account, vnet), at(vnet, account)}
	if rows := tree(ring, []int{0, 1}); len(rows) != 2 {
		t.Errorf("%d rows of a ring, want both", len(rows))
	}
}

func TestFit(t *testing.T) {
	for name, tc := range map[string]struct {
		reason  string
		line    string
		columns int
		want    string
	}{
		"short":  {reason: "as it is", line: "abc", columns: 5, want: "abc"},
		"long":   {reason: "cut with a sign", line: "abcdef", columns: 4, want: "abc…"},
		"wide":   {reason: "a wide character takes two columns", line: "角色角色", columns: 6, want: "角色…"},
		"escape": {reason: "Azure does not move our cursor", line: "a\x1b[2Jb\rc", columns: 20, want: "a[2Jb c"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := Fit(tc.line, tc.columns); got != tc.want {
				t.Errorf("%s: %q, want %q", tc.reason, got, tc.want)
			}
		})
	}
}

// TestBrief holds what a line of the tree tells.
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
		"operating": {reason: "since when", outcome: Progress{View: backend.View{Status: operating}}, want: "Operating 10m: PUT in progress in Azure"},
		"two":       {reason: "whom it waits for", outcome: Progress{View: backend.View{Status: two}}, want: "Blocked 2m, waits for adx and 1 more: 2 are not ready"},
		"hopeless":  {reason: "why it will not come", outcome: Progress{View: backend.View{Status: failed}, Blocker: "nobody acts"}, want: "Failed 2m: nobody acts"},
		"done":      {reason: "nothing more to tell", outcome: Progress{View: backend.View{Status: ready}, Done: true}, want: "Ready"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := (Painter{Now: noon()}).brief(tc.outcome); got != tc.want {
				t.Errorf("%s: %q, want %q", tc.reason, got, tc.want)
			}
		})
	}
}
