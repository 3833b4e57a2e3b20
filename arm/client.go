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

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	armpolicy "github.com/Azure/azure-sdk-for-go/sdk/azcore/arm/policy"
	armruntime "github.com/Azure/azure-sdk-for-go/sdk/azcore/arm/runtime"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/cloud"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/streaming"

	"github.com/armature-io/armature/resource"
)

// Headers of ARM, in Go's canonical form.
const (
	headerRequestID     = "X-Ms-Request-Id"
	headerCorrelationID = "X-Ms-Correlation-Request-Id"
	headerAsync         = "Azure-Asyncoperation"
	headerLocation      = "Location"
)

// Options configures a Client. The zero value with a Credential works for the
// public cloud.
type Options struct {
	// Cloud says where ARM is (see CloudConfiguration); zero is public.
	Cloud cloud.Configuration
	// Credential gives the tokens (see NewCredential). Nil sends none, which
	// is allowed to loopback only.
	Credential azcore.TokenCredential
	// Transport is the HTTP client (see NewTransport); nil is one with the
	// system's authorities. Redirects of an *http.Client are bounded; another
	// Transporter must not follow any itself.
	Transport policy.Transporter
	// Version of the product, in the User-Agent; "" is v0.0.0.
	Version string
	// ApplicationID is put in front of the User-Agent, at most 24 characters.
	ApplicationID string
	// PollInterval replaces the wait between two polls where the service names
	// none: 60 s for Location (ARM's contract), else 15 s.
	PollInterval time.Duration
	// Throttle, when set, sees every request last before it leaves and its
	// answer first: the place for a client-side budget.
	Throttle policy.Policy
	// Observer is told of every request that left, at once and from many
	// goroutines.
	Observer func(Request)
	// Clock is the time; nil means time.Now.
	Clock func() time.Time
}

// Call is the operation of the Client that a request belongs to.
type Call string

// The calls.
const (
	CallGet    Call = "get"
	CallList   Call = "list"
	CallPut    Call = "put"
	CallDelete Call = "delete"
	CallPoll   Call = "poll"
)

// Request is what an Observer learns of one HTTP request. All its fields but
// Duration have few values, so that they can be labels of metrics.
type Request struct {
	Call   Call
	Method string
	// Type is the resource type, for example Microsoft.Kusto/clusters.
	Type string
	// Status is 0 when no answer came.
	Status   int
	Duration time.Duration
}

// Client talks to one ARM endpoint with one credential. It is safe for
// concurrent use, holds no state of resources and never tries again by itself.
type Client struct {
	endpoint     string
	pipeline     runtime.Pipeline
	host         *url.URL
	pollInterval time.Duration
	now          clock
}

// NewClient makes a client; it sends nothing.
func NewClient(options Options) (*Client, error) {
	if options.Cloud.Services == nil {
		options.Cloud = cloud.AzurePublic
	}
	endpoint, err := checkEndpoint(options.Cloud.Services[cloud.ResourceManager].Endpoint)
	if err != nil {
		return nil, err
	}
	host, err := url.Parse(endpoint)
	if err != nil {
		return nil, errors.New("configure endpoint: it is no URL")
	}
	if options.Credential == nil && !loopback(host) {
		return nil, fmt.Errorf("configure credential: none is allowed to loopback only, not to %s", host.Host)
	}
	now := clock(options.Clock)
	if now == nil {
		now = time.Now
	}
	pipeline, err := newPipeline(options, host, now)
	if err != nil {
		return nil, fmt.Errorf("configure ARM client: %w", err)
	}
	return &Client{endpoint: endpoint, pipeline: pipeline, host: host, pollInterval: options.PollInterval, now: now}, nil
}

// newPipeline is azcore's, with its two retry layers off: the workflow decides
// about retries, and registering a provider is an activity of its own.
func newPipeline(options Options, host *url.URL, now clock) (runtime.Pipeline, error) {
	transport := options.Transport
	if transport == nil {
		var err error
		if transport, err = NewTransport(TransportOptions{}); err != nil {
			return runtime.Pipeline{}, err
		}
	}
	if client, ok := transport.(*http.Client); ok {
		transport = withoutRedirects(client)
	}
	var credential azcore.TokenCredential
	if options.Credential != nil {
		credential = guard(options.Credential)
	}
	version := options.Version
	if version == "" {
		version = "v0.0.0"
	}
	client := policy.ClientOptions{
		Cloud:                           options.Cloud,
		InsecureAllowCredentialWithHTTP: loopback(host),
		Retry:                           policy.RetryOptions{MaxRetries: -1},
		Telemetry:                       policy.TelemetryOptions{ApplicationID: options.ApplicationID},
		Transport:                       &wire{next: transport, endpoint: host, now: now, observe: options.Observer},
		PerCallPolicies:                 []policy.Policy{runtime.NewRequestIDPolicy(), headerPolicy{}},
	}
	if options.Throttle != nil {
		client.PerRetryPolicies = []policy.Policy{options.Throttle}
	}
	return armruntime.NewPipeline("armature", version, credential, runtime.PipelineOptions{},
		&armpolicy.ClientOptions{ClientOptions: client, DisableRPRegistration: true})
}

type correlationKey struct{}

// WithCorrelationID makes every request of the context carry the ID (a GUID) as
// x-ms-correlation-request-id, by which Azure's activity log finds them.
func WithCorrelationID(ctx context.Context, id string) context.Context {
	return context.WithValue(ctx, correlationKey{}, id)
}

// headerPolicy sets what all requests carry, those of azcore's pollers too.
type headerPolicy struct{}

// Do sets the headers and goes on.
func (headerPolicy) Do(request *policy.Request) (*http.Response, error) {
	header := request.Raw().Header
	header.Set("Accept", "application/json")
	if id, _ := request.Raw().Context().Value(correlationKey{}).(string); id != "" {
		header.Set(headerCorrelationID, id)
	}
	return request.Next()
}

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
}

// Get reads a resource. An absent one is an *Error of ClassAbsent (IsAbsent).
func (c *Client) Get(ctx context.Context, id resource.ID, apiVersion string) (Response, error) {
	target, err := c.url(id, "", apiVersion)
	if err != nil {
		return Response{}, fmt.Errorf("get %s: %w", id, err)
	}
	response, err := c.read(ctx, CallGet, id.Type(), target)
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
	var at *url.Error
	if errors.As(err, &at) {
		return fmt.Errorf("reach ARM: %w", at.Err)
	}
	return err
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
