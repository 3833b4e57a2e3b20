package backend

import (
	"context"
	"errors"
	"time"

	"github.com/armature-io/armature/internal/signing"
	"github.com/armature-io/armature/starter/internal/cli"
	"github.com/armature-io/armature/workflows"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
)

const (
	// authorTimeout bounds the look at the newest workflows before a freeze leaves.
	authorTimeout = 2 * time.Second
	// maxSampled is the number of those workflows.
	maxSampled = 10
)

// Freeze adds a freeze. Without a running freeze workflow it starts one with the freeze in
// its memo, so that it is in force also while no worker runs; freezes of a run that was
// interrupted stay. With one it sends a FreezeUpdate. It needs no key: without one, author
// and reason are left out of an encrypted namespace.
func (c *Client) Freeze(ctx context.Context, freeze workflows.Freeze) (workflows.FreezeResult, error) {
	freeze, unnamed, err := c.withAuthor(ctx, freeze)
	if err != nil {
		return workflows.FreezeResult{}, err
	}
	result := workflows.FreezeResult{Unnamed: unnamed}
	last, err := c.lastFreezes(ctx)
	if err != nil {
		return result, err
	}
	if !last.Running() {
		freeze.Since = time.Now().UTC()
		in, changed := last.Add(freeze)
		started, err := c.startFreezes(withStartingFreeze(ctx, freeze), workflows.FreezeStartOptions(in, c.taskQueue), in)
		if err != nil || started {
			return c.opened(workflows.FreezeResult{Changed: changed, Frozen: in.Frozen, Unnamed: unnamed}), err
		}
	}
	if !last.Unreadable {
		freeze.Since = time.Time{}
		err = c.updateFreezes(ctx, Message{Name: workflows.FreezeUpdate, Input: freeze, Result: &result})
		if !is[*NoWorkerError](err) && !errors.Is(err, ErrNotManaged) {
			return c.opened(result), err
		}
	}
	// No worker adds the freeze to the run that keeps the others, that run ended meanwhile, or
	// its freezes are unreadable: another run replaces it.
	if last, err = c.lastFreezes(ctx); err != nil {
		return result, err
	}
	freeze.Since = time.Now().UTC()
	in, changed := last.Add(freeze)
	if !changed && !last.Unreadable {
		return c.opened(workflows.FreezeResult{Frozen: in.Frozen, Unnamed: unnamed}), nil
	}
	options := workflows.FreezeStartOptions(in, c.taskQueue)
	options.WorkflowIDConflictPolicy = enumspb.WORKFLOW_ID_CONFLICT_POLICY_TERMINATE_EXISTING
	_, err = c.startFreezes(withStartingFreeze(ctx, freeze), options, in)
	return c.opened(workflows.FreezeResult{Changed: true, Frozen: in.Frozen, Unnamed: unnamed}), err
}

// Unfreeze lifts the freeze with the same selector; if there is none and everything is
// frozen, it releases the resources with the selector. key signs the request, nil does not.
// The error is ErrNotManaged if nothing is frozen.
func (c *Client) Unfreeze(ctx context.Context, freeze workflows.Freeze, key *signing.Signer) (workflows.FreezeResult, error) {
	freeze, unnamed, err := c.withAuthor(ctx, freeze)
	if err != nil {
		return workflows.FreezeResult{}, err
	}
	result := workflows.FreezeResult{Unnamed: unnamed}
	last, err := c.lastFreezes(ctx)
	switch {
	case err != nil:
		return result, err
	case last.Unreadable && last.Running():
		return result, cli.Failed("read the freezes: the workflow that keeps them does not say what it freezes; run `armature freeze`, which replaces it, then unfreeze again")
	case last.Interrupted():
		if _, err := c.startFreezes(ctx, workflows.RestartOptions(last.HoldFreezeInput, c.taskQueue), last.HoldFreezeInput); err != nil {
			return result, err
		}
	}
	freeze.Release = freeze.Selector != ""
	freeze.Since = last.Since(freeze)
	if freeze.Signature, err = key.Unfreeze(freeze.Selector, freeze.Since); err != nil {
		return result, err //nolint:wrapcheck // its text names what is signed
	}
	err = c.updateFreezes(ctx, Message{Name: workflows.UnfreezeUpdate, Input: freeze, Result: &result})
	return c.opened(result), err
}

