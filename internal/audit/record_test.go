package audit

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/armature-io/armature/resource"
)

// fullRecord has every member.
func fullRecord() Record {
	return Record{
		Key: Key("write", "w", "r", "5", "1", "1"), Time: time.Date(2026, 3, 1, 9, 30, 0, 250_000_000, time.UTC),
		Event: EventWrite, Result: ResultRefused, Method: "PUT", Action: "restart",
		ID:   "/subscriptions/11111111-1111-1111-1111-111111111111/resourceGroups/data/providers/Microsoft.Kusto/clusters/adx",
		Type: "Microsoft.Kusto/clusters", APIVersion: "2024-04-13", Status: 409, Reason: "Drift", Message: "1 difference",
		Differences:     Differences([]resource.Difference{{Path: "sku.capacity", Desired: "3", Observed: "2", Rule: "number"}}),
		MoreDifferences: 1, Generation: 4,
		By:            &Subject{Name: "key k1", Verified: true, Method: MethodSignature, Issuer: "https://issuer.example", Stated: "ada@laptop"},
		CorrelationID: "0199c2f0-0000-7000-8000-000000000001", RequestID: "0199c2f0-0000-7000-8000-000000000002",
		WorkflowID: "w", RunID: "r", Activity: "PutResource", ActivityID: "5", Attempt: 1, Missed: 2,
	}
}

// TestSchema compares the line of a record with every member with the golden file, which
// docs/metrics.md shows too. Members may be added; none is renamed.
func TestSchema(t *testing.T) {
	line, err := newLine(fullRecord(), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	var members map[string]any
	if err := json.Unmarshal(line.JSON, &members); err != nil {
		t.Fatal(err)
	}
	got, err := json.MarshalIndent(members, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	const file = "testdata/record.json"
	if os.Getenv("ARMATURE_UPDATE_GOLDEN") != "" {
		if err := os.WriteFile(file, append(got, '\n'), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)+"\n"); diff != "" {
		t.Errorf("the members of a record changed, which other programs read (-want +got):\n%s", diff)
	}
	page, err := os.ReadFile("../../docs/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	for name := range members {
		if !strings.Contains(string(page), "`"+name+"`") {
			t.Errorf("docs/metrics.md does not describe the member %s", name)
		}
	}
	for _, event := range []Event{EventWrite, EventRefusal, EventApply, EventForce, EventApproval, EventPause, EventResume, EventDelete, EventAbort, EventForget, EventFreeze, EventUnfreeze} {
		if !strings.Contains(string(page), "`"+string(event)+"`") {
			t.Errorf("docs/metrics.md does not describe the event %s", event)
		}
	}
	for _, result := range []Result{ResultSending, ResultAccepted, ResultRefused, ResultUnknown, ResultNotSent, ResultRequested} {
		if !strings.Contains(string(page), "`"+string(result)+"`") {
			t.Errorf("docs/metrics.md does not describe the result %s", result)
		}
	}
}

// TestKeys checks that keys are the same for the same request, and differ where another
// request may reach Azure.
func TestKeys(t *testing.T) {
	step := Step{WorkflowID: "w", RunID: "r", Activity: "PutResource", ActivityID: "5", Attempt: 1}
	next := step
	next.Attempt = 2
	again := step
	if step.Key(1) != again.Key(1) {
		t.Error("the key of one request is not always the same")
	}
	if step.Key(1) == step.Key(2) || step.Key(1) == next.Key(1) || Key("a", "bc") == Key("ab", "c") {
		t.Error("two requests share a key")
	}
	if !strings.HasPrefix(step.Key(1)[14:], "8") || len(step.Key(1)) != 36 {
		t.Errorf("%s is no GUID, which ARM wants as a client request ID", step.Key(1))
	}
}

// TestDeduplicate checks which of several lines with one key counts.
func TestDeduplicate(t *testing.T) {
	line := func(key string, result Result) Record { return Record{Key: key, Result: result} }
	by := func(result Result, verified bool) Record {
		return Record{Key: "a", Result: result, By: &Subject{Name: "ann", Verified: verified}}
	}
	cases := map[string]struct {
		reason string
		lines  []Record
		want   []Record
	}{
		"End":           {"the end replaces the announcement", []Record{line("a", ResultSending), line("a", ResultAccepted)}, []Record{line("a", ResultAccepted)}},
		"Late":          {"an announcement that is written again does not replace the end", []Record{line("a", ResultAccepted), line("a", ResultSending)}, []Record{line("a", ResultAccepted)}},
		"Order":         {"records stay in the order of their first lines", []Record{line("a", ResultSending), line("b", ResultAccepted), line("a", ResultRefused)}, []Record{line("a", ResultRefused), line("b", ResultAccepted)}},
		"Verified":      {"the effect of a message keeps its verified sender", []Record{by(ResultReceived, true), by(ResultRequested, false)}, []Record{by(ResultRequested, true)}},
		"Verified late": {"two sinks have no common order", []Record{by(ResultRequested, false), by(ResultReceived, true)}, []Record{by(ResultRequested, true)}},
		"Repeated":      {"a line that a sink wrote twice is one record", []Record{line("a", ResultAccepted), line("a", ResultAccepted)}, []Record{line("a", ResultAccepted)}},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, Deduplicate(test.lines)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", test.reason, diff)
			}
		})
	}
}
