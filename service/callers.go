package service

import (
	"context"
	"errors"
	"fmt"

	"github.com/armature-io/armature/caller"
	"github.com/armature-io/armature/config"
	"github.com/armature-io/armature/workflows"
	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/converter"
)

// senders verifies who sent a message, by its token.
type senders struct {
	callers caller.Group
	data    converter.DataConverter // decrypts headers
}

// newSenders returns the verifier of the issuers that the options and the configuration
// name.
func newSenders(settings config.Callers, options Options) (senders, error) {
	var s senders
	if options.Callers != nil {
		s.callers = append(s.callers, options.Callers)
	}
	accepted, err := settings.Accepted()
	problems := []error{err}
	for _, entry := range accepted {
		verifier, err := caller.New(caller.Options{Issuer: entry.Issuer, Audiences: entry.Audiences, Now: options.Now})
		if err != nil {
			problems = append(problems, fmt.Errorf("callers.issuers: %w", err))
			continue
		}
		s.callers = append(s.callers, verifier)
	}
	return s, errors.Join(problems...)
}

func (s senders) isOn() bool { return len(s.callers) > 0 }

// identify returns the sender of a message by its token, nil without one. The message is the
// one of the workflow with the ID.
func (s senders) identify(ctx context.Context, header map[string]*commonpb.Payload, workflowID, messageID string) (*caller.Caller, error) {
	sent, err := s.open(header)
	if err != nil || sent == nil {
		return nil, err
	}
	if sent.WorkflowID != workflowID || sent.MessageID != messageID {
		return nil, errCopied
	}
	sender, err := s.callers.Verify(ctx, sent.Token)
	if err != nil {
		return nil, err //nolint:wrapcheck // it names the token
	}
	return &sender, nil
}

// errCopied means that the token of a message came with another one.
var errCopied error = &caller.RefusedError{Reason: "it was sent with another message, and is valid for that one only"}

// open returns the token of a message, nil without one.
func (s senders) open(header map[string]*commonpb.Payload) (*workflows.SenderToken, error) {
	encoded := header[workflows.TokenHeader]
	if !s.isOn() || encoded == nil {
		return nil, nil //nolint:nilnil // the hook decides about senders without a token
	}
	var sent workflows.SenderToken
	if err := s.data.FromPayload(encoded, &sent); err != nil {
		return nil, fmt.Errorf("decrypt the token of the sender: %w", err)
	}
	return &sent, nil
}
