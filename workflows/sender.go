package workflows

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"reflect"
)

// TokenHeader is the header of a message with the OpenID Connect token of its sender: a
// SenderToken that the data converter encrypted.
const TokenHeader = "armature-token"

// SenderToken is the token of a sender with the message that it belongs to: a copy of the
// header must not make another message one of the same sender.
type SenderToken struct {
	Token string `json:"token"`
	SentMessage
}

// SentMessage identifies one message and its content.
type SentMessage struct {
	Namespace  string `json:"namespace"`
	WorkflowID string `json:"workflowID"`
	// MessageID is the ID of the update, or FreezeMessageID of a freeze that starts the
	// workflow of freezes. Temporal accepts an ID once in a run.
	MessageID string `json:"messageID"`
	// Name is the name of the update, or of the workflow that a freeze starts.
	Name string `json:"name"`
	// Digest is the SHA-256 of Content in hex.
	Digest string `json:"digest"`
	// Content is the argument of the message.
	Content any `json:"-"`
}

// Sealed returns the message with the digest of its content, and without the content.
//
// The digest covers the JSON of the decoded argument, which is all that a handler acts on,
// not the bytes of the payload: a codec may compress and encrypt them in many ways. A member
// that the type of the receiver lacks makes another digest.
func (m SentMessage) Sealed() (SentMessage, error) {
	content, err := json.Marshal(m.Content)
	if err != nil {
		return m, fmt.Errorf("encode the content of %s: %w", m.Name, err)
	}
	if m.Content != nil {
		// The sender may have values that change in a history, such as a time of a clock.
		received := reflect.New(reflect.TypeOf(m.Content))
		if err := json.Unmarshal(content, received.Interface()); err != nil {
			return m, fmt.Errorf("decode the content of %s: %w", m.Name, err)
		}
		if content, err = json.Marshal(received.Interface()); err != nil {
			return m, fmt.Errorf("encode the content of %s: %w", m.Name, err)
		}
	}
	sum := sha256.Sum256(content)
	m.Digest, m.Content = hex.EncodeToString(sum[:]), nil
	return m, nil
}