// updateFreezes sends a message to the workflow that keeps freezes, whatever keys others use.
func (c *Client) updateFreezes(ctx context.Context, m Message) error {
	options := updateOptions(workflows.FreezeWorkflowID, m)
	return c.send(ctx, m, func(ctx context.Context) (client.WorkflowUpdateHandle, error) {
		return c.client.UpdateWorkflow(ctx, options)
	})
}

// startFreezes starts the freeze workflow with its freezes, and reports false if the server
// refuses that because of another run.
func (c *Client) startFreezes(ctx context.Context, options client.StartWorkflowOptions, in workflows.HoldFreezeInput) (bool, error) {
	deadline, cancel := context.WithTimeout(ctx, c.workerTimeout)
	defer cancel()
	_, err := c.client.ExecuteWorkflow(deadline, options, workflows.HoldFreezeWorkflow, in)
	if is[*serviceerror.WorkflowExecutionAlreadyStarted](err) {
		return false, nil
	}
	if err != nil {
		return false, c.translateRead(ctx, err)
	}
	return true, nil
}

// Freezes returns the freezes in force, and whether the workflow that keeps them was
// interrupted: they last all the same. It needs no worker and no key.
func (c *Client) Freezes(ctx context.Context) (freezes []workflows.Freeze, interrupted bool, err error) {
	last, err := c.lastFreezes(ctx)
	return workflows.OpenAll(last.Frozen, c.converters.Sealer(c.namespace)), last.Interrupted(), err
}

func (c *Client) lastFreezes(ctx context.Context) (workflows.LastFreezes, error) {
	deadline, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	response, err := c.client.DescribeWorkflowExecution(deadline, workflows.FreezeWorkflowID, "")
	if is[*serviceerror.NotFound](err) {
		return workflows.LastFreezes{}, nil
	}
	if err != nil {
		return workflows.LastFreezes{}, c.translateRead(ctx, err)
	}
	return workflows.ReadFreezes(response.GetWorkflowExecutionInfo(), c.converters.ClearData()), nil
}

// withAuthor returns a freeze with its author encrypted. Without a key it is left out if one
// of the newest workflows is encrypted, or they cannot be listed: it would be in Temporal's
// database in clear.
func (c *Client) withAuthor(ctx context.Context, freeze workflows.Freeze) (sealed workflows.Freeze, unnamed bool, err error) {
	if !c.converters.Hides() && c.mayBeEncrypted(ctx) {
		freeze.By, freeze.Reason = "", ""
		return freeze, true, nil
	}
	sealed, err = freeze.Seal(c.converters.Sealer(c.namespace))
	return sealed, false, err //nolint:wrapcheck // it says what is encrypted
}

// mayBeEncrypted reports whether one of the newest workflows has a key that this client lacks,
// or they cannot be listed.
func (c *Client) mayBeEncrypted(ctx context.Context) bool {
	deadline, cancel := context.WithTimeout(ctx, authorTimeout)
	defer cancel()
	page, err := c.client.ListWorkflow(deadline, &workflowservice.ListWorkflowExecutionsRequest{
		Namespace: c.namespace, Query: "WorkflowType = '" + workflows.ReconcileResourceWorkflow + "'", PageSize: maxSampled,
	})
	if err != nil {
		return true
	}
	for _, info := range page.GetExecutions() {
		if c.converters.CheckMemo(c.namespace, info) != nil {
			return true
		}
	}
	return false
}

// opened returns a result with the authors of its freezes decrypted.
func (c *Client) opened(result workflows.FreezeResult) workflows.FreezeResult {
	result.Frozen = workflows.OpenAll(result.Frozen, c.converters.Sealer(c.namespace))
	return result
}
