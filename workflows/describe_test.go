package workflows_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/workflows"
	sdkpb "go.temporal.io/api/sdk/v1"
)

// details returns the page that the Web UI shows at a time of the run.
func (r *run) details(delay time.Duration) *string {
	var page string
	r.RegisterDelayedCallback(func() {
		value, err := r.QueryWorkflow("__temporal_workflow_metadata")
		if err != nil {
			r.t.Errorf("query metadata: %v", err)
			return
		}
		var metadata sdkpb.WorkflowMetadata
		if err := value.Get(&metadata); err != nil {
			r.t.Errorf("decode metadata: %v", err)
		}
		page = metadata.GetCurrentDetails()
	}, delay)
	return &page
}

// TestCurrentDetails checks that the page contains what an operator on call needs, and
// that text of other programs is not rendered as Markdown.
func TestCurrentDetails(t *testing.T) {
	r := newRun(t)
	r.script.owner = func(activities.CheckOwnerInput) activities.CheckOwnerResult {
		verdict := resource.Block(resource.ReasonReconciliationBlocked, "owner is <b>Updating</b> | *now*")
		verdict.Origin = "rule *busy* (busy.yaml:4)"
		for i := range 30 {
			verdict.WaitingFor = append(verdict.WaitingFor, mustID(fmt.Sprintf("%s/providers/Microsoft.Kusto/clusters/o%d", group, i)))
		}
		return activities.CheckOwnerResult{Verdict: verdict}
	}
	r.apply(desired())
	blocked := r.details(500 * time.Millisecond)
	r.at(600*time.Millisecond, workflows.PauseUpdate, workflows.PauseInput{By: "ada@host", Reason: "incident"})
	paused := r.details(650 * time.Millisecond)
	r.start(700 * time.Millisecond)
	for _, text := range []string{
		"**Blocked**: ", "ReconciliationBlocked since 2026-01-02 03:00:00Z", "clusters/c1", "| waiting for | o0 (Microsoft.Kusto/clusters) since", "and 22 more",
		"| next try | 2026-01-02 03:00", "CheckOwner Block", `| decided by | rule \*busy\* (busy.yaml:4) |`, ` (by rule \*busy\* (busy.yaml:4))`, `&lt;b&gt;Updating&lt;/b&gt; \| \*now\*`, "apply",
	} {
		if !strings.Contains(*blocked, text) {
			t.Errorf("the page lacks %q:\n%s", text, *blocked)
		}
	}
	if next, resource := strings.Index(*blocked, "| next try"), strings.Index(*blocked, "| resource"); next > resource {
		t.Errorf("the next try must come before the resource:\n%s", *blocked)
	}
	if newest, oldest := strings.Index(*blocked, "CheckOwner Block"), strings.Index(*blocked, "apply"); newest > oldest {
		t.Errorf("the newest decision must come first:\n%s", *blocked)
	}
	for _, text := range []string{"| operation |", "Last differences", "times)"} {
		if strings.Contains(*blocked, text) {
			t.Errorf("the page of a first pass that has read nothing has %q:\n%s", text, *blocked)
		}
	}
	if !strings.Contains(*paused, "**Paused**") || !strings.Contains(*paused, "ada@host: incident") || strings.Contains(*paused, "next try") {
		t.Errorf("the page of a paused resource must contain the user and no next try:\n%s", *paused)
	}
}

// TestCurrentDetailsOfAnOperation checks the page while an operation runs that corrects something,
// and once a decision was repeated.
func TestCurrentDetailsOfAnOperation(t *testing.T) {
	r := newRun(t)
	r.input = existing()
	r.script.pre = func(activities.PreCheckInput) resource.Verdict {
		return resource.Verdict{Action: resource.ActionProceed, Differences: []resource.Difference{{Path: "properties.size", Observed: "1", Desired: "2"}}}
	}
	r.script.put = func(activities.PutResourceInput) (activities.PutResourceResult, error) {
		return activities.PutResourceResult{Verdict: resource.Proceed("accepted"), Sent: true, Token: "t", RetryAfter: 10 * time.Second}, nil
	}
	var operating *string
	r.script.poll = func(activities.PollOperationInput) (activities.PollOperationResult, error) {
		if operating == nil {
			operating = r.details(0)
			r.handled()
		}
		return activities.PollOperationResult{Verdict: resource.Verdict{Action: resource.ActionSuccess}}, nil
	}
	r.script.post = func(activities.PostCheckInput) activities.PostCheckResult {
		return activities.PostCheckResult{Verdict: resource.Fail("X", resource.RetryFast, "not yet")}
	}
	r.script.owner = func(activities.CheckOwnerInput) activities.CheckOwnerResult {
		if r.count("CheckOwner") > 1 {
			return activities.CheckOwnerResult{Verdict: resource.Block(resource.ReasonReconciliationBlocked, "busy")}
		}
		return activities.CheckOwnerResult{Verdict: resource.Proceed("")}
	}
	r.apply(desired())
	repeated := r.details(10 * time.Second)
	r.start(11 * time.Second)
	for _, text := range []string{"**Operating**", "| operation | PUT since 2026-01-02 03:00", "| properties.size | 1 | 2 |"} {
		if !strings.Contains(*operating, text) {
			t.Errorf("the page of an operation lacks %q:\n%s", text, *operating)
		}
	}
	if !strings.Contains(*repeated, "busy (3 times)") || strings.Contains(*repeated, "| operation |") {
		t.Errorf("the page after the operation, and with a repeated decision:\n%s", *repeated)
	}
}
