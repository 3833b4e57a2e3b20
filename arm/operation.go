package arm

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"

	"github.com/armature-io/armature/resource"
)

// The outcomes of an operation. Unreadable means that ARM accepted the request
// and this client cannot follow it: only reading the resource tells.
const (
	OutcomeSucceeded  = "Succeeded"
	OutcomeFailed     = "Failed"
	OutcomeCanceled   = "Canceled"
	OutcomeUnreadable = "Unreadable"
)

// PutOptions are the options of Put; the zero value writes without condition.
type PutOptions struct {
	// IfMatch is the ETag that the resource must still have (else 412).
	IfMatch string
	// IfNoneMatch is "*" for a resource that must not exist yet; providers that do
	// not honour it ignore it.
	IfNoneMatch string
}

// Operation is an accepted PUT or DELETE. Three forms:
//
//   - Done: finished, see Outcome.
//   - Token set: it goes on; Poll it after RetryAfter.
//   - neither: accepted, but with nothing to poll (Outcome is Unreadable): read
//     the resource.
type Operation struct {
	// Response is the first answer. Body is that of the answer, which may
	// echo the request: trust the next GET. RetryAfter is the wait before the
	// first poll, set whenever the operation is not done.
	Response
	// Token survives JSON and the process. It may hold a signed URL: keep it
	// out of logs and messages.
	Token string `json:"token,omitempty"`
	Done  bool   `json:"done,omitempty"`
	// Outcome is set when Done, or Unreadable.
	Outcome string `json:"outcome,omitempty"`
	// State is properties.provisioningState of the answer, "" when absent.
	State string `json:"state,omitempty"`
	// Err says why a finished operation failed or was canceled.
	Err *Error `json:"err,omitempty"`
}

// Put writes a resource; body is the JSON. An error leaves open whether ARM
// accepted it, unless it is an *Error below 500: read before another PUT.
func (c *Client) Put(ctx context.Context, id resource.ID, apiVersion string, body []byte, options PutOptions) (Operation, error) {
	header := http.Header{}
	if options.IfNoneMatch != "" {
		header.Set("If-None-Match", options.IfNoneMatch)
	}
	if options.IfMatch != "" {
		header.Set("If-Match", options.IfMatch)
	}
	operation, err := c.write(ctx, &exchange{call: CallPut, typ: id.Type()}, write{method: http.MethodPut, id: id, apiVersion: apiVersion, body: body, header: header})
	if err != nil {
		return Operation{}, fmt.Errorf("put %s: %w", id, err)
	}
	return operation, nil
}

// Delete deletes a resource. One that is absent is no error: Done, with the
// status 404 or 204. A 404 that says something else (a subscription, a type
// that is not found) is an *Error and no finished delete.
func (c *Client) Delete(ctx context.Context, id resource.ID, apiVersion string) (Operation, error) {
	options := deleteOptions(ctx)
	operation, err := c.write(ctx, &exchange{call: CallDelete, typ: id.Type()}, write{
		method: http.MethodDelete, id: id, apiVersion: apiVersion, header: options.header(), query: options.Query,
	})
	var answer *Error
	if errors.As(err, &answer) && answer.Class == ClassAbsent {
		gone := Response{Status: answer.Status, RequestID: answer.RequestID}
		return Operation{Response: gone, Done: true, Outcome: OutcomeSucceeded}, nil
	}
	if err != nil {
		return Operation{}, fmt.Errorf("delete %s: %w", id, err)
	}
	return operation, nil
}

// Post runs an action of a resource or container: "listKeys" of a storage
// account, "providers/Microsoft.Kusto/register" of a subscription.
func (c *Client) Post(ctx context.Context, id resource.ID, action, apiVersion string, body []byte) (Operation, error) {
	x := &exchange{call: CallPost, typ: id.Type()}
	operation, err := c.write(ctx, x, write{method: http.MethodPost, id: id, action: action, apiVersion: apiVersion, body: body})
	if err != nil {
		return Operation{}, fmt.Errorf("post %s of %s: %w", action, id, err)
	}
	return operation, nil
}

type write struct {
	method     string
	id         resource.ID
	action     string
	apiVersion string
	body       []byte
	header     http.Header
	query      url.Values
}

