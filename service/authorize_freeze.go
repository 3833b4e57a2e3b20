package service

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/armature-io/armature/internal/payload"
	"github.com/armature-io/armature/workflows"
	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/workflow"
)

// verbFreeze is the verb of a freeze in the log and in the audit trail. A hook is not asked
// about it: a freeze must work without a worker.
const verbFreeze Verb = "freeze"

// identifyTimeout bounds the verification of the sender of a freeze, which nothing waits
// for.
const identifyTimeout = 30 * time.Second

// noteFreeze records who sent a freeze to the workflow that keeps them.
func (a *authorizer) noteFreeze(ctx workflow.Context, in *interceptor.UpdateInput) {
	message := workflow.GetCurrentUpdateInfo(ctx)
	freeze, ok := first[workflows.Freeze](in.Args)
	if !ok || message == nil {
		return
	}
	sent := workflows.SentMessage{MessageID: message.ID, Name: workflows.FreezeUpdate, Content: freeze}
	freeze.Since = workflow.Now(ctx) // as the handler sets it
	a.noteSender(ctx, []sentFreeze{{freeze, sent}})
}

// noteFirstFreeze records who started the workflow that keeps freezes with a new one.
func (a *authorizer) noteFirstFreeze(ctx workflow.Context, in workflows.HoldFreezeInput) {
	var freezes []sentFreeze
	for _, freeze := range in.Frozen {
		freezes = append(freezes, sentFreeze{freeze, workflows.SentMessage{MessageID: workflows.FreezeMessageID(freeze), Name: workflows.HoldFreezeWorkflow, Content: freeze}})
	}
	a.noteSender(ctx, freezes)
}

// sentFreeze is a freeze with the message that set it.
type sentFreeze struct {
	freeze  workflows.Freeze
	message workflows.SentMessage
}

// noteSender verifies the sender of one of the freezes, by the ID of its message, and
// records it. Nothing waits for that.
func (a *authorizer) noteSender(ctx workflow.Context, freezes []sentFreeze) {
	token := interceptor.WorkflowHeader(ctx)[workflows.TokenHeader]
	if !a.senders.isOn() || token == nil {
		return
	}
	info := workflow.GetInfo(ctx)
	action := Action{Verb: verbFreeze, Namespace: info.Namespace, WorkflowID: info.WorkflowExecution.ID, RunID: info.WorkflowExecution.RunID}
	go func() {
		verification, cancel := context.WithTimeout(context.Background(), identifyTimeout)
		defer cancel()
		var err error
		defer func() {
			if value := recover(); value != nil {
				err = fmt.Errorf("the verification failed: %v", value)
			}
			if err != nil {
				a.log.WarnContext(verification, "the sender of a message is not verified", "verb", action.Verb, "resource", action.Subject(), "error", err)
			}
		}()
		header := map[string]*commonpb.Payload{workflows.TokenHeader: token}
		var sent *workflows.SenderToken
		if sent, err = a.senders.open(header, payload.Place{Namespace: action.Namespace, WorkflowID: action.WorkflowID}); err != nil {
			return
		}
		i := slices.IndexFunc(freezes, func(f sentFreeze) bool { return f.message.MessageID == sent.MessageID })
		if i < 0 {
			err = errCopied
			return
		}
		freeze, message := freezes[i].freeze, freezes[i].message
		message.Namespace, message.WorkflowID = action.Namespace, action.WorkflowID
		action.UpdateID = workflows.FreezeMessageID(freeze)
		action.read(a.senders.opened(freeze))
		if action.Caller, err = a.senders.identify(verification, header, message); err == nil {
			a.record(action, nil)
		}
	}()
}

// first returns the first argument of a message.
func first[T any](args []any) (value T, ok bool) {
	if len(args) > 0 {
		value, ok = args[0].(T)
	}
	return value, ok
}
