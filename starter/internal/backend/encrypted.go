package backend

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/internal/payload"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/starter/internal/cli"
	"github.com/armature-io/armature/workflows"
	commonpb "go.temporal.io/api/common/v1"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/converter"
)

// PhaseUnreadable is shown instead of the phase of a workflow that cannot be read.
const PhaseUnreadable = "Unreadable"

const (
	// keySample is the number of the newest workflows whose keys are checked before the first
	// message. maxKeySample bounds those that are checked if none of them can be read.
	keySample    = 20
	maxKeySample = 1000
)

// unreadable returns the error of a payload that cannot be decrypted here, with the remedy;
// nil for any other error.
func unreadable(err error) error {
	if !payload.IsUnreadable(err) {
		return nil
	}
	return cli.BadInput("%w%s", err, unreadableAdvice(err))
}

// unreadableAdvice ends the sentence about a payload that cannot be decrypted.
func unreadableAdvice(err error) string {
	if is[*payload.MissingKeyError](err) {
		return " or --encryption-keys, with the references that the workers have (docs/encryption.md)"
	}
	return ""
}

// noteReadable notes that a workflow of the task queue can be read here, if one of them can.
func (c *Client) noteReadable(infos ...*workflowpb.WorkflowExecutionInfo) {
	if c.readable.Load() {
		return
	}
	c.readable.Store(slices.ContainsFunc(infos, func(info *workflowpb.WorkflowExecutionInfo) bool {
		return info.GetTaskQueue() == c.taskQueue && len(info.GetMemo().GetFields()) > 0 && c.converters.CheckMemo(c.namespace, info) == nil
	}))
}

// identify fills a record whose memo cannot be decrypted: the workflow ID names the resource,
// and its policy is protect, because the real one is not known. A row that was left out could
// let a command overlook something protected.
func (r *Record) identify(err error) {
	r.ID, _ = resource.ParseWorkflowID(r.WorkflowID)
	r.Policy = resource.PolicyProtect
	r.Unreadable = err.Error() + unreadableAdvice(err)
}

// checkWrite returns an error if no workflow of the task queue can be read here: what this
// client sent would be in Temporal's database in clear, or with a key that no worker has, and
// the workflow would be stuck. It notes if some of them cannot. It sends one list request
// before the first message, unless the client has read a workflow of the queue already.
func (c *Client) checkWrite(ctx context.Context) error {
	if c.converters == nil || c.readable.Load() {
		return nil
	}
	c.writes.Do(func() { c.writeErr = c.checkKeys(ctx) })
	return c.writeErr
}

func (c *Client) checkKeys(ctx context.Context) error {
	query := workflows.RunningQuery() + " AND TaskQueue = " + quoted([]string{c.taskQueue})
	var token []byte
	var first error
	looked, unread := 0, 0
	for size := int32(keySample); looked < maxKeySample && unread == looked; size = firstPageSize {
		deadline, cancel := context.WithTimeout(ctx, readTimeout)
		page, err := c.client.ListWorkflow(deadline, &workflowservice.ListWorkflowExecutionsRequest{
			Namespace: c.namespace, Query: query, PageSize: size, NextPageToken: token,
		})
		cancel()
		if err != nil {
			return nil //nolint:nilerr // the message itself has a better error
		}
		for _, info := range page.GetExecutions() {
			looked++
			if err := c.converters.CheckMemo(c.namespace, info); err != nil {
				unread++
				first = cmp.Or(first, fmt.Errorf("workflow %s is %w", info.GetExecution().GetWorkflowId(), err))
			}
		}
		if token = page.GetNextPageToken(); len(token) == 0 {
			break
		}
	}
	switch {
	case first == nil:
		return nil
	case unread == looked:
		return &ServerError{cli.BadInput("nothing is sent: this armature can read none of the %s of task queue %s: %w%s; `temporal workflow terminate` ends what nobody can read",
			cli.Count(looked, "workflow"), c.taskQueue, first, unreadableAdvice(first))}
	}
	c.note("note: %d of the newest %s of task queue %s cannot be read here, and stay as they are: %s", unread, cli.Count(looked, "workflow"), c.taskQueue, cli.OneLine(first.Error()))
	return nil
}

// DescribeUnreadable returns how many records cannot be read, and why the first cannot; "" if
// all can.
func DescribeUnreadable(records []Record) string {
	unread := slices.DeleteFunc(slices.Clone(records), func(r Record) bool { return r.Unreadable == "" })
	if len(unread) == 0 {
		return ""
	}
	return cli.OneLine(fmt.Sprintf("%s unreadable here and protected: %s is %s", cli.CountAre(len(unread), "workflow"), unread[0].WorkflowID, unread[0].Unreadable))
}

// TerminateAdvice is what to do about a workflow whose key is lost.
const TerminateAdvice = "if nobody has the key, end the workflow with `temporal workflow terminate` and apply its manifest again"

// UnreadableFindings returns what doctor reports about workflows that cannot be read: nothing
// if all can.
func UnreadableFindings(records []Record) []activities.Finding {
	text := DescribeUnreadable(records)
	if text == "" {
		return nil
	}
	return []activities.Finding{{Check: encryptionCheck, State: activities.FindingWarn, Message: text, Advice: TerminateAdvice}}
}

// Reading is a data converter that keeps the error of the first payload that it could not
// decrypt: what was read must not look complete without it.
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
	if r.missing == nil && payload.IsUnreadable(err) {
		r.missing = err
	}
	return err
}

// Unreadable returns the error of a part of histories, nil if all could be read.
func (r *Reading) Unreadable() error {
	if r.missing == nil {
		return nil
	}
	return unreadable(fmt.Errorf("a part of its histories is %w", r.missing))
}
