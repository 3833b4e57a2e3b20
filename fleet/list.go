package fleet

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/internal/searchattr"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/workflows"
	commonpb "go.temporal.io/api/common/v1"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/converter"
)

// keysQuery lists the running workflows with one of the keys in an attribute. Without
// ExecutionStatus a list also returns runs that continued as new.
func keysQuery(attribute string, keys []string) string {
	return attribute + " IN ('" + strings.Join(keys, "', '") + "') AND ExecutionStatus = 'Running'"
}

// belowQuery lists the running workflows of the resources below some others, by the
// beginning of their workflow IDs. Every namespace has the attribute WorkflowId, and the
// stores on SQLite, PostgreSQL, MySQL and Elasticsearch have STARTS_WITH (server v1.32.1).
func belowQuery(ids []resource.ID) string {
	terms := make([]string, len(ids))
	for i, id := range ids {
		terms[i] = "WorkflowId STARTS_WITH '" + strings.ReplaceAll(id.WorkflowIDPrefix(), "'", "''") + "'"
	}
	slices.Sort(terms)
	terms = slices.Compact(terms)
	return "WorkflowType = '" + workflows.ReconcileResourceWorkflow + "' AND ExecutionStatus = 'Running' AND (" + strings.Join(terms, " OR ") + ")"
}

// pages calls visit for the workflows of a query, page by page, until it reports that it
// has enough. The caller has waited for the slot of the first page.
func (f *Fleet) pages(ctx context.Context, query string, visit func([]*workflowpb.WorkflowExecutionInfo) (enough bool)) error {
	var token []byte
	for {
		page, err := f.temporal.ListWorkflow(ctx, &workflowservice.ListWorkflowExecutionsRequest{
			Namespace: f.options.Namespace, Query: query, PageSize: f.options.PageSize, NextPageToken: token,
		})
		if err != nil {
			return fmt.Errorf("list workflows: %w", err)
		}
		token = page.GetNextPageToken()
		if visit(page.GetExecutions()) || len(token) == 0 {
			return nil
		}
		if err := f.awaitList(ctx); err != nil {
			return fmt.Errorf("list workflows: %w", err)
		}
	}
}

// keysIn returns the keys that a workflow has in an attribute.
func keysIn(info *workflowpb.WorkflowExecutionInfo, attribute string) []string {
	var keys []string
	readAttribute(info.GetSearchAttributes().GetIndexedFields()[attribute], &keys)
	return keys
}

// managedOf returns what memo and search attributes contain. A memo with an unknown key is
// an error: without it a protected or nested resource would be overlooked.
func (f *Fleet) managedOf(info *workflowpb.WorkflowExecutionInfo) (activities.Managed, error) {
	for _, memo := range info.GetMemo().GetFields() {
		if err := f.options.Converters.CheckReadable(memo); err != nil {
			return activities.Managed{}, fmt.Errorf("read memo of %s: %w", info.GetExecution().GetWorkflowId(), err)
		}
	}
	var id, policy, phase, reason string
	memo, attributes := info.GetMemo().GetFields(), info.GetSearchAttributes().GetIndexedFields()
	f.decode(memo[workflows.MemoID], &id)
	f.decode(memo[workflows.MemoPolicy], &policy)
	readAttribute(attributes[searchattr.ReconcilePhase], &phase)
	readAttribute(attributes[searchattr.ReconcileReason], &reason)
	managed := activities.Managed{
		Policy: resource.Policy(policy), RunID: info.GetExecution().GetRunId(),
		Reason:    resource.Reason(reason),
		Ready:     phase == string(workflows.PhaseReady),
		Idle:      slices.Contains([]workflows.Phase{workflows.PhaseReady, workflows.PhasePaused, workflows.PhaseFailed}, workflows.Phase(phase)),
		Operating: phase == string(workflows.PhaseOperating),
		Deleting:  phase == string(workflows.PhaseDeleting),
		Released:  reason == string(resource.ReasonWaitingForOwnerDelete),
		HoldsData: reason == string(resource.ReasonContainsData),
		Refused:   reason == string(resource.ReasonDeletionNotSupported),
		Gone: phase == string(workflows.PhaseDeleting) &&
			(reason == string(resource.ReasonDeleted) || reason == string(resource.ReasonDetached)),
	}
	// A run of another tool may have a memo that does not parse: it has no ID then.
	managed.ID, _ = resource.ParseID(id)
	return managed, nil
}

// decode reads a payload of the type of into; it ignores any other payload.
func (f *Fleet) decode(p *commonpb.Payload, into any) {
	if p != nil {
		_ = f.options.Converters.Data.FromPayload(p, into)
	}
}

// readAttribute reads a search attribute of the type of into; it ignores any other one. Search
// attributes are never compressed or encrypted.
func readAttribute(p *commonpb.Payload, into any) {
	if p != nil {
		_ = converter.GetDefaultDataConverter().FromPayload(p, into)
	}
}
