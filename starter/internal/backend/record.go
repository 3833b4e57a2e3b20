package backend

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/starter/internal/cli"
	"github.com/armature-io/armature/workflows"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/temporal"
)

// The number of workflows in one list request. On SQLite a page of 250 took 50 ms, one of
// 500 1.5 s, and one of 1,000 over 10 s (server v1.32.1), so only further pages of other
// stores are large: most lists fit in the first.
const (
	firstPageSize = 250
	nextPageSize  = 1000
)

// Record is what the Temporal server knows about a resource without a worker: memo,
// search attributes and the state of the workflow.
type Record struct {
	WorkflowID string
	// ID is the zero ID if the memo has none that parses.
	ID         resource.ID
	Name       string
	APIVersion string
	Policy     resource.Policy
	Phase      workflows.Phase
	Reason     resource.Reason
	// Since is when phase or reason changed last, zero if it is unknown.
	Since time.Time
	// Summary is what the workflow wrote for lists, nil until its first pass has ended.
	Summary *workflows.Summary
	// WaitingFor and Needs are keys (workflows.WaitingKey) of the resources that
	// this one waits for and depends on.
	WaitingFor []string
	Needs      []string
	// Labels are "key=value".
	Labels []string
	// TaskQueue is the queue of its worker; Started is the start of its run.
	TaskQueue string
	Started   time.Time
	// Unreadable is why the memo cannot be decrypted, with the remedy; "" if it can. The ID is
	// then that of the workflow, in lower case, and the policy is protect.
	Unreadable string
	// Stuck describes how the workflow task fails, "" if it does not.
	Stuck string
	// StuckStep describes how a step of the pass keeps failing, "" if it does not. Only
	// Client.Record sets it.
	StuckStep string
	// Busy is set while a step runs or a message waits: the summary is from before. Only
	// Client.Record sets it.
	Busy bool
	// StepSince is when a worker began the step because of which it has not responded, zero
	// if none did. Only a Viewer sets it.
	StepSince time.Time
	// NextAttempt is when a failed activity is retried. Only Client.Record sets it.
	NextAttempt time.Time
	// BuildID is the worker version on which it runs, "" without one. Only Client.Record sets
	// it.
	BuildID string
	// RunID is the run, Events the length of its history: as long as both are the
	// same, so is the status. Only Client.Record sets them.
	RunID  string
	Events int64
	// Running is false once the workflow ended; Ended is then Temporal's status
	// (Completed, Failed, Terminated, Canceled).
	Running bool
	Ended   string
	EndedAt time.Time
	// Final is the status that the ended workflow returned, nil if it returned none.
	Final *workflows.Status
}

// LastWrite returns the last write to Azure that the workflow noted, zero for none.
func (r Record) LastWrite() workflows.WriteNote {
	if r.Summary == nil {
		return workflows.WriteNote{}
	}
	return r.Summary.LastWrite
}

// Obstacle returns why the workflow is not asked, "" if nothing is known against it: it cannot
// be read here, or its task fails.
func (r Record) Obstacle() string { return cmp.Or(r.Unreadable, r.Stuck) }

// RecordOf returns the record of a resource about which only the ID is known.
func RecordOf(id resource.ID) Record {
	return Record{WorkflowID: id.WorkflowID(), ID: id, Running: true}
}

// RecordOfDesired returns the record of a manifest: its ID and its dependencies.
func RecordOfDesired(desired resource.Desired) Record {
	r := RecordOf(desired.ID)
	for _, id := range desired.Needs() {
		r.Needs = append(r.Needs, workflows.WaitingKey(id))
	}
	return r
}

// DisplayName returns the name of the resource in texts.
func (r Record) DisplayName() string {
	if !r.ID.IsZero() {
		return r.ID.Short()
	}
	if r.Name != "" {
		return r.Name
	}
	return r.WorkflowID
}

// Key returns the key with which other resources wait for this one. A record
// without an ID has its workflow ID, for which no other resource waits.
func (r Record) Key() string {
	if r.ID.IsZero() {
		return r.WorkflowID
	}
	return workflows.WaitingKey(r.ID)
}

