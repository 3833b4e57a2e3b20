package starter

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/sdk/converter"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/starter/internal/backend"
	"github.com/armature-io/armature/starter/internal/cli"
	"github.com/armature-io/armature/starter/internal/screen"
)

// observedRun returns the history of a resource with one pre-check.
func observedRun(t *testing.T, id string, at time.Time, result activities.PreCheckResult) backend.HistoryRun {
	t.Helper()
	details := map[string]*commonpb.Payloads{}
	for name, value := range map[string]any{"data": map[string]string{"ActivityType": "PreCheck"}, "result": result} {
		payloads, err := converter.GetDefaultDataConverter().ToPayloads(value)
		if err != nil {
			t.Fatal(err)
		}
		details[name] = payloads
	}
	return backend.HistoryRun{WorkflowID: mustID(t, id).WorkflowID(), RunID: "run", Started: at, Events: []*historypb.HistoryEvent{{
		EventType: enumspb.EVENT_TYPE_MARKER_RECORDED, EventTime: timestamppb.New(at),
		Attributes: &historypb.HistoryEvent_MarkerRecordedEventAttributes{
			MarkerRecordedEventAttributes: &historypb.MarkerRecordedEventAttributes{MarkerName: "LocalActivity", Details: details},
		},
	}}}
}

// TestObserved prints the report of three resources, one of which would have been corrected.
func TestObserved(t *testing.T) {
	w := newWorld()
	for _, id := range []string{group, cluster, database} {
		w.temporal.manage(t, id, readyStatus())
	}
	const by = "the worker's setting observe: true"
	w.temporal.histories = []backend.HistoryRun{
		observedRun(t, cluster, noon().Add(-time.Hour), activities.PreCheckResult{Observed: by, Verdict: resource.Verdict{
			Action: resource.ActionFailure, Reason: resource.ReasonDriftDetected,
			Differences: []resource.Difference{{Path: "tags.a|b", Desired: `"mine"`, Observed: `"<b>` + strings.Repeat("x", 60) + `"`}},
			Authorship:  resource.Authorship{ChangedBy: resource.ReportedAuthor{Name: "alice@contoso.com", Type: "User", Client: "Azure Portal"}, ChangedAt: noon().Add(-2 * time.Hour)},
		}}),
		observedRun(t, database, noon().Add(-time.Hour), activities.PreCheckResult{Observed: by, Verdict: resource.Verdict{Action: resource.ActionSkip, Reason: resource.ReasonInSync}}),
	}
	title := "1 of 2 observed resources would have needed no correction, from 2026-11-14 12:00:00Z to 2026-11-21 12:00:00Z."
	for format, wants := range map[string][]string{
		"table":    {title, "kusto cluster adx", "tags.a|b", "1 of 1", "differs", "alice@contoso.com with Azure Portal at 2026-11-21 10:00:00Z", "resource group rg1: not compared"},
		"wide":     {strings.Repeat("x", 60)},
		"markdown": {"**" + title + "**", "| ` kusto cluster adx ` | ` tags.a\\|b ` | ` \"<b>"},
	} {
		w.out.Reset()
		if code := w.run("observed", "-o", format); code != cli.ExitOK {
			t.Fatalf("%s: exit code %d: %s", format, code, w.err)
		}
		for _, want := range wants {
			if !strings.Contains(w.out.String(), want) {
				t.Errorf("%s does not print %q:\n%s", format, want, w.out)
			}
		}
	}
	w.out.Reset()
	w.run("observed", "-o", "json")
	var report screen.Observed
	if err := json.Unmarshal(w.out.Bytes(), &report); err != nil {
		t.Fatal(err)
	}
	if want := (screen.ObservedSummary{Observed: 2, Unchanged: 1, Corrected: 1, NotCompared: 1}); report.Summary != want || len(report.Resources) != 3 {
		t.Errorf("%+v, want %+v", report.Summary, want)
	}
	w.out.Reset()
	if code := w.run("observed", "--since", "30m"); code != cli.ExitOK || !strings.Contains(w.out.String(), "No resource was compared") {
		t.Errorf("exit code %d of a period without comparisons:\n%s", code, w.out)
	}
	for _, args := range [][]string{{"observed", "--since", "yesterday"}, {"observed", "-l", "stack=none"}, {"observed", "nothing"}} {
		if code := w.run(args...); code == cli.ExitOK {
			t.Errorf("%v is accepted", args)
		}
	}
}
