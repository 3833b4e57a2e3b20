package backend

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.temporal.io/sdk/client"

	"github.com/armature-io/armature/internal/audit"
	"github.com/armature-io/armature/internal/payload"
)

// recorded returns the run of a recorded history.
func recorded(t *testing.T, name string) HistoryRun {
	t.Helper()
	file, err := os.Open(filepath.Join("..", "..", "..", "workflows", "testdata", "histories", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	history, err := client.HistoryFromJSON(file, client.HistoryJSONOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return HistoryRun{WorkflowID: name, RunID: "run", Started: history.GetEvents()[0].GetEventTime().AsTime(), Events: history.GetEvents()}
}

// TestRead reads the histories that real workers wrote.
func TestRead(t *testing.T) {
	cases := map[string]struct {
		reason string
		want   []string
	}{
		"create":  {"an apply and its PUT", []string{"apply requested", "PUT accepted"}},
		"drift":   {"a correction has the differences of the pre-check", []string{"apply requested", "PUT accepted", "PUT accepted properties.size"}},
		"paused":  {"pause and resume are requests", []string{"apply requested", "PUT accepted", "pause requested", "resume requested"}},
		"deleted": {"a deletion and its DELETE", []string{"apply requested", "PUT accepted", "delete requested", "DELETE accepted"}},
		"fatal":   {"a refusal by Azure, and the PUT after the next apply", []string{"apply requested", "PUT refused", "PUT accepted"}},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, record := range AuditRecords(payload.DataConverter(), []HistoryRun{recorded(t, name)}, time.Time{}) {
				what := string(record.Event)
				if record.Event == audit.EventWrite {
					what = record.Method
				}
				what += " " + string(record.Result)
				for _, difference := range record.Differences {
					what += " " + difference.Path
				}
				got = append(got, what)
				if record.ID == "" || record.Key == "" || record.CorrelationID != "run" || record.By == nil || record.By.Verified || !strings.Contains(AuditLine(record, ""), "(unverified)") {
					t.Errorf("the record is %+v, want an ID, a key, a correlation ID and an unverified user", record)
				}
			}
			if diff := cmp.Diff(test.want, slices.Compact(got)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", test.reason, diff)
			}
		})
	}
}

// TestEnd checks what is said about the time before the first history.
func TestEnd(t *testing.T) {
	first := recorded(t, "create")
	if got := HistoryEnd([]HistoryRun{first}); !strings.Contains(got, "where its workflow was started") {
		t.Errorf("the end is %q", got)
	}
	first.Events[0].GetWorkflowExecutionStartedEventAttributes().ContinuedExecutionRunId = "earlier"
	if got := HistoryEnd([]HistoryRun{first}); !strings.Contains(got, "past the retention") || !strings.Contains(got, "earlier") {
		t.Errorf("the end is %q, want that a run is missing", got)
	}
	if got := HistoryEnd(nil); got != "Temporal has no history of it" {
		t.Errorf("the end is %q", got)
	}
}

// TestSince checks the forms of --since.
func TestSince(t *testing.T) {
	now := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	for stated, want := range map[string]time.Time{
		"": {}, "24h": now.Add(-24 * time.Hour), "7d": now.Add(-7 * 24 * time.Hour), "2026-03-01": time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC),
		"2026-03-01T08:00:00Z": time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC),
	} {
		if got, err := ParseSince(stated, now); err != nil || !got.Equal(want) {
			t.Errorf("%q is %s (%v), want %s", stated, got, err, want)
		}
	}
	for _, stated := range []string{"yesterday", "-1h", "-1d", "d", "2026"} {
		if got, err := ParseSince(stated, now); err == nil {
			t.Errorf("%q is taken as %s", stated, got)
		}
	}
	first := recorded(t, "create")
	if got := AuditRecords(payload.DataConverter(), []HistoryRun{first}, first.Started.Add(time.Hour)); len(got) != 0 {
		t.Errorf("%d records are older than --since", len(got))
	}
}
