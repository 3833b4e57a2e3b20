package fleet

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/internal/payload"
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

// managedOf returns what memo and search attributes contain. A workflow with a memo that
// cannot be decrypted counts as the protected resource of its workflow ID: otherwise a
// protected or nested resource would be overlooked.
func (f *Fleet) managedOf(info *workflowpb.WorkflowExecutionInfo) activities.Managed {
	var id, policy, phase, reason string
	attributes := info.GetSearchAttributes().GetIndexedFields()
	var unreadable error
	for _, err := range []error{f.readMemo(info, workflows.MemoID, &id), f.readMemo(info, workflows.MemoPolicy, &policy)} {
		if payload.IsUnreadable(err) {
			unreadable = cmp.Or(unreadable, err)
		}
	}
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
	if f.options.Observed.Setting(labelsOf(info)) != "" {
		managed.Policy = resource.PolicyObserve
	}
	// A run of another tool may have a memo that does not parse: it has no ID then.
	managed.ID, _ = resource.ParseID(id)
	if unreadable != nil {
		managed.ID, _ = resource.ParseWorkflowID(info.GetExecution().GetWorkflowId())
		managed.Policy = resource.PolicyProtect
		managed.Unreadable = fmt.Errorf("read memo of %s: %w", info.GetExecution().GetWorkflowId(), unreadable)
	}
	return managed
}

// readMemo reads a field of a memo. It leaves into as it is where there is none, and refuses
// one that was copied from another workflow.
func (f *Fleet) readMemo(info *workflowpb.WorkflowExecutionInfo, field string, into any) error {
	p := info.GetMemo().GetFields()[field]
	if p == nil {
		return nil
	}
	if err := f.options.Converters.AtRun(f.options.Namespace, info).FromPayload(p, into); err != nil {
		return fmt.Errorf("decode the memo %s: %w", field, err)
	}
	return nil
}

// readAttribute reads a search attribute of the type of into; it ignores any other one. Search
// attributes are never compressed or encrypted.
func readAttribute(p *commonpb.Payload, into any) {
	if p != nil {
		_ = converter.GetDefaultDataConverter().FromPayload(p, into)
	}
}
