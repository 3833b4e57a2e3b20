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
// and the client cannot follow it: only reading the resource shows the outcome.
const (
	OutcomeSucceeded  = "Succeeded"
	OutcomeFailed     = "Failed"
	OutcomeCanceled   = "Canceled"
	OutcomeUnreadable = "Unreadable"
)

// PutOptions are the options of Put; the zero value writes unconditionally.
type PutOptions struct {
	// IfMatch is the ETag that the resource must still have (else 412).
	IfMatch string
	// IfNoneMatch is "*" for a resource that must not exist yet (else 412); some providers
	// ignore it.
	IfNoneMatch string
}

// Operation is an accepted PUT, PATCH or DELETE. Three forms:
//
//   - Done: finished, see Outcome.
//   - Token set: in progress; Poll it after RetryAfter.
//   - neither: accepted, but with nothing to poll (Outcome is Unreadable): read
//     the resource.
type Operation struct {
	// Response is the first response. Body may echo the request: trust the next GET.
	// RetryAfter is the wait before the first poll, set unless the operation is done.
	Response
	// Token survives JSON and the process. It may contain a signed URL: keep it
	// out of logs and messages.
	Token string `json:"token,omitempty"`
	Done  bool   `json:"done,omitempty"`
	// Outcome is set when Done, or Unreadable.
	Outcome string `json:"outcome,omitempty"`
	// State is properties.provisioningState of the response, "" when absent.
	State string `json:"state,omitempty"`
	// Err is the reason why a finished operation failed or was canceled.
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
	operation, err := c.write(ctx, CallPut, writeRequest{method: http.MethodPut, id: id, apiVersion: apiVersion, body: body, header: header})
	if err != nil {
		return Operation{}, fmt.Errorf("put %s: %w", id, err)
	}
	return operation, nil
}

// Patch writes the members of a body (JSON merge patch) and leaves the others; the type
// must support it. Errors are those of Put.
func (c *Client) Patch(ctx context.Context, id resource.ID, apiVersion string, body []byte, options PutOptions) (Operation, error) {
	header := http.Header{}
	if options.IfMatch != "" {
		header.Set("If-Match", options.IfMatch)
	}
	operation, err := c.write(ctx, CallPatch, writeRequest{method: http.MethodPatch, id: id, apiVersion: apiVersion, body: body, header: header})
	if err != nil {
		return Operation{}, fmt.Errorf("patch %s: %w", id, err)
	}
	return operation, nil
}

// Delete deletes a resource. An absent one is no error: Done, with status 404 or
// 204. A 404 with another meaning (a subscription or a type that is not found) is
// an *Error and does not finish the delete.
func (c *Client) Delete(ctx context.Context, id resource.ID, apiVersion string, options DeleteOptions) (Operation, error) {
	operation, err := c.write(ctx, CallDelete, writeRequest{
		method: http.MethodDelete, id: id, apiVersion: apiVersion, header: options.header(), query: options.Query,
	})
	e, ok := errors.AsType[*Error](err)
	if ok && e.Status == http.StatusNotFound && e.leavesExistenceOpen(id) {
		if _, read := c.get(ctx, id, apiVersion); IsAbsent(read) {
			e = e.absent("a GET after the DELETE proves it")
		}
	}
	if ok && e.Class == ClassAbsent {
		response := Response{Status: e.Status, RequestID: e.RequestID}
		return Operation{Response: response, Done: true, Outcome: OutcomeSucceeded}, nil
	}
	if err != nil {
		return Operation{}, fmt.Errorf("delete %s: %w", id, err)
	}
	return operation, nil
}

// Post runs an action of a resource or container: "listKeys" of a storage
// account, "providers/Microsoft.Kusto/register" of a subscription.
func (c *Client) Post(ctx context.Context, id resource.ID, action, apiVersion string, body []byte) (Operation, error) {
	return c.post(ctx, writeRequest{id: id, action: action, apiVersion: apiVersion, body: body})
}

// Read is Post for an action without a body that changes nothing, whatever its name.
func (c *Client) Read(ctx context.Context, id resource.ID, action, apiVersion string) (Operation, error) {
	return c.post(ctx, writeRequest{id: id, action: action, apiVersion: apiVersion, reads: true})
}

func (c *Client) post(ctx context.Context, w writeRequest) (Operation, error) {
	w.method = http.MethodPost
	operation, err := c.write(ctx, CallPost, w)
	if err != nil {
		return Operation{}, fmt.Errorf("post %s of %s: %w", w.action, w.id, err)
	}
	return operation, nil
}

