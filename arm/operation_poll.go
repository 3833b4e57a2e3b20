package arm

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"

	"github.com/armature-io/armature/resource"
)

// Poll is the result of one poll.
type Poll struct {
	Done bool `json:"done,omitempty"`
	// Outcome is set when Done. Unreadable comes with Done false and no Token:
	// the request was accepted, read the resource.
	Outcome string `json:"outcome,omitempty"`
	// State is the service's own name of the state, "" when absent.
	State string `json:"state,omitempty"`
	// Token replaces the polled one; "" when there is nothing more to poll.
	Token string `json:"token,omitempty"`
	// RetryAfter is the wait before the next poll, or before reading the
	// resource: the service's, else a default.
	RetryAfter time.Duration `json:"retryAfter,omitempty"`
	// Err is the reason why the operation failed, was canceled, or cannot be read.
	Err       *Error `json:"err,omitempty"`
	RequestID string `json:"requestID,omitempty"`
}

// Poll sends one GET and returns the state of the operation. It never fetches the
// result (azcore's Result would cost one more GET).
//
// An error proves nothing about the operation, which continues: poll again with the
// same token. It is an *Error for 401, 404, 408, 429 and 5xx, which may have
// RetryAfter, and for a credential that got no token. Any other response that is
// not 2xx, and a token of an unknown form, is no error but Unreadable; Err is then
// the response of a refused operation URL or of a failed Location.
func (c *Client) Poll(ctx context.Context, token string) (Poll, error) {
	resume, poller, err := c.decodeToken(ctx, token)
	if err != nil {
		return Poll{}, fmt.Errorf("poll operation: %w", err)
	}
	if poller == nil {
		return c.unreadablePoll(Poll{}), nil
	}
	trip := &roundTrip{call: CallPoll, typ: resume.Type, foreign: c.foreignTo(cmp.Or(resume.Credential, CredentialDefaultName))}
	_, err = poller.Poll(withRoundTrip(ctx, trip))
	if trip.refused || !trip.sent && ctx.Err() == nil && !isUnsent(err) {
		return c.unreadablePoll(Poll{}), nil
	}
	if trip.response == nil {
		return Poll{}, fmt.Errorf("poll operation: %w", withoutURL(err))
	}
	poll := Poll{RequestID: answerID(trip.response.Header, headerRequestID), RetryAfter: c.now.retryAfter(trip.response.Header)}
	if trip.tooLarge {
		return c.unreadablePoll(poll), nil
	}
	payload, bodyErr := runtime.Payload(trip.response)
	if bodyErr != nil {
		return Poll{}, fmt.Errorf("poll operation: %w", withoutURL(bodyErr))
	}
	if status := trip.response.StatusCode; !success(status) {
		refusal := newError(http.MethodPut, status, trip.response.Header, payload, c.now)
		if pollAgain(status, resume.Kind) {
			return Poll{}, fmt.Errorf("poll operation: %w", refusal)
		}
		poll.Err = refusal
		return c.unreadablePoll(poll), nil
	}
	return c.progress(poll, pollResponse{resume, poller, trip.response.StatusCode, payload, err}), nil
}

// pollAgain reports whether a status is transient: the service failed, the token
// expired, a budget is exhausted, or the polled host does not know the operation
// yet; the caller bounds how often. A resource that is absent is left to the
// caller, which knows what to expect.
func pollAgain(status int, kind string) bool {
	switch status {
	case http.StatusUnauthorized, http.StatusRequestTimeout, http.StatusTooManyRequests:
		return true
	case http.StatusNotFound:
		return kind != pollResource
	}
	return status >= 500
}

// pollResponse is one 2xx response to a poll.
type pollResponse struct {
	resume  resumeToken
	poller  *runtime.Poller[json.RawMessage]
	status  int
	payload []byte
	err     error
}