func (c *Client) write(ctx context.Context, x *exchange, w write) (Operation, error) {
	c, err := c.For(ctx, w.id)
	if err != nil {
		return Operation{}, err
	}
	target, err := c.url(w.id, w.action, w.apiVersion)
	if err != nil {
		return Operation{}, err
	}
	if len(w.query) > 0 {
		target += "&" + w.query.Encode()
	}
	answer, payload, err := c.do(ctx, x, w.method, target, w.body, w.header)
	if err != nil && x.response != nil && success(x.response.StatusCode) {
		// Accepted, only the body was lost or too large: a fault here would
		// repeat the write.
		return c.unreadable(Operation{Response: c.lost(x.response)}), nil
	}
	switch {
	case x.tooLarge:
		return Operation{}, c.invalidAnswer(x.response, "it is larger than 8 MB")
	case err != nil:
		return Operation{}, err
	case !success(answer.StatusCode):
		return Operation{}, newError(w.method, answer.StatusCode, answer.Header, payload, c.now)
	}
	return c.accepted(answer, payload, w), nil
}

// lost is the answer without its body.
func (c *Client) lost(answer *http.Response) Response {
	response, _ := c.response(answer, nil)
	return response
}

// accepted reads the first answer of an operation. ARM's order: a header names
// what to poll, Azure-AsyncOperation before Location; without one a PUT is
// polled by its provisioningState, whose absence means Succeeded.
func (c *Client) accepted(answer *http.Response, payload []byte, w write) Operation {
	response, ok := c.response(answer, payload)
	if !ok {
		response = c.lost(answer)
	}
	op := Operation{Response: response, State: provisioningState(response.Body)}
	via, where := follow(answer, w.method)
	// The contract: 200 or 201 to a PUT with a terminal state is the end, even
	// with a header; recorded reads confirm Succeeded.
	ended := w.method == http.MethodPut && answer.StatusCode != http.StatusAccepted && strings.EqualFold(op.State, OutcomeSucceeded)
	switch {
	case via == viaNothing && w.method != http.MethodPut:
		op.Done, op.Outcome = true, OutcomeSucceeded // the body shows what was there
		return op
	case ended, via == viaNothing:
		return finish(op)
	case via == viaResource && !ok:
		return c.unreadable(op)
	case via != viaResource && !c.followable(where):
		return c.unreadable(op)
	}
	return c.start(op, answer, via, w)
}

// start makes the token of azcore's poller. The answer that it sees is cut
// down to the protocol: other polling headers are not ARM's, and a body next to
// a header may still show the state before the operation (Failed of the last
// one; Succeeded of a resource that is being deleted).
func (c *Client) start(op Operation, answer *http.Response, via string, w write) Operation {
	first := *answer
	first.Header = http.Header{}
	first.Body = io.NopCloser(bytes.NewReader(nil))
	switch via {
	case viaAsync:
		first.Header.Set(headerAsync, answer.Header.Get(headerAsync))
	case viaLocation:
		first.Header.Set(headerLocation, answer.Header.Get(headerLocation))
	case viaResource:
		first.Body = io.NopCloser(bytes.NewReader(op.Body))
	}
	poller, err := runtime.NewPoller[json.RawMessage](&first, c.pipeline, nil)
	if err != nil || poller.Done() {
		return c.unreadable(op)
	}
	token, err := encodeToken(poller, resumeToken{Via: via, Type: w.id.Type(), Credential: c.name})
	if err != nil {
		return c.unreadable(op)
	}
	op.Token = token
	op.RetryAfter = c.wait(op.RetryAfter, via)
	return op
}

// unreadable is: accepted, read the resource.
func (c *Client) unreadable(op Operation) Operation {
	op.Outcome = OutcomeUnreadable
	op.RetryAfter = c.wait(op.RetryAfter, viaResource)
	return op
}

// finish is the end of an operation whose answer shows the resource.
func finish(op Operation) Operation {
	op.Done, op.Outcome = true, outcomeOf(op.State)
	if op.Outcome != OutcomeSucceeded {
		op.Err = failure(op.Response, op.State)
	}
	return op
}
