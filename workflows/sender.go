package workflows

// TokenHeader is the header of a message with the OpenID Connect token of its sender: a
// SenderToken that the data converter encrypted.
const TokenHeader = "armature-token"

// SenderToken is the token of a sender with the message that it belongs to: a copy of the
// header must not make another message one of the same sender.
type SenderToken struct {
	Token      string `json:"token"`
	WorkflowID string `json:"workflowID"`
	// MessageID is the ID of the update, or FreezeMessageID of a freeze that starts the
	// workflow of freezes.
	MessageID string `json:"messageID"`
}
