package main

import (
	"context"
	"errors"
	"strings"

	"github.com/armature-io/armature/payload"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/workflows"
	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/temporal"
)

// Names of the search attributes that lists read and filter by; a test holds
// that package workflows knows them.
const (
	attributePhase  = "ReconcilePhase"
	attributeReason = "ReconcileReason"
	attributeLabels = "ReconcileLabels"
)

// runningQuery lists the workflows of managed resources. Without
// ExecutionStatus a list also returns runs that continued as new.
const runningQuery = "WorkflowType = '" + workflows.ReconcileResourceWorkflow + "' AND ExecutionStatus = 'Running'"

// pageSize is the number of workflows of one list request.
const pageSize = 500

// record is what the Temporal server knows of a resource without a worker: memo
// and search attributes.
type record struct {
	WorkflowID string
	// ID is the resource; none when the memo holds no ID that parses.
	ID         resource.ID
	Name       string
	APIVersion string
	Phase      workflows.Phase
	Reason     resource.Reason
	// Running is false once the workflow ended; Ended then says how in one
	// word of Temporal (Completed, Failed, Terminated, Canceled).
	Running bool
	Ended   string
	// Final is the status with which it ended, nil where it left none.
	Final *workflows.Status
}

// called is the name under which people know the resource.
func (r record) called() string {
	if !r.ID.IsZero() {
		return r.ID.Short()
	}
	if r.Name != "" {
		return r.Name
	}
	return r.WorkflowID
}

// status is what the record alone tells; times and messages are missing.
func (r record) status() workflows.Status {
	if r.Final != nil {
		return *r.Final
	}
	return workflows.Status{
		ID: r.ID, Name: r.Name, APIVersion: r.APIVersion, Owner: r.ID.Owner(), Phase: r.Phase,
		Condition: resource.Condition{Ready: r.Phase == workflows.PhaseReady, Reason: r.Reason},
	}
}

func (t *temporalClient) record(ctx context.Context, workflowID string) (record, error) {
	deadline, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	answer, err := t.client.DescribeWorkflowExecution(deadline, workflowID, "")
	if err != nil {
		return record{}, t.translateRead(ctx, err)
	}
	r := newRecord(answer.GetWorkflowExecutionInfo())
	if r.Running {
		return r, nil
	}
	r.Final = t.final(deadline, workflowID, answer.GetWorkflowExecutionInfo().GetExecution().GetRunId())
	return r, nil
}

// final is the status with which a closed run ended: its result, or the detail
// of its failure.
func (t *temporalClient) final(ctx context.Context, workflowID, runID string) *workflows.Status {
	var status workflows.Status
	err := t.client.GetWorkflow(ctx, workflowID, runID).Get(ctx, &status)
	var fatal *temporal.ApplicationError
	if errors.As(err, &fatal) && fatal.Type() == workflows.FatalError {
		err = fatal.Details(&status)
	}
	if err != nil || status.ID.IsZero() {
		return nil
	}
	return &status
}

func (t *temporalClient) list(ctx context.Context, query string) ([]record, error) {
	var records []record
	var token []byte
	for {
		deadline, cancel := context.WithTimeout(ctx, readTimeout)
		page, err := t.client.ListWorkflow(deadline, &workflowservice.ListWorkflowExecutionsRequest{
			Namespace: t.namespace, Query: query, PageSize: pageSize, NextPageToken: token,
		})
		cancel()
		if err != nil {
			return nil, t.translateRead(ctx, err)
		}
		for _, info := range page.GetExecutions() {
			records = append(records, newRecord(info))
		}
		if token = page.GetNextPageToken(); len(token) == 0 {
			return records, nil
		}
	}
}

// translateRead is translate for calls that need no worker: a deadline means
// that Temporal did not answer.
func (t *temporalClient) translateRead(ctx context.Context, err error) error {
	err = t.translate(ctx, err)
	var noWorker *noWorkerError
	if errors.As(err, &noWorker) {
		return unreachable("read from Temporal: no answer within %s; try again", readTimeout)
	}
	return err
}

func newRecord(info *workflowpb.WorkflowExecutionInfo) record {
	attributes := info.GetSearchAttributes().GetIndexedFields()
	memo := info.GetMemo().GetFields()
	r := record{
		WorkflowID: info.GetExecution().GetWorkflowId(),
		Name:       decodeText(memo[workflows.MemoName]),
		APIVersion: decodeText(memo[workflows.MemoAPIVersion]),
		Phase:      workflows.Phase(decodeText(attributes[attributePhase])),
		Reason:     resource.Reason(decodeText(attributes[attributeReason])),
		Running:    info.GetStatus() == enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING,
	}
	// A memo that does not parse is somebody else's: the workflow ID still
	// names the row.
	r.ID, _ = resource.ParseID(decodeText(memo[workflows.MemoID]))
	if !r.Running {
		r.Ended = info.GetStatus().String()
	}
	return r
}

// decodeText decodes a payload that holds a string, "" where it does not.
func decodeText(p *commonpb.Payload) string {
	var value string
	if p == nil || payload.DataConverter().FromPayload(p, &value) != nil {
		return ""
	}
	return value
}

// labelQuery narrows runningQuery to a label selector: k=v,k=v, all of them.
func labelQuery(selector string) (string, error) {
	query := runningQuery
	for _, term := range strings.Split(selector, ",") {
		key, value, found := strings.Cut(strings.TrimSpace(term), "=")
		switch {
		case !found || key == "" || strings.HasPrefix(value, "=") || strings.HasSuffix(key, "!"):
			return "", badInput("read selector %q: %q is not key=value; write -l key=value,key=value", selector, term)
		case strings.ContainsAny(term, `'"\`):
			return "", badInput("read selector %q: quotes and backslashes are not allowed in it", selector)
		}
		query += " AND " + attributeLabels + " = '" + key + "=" + value + "'"
	}
	return query, nil
}
