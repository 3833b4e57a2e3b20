package activities

import (
	"context"
	"fmt"
	"time"

	"github.com/armature-io/armature/activities/writing"
	"github.com/armature-io/armature/internal/audit"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/secrets"
)

// UserRequest is what a user asked of a workflow, for the audit trail.
type UserRequest struct {
	Event audit.Event `json:"event"`
	// UpdateID is the ID of the update in Temporal.
	UpdateID string    `json:"updateID"`
	At       time.Time `json:"at"`
	By       string    `json:"by,omitempty"`
	// Reason is what the user gave as the reason; Text what was asked for in detail.
	Reason     string `json:"reason,omitempty"`
	Text       string `json:"text,omitempty"`
	Generation int64  `json:"generation,omitempty"`
	// Sealed is the Author of a freeze, encrypted, in place of By and Reason.
	Sealed []byte `json:"sealed,omitempty"`
	// Missed counts the requests before this one that the workflow did not keep.
	Missed int `json:"missed,omitempty"`
	// Selector is that of a freeze.
	Selector string `json:"selector,omitempty"`
	// Order is the signed deletion or approval, nil for one that is not signed.
	Order *resource.DeletionOrder `json:"order,omitempty"`
}

// Author is who set or lifted a freeze, and why, as the sender states it.
type Author struct {
	By     string `json:"by,omitempty"`
	Reason string `json:"reason,omitempty"`
}

// Unsealer decrypts a member of a payload that stays clear.
type Unsealer interface {
	Unseal(sealed []byte, value any) error
}

// RecordRequestsInput is what to write.
type RecordRequestsInput struct {
	// Desired is the spec of the resource, nil for a freeze.
	Desired  *resource.Desired `json:"desired,omitempty"`
	Requests []UserRequest     `json:"requests"`
}

// RecordRequestsResult is the outcome.
type RecordRequestsResult struct {
	// Written is the number of requests, from the first, that need not be written again.
	Written int `json:"written"`
}

// RecordRequests writes requests of users to the audit trail, a local activity. It may be
// repeated: the keys come from the updates. A worker without an audit trail takes them.
func (a *Activities) RecordRequests(ctx context.Context, in RecordRequestsInput) (RecordRequestsResult, error) {
	result := RecordRequestsResult{Written: len(in.Requests)}
	if !a.Audit.IsOn() {
		return result, nil
	}
	step := activityOf(ctx).AuditStep()
	for i, request := range in.Requests {
		if err := a.Audit.Write(ctx, a.requestRecord(step, in.Desired, request)); err != nil {
			if i == 0 {
				return RecordRequestsResult{}, fmt.Errorf("record the requests of users: %w", err)
			}
			result.Written = i
			break
		}
	}
	return result, nil
}

// requestRecord returns the record of one request.
func (a *Activities) requestRecord(step audit.Step, desired *resource.Desired, request UserRequest) audit.Record {
	if author := (Author{}); len(request.Sealed) > 0 && a.Authors != nil && a.Authors.Unseal(request.Sealed, &author) == nil {
		// An author that this worker cannot decrypt is recorded as none.
		request.By, request.Reason = author.By, author.Reason
	}
	record := audit.Record{
		Key:  audit.RequestKey(request.Event, step.WorkflowID, request.UpdateID),
		Time: request.At, Event: request.Event, Result: audit.ResultRequested,
		Generation: request.Generation, Missed: request.Missed, ID: request.Selector,
		Reason: secrets.Scrub(request.Reason, nil), Message: secrets.Scrub(request.Text, nil),
		WorkflowID: step.WorkflowID, RunID: step.RunID, CorrelationID: step.RunID,
	}
	if request.By != "" {
		record.By = &audit.Subject{Name: request.By}
	}
	if desired == nil {
		return record
	}
	record.ID, record.Type, record.APIVersion = desired.ID.String(), desired.ID.Type(), desired.APIVersion
	if key := a.requestKey(*desired, request); key != "" {
		record.By = writing.SignedBy(key, request.By)
	}
	return record
}

// requestKey returns the key that signed a request, "" where none that the worker accepts
// did.
func (a *Activities) requestKey(desired resource.Desired, request UserRequest) string {
	switch request.Event {
	case audit.EventApply:
		if request.Generation > 0 {
			return a.checks().SpecKey(desired)
		}
	case audit.EventDelete, audit.EventApproval:
		return a.checks().OrderKey(desired, writing.SignedDeletion{Order: request.Order})
	}
	return ""
}
