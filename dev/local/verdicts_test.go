package main

import (
	"fmt"
	"strings"
	"testing"

	commonpb "go.temporal.io/api/common/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"

	"github.com/armature-io/armature/dev/internal/histories"
	"github.com/armature-io/armature/dev/temporaldev"
	"github.com/armature-io/armature/internal/payload"
	"github.com/armature-io/armature/resource"
)

// wantVerdicts returns the kinds of verdicts in the demo, by step, with their
// origin.
func wantVerdicts() map[string]string {
	return map[string]string{
		"CheckOwner Proceed":                              "everything whose owner is Ready",
		"CheckOwner Block WaitingForOwner":                "children of what does not exist yet",
		"CheckOwner Block ReconciliationBlocked":          "databases of a cluster that is Creating",
		"CheckOwner Block ReferenceNotFound":              "a private endpoint without its subnet",
		"PreCheck Proceed create":                         "almost everything",
		"PreCheck Proceed update":                         "the workspace created by hand",
		"PreCheck Skip InSync":                            "the group that exists, and every later pass",
		"PreCheck Block OperationInProgress":              "the address that another client is creating",
		"TakeTurn Block WaitingForSibling":                "subnets, pools, federated credentials",
		"PutResource Proceed":                             "ARM took the body",
		"PutResource Block SubscriptionRequestsThrottled": "the seeded 429",
		"PutResource Block ConflictError":                 "the seeded 409",
		"PutResource Error PrincipalNotFound":             "the seeded 400",
		"PollOperation Success":                           "the end of an operation",
		"PostCheck Failure PostReconciliationFailure":     "the private endpoint that is not approved yet",
		"PostCheck Success":                               "everything in the end",
	}
}

// checkVerdicts checks that the histories of the demo have every kind of verdict.
func checkVerdicts(t *testing.T, folder string) {
	t.Helper()
	server, err := temporaldev.Start(t.Context(), folder, temporaldev.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = server.Stop() }()
	c, err := client.Dial(client.Options{HostPort: server.Address(), Namespace: temporaldev.Namespace})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	page, err := c.ListWorkflow(t.Context(), &workflowservice.ListWorkflowExecutionsRequest{Namespace: temporaldev.Namespace, PageSize: 1000})
	if err != nil {
		t.Fatal(err)
	}
	counts := map[string]int{}
	for _, execution := range page.GetExecutions() {
		history, err := histories.Fetch(t.Context(), c, execution.GetExecution().GetWorkflowId(), execution.GetExecution().GetRunId())
		if err != nil {
			t.Fatal(err)
		}
		for _, kind := range verdictsIn(history) {
			counts[kind]++
		}
	}
	for kind, source := range wantVerdicts() {
		if counts[kind] == 0 {
			t.Errorf("no history has the verdict %q (%s)", kind, source)
		}
	}
	if t.Failed() {
		t.Logf("verdicts in %d histories: %v", len(page.GetExecutions()), counts)
	}
}

// verdictsIn returns the verdicts of a history as text: step, action, and reason or
// purpose of a PUT.
func verdictsIn(history *historypb.History) []string {
	var kinds []string
	names := map[int64]string{} // of activities, by the ID of their scheduled event
	for _, event := range history.GetEvents() {
		switch a := event.GetAttributes().(type) {
		case *historypb.HistoryEvent_ActivityTaskScheduledEventAttributes:
			names[event.GetEventId()] = a.ActivityTaskScheduledEventAttributes.GetActivityType().GetName()
		case *historypb.HistoryEvent_ActivityTaskCompletedEventAttributes:
			done := a.ActivityTaskCompletedEventAttributes
			kinds = append(kinds, verdictIn(names[done.GetScheduledEventId()], done.GetResult())...)
		case *historypb.HistoryEvent_MarkerRecordedEventAttributes:
			details := a.MarkerRecordedEventAttributes.GetDetails()
			var local struct{ ActivityType string }
			if payload.DataConverter().FromPayloads(details["data"], &local) == nil {
				kinds = append(kinds, verdictIn(local.ActivityType, details["result"])...)
			}
		}
	}
	return kinds
}

func verdictIn(step string, result *commonpb.Payloads) []string {
	var found struct{ Verdict resource.Verdict }
	if payload.DataConverter().FromPayloads(result, &found) != nil || found.Verdict.Action == "" {
		return nil
	}
	v := found.Verdict
	kind := fmt.Sprintf("%s %s", step, v.Action)
	switch {
	case step == "PreCheck" && v.Action == resource.ActionProceed && v.Create:
		kind += " create"
	case step == "PreCheck" && v.Action == resource.ActionProceed && len(v.Differences) > 0:
		kind += " update"
	case v.Reason != "" && v.Action != resource.ActionSuccess:
		kind += " " + string(v.Reason)
	}
	return []string{strings.TrimSpace(kind)}
}
