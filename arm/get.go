package arm

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/streaming"

	"github.com/armature-io/armature/internal/text"
	"github.com/armature-io/armature/resource"
)

// apiVersionPattern matches the form of an api-version.
var apiVersionPattern = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9.-]*$`)

// Response is a 2xx response.
type Response struct {
	Status int `json:"status"`
	// Body is one JSON object, or nil when the response has none.
	Body json.RawMessage `json:"body,omitempty"`
	// ETag is the header's, else the body's etag, else "".
	ETag      string `json:"etag,omitempty"`
	RequestID string `json:"requestID,omitempty"`
	// RetryAfter is the wait that the service demands, 0 when it names none.
	RetryAfter time.Duration `json:"retryAfter,omitempty"`
	// ExistenceOnly is set when the type has no GET: Body is the result of HEAD or
	// of the owner's list, which may be no more than ID and name.
	ExistenceOnly bool `json:"existenceOnly,omitempty"`
}

// Get reads a resource. An absent one is an *Error of ClassAbsent (IsAbsent).
// Where the GET leaves open whether it exists, Get looks for a proof (checkExistence);
// without one DoubtOf returns what the error leaves open.
func (c *Client) Get(ctx context.Context, id resource.ID, apiVersion string) (Response, error) {
	response, err := c.get(ctx, id, apiVersion)
	if err != nil {
		return Response{}, fmt.Errorf("get %s: %w", id, err)
	}
	return response, nil
}

func (c *Client) get(ctx context.Context, id resource.ID, apiVersion string) (Response, error) {
	response, err := c.readCollection(ctx, id, "", id.Type(), apiVersion)
	if refusal, ok := errors.AsType[*Error](err); ok && refusal.leavesExistenceOpen(id) {
		return c.checkExistence(ctx, id, apiVersion, refusal)
	}
	if other, isOther := isOtherResource(id, response.Body); err == nil && isOther {
		e := &Error{Status: response.Status, Code: CodeInvalidAnswer, RequestID: response.RequestID}
		e.Message = fmt.Sprintf("unusable response: it is of %q, not of %s", text.Cut(other, maxMessageRunes/2), id)
		e.classify(http.MethodGet)
		return Response{}, e
	}
	return response, err
}

// readCollection GETs a resource, or a collection below it, with its connection.
func (c *Client) readCollection(ctx context.Context, id resource.ID, collection, typ, apiVersion string) (Response, error) {
	c, err := c.For(ctx, id)
	if err != nil {
		return Response{}, err
	}
	target, err := c.url(id, collection, apiVersion)
	if err != nil {
		return Response{}, err
	}
	return c.read(ctx, CallGet, typ, target)
}

// read GETs a URL; the response must be 2xx and one JSON object.
func (c *Client) read(ctx context.Context, call Call, typ, target string) (Response, error) {
	trip := &roundTrip{call: call, typ: typ}
	resp, payload, err := c.do(ctx, trip, http.MethodGet, target, nil, nil)
	switch {
	case trip.tooLarge:
		return Response{}, c.invalidAnswer(trip.response, "it is larger than 8 MB")
	case err != nil:
		return Response{}, err
	case !success(resp.StatusCode):
		return Response{}, newError(http.MethodGet, resp.StatusCode, resp.Header, payload, c.now)
	}
	response, ok := c.parseResponse(resp, payload)
	if !ok || response.Body == nil {
		return Response{}, c.invalidAnswer(resp, "it is not one JSON object")
	}
	return response, nil
}

// invalidAnswer returns the error for a response that cannot be used.
func (c *Client) invalidAnswer(resp *http.Response, why string) *Error {
	e := &Error{Status: resp.StatusCode, RequestID: answerID(resp.Header, headerRequestID), RetryAfter: c.now.retryAfter(resp.Header)}
	if success(resp.StatusCode) {
		e.Code = CodeInvalidAnswer
	}
	e.Message = "unusable response: " + why
	e.classify(http.MethodGet)
	return e
}

// parseResponse returns false when the body is anything but one JSON object, or
// empty.
func (c *Client) parseResponse(resp *http.Response, payload []byte) (Response, bool) {
	response := Response{
		Status:     resp.StatusCode,
		ETag:       resp.Header.Get("ETag"),
		RequestID:  answerID(resp.Header, headerRequestID),
		RetryAfter: c.now.retryAfter(resp.Header),
	}
	payload = bytes.TrimSpace(payload)
	if len(payload) == 0 || bytes.Equal(payload, []byte("null")) {
		return response, true
	}
	if payload[0] != '{' || !json.Valid(payload) {
		return response, false
	}
	response.Body = payload
	if response.ETag == "" {
		response.ETag, _ = decodeView[struct {
			ETag any `json:"etag"`
		}](payload).ETag.(string)
	}
	return response, true
}

// do sends one request and downloads its response, whatever its status. Transport
// errors come without the URL, because its query may be signed.
func (c *Client) do(ctx context.Context, trip *roundTrip, method, target string, body []byte, header http.Header) (*http.Response, []byte, error) {
	request, err := runtime.NewRequest(withRoundTrip(ctx, trip), method, target)
	if err != nil {
		return nil, nil, withoutURL(err)
	}
	for name, values := range header {
		request.Raw().Header[name] = values
	}
	if body != nil {
		if err := request.SetBody(streaming.NopCloser(bytes.NewReader(body)), "application/json"); err != nil {
			return nil, nil, err
		}
	}
	resp, err := c.pipeline.Do(request)
	if err != nil {
		return nil, nil, withoutURL(err)
	}
	payload, err := runtime.Payload(resp)
	if err != nil {
		return nil, nil, withoutURL(err)
	}
	return resp, payload, nil
}

// decodeView returns the fields of T in a JSON body, or its zero value where the body
// does not fit.
func decodeView[T any](body []byte) T {
	var view, zero T
	if json.Unmarshal(body, &view) != nil {
		return zero
	}
	return view
}

func success(status int) bool { return status >= 200 && status < 300 }

// withoutURL removes the URL from an error's text and keeps its cause.
func withoutURL(err error) error {
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	if noToken, ok := errors.AsType[*tokenError](err); ok {
		return noToken.cause
	}
	if cause := urlErrorCause(err); cause != nil {
		return fmt.Errorf("reach ARM: %w", cause)
	}
	return err
}

// urlErrorCause returns the error inside net/http's error with the URL, or nil.
func urlErrorCause(err error) error {
	if e, ok := errors.AsType[*url.Error](err); ok {
		return e.Err
	}
	return nil
}

// CheckAddress returns the error with which every request refuses an empty ID or an
// invalid api-version, without a request; nil for a valid address.
func CheckAddress(id resource.ID, apiVersion string) error {
	_, err := (&Client{}).url(id, "", apiVersion)
	return err
}

// url returns the URL of a resource, or of a collection below it. Each segment is
// checked again and escaped by itself: a path that another component cleans or
// splits differently is another resource.
func (c *Client) url(id resource.ID, collection, apiVersion string) (string, error) {
	if id.IsZero() {
		return "", errors.New("empty resource ID")
	}
	path := id.String()
	if collection != "" {
		path += "/" + collection
	}
	return c.path(path, apiVersion)
}

// path returns the URL of a path, which begins with a slash.
func (c *Client) path(path, apiVersion string) (string, error) {
	if !apiVersionPattern.MatchString(apiVersion) {
		return "", fmt.Errorf("invalid api-version %q", apiVersion)
	}
	var b strings.Builder
	b.WriteString(c.endpoint)
	for _, segment := range strings.Split(strings.TrimPrefix(path, "/"), "/") {
		if err := resource.CheckSegment(segment); err != nil {
			return "", err
		}
		b.WriteByte('/')
		b.WriteString(url.PathEscape(segment))
	}
	b.WriteString("?api-version=")
	b.WriteString(url.QueryEscape(apiVersion))
	return b.String(), nil
}
