package audit

import (
	"crypto/sha256"
	"strconv"

	"github.com/google/uuid"
)

// Key returns the key of an event from what identifies it. It is a GUID, so that ARM takes
// it as x-ms-client-request-id. Parts must not contain secrets.
func Key(parts ...string) string {
	hash := sha256.New()
	for _, part := range parts {
		hash.Write([]byte(strconv.Itoa(len(part)) + ":" + part))
	}
	var id uuid.UUID
	copy(id[:], hash.Sum(nil))
	id[6] = id[6]&0x0f | 0x80 // version 8: a hash of its own kind (RFC 9562, section 5.8)
	id[8] = id[8]&0x3f | 0x80
	return id.String()
}

// RequestKey returns the key of a request of a user: the same for the message that brought
// it and for its effect. A message is named by the ID of its update.
func RequestKey(event Event, workflowID, messageID string) string {
	return Key(string(event), workflowID, messageID)
}

// Step identifies an attempt of a step.
type Step struct {
	WorkflowID, RunID, Activity, ActivityID string
	Attempt                                 int
}

// Key returns the key of the nth request of the attempt, from 1. The attempt is a part:
// a request that another attempt sends once more reaches Azure once more.
func (s Step) Key(n int) string {
	return Key(string(EventWrite), s.WorkflowID, s.RunID, s.ActivityID, strconv.Itoa(s.Attempt), strconv.Itoa(n))
}

// Record returns a record with the members of the step.
func (s Step) Record() Record {
	return Record{
		WorkflowID: s.WorkflowID, RunID: s.RunID, Activity: s.Activity, ActivityID: s.ActivityID, Attempt: s.Attempt,
		CorrelationID: s.RunID,
	}
}