// writeRequest is one PUT, DELETE or POST.
type writeRequest struct {
	method     string
	id         resource.ID
	action     string
	apiVersion string
	body       []byte
	header     http.Header
	query      url.Values
	// reads is set for an action that changes nothing.
	reads bool
}

// write sends a request and returns the operation that it starts. Once ARM accepted
// the request, a lost or oversized body is no error: an error would repeat the write.
func (c *Client) write(ctx context.Context, call Call, w writeRequest) (Operation, error) {
	c, err := c.forRequest(ctx, w.id, false)
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
	trip := &roundTrip{call: call, typ: w.id.Type(), action: w.action, reads: w.reads}
	resp, payload, err := c.do(ctx, trip, w.method, target, w.body, w.header)
	if err != nil && trip.response != nil && success(trip.response.StatusCode) {
		return c.unreadable(Operation{Response: c.withoutBody(trip.response)}), nil
	}
	switch {
	case trip.tooLarge:
		return Operation{}, c.invalidAnswer(trip.response, "it is larger than 8 MB")
	case err != nil:
		return Operation{}, err
	case !success(resp.StatusCode):
		return Operation{}, newError(w.method, resp.StatusCode, resp.Header, payload, c.now)
	}
	return c.newOperation(resp, payload, w), nil
}

// withoutBody returns the response without its body.
func (c *Client) withoutBody(resp *http.Response) Response {
	response, _ := c.parseResponse(resp, nil)
	return response
}

// newOperation reads the first response of an operation. ARM's order: a header names
// the URL to poll, Azure-AsyncOperation before Location; without one a PUT is polled
// by its provisioningState; without one it is Succeeded.
func (c *Client) newOperation(resp *http.Response, payload []byte, w writeRequest) Operation {
	response, ok := c.parseResponse(resp, payload)
	if !ok {
		response = c.withoutBody(resp)
	}
	op := Operation{Response: response, State: provisioningState(response.Body)}
	kind, url := pollTarget(resp, w.method)
	// The contract: 200 or 201 to a PUT with a terminal state is the end, even
	// with a header; recorded reads confirm Succeeded.
	writes := w.method == http.MethodPut || w.method == http.MethodPatch
	succeeded := writes && resp.StatusCode != http.StatusAccepted && strings.EqualFold(op.State, OutcomeSucceeded)
	switch {
	case kind == pollNothing && !writes:
		op.Done, op.Outcome = true, OutcomeSucceeded // the body is the state before the request
		return op
	case succeeded, kind == pollNothing:
		return finish(op)
	case kind == pollResource && !ok, kind != pollResource && !c.onEndpointHost(url):
		return c.unreadable(op)
	}
	return c.startPolling(op, resp, kind, w.id.Type())
}

// startPolling sets the token of azcore's poller, which gets only the parts of the
// response that belong to the protocol: other polling headers are not ARM's, and a
// body beside a header may show the state before the operation (Failed of the last
// one; Succeeded of a resource that is being deleted).
func (c *Client) startPolling(op Operation, resp *http.Response, kind, resourceType string) Operation {
	first := *resp
	first.Header = http.Header{}
	first.Body = io.NopCloser(bytes.NewReader(nil))
	switch kind {
	case pollAsyncURL:
		first.Header.Set(headerAsync, resp.Header.Get(headerAsync))
	case pollLocation:
		first.Header.Set(headerLocation, resp.Header.Get(headerLocation))
	case pollResource:
		first.Body = io.NopCloser(bytes.NewReader(op.Body))
	}
	poller, err := runtime.NewPoller[json.RawMessage](&first, c.pipeline, nil)
	if err != nil || poller.Done() {
		return c.unreadable(op)
	}
	token, err := encodeToken(poller, resumeToken{Kind: kind, Type: resourceType, Credential: c.name})
	if err != nil {
		return c.unreadable(op)
	}
	op.Token = token
	op.RetryAfter = c.pollWait(op.RetryAfter, kind)
	return op
}

// unreadable marks an operation as accepted with nothing to poll.
func (c *Client) unreadable(op Operation) Operation {
	op.Outcome = OutcomeUnreadable
	op.RetryAfter = c.pollWait(op.RetryAfter, pollResource)
	return op
}

// finish ends an operation by a response that is the resource.
func finish(op Operation) Operation {
	op.Done, op.Outcome = true, outcomeOfState(op.State)
	if op.Outcome != OutcomeSucceeded {
		op.Err = operationError(op.Response)
	}
	return op
}
