package main

import (
	"context"
	"errors"
	"time"

	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/searchattr"
	"github.com/armature-io/armature/workflows"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/temporal"
)

// The search attributes that lists read and filter by.
const (
	attributePhase      = searchattr.ReconcilePhase
	attributeReason     = searchattr.ReconcileReason
	attributeLabels     = searchattr.ReconcileLabels
	attributeWaitingFor = searchattr.ReconcileWaitingFor
	attributeNeeds      = searchattr.ReconcileNeeds
)

// runningQuery lists the workflows of managed resources. Without
// ExecutionStatus a list also returns runs that continued as new.
const runningQuery = "WorkflowType = '" + workflows.ReconcileResourceWorkflow + "' AND ExecutionStatus = 'Running'"

// pageSize is the number of workflows of one list request. On SQLite a page of
// 250 took 50 ms, one of 500 1.5 s, and one of 1,000 over 10 s (server v1.32.1).
const pageSize = 250

// record is what the Temporal server knows of a resource without a worker: memo
// and search attributes.
type record struct {
	WorkflowID string
	// ID is the resource; none when the memo holds no ID that parses.
	ID         resource.ID
	Name       string
	APIVersion string
	Policy     resource.Policy
	Phase      workflows.Phase
	Reason     resource.Reason
	// WaitingFor and Needs are keys (workflows.WaitingKey) of what it waits for
	// and of what it depends on.
	WaitingFor []string
	Needs      []string
	// Labels are "key=value".
	Labels []string
	// TaskQueue is where its worker listens; Started when its run began.
	TaskQueue string
	Started   time.Time
	// Stuck says in words that a worker takes its workflow tasks and fails.
	Stuck string
	// NextLook is when its activity tries again; only a record of one has it.
	NextLook time.Time
	// RunID is the run, Events the length of its history: while both stay, its
	// status does. Only a record of one has them.
	RunID  string
	Events int64
	// Running is false once the workflow ended; Ended then says how in one
	// word of Temporal (Completed, Failed, Terminated, Canceled).
	Running bool
	Ended   string
	EndedAt time.Time
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

// unmoved reports whether nothing happened to a running workflow since an earlier
// record of it.
func (r record) unmoved(before record) bool {
	return r.Running && before.Running && r.Stuck == "" && r.Events > 0 && r.Events == before.Events && r.RunID == before.RunID
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
		r.addPending(answer)
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
