package backend

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/sdk/converter"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/resource"
)

// preCheckMarker returns the event of a pre-check with a result.
func preCheckMarker(t *testing.T, at time.Time, result activities.PreCheckResult) *historypb.HistoryEvent {
	t.Helper()
	details := map[string]*commonpb.Payloads{}
	for name, value := range map[string]any{"data": map[string]string{"ActivityType": "PreCheck"}, "result": result} {
		payloads, err := converter.GetDefaultDataConverter().ToPayloads(value)
		if err != nil {
			t.Fatal(err)
		}
		details[name] = payloads
	}
	return &historypb.HistoryEvent{
		EventType: enumspb.EVENT_TYPE_MARKER_RECORDED, EventTime: timestamppb.New(at),
		Attributes: &historypb.HistoryEvent_MarkerRecordedEventAttributes{
			MarkerRecordedEventAttributes: &historypb.MarkerRecordedEventAttributes{MarkerName: "LocalActivity", Details: details},
		},
	}
}

// TestObservedIn reads the corrections that were not sent from the pre-checks of a period.
func TestObservedIn(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	hour := func(n int) time.Time { return noon.Add(time.Duration(n) * time.Hour) }
	const by = "the worker's setting observe: stack=crowd"
	tags := resource.Difference{Path: "tags.team", Desired: `"a"`, Observed: `"b"`}
	size := resource.Difference{Path: "properties.size", Desired: "1", Observed: "7"}
	alice := resource.ReportedAuthor{Name: "alice@contoso.com", Type: "User"}
	drift := func(differences ...resource.Difference) resource.Verdict {
		return resource.Verdict{Action: resource.ActionFailure, Reason: resource.ReasonDriftDetected, Differences: differences}
	}
	named := drift(tags)
	named.Authorship = resource.Authorship{ChangedBy: alice, ChangedAt: hour(1)}
	absent := drift()
	absent.Create = true
	wide := drift(tags)
	wide.More, wide.Drops, wide.MoreDrops = 3, []string{"tags.other"}, 1
	skip := resource.Verdict{Action: resource.ActionSkip, Reason: resource.ReasonInSync, Differences: []resource.Difference{size}}
	cases := map[string]struct {
		reason string
		checks map[int]activities.PreCheckResult
		want   ObservedResource
	}{
		"Nothing": {"without a pre-check nothing was compared", nil, ObservedResource{Corrections: []Correction{}}},
		"InSync": {
			"differences that are kept are no correction", map[int]activities.PreCheckResult{1: {Verdict: skip, Observed: by}},
			ObservedResource{Observed: by, Comparisons: 1, LastCompared: hour(1), Corrections: []Correction{}},
		},
		"Before": {"a comparison before the period does not count", map[int]activities.PreCheckResult{-1: {Verdict: drift(tags), Observed: by}}, ObservedResource{Corrections: []Correction{}}},
		"Found": {
			"one value that is found again is one correction, by the author that was reported last", map[int]activities.PreCheckResult{
				1: {Verdict: drift(tags, size), Observed: by}, 2: {Verdict: named, Observed: by}, 3: {Verdict: drift(tags), Observed: by},
			},
			ObservedResource{Observed: by, Comparisons: 3, LastCompared: hour(3), Corrections: []Correction{
				{Kind: CorrectionUpdate, Path: size.Path, Desired: size.Desired, Observed: size.Observed, Found: 1, First: hour(1), Last: hour(1)},
				{
					Kind: CorrectionUpdate, Path: tags.Path, Desired: tags.Desired, Observed: tags.Observed, Found: 3, First: hour(1), Last: hour(3), Open: true,
					Authorship: named.Authorship,
				},
			}},
		},
		"Absent": {
			"an absence has no path", map[int]activities.PreCheckResult{1: {Verdict: absent, Observed: by}, 2: {Verdict: skip, Observed: by}},
			ObservedResource{Observed: by, Comparisons: 2, LastCompared: hour(2), Corrections: []Correction{{Kind: CorrectionCreate, Found: 1, First: hour(1), Last: hour(1)}}},
		},
		"Removes": {
			"values that the PUT would remove, and what a verdict only counts", map[int]activities.PreCheckResult{1: {Verdict: wide, Observed: "policy observe"}},
			ObservedResource{Observed: "policy observe", Comparisons: 1, LastCompared: hour(1), MoreCorrections: 4, Corrections: []Correction{
				{Kind: CorrectionRemove, Path: "tags.other", Found: 1, First: hour(1), Last: hour(1), Open: true},
				{Kind: CorrectionUpdate, Path: tags.Path, Desired: tags.Desired, Observed: tags.Observed, Found: 1, First: hour(1), Last: hour(1), Open: true},
			}},
		},
		"Undecided": {
			"a comparison that another reason stopped is no correction", map[int]activities.PreCheckResult{1: {Verdict: resource.Block(resource.ReasonHeld, "it waits"), Observed: by}},
			ObservedResource{Observed: by, Comparisons: 1, LastCompared: hour(1), Reason: resource.ReasonHeld, Message: "it waits", Corrections: []Correction{}},
		},
		"Enforced": {
			"what is not observed is corrected", map[int]activities.PreCheckResult{1: {Verdict: resource.Verdict{Action: resource.ActionProceed, Reason: resource.ReasonDrift, Differences: []resource.Difference{tags}}}},
			ObservedResource{Enforced: 1, Corrections: []Correction{}},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run := HistoryRun{RunID: "run", Started: hour(-2)}
			for n := -1; n <= 3; n++ {
				if result, ok := c.checks[n]; ok {
					run.Events = append(run.Events, preCheckMarker(t, hour(n), result))
				}
			}
			got := ObservedIn(converter.GetDefaultDataConverter(), resource.ID{}, []HistoryRun{run}, noon)
			if diff := cmp.Diff(c.want, got, cmp.AllowUnexported(resource.ID{})); diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.reason, diff)
			}
		})
	}
}

// TestObservedSince checks that a report says from when on it knows something.
func TestObservedSince(t *testing.T) {
	t.Parallel()
	first := recorded(t, "create")
	before, after := first.Started.Add(-time.Hour), first.Started.Add(time.Second)
	if got := ObservedIn(converter.GetDefaultDataConverter(), resource.ID{}, []HistoryRun{first}, before); !got.Since.IsZero() {
		t.Errorf("the histories of a young workflow begin late: %s", got.Since)
	}
	first.Events[0].GetWorkflowExecutionStartedEventAttributes().ContinuedExecutionRunId = "earlier"
	for name, c := range map[string]struct{ since, want time.Time }{"missing": {before, first.Started}, "known": {after, time.Time{}}} {
		if got := ObservedIn(converter.GetDefaultDataConverter(), resource.ID{}, []HistoryRun{first}, c.since); !got.Since.Equal(c.want) {
			t.Errorf("%s: the histories begin at %s, want %s", name, got.Since, c.want)
		}
	}
}