// NeedKeys returns the keys of its owner and its dependencies, sorted, each once.
func (r Record) NeedKeys() []string {
	keys := slices.Clone(r.Needs)
	if owner := r.ID.Owner(); !owner.IsZero() {
		keys = append(keys, workflows.WaitingKey(owner))
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

// IsDeleted reports whether the workflow ended because it deleted the resource.
func (r Record) IsDeleted() bool {
	return !r.Running && r.Final != nil && r.Final.Deleted && r.Final.Condition.Reason != resource.ReasonDetached
}

// IsManaged reports whether a workflow manages the resource. After a forget it runs on for a
// moment, to notify dependents.
func (r Record) IsManaged() bool { return r.Running && r.Reason != resource.ReasonDetached }

// unchanged reports whether a running workflow has no new events since an earlier
// record.
func (r Record) unchanged(before Record) bool {
	return r.Running && before.Running && r.Stuck == "" && r.Events > 0 && r.Events == before.Events && r.RunID == before.RunID
}

// Status returns the status as far as the record knows it: that with which the workflow
// ended, else the summary if it is of the current phase, else phase and reason alone.
func (r Record) Status() workflows.Status {
	if r.Final != nil {
		return *r.Final
	}
	status := workflows.Status{
		ID: r.ID, Name: r.Name, APIVersion: r.APIVersion, Owner: r.ID.Owner(), Policy: r.Policy, Phase: r.Phase,
		Condition: resource.Condition{Ready: r.Phase == workflows.PhaseReady, Reason: r.Reason, LastTransitionTime: r.Since},
		Paused:    r.Phase == workflows.PhasePaused, Deleting: r.Phase == workflows.PhaseDeleting,
	}
	if r.Phase == workflows.PhaseOperating {
		status.Operation, status.OperationSince = "write", r.Since
	}
	if s := r.Summary; s != nil {
		status.Generation, status.Overdue = s.Generation, s.Overdue
		if s.Phase == r.Phase {
			status.Condition, status.Paused, status.Deleting = s.Condition, s.Paused, s.Deleting
		}
	}
	return status
}

// Record reads the record of one workflow. It returns ErrNotManaged when the server
// knows none.
func (c *Client) Record(ctx context.Context, workflowID string) (Record, error) {
	deadline, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	response, err := c.client.DescribeWorkflowExecution(deadline, workflowID, "")
	if err != nil {
		return Record{}, c.translateRead(ctx, err)
	}
	c.noteReadable(response.GetWorkflowExecutionInfo())
	d := newDecoder(c.converters, c.namespace)
	r := newRecord(d, response.GetWorkflowExecutionInfo())
	if r.Running {
		r.addPending(d, response)
		return r, nil
	}
	r.Final = c.finalStatus(deadline, workflowID, response.GetWorkflowExecutionInfo().GetExecution().GetRunId())
	return r, nil
}

// finalStatus returns the status with which a closed run ended, from its result or
// from the details of its failure; nil if there is none.
func (c *Client) finalStatus(ctx context.Context, workflowID, runID string) *workflows.Status {
	var status workflows.Status
	err := c.client.GetWorkflow(ctx, workflowID, runID).Get(ctx, &status)
	if fatal, ok := errors.AsType[*temporal.ApplicationError](err); ok && fatal.Type() == workflows.FatalError {
		err = fatal.Details(&status)
	}
	if err != nil || status.ID.IsZero() {
		return nil
	}
	return &status
}

// List returns the records of a visibility query. A page is decoded while the next one is
// read.
func (c *Client) List(ctx context.Context, query string) ([]Record, error) {
	var pages [][]Record
	var decoding sync.WaitGroup
	defer decoding.Wait()
	var token []byte
	size := cmp.Or(c.pageSize.Load(), firstPageSize)
	for {
		c.lists.Add(1)
		deadline, cancel := context.WithTimeout(ctx, readTimeout)
		page, err := c.client.ListWorkflow(deadline, &workflowservice.ListWorkflowExecutionsRequest{
			Namespace: c.namespace, Query: query, PageSize: size, NextPageToken: token,
		})
		cancel()
		if err != nil {
			return nil, c.translateRead(ctx, err)
		}
		c.noteReadable(page.GetExecutions()...)
		records := make([]Record, len(page.GetExecutions()))
		pages = append(pages, records)
		decoding.Go(func() {
			d := newDecoder(c.converters, c.namespace)
			for i, info := range page.GetExecutions() {
				records[i] = newRecord(d, info)
			}
		})
		if token = page.GetNextPageToken(); len(token) == 0 {
			decoding.Wait()
			return slices.Concat(pages...), nil
		}
		size = c.nextPageSize(ctx)
	}
}

// nextPageSize returns the size of a further page of a list.
func (c *Client) nextPageSize(ctx context.Context) int32 {
	c.store.Do(func() {
		deadline, cancel := context.WithTimeout(ctx, readTimeout)
		defer cancel()
		cluster, err := c.client.WorkflowService().GetClusterInfo(deadline, &workflowservice.GetClusterInfoRequest{})
		// Temporal Cloud does not describe its clusters; it has no SQLite.
		size := int32(firstPageSize)
		if err != nil || !strings.Contains(cluster.GetVisibilityStore(), "sqlite") {
			size = nextPageSize
		}
		c.pageSize.Store(size)
	})
	return c.pageSize.Load()
}

// translateRead is translate for calls that need no worker: a timeout means that
// Temporal did not respond.
func (c *Client) translateRead(ctx context.Context, err error) error {
	if err = c.translate(ctx, err); is[*NoWorkerError](err) {
		return cli.Unreachable("read from Temporal: no response within %s; try again", readTimeout)
	}
	return err
}
