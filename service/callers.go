package service

import (
	"context"
	"errors"
	"fmt"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/caller"
	"github.com/armature-io/armature/config"
	"github.com/armature-io/armature/internal/payload"
	"github.com/armature-io/armature/internal/text"
	"github.com/armature-io/armature/workflows"
	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/converter"
)

// senders verifies who sent a message, by its token.
type senders struct {
	callers caller.Group
	data    converter.DataConverter // decrypts headers
	authors activities.Unsealer     // decrypts the authors of freezes; nil for none
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

// opened returns a freeze with its author decrypted.
func (s senders) opened(freeze workflows.Freeze) workflows.Freeze {
	if s.authors == nil {
		return freeze
	}
	return freeze.Open(s.authors)
}

func (s senders) isOn() bool { return len(s.callers) > 0 }

// identify returns the sender of a message by its token, nil without one.
func (s senders) identify(ctx context.Context, header map[string]*commonpb.Payload, message workflows.SentMessage) (*caller.Caller, error) {
	sealed, err := message.Sealed()
	if err != nil {
		return nil, err //nolint:wrapcheck // it names the message
	}
	token, err := s.tokenOf(header, sealed)
	if err != nil {
		return nil, err
	}
	return s.verify(ctx, token)
}

// tokenOf returns the token of a message, "" without one.
func (s senders) tokenOf(header map[string]*commonpb.Payload, sealed workflows.SentMessage) (string, error) {
	sent, err := s.open(header, payload.Place{Namespace: sealed.Namespace, WorkflowID: sealed.WorkflowID})
	switch {
	case err != nil || sent == nil:
		return "", err
	case sent.SentMessage != sealed:
		return "", errCopied
	case sent.Token == "":
		return "", &caller.RefusedError{Reason: "there is none"}
	}
	return sent.Token, nil
}

// verify returns the sender that a token names, nil for "".
func (s senders) verify(ctx context.Context, token string) (*caller.Caller, error) {
	if token == "" {
		return nil, nil //nolint:nilnil // the hook decides about senders without a token
	}
	sender, err := s.callers.Verify(ctx, token)
	if err != nil {
		return nil, err //nolint:wrapcheck // it names the token
	}
	return &sender, nil
}

// errCopied means that the token of a message came with another one.
var errCopied error = &caller.RefusedError{Reason: "it was sent with another message, and is valid for that one only"}

// open returns the token of a message, nil without one.
func (s senders) open(header map[string]*commonpb.Payload, place payload.Place) (*workflows.SenderToken, error) {
	encoded := header[workflows.TokenHeader]
	if !s.isOn() || encoded == nil {
		return nil, nil //nolint:nilnil // the hook decides about senders without a token
	}
	var sent workflows.SenderToken
	if err := payload.Bound(place, s.data).FromPayload(encoded, &sent); err != nil {
		return nil, fmt.Errorf("decrypt the token of the sender: %w", err)
	}
	return &sent, nil
}

// findings returns what doctor reports about the tokens of senders: nothing if the worker
// accepts none.
func (s senders) findings(hook, encrypts bool) []activities.Finding {
	const check = "callers"
	var findings []activities.Finding
	for _, verifier := range s.callers {
		keys := verifier.Keys()
		found := activities.Finding{Check: check, State: activities.FindingOK, Message: "the keys of " + keys.Issuer + " were read at " + text.Time(keys.ReadAt)}
		switch {
		case keys.ReadAt.IsZero():
			found.Message = "the keys of " + keys.Issuer + " are not read yet"
			if hook {
				found.Message += ": messages with its tokens are refused"
			} else {
				found.Message += ": messages with its tokens pass as unverified"
			}
		case keys.Err != nil:
			found.Message += ", and not since: tokens of newer keys cannot be verified"
		}
		if keys.Err != nil {
			found.Message += ": " + keys.Err.Error()
		}
		if keys.Err != nil || keys.ReadAt.IsZero() {
			found.State, found.Advice = activities.FindingWarn, "check that the worker reaches "+keys.Issuer+"/.well-known/openid-configuration and the keys that it names; the worker tries again each 30 s"
		}
		findings = append(findings, found)
	}
	if s.isOn() && !encrypts {
		findings = append(findings, activities.Finding{
			Check: check, State: activities.FindingWarn,
			Message: "the worker accepts tokens and has no key to encrypt with: a client that sends its token in clear leaves it in the history, whose readers can send any message with it until it expires",
			Advice:  "set encryption.keys and encryption.write-key on workers and clients; the CLI sends no token without them",
		})
	}
	return findings
}
