package arm

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
)

// Poll is what one poll told.
type Poll struct {
	Done bool `json:"done,omitempty"`
	// Outcome is set when Done. Unreadable comes with Done false and no Token:
	// the request was accepted, read the resource.
	Outcome string `json:"outcome,omitempty"`
	// State is the word that the service said, whatever it is; "" when none.
	State string `json:"state,omitempty"`
	// Token replaces the one that was polled; "" when there is nothing more to
	// poll.
	Token string `json:"token,omitempty"`
	// RetryAfter is the wait before the next poll, or before reading the
	// resource: what the service asks for, else a default.
	RetryAfter time.Duration `json:"retryAfter,omitempty"`
	// Err says why the operation failed, was canceled, or cannot be read.
	Err       *Error `json:"err,omitempty"`
	RequestID string `json:"requestID,omitempty"`
}

// Poll sends one GET and says how the operation stands. It never asks for the
// result (azcore's Result would cost one more GET).
//
// An error says nothing about the operation, which goes on: poll again with
// the same token. It is an *Error for 401, 404, 408, 429 and 5xx, which may
// carry RetryAfter, and for a credential that got no token. Any other answer
// that is not 2xx (and a token of an unknown form) is no error but Unreadable,
// with Err: what a refused operation URL or a failed Location said.
func (c *Client) Poll(ctx context.Context, token string) (Poll, error) {
	held, poller, err := c.decodeToken(token)
	if err != nil {
		return Poll{}, fmt.Errorf("poll operation: %w", err)
	}
	if poller == nil {
		return c.unreadablePoll(Poll{}), nil
	}
	x := &exchange{call: CallPoll, typ: held.Type}
	_, err = poller.Poll(withExchange(ctx, x))
	if x.refused || !x.sent && ctx.Err() == nil && !heldBack(err) {
		return c.unreadablePoll(Poll{}), nil
	}
	if x.response == nil {
		return Poll{}, fmt.Errorf("poll operation: %w", withoutURL(err))
	}
	poll := Poll{RequestID: x.response.Header.Get(headerRequestID), RetryAfter: c.now.retryAfter(x.response.Header)}
	if x.tooLarge {
		return c.unreadablePoll(poll), nil
	}
	payload, bodyErr := runtime.Payload(x.response)
	if bodyErr != nil {
		return Poll{}, fmt.Errorf("poll operation: %w", withoutURL(bodyErr))
	}
	if status := x.response.StatusCode; !success(status) {
		answer := newError(http.MethodPut, status, x.response.Header, payload, c.now)
		if pollAgain(status, held.Via) {
			return Poll{}, fmt.Errorf("poll operation: %w", answer)
		}
		poll.Err = answer
		return c.unreadablePoll(poll), nil
	}
	return c.progress(poll, step{held, poller, x.response.StatusCode, payload, err}), nil
}

// pollAgain are the answers that pass: the service failed, the token was old, a
// budget is used up, or the place that was asked does not know the operation
// yet. Who polls decides for how long it believes that. A resource that is
// absent is for those to judge who know what is expected.
func pollAgain(status int, via string) bool {
	switch status {
	case http.StatusUnauthorized, http.StatusRequestTimeout, http.StatusTooManyRequests:
		return true
	case http.StatusNotFound:
		return via != viaResource
	}
	return status >= 500
}

// step is one 2xx answer to a poll.
type step struct {
	held    resumeToken
	poller  *runtime.Poller[json.RawMessage]
	status  int
	payload []byte
	err     error
}

// progress reads a 2xx answer by the operation's own protocol.
func (c *Client) progress(poll Poll, s step) Poll {
	poll.State = s.word()
	if s.err != nil && s.status != http.StatusAccepted {
		return c.unreadablePoll(poll) // no JSON, or no status
	}
	if s.err == nil && s.done(poll.State) {
		poll.Done, poll.Outcome, poll.RetryAfter = true, outcomeOf(poll.State), 0
		if poll.Outcome != OutcomeSucceeded {
			poll.Err = failure(Response{Status: s.status, Body: s.payload, RequestID: poll.RequestID}, poll.State)
		}
		return poll
	}
	token, err := encodeToken(s.poller, s.held)
	if err != nil {
		return c.unreadablePoll(poll)
	}
	poll.Token, poll.RetryAfter = token, c.wait(poll.RetryAfter, s.held.Via)
	return poll
}

// word is status for Azure-AsyncOperation, else the provisioning state.
func (s step) word() string {
	if s.held.Via != viaAsync {
		return provisioningState(s.payload)
	}
	var view struct {
		Status string `json:"status"`
	}
	if json.Unmarshal(s.payload, &view) != nil {
		return ""
	}
	return view.Status
}

// done is azcore's judgement, with one addition: where the answer is the
// resource, only words that say so mean "go on". A service whose resources rest
// in a word of their own ("Ready") would be polled for ever.
func (s step) done(word string) bool {
	if s.poller.Done() {
		return true
	}
	return s.held.Via != viaAsync && s.status != http.StatusAccepted && !goesOn(word)
}

func (c *Client) unreadablePoll(poll Poll) Poll {
	poll.Done, poll.Outcome, poll.Token = false, OutcomeUnreadable, ""
	poll.RetryAfter = c.wait(poll.RetryAfter, viaResource)
	return poll
}

// failure is the error of an operation that ended as Failed or Canceled. Its
// code speaks of the operation, so the class is that of a write.
func failure(answer Response, word string) *Error {
	e := parseError(answer.Body)
	e.Status, e.RequestID = answer.Status, answer.RequestID
	if e.Message == "" {
		e.Message = fmt.Sprintf("the operation ended as %s and the service gives no reason", strings.TrimSpace(word))
	}
	e.classify(http.MethodPut)
	return e
}

// resumeToken is azcore's token, which names URL and kind of the poller, with
// what this client needs besides. Its JSON lives in heartbeats and histories.
type resumeToken struct {
	Via    string `json:"via"`
	Type   string `json:"type"`
	Poller string `json:"poller"`
	// Credential is the connection that made the request, "" for the client's own:
	// the same one follows the operation.
	Credential string `json:"credential,omitempty"`
}

func encodeToken(poller *runtime.Poller[json.RawMessage], held resumeToken) (string, error) {
	var err error
	if held.Poller, err = poller.ResumeToken(); err != nil {
		return "", err
	}
	token, err := json.Marshal(held)
	return string(token), err
}

// decodeToken gives no poller for what is no token of this client: an older or
// newer one wrote it. Errors stay here, for they hold the token's text; only
// that of a credential that is no longer configured is told.
func (c *Client) decodeToken(token string) (resumeToken, *runtime.Poller[json.RawMessage], error) {
	var held resumeToken
	if json.Unmarshal([]byte(token), &held) != nil {
		return held, nil, nil
	}
	holder, err := c.connection(held.Credential)
	if err != nil {
		return held, nil, err
	}
	poller, err := runtime.NewPollerFromResumeToken[json.RawMessage](held.Poller, holder.pipeline, nil)
	if err != nil {
		return held, nil, nil
	}
	return held, poller, nil
}
