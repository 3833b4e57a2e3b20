package backend

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/armature-io/armature/internal/payload"
	"github.com/armature-io/armature/starter/internal/cli"
	"github.com/armature-io/armature/workflows"
	"github.com/google/uuid"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/interceptor"
)

// TokenVariable has the token of the user, for workers that decide about messages.
const TokenVariable = "ARMATURE_TOKEN"

// Token returns the token of the user, "" for none.
type Token func(ctx context.Context) (string, error)

// tokens adds the token of the user to the messages that change something.
type tokens struct {
	interceptor.ClientInterceptorBase
	token      Token
	namespace  string
	converters *payload.Converters
	encrypted  bool
}

// withToken adds the token of the options, or of the environment, to the messages of a
// connection.
func withToken(o Options, options *client.Options) {
	token := o.Token
	if token == nil {
		text, _ := o.Environment.LookupEnv(TokenVariable)
		if text = strings.TrimSpace(text); text == "" {
			return
		}
		token = func(context.Context) (string, error) { return text, nil }
	}
	options.Interceptors = append(options.Interceptors, &tokens{token: token, namespace: cmp.Or(options.Namespace, client.DefaultNamespace), converters: o.Converters, encrypted: o.Converters.Encrypts()})
}

// InterceptClient returns the link of a client.
func (t *tokens) InterceptClient(next interceptor.ClientOutboundInterceptor) interceptor.ClientOutboundInterceptor {
	return &tokenLink{interceptor.ClientOutboundInterceptorBase{Next: next}, t}
}

type tokenLink struct {
	interceptor.ClientOutboundInterceptorBase
	*tokens
}

// UpdateWorkflow sends a message with the token.
func (l *tokenLink) UpdateWorkflow(ctx context.Context, in *interceptor.ClientUpdateWorkflowInput) (client.WorkflowUpdateHandle, error) {
	in.UpdateID = cmp.Or(in.UpdateID, uuid.NewString())
	if err := l.add(ctx, workflows.SentMessage{WorkflowID: in.WorkflowID, MessageID: in.UpdateID, Name: in.UpdateName}, in.Args); err != nil {
		return nil, err
	}
	return l.Next.UpdateWorkflow(ctx, in) //nolint:wrapcheck // the caller acts on its type
}

// UpdateWithStartWorkflow sends a message with the token.
func (l *tokenLink) UpdateWithStartWorkflow(ctx context.Context, in *interceptor.ClientUpdateWithStartWorkflowInput) (client.WorkflowUpdateHandle, error) {
	// The caller may send the same options again, as another message.
	options := *in.UpdateOptions
	options.UpdateID = cmp.Or(options.UpdateID, uuid.NewString())
	in.UpdateOptions = &options
	if err := l.add(ctx, workflows.SentMessage{WorkflowID: options.WorkflowID, MessageID: options.UpdateID, Name: options.UpdateName}, options.Args); err != nil {
		return nil, err
	}
	return l.Next.UpdateWithStartWorkflow(ctx, in) //nolint:wrapcheck // the caller acts on its type
}

// ExecuteWorkflow starts the workflow of freezes with the token, where a freeze starts it.
func (l *tokenLink) ExecuteWorkflow(ctx context.Context, in *interceptor.ClientExecuteWorkflowInput) (client.WorkflowRun, error) {
	if freeze, starts := ctx.Value(startingFreezeKey{}).(workflows.Freeze); starts {
		if err := l.add(ctx, workflows.SentMessage{WorkflowID: in.Options.ID, MessageID: workflows.FreezeMessageID(freeze), Name: workflows.HoldFreezeWorkflow}, []any{freeze}); err != nil {
			return nil, err
		}
	}
	return l.Next.ExecuteWorkflow(ctx, in) //nolint:wrapcheck // the caller acts on its type
}

// startingFreezeKey is the key of the context for the freeze that starts a workflow.
type startingFreezeKey struct{}

// withStartingFreeze returns the context of a start by a freeze.
func withStartingFreeze(ctx context.Context, freeze workflows.Freeze) context.Context {
	return context.WithValue(ctx, startingFreezeKey{}, freeze)
}

// add adds the header, which belongs to one message and its content. Temporal stores it in the history,
// where a token in clear would be a secret for every reader.
func (t *tokens) add(ctx context.Context, message workflows.SentMessage, args []any) error {
	if message.WorkflowID == workflows.FreezeWorkflowID && !t.encrypted {
		return nil // the brake needs no key; a worker that demands a proof says so
	}
	token, err := t.tokenOf(ctx)
	if err != nil && isFreeze(message) {
		return nil // nor does a freeze need a proof
	}
	if err != nil {
		return cli.Failed("get the token of the user: %w", err)
	}
	if token == "" {
		return nil
	}
	if !t.encrypted {
		return cli.BadInput("a token is sent with encrypted payloads only, because Temporal stores it: set --encryption-keys and --encryption-write-key, or unset %s", TokenVariable)
	}
	message.Namespace = t.namespace
	if len(args) > 0 {
		message.Content = args[0]
	}
	if message, err = message.Sealed(); err != nil {
		return err //nolint:wrapcheck // it names the message
	}
	encoded, err := payload.Bound(payload.Place{Namespace: message.Namespace, WorkflowID: message.WorkflowID}, t.converters.Data).ToPayload(workflows.SenderToken{Token: token, SentMessage: message})
	if err != nil {
		return fmt.Errorf("encrypt the token: %w", err)
	}
	interceptor.Header(ctx)[workflows.TokenHeader] = encoded
	return nil
}

// messageToken is the token of one message and of its repetitions: with another token it would
// be another message to decide about.
type messageToken struct{ text string }

// messageTokenKey is the key of the context for the *messageToken.
type messageTokenKey struct{}

// withMessageToken returns the context of one message.
func withMessageToken(ctx context.Context) context.Context {
	return context.WithValue(ctx, messageTokenKey{}, &messageToken{})
}

// tokenOf returns the token for the message of a context.
func (t *tokens) tokenOf(ctx context.Context) (string, error) {
	sent, found := ctx.Value(messageTokenKey{}).(*messageToken)
	if !found {
		return t.token(ctx)
	}
	var err error
	if sent.text == "" {
		sent.text, err = t.token(ctx)
	}
	return sent.text, err
}

// isFreeze reports whether a message sets a freeze.
func isFreeze(message workflows.SentMessage) bool {
	return message.WorkflowID == workflows.FreezeWorkflowID && message.Name != workflows.UnfreezeUpdate
}