// progress reads a 2xx response by the operation's own protocol.
func (c *Client) progress(poll Poll, r pollResponse) Poll {
	poll.State = r.state()
	if r.err != nil && r.status != http.StatusAccepted {
		return c.unreadablePoll(poll) // no JSON, or no status
	}
	if r.err == nil && r.done(poll.State) {
		poll.Done, poll.Outcome, poll.RetryAfter = true, outcomeOfState(poll.State), 0
		if poll.Outcome != OutcomeSucceeded {
			poll.Err = operationError(Response{Status: r.status, Body: r.payload, RequestID: poll.RequestID})
		}
		return poll
	}
	token, err := encodeToken(r.poller, r.resume)
	if err != nil {
		return c.unreadablePoll(poll)
	}
	poll.Token, poll.RetryAfter = token, c.pollWait(poll.RetryAfter, r.resume.Kind)
	return poll
}

// state returns status for Azure-AsyncOperation, else the provisioning state.
func (r pollResponse) state() string {
	if r.resume.Kind != pollAsyncURL {
		return provisioningState(r.payload)
	}
	return decodeView[struct {
		Status string `json:"status"`
	}](r.payload).Status
}

// done reports whether the operation ended: by azcore, or, where the response is the
// resource, by a state that is not in progress. A service with resources that rest
// in a state of their own ("Ready") would be polled forever otherwise.
func (r pollResponse) done(state string) bool {
	if r.poller.Done() {
		return true
	}
	return r.resume.Kind != pollAsyncURL && r.status != http.StatusAccepted && !inProgress(state)
}

// unreadablePoll marks a poll as accepted with nothing more to poll.
func (c *Client) unreadablePoll(poll Poll) Poll {
	poll.Done, poll.Outcome, poll.Token = false, OutcomeUnreadable, ""
	poll.RetryAfter = c.pollWait(poll.RetryAfter, pollResource)
	return poll
}

// operationError returns the error of an operation that ended as Failed or
// Canceled. Its code is about the operation, so it is classified as a write.
func operationError(response Response) *Error {
	e := parseError(response.Body)
	e.Status, e.RequestID = response.Status, response.RequestID
	if e.Message == "" {
		e.Message = "ARM gave no reason"
	}
	e.classify(http.MethodPut)
	return e
}

// resumeToken is azcore's token, which names URL and kind of the poller, with the
// client's own fields. Its JSON is stored in heartbeats and histories.
type resumeToken struct {
	Kind   string `json:"via"`
	Type   string `json:"type"`
	Poller string `json:"poller"`
	// Credential is the connection that sent the request, "" for the client's own:
	// polls use the same one.
	Credential string `json:"credential,omitempty"`
}

func encodeToken(poller *runtime.Poller[json.RawMessage], resume resumeToken) (string, error) {
	var err error
	if resume.Poller, err = poller.ResumeToken(); err != nil {
		return "", err
	}
	token, err := json.Marshal(resume)
	return string(token), err
}

// decodeToken returns no poller for a text that is no token of this version of the
// client. It drops errors, which contain the token's text, except for a credential
// that is no longer configured or may not be used for the context's resource: tokens
// come from histories, and one that was forged must not choose the credential.
func (c *Client) decodeToken(ctx context.Context, token string) (resumeToken, *runtime.Poller[json.RawMessage], error) {
	var resume resumeToken
	if json.Unmarshal([]byte(token), &resume) != nil {
		return resume, nil, nil
	}
	connection, err := c.connection(resume.Credential)
	if err != nil {
		return resume, nil, err
	}
	if subject := subjectOf(ctx, resource.ID{}); !subject.IsZero() {
		if _, err := c.forRequest(WithCredential(ctx, cmp.Or(resume.Credential, CredentialDefaultName)), subject, true); err != nil {
			return resume, nil, err
		}
	}
	poller, err := runtime.NewPollerFromResumeToken[json.RawMessage](resume.Poller, connection.pipeline, nil)
	if err != nil {
		return resume, nil, nil
	}
	return resume, poller, nil
}
