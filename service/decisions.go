package service

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"sync"
	"time"

	"github.com/armature-io/armature/workflows"
)

const (
	// maxDecisionTime bounds one decision: keys of issuers, the hook, and the line in the
	// audit trail.
	maxDecisionTime = 30 * time.Second
	// quickDecision is how long the validator waits for the decision that it started. Most
	// hooks only compare values, and their senders then need no second message. The wait
	// blocks the workflow task, and must end long before the second after which the SDK takes
	// workflow code for deadlocked.
	quickDecision = 200 * time.Millisecond
	// keepDecision is how long a decision waits for the repetition of its message. It is sent
	// after 2 s at most, and may wait for a worker that is busy.
	keepDecision = time.Minute
	// maxDecisions bounds the decisions in memory.
	maxDecisions = 1000
)

// decisions makes decisions about messages in the background, and keeps them until the
// messages come again.
type decisions struct {
	mu        sync.Mutex
	byMessage map[messageKey]*decision
}

// messageKey identifies a message by its place, ID, name, content and token, with the labels and
// policy in force. Other headers, such as tracing, differ at each repetition. The run is no part
// of it: the first run of a resource may end before its first message is decided.
type messageKey struct {
	workflows.SentMessage
	facts [sha256.Size]byte
}

// newMessageKey returns the key of a message with its token.
func newMessageKey(sealed workflows.SentMessage, token string, action Action) messageKey {
	facts, _ := json.Marshal([]any{token, action.Policy, action.Labels}) //nolint:errchkjson // texts
	return messageKey{sealed, sha256.Sum256(facts)}
}

// decision is one decision. Its error is valid once made is closed.
type decision struct {
	made chan struct{}
	err  error
}

func (d *decision) isMade() bool {
	select {
	case <-d.made:
		return true
	default:
		return false
	}
}

// take returns the decision about a message, nil if it is allowed, or errNotDecided if it is not
// made yet. The first call with a key starts decide. An allowed decision is returned once.
func (d *decisions) take(key messageKey, decide func(context.Context) error) error {
	one, started := d.find(key, decide)
	if one == nil {
		return errNotDecided
	}
	if started {
		select {
		case <-one.made:
		case <-time.After(quickDecision):
		}
	}
	if !one.isMade() {
		return errNotDecided
	}
	if one.err == nil && !d.forget(key, one) {
		return errNotDecided // another delivery of the message used it
	}
	return one.err
}

// find returns the decision of a key, and whether it was started now; nil if too many are
// pending.
func (d *decisions) find(key messageKey, decide func(context.Context) error) (one *decision, started bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if one, known := d.byMessage[key]; known {
		return one, false
	}
	if len(d.byMessage) >= maxDecisions && !d.dropMade() {
		return nil, false
	}
	if d.byMessage == nil {
		d.byMessage = map[messageKey]*decision{}
	}
	one = &decision{made: make(chan struct{})}
	d.byMessage[key] = one
	go d.decide(key, one, decide)
	return one, true
}

// dropMade drops a decision that is made. Its message is decided about again if it comes.
func (d *decisions) dropMade() bool {
	for key, one := range d.byMessage {
		if one.isMade() {
			delete(d.byMessage, key)
			return true
		}
	}
	return false
}

// decide makes a decision. The function must end with its context.
func (d *decisions) decide(key messageKey, one *decision, decide func(context.Context) error) {
	ctx, cancel := context.WithTimeout(context.Background(), maxDecisionTime)
	defer cancel()
	one.err = decide(ctx)
	close(one.made)
	time.AfterFunc(keepDecision, func() { d.forget(key, one) })
}

// forget drops a decision, and reports false if that happened before.
func (d *decisions) forget(key messageKey, one *decision) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.byMessage[key] != one {
		return false
	}
	delete(d.byMessage, key)
	return true
}
