package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/armature-io/armature/payload"
	"github.com/armature-io/armature/workflows"
	"github.com/spf13/cobra"
	"go.temporal.io/api/serviceerror"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"
)

// fridge is the way to the workflow that holds what is frozen.
type fridge interface {
	// freeze sends a FreezeUpdate, and starts the workflow where none runs.
	freeze(ctx context.Context, m message) error
	// frozen reads what is frozen; it needs no worker.
	frozen(ctx context.Context) ([]workflows.Freeze, error)
}

func (a *app) freezeCommand() *cobra.Command {
	var in workflows.Freeze
	c := &cobra.Command{
		Use:   "freeze [-l SELECTOR]",
		Short: "Stop every PUT and DELETE, of all resources or of those with labels",
		Long: `freeze keeps all workers from writing anything in Azure: within 5 s no PUT and no
DELETE leaves any more, also not after a restart, until unfreeze. What ARM has
accepted goes on; reads go on; get and describe say what waits for the end of it.

` + exitHelp,
		Example: "  armature freeze --reason 'release 1.4 sees drift everywhere'\n  armature freeze -l stack=prod",
		Args:    none("what is frozen is chosen with -l key=value"),
		RunE: func(c *cobra.Command, _ []string) error {
			if _, err := readSelector(in.Selector); err != nil {
				return err
			}
			in.By = a.by
			return a.freezing(c.Context(), func(ctx context.Context, b *backend) (workflows.FreezeResult, error) {
				var result workflows.FreezeResult
				return result, b.freeze(ctx, message{name: workflows.FreezeUpdate, input: in, result: &result})
			}, func(result workflows.FreezeResult) string {
				if !result.Changed {
					return "is frozen already"
				}
				return "frozen: no PUT and no DELETE leaves any more (within 5 s), reads go on; `armature unfreeze" + flagOf(in.Selector) + "` ends it"
			}, in.Selector)
		},
	}
	c.Flags().StringVar(&in.Reason, "reason", "", "why, for everybody who meets it")
	c.Flags().StringVarP(&in.Selector, "selector", "l", "", "label selector: key=value,key=value (all of them); without it everything")
	a.completeFlag(c, "selector", a.completeLabels)
	return c
}

func (a *app) unfreezeCommand() *cobra.Command {
	var in workflows.Freeze
	c := &cobra.Command{
		Use:     "unfreeze [-l SELECTOR]",
		Short:   "Take a freeze back; what waits goes on by itself",
		Long:    "unfreeze takes back the freeze with exactly this selector. What waits goes on at\nits next try, within 3 minutes, or at once with `armature reconcile`.\n\n" + exitHelp,
		Example: "  armature unfreeze\n  armature unfreeze -l stack=prod",
		Args:    none("what is frozen is chosen with -l key=value"),
		RunE: func(c *cobra.Command, _ []string) error {
			if _, err := readSelector(in.Selector); err != nil {
				return err
			}
			in.By = a.by
			return a.freezing(c.Context(), func(ctx context.Context, b *backend) (workflows.FreezeResult, error) {
				var result workflows.FreezeResult
				err := b.update(ctx, workflows.FreezeWorkflowID, message{name: workflows.UnfreezeUpdate, input: in, result: &result})
				if errors.Is(err, errNotManaged) {
					err = nil // nothing is frozen
				}
				return result, err
			}, func(result workflows.FreezeResult) string {
				if result.Changed {
					return "not frozen any more"
				}
				return "was not frozen"
			}, in.Selector)
		},
	}
	c.Flags().StringVarP(&in.Selector, "selector", "l", "", "the selector of the freeze; without it the freeze of everything")
	a.completeFlag(c, "selector", a.completeFrozen)
	return c
}

// completeFrozen offers the selectors of what is frozen.
func (a *app) completeFrozen(c *cobra.Command, _ []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	ctx, cancel := context.WithTimeout(completionContext(c), completionTimeout)
	defer cancel()
	b, err := a.connect(ctx, a)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	defer b.close()
	list, _ := b.frozen(ctx)
	var offers []cobra.Completion
	for _, freeze := range list {
		if freeze.Selector != "" {
			offers = append(offers, cobra.CompletionWithDesc(freeze.Selector, "by "+freeze.By))
		}
	}
	return offers, cobra.ShellCompDirectiveNoFileComp
}

// flagOf is a selector as it is written on the command line.
func flagOf(selector string) string {
	if selector == "" {
		return ""
	}
	return " -l " + selector
}

// freezing sends one update and tells the answer and what is frozen now.
func (a *app) freezing(
	ctx context.Context, send func(context.Context, *backend) (workflows.FreezeResult, error),
	word func(workflows.FreezeResult) string, selector string,
) error {
	b, err := a.connect(ctx, a)
	if err != nil {
		return err
	}
	defer b.close()
	result, err := send(ctx, b)
	if err != nil {
		return err
	}
	what := "everything"
	if selector != "" {
		what = selector
	}
	a.printf("%s  %s\n", what, word(result))
	for _, freeze := range result.Frozen {
		if freeze.Selector != selector {
			a.printf("  frozen too: %s\n", frozenWords(freeze))
		}
	}
	return nil
}

// frozenWords is one freeze in words.
func frozenWords(freeze workflows.Freeze) string {
	text := "everything"
	if freeze.Selector != "" {
		text = freeze.Selector
	}
	text += fmt.Sprintf(", by %s since %s", freeze.By, freeze.Since.UTC().Format("2006-01-02 15:04:05Z"))
	if freeze.Reason != "" {
		text += ": " + freeze.Reason
	}
	return text
}

// noteFrozen says beside a list what is frozen. A list is not held up by it.
func (a *app) noteFrozen(list []workflows.Freeze, err error) {
	if err != nil {
		a.note("note: what is frozen is not known: %v", err)
	}
	for _, freeze := range list {
		a.note("note: frozen: %s; reads go on, no PUT and no DELETE leaves; `armature unfreeze%s` ends it", frozenWords(freeze), flagOf(freeze.Selector))
	}
}

func (t *temporalClient) freeze(ctx context.Context, m message) error {
	return t.send(ctx, m, func(ctx context.Context) (client.WorkflowUpdateHandle, error) {
		start := t.client.NewWithStartWorkflowOperation(client.StartWorkflowOptions{
			ID: workflows.FreezeWorkflowID, TaskQueue: t.taskQueue, StaticSummary: "what is frozen",
			WorkflowIDConflictPolicy: enumspb.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING,
		}, workflows.HoldFreezeWorkflow, workflows.HoldFreezeInput{})
		handle, err := t.client.UpdateWithStartWorkflow(ctx, client.UpdateWithStartWorkflowOptions{
			StartWorkflowOperation: start, UpdateOptions: updateOptions(workflows.FreezeWorkflowID, m),
		})
		return handle, whileClosing(err)
	})
}

func (t *temporalClient) frozen(ctx context.Context) ([]workflows.Freeze, error) {
	deadline, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	answer, err := t.client.DescribeWorkflowExecution(deadline, workflows.FreezeWorkflowID, "")
	var notFound *serviceerror.NotFound
	if errors.As(err, &notFound) {
		return nil, nil
	}
	if err != nil {
		return nil, t.translateRead(ctx, err)
	}
	info := answer.GetWorkflowExecutionInfo()
	var list []workflows.Freeze
	if held := info.GetMemo().GetFields()[workflows.MemoFrozen]; held != nil && info.GetStatus() == enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING {
		if err := payload.DataConverter().FromPayload(held, &list); err != nil {
			return nil, failed("read what is frozen: %w; is this armature older than the worker?", err)
		}
	}
	return list, nil
}
