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

	"github.com/armature-io/armature/resource"
)

// Response is a 2xx answer.
type Response struct {
	Status int `json:"status"`
	// Body is one JSON object, or nil when the answer has none.
	Body json.RawMessage `json:"body,omitempty"`
	// ETag is that of the header, else the body's etag, else "".
	ETag      string `json:"etag,omitempty"`
	RequestID string `json:"requestID,omitempty"`
	// RetryAfter is the wait that the service asks for, 0 when it asks for
	// none.
	RetryAfter time.Duration `json:"retryAfter,omitempty"`
	// ExistenceOnly is set when the type has no GET: Body is what HEAD or the
	// owner's list shows, which may be no more than ID and name.
	ExistenceOnly bool `json:"existenceOnly,omitempty"`
}

// Get reads a resource. An absent one is an *Error of ClassAbsent (IsAbsent).
// Where the GET leaves open whether it exists, HEAD and the list of its owner
// are asked too.
func (c *Client) Get(ctx context.Context, id resource.ID, apiVersion string) (Response, error) {
	c, err := c.For(ctx, id)
	if err != nil {
		return Response{}, fmt.Errorf("get %s: %w", id, err)
	}
	target, err := c.url(id, "", apiVersion)
	if err != nil {
		return Response{}, fmt.Errorf("get %s: %w", id, err)
	}
	response, err := c.read(ctx, CallGet, id.Type(), target)
	var refused *Error
	if errors.As(err, &refused) && refused.doubtful() {
		response, err = c.existence(ctx, id, apiVersion, refused)
	}
	if err != nil {
		return Response{}, fmt.Errorf("get %s: %w", id, err)
	}
	return response, nil
}

// read GETs a URL that must answer 2xx and one JSON object.
func (c *Client) read(ctx context.Context, call Call, typ, target string) (Response, error) {
	x := &exchange{call: call, typ: typ}
	answer, payload, err := c.do(ctx, x, http.MethodGet, target, nil, nil)
	switch {
	case x.tooLarge:
		return Response{}, c.invalidAnswer(x.response, "it is larger than 8 MB")
	case err != nil:
		return Response{}, err
	case !success(answer.StatusCode):
		return Response{}, newError(http.MethodGet, answer.StatusCode, answer.Header, payload, c.now)
	}
	response, ok := c.response(answer, payload)
	if !ok || response.Body == nil {
		return Response{}, c.invalidAnswer(answer, "it is not one JSON object")
	}
	return response, nil
}

func (c *Client) invalidAnswer(answer *http.Response, why string) *Error {
	e := &Error{Status: answer.StatusCode, RequestID: answer.Header.Get(headerRequestID), RetryAfter: c.now.retryAfter(answer.Header)}
	if success(answer.StatusCode) {
		e.Code = CodeInvalidAnswer
	}
	e.Message = "the answer cannot be used: " + why
	e.classify(http.MethodGet)
	return e
}

// response is false when the body is something else than one JSON object.
func (c *Client) response(answer *http.Response, payload []byte) (Response, bool) {
	response := Response{
		Status:     answer.StatusCode,
		ETag:       answer.Header.Get("ETag"),
		RequestID:  answer.Header.Get(headerRequestID),
		RetryAfter: c.now.retryAfter(answer.Header),
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
		var body struct {
			ETag any `json:"etag"`
		}
		if json.Unmarshal(payload, &body) == nil {
			response.ETag, _ = body.ETag.(string)
		}
	}
	return response, true
}

// do sends one request and downloads its answer, of whatever status. Faults of
// the transport come without the URL, whose query may be signed.
func (c *Client) do(ctx context.Context, x *exchange, method, target string, body []byte, header http.Header) (*http.Response, []byte, error) {
	request, err := runtime.NewRequest(withExchange(ctx, x), method, target)
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
	answer, err := c.pipeline.Do(request)
	if err != nil {
		return nil, nil, withoutURL(err)
	}
	payload, err := runtime.Payload(answer)
	if err != nil {
		return nil, nil, withoutURL(err)
	}
	return answer, payload, nil
}

func success(status int) bool { return status >= 200 && status < 300 }

// withoutURL takes the URL out of an error's text and keeps its cause.
func withoutURL(err error) error {
	var answer *Error
	if errors.As(err, &answer) {
		return answer
	}
	var broken *tokenFault
	if errors.As(err, &broken) {
		return broken.cause
	}
	if cause := causeOf(err); cause != nil {
		return fmt.Errorf("reach ARM: %w", cause)
	}
	return err
}

// causeOf is what stands under net/http's error with the URL, nil where there
// is no such error.
func causeOf(err error) error {
	var at *url.Error
	if errors.As(err, &at) {
		return at.Err
	}
	return nil
}

// url addresses a resource, or a collection below it. Every segment is checked
// again and escaped by itself: a path that somebody cleans or splits another
// way is another resource.
func (c *Client) url(id resource.ID, collection, apiVersion string) (string, error) {
	if id.IsZero() {
		return "", errors.New("the resource ID is empty")
	}
	if !regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9.-]*$`).MatchString(apiVersion) {
		return "", fmt.Errorf("the api-version %q is none", apiVersion)
	}
	path := strings.TrimPrefix(id.String(), "/")
	if collection != "" {
		path += "/" + collection
	}
	var b strings.Builder
	b.WriteString(c.endpoint)
	for _, segment := range strings.Split(path, "/") {
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
