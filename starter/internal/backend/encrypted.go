package backend

import (
	"context"
	"fmt"

	"github.com/armature-io/armature/internal/payload"
	"github.com/armature-io/armature/starter/internal/cli"
	"github.com/armature-io/armature/workflows"
	commonpb "go.temporal.io/api/common/v1"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/converter"
)

// unreadable returns the error of payloads with a key that is not configured here, as every
// other call would have it; nil for any other error.
func unreadable(err error) error {
	if !is[*payload.MissingKeyError](err) {
		return nil
	}
	return &ServerError{cli.BadInput("this namespace is encrypted, and this armature cannot read it: %w or --encryption-keys, with the references that the workers have (docs/encryption.md)", err)}
}

// checkReadable returns an error if a memo has a key that is not configured here. A command
// that skipped such a workflow would act on a part of the resources.
func (c *Client) checkReadable(info *workflowpb.WorkflowExecutionInfo) error {
	for _, memo := range info.GetMemo().GetFields() {
		if err := c.converters.CheckReadable(memo); err != nil {
			return unreadable(fmt.Errorf("workflow %s is %w", info.GetExecution().GetWorkflowId(), err))
		}
		c.readable.Store(true)
	}
	return nil
}

// checkWrite returns an error if the newest workflow is encrypted with a key that this
// client does not have: what it sent would be in Temporal's database in clear, or with a key
// that no worker has, and the workflow would be stuck. It sends one list request before the
// first message, unless the client has read a workflow already.
func (c *Client) checkWrite(ctx context.Context) error {
	if c.converters == nil || c.readable.Load() {
		return nil
	}
	c.writes.Do(func() {
		deadline, cancel := context.WithTimeout(ctx, readTimeout)
		defer cancel()
		page, err := c.client.ListWorkflow(deadline, &workflowservice.ListWorkflowExecutionsRequest{Namespace: c.namespace, Query: workflows.RunningQuery(), PageSize: 1})
		if err != nil {
			return // the message itself has a better error
		}
		for _, info := range page.GetExecutions() {
			c.writeErr = c.checkReadable(info)
		}
	})
	return c.writeErr
}

// Reading is a data converter that keeps the first payload with a key that is not configured
// here: what is read from histories must not look complete without it.
type Reading struct {
	converter.DataConverter
	missing error
}

// FromPayload converts a payload.
func (r *Reading) FromPayload(p *commonpb.Payload, value any) error {
	return r.note(r.DataConverter.FromPayload(p, value))
}

// FromPayloads converts payloads.
func (r *Reading) FromPayloads(p *commonpb.Payloads, values ...any) error {
	return r.note(r.DataConverter.FromPayloads(p, values...))
}

func (r *Reading) note(err error) error {
	if r.missing == nil && is[*payload.MissingKeyError](err) {
		r.missing = fmt.Errorf("a part of its histories is %w", err)
	}
	return err
}

// Unreadable returns the error of the payload, nil for none.
func (r *Reading) Unreadable() error { return unreadable(r.missing) }
