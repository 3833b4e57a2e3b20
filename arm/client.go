package arm

import (
	"context"
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
	"go.opentelemetry.io/otel/trace"
)

// Headers of ARM, in Go's canonical form.
const (
	headerRequestID     = "X-Ms-Request-Id"
	headerCorrelationID = "X-Ms-Correlation-Request-Id"
	headerAsync         = "Azure-Asyncoperation"
	headerLocation      = "Location"
)

// idPattern matches IDs of requests: GUIDs, with a region or a time before them in some services.
var idPattern = regexp.MustCompile(`^[\w.:-]{1,128}$`)

// answerID returns the ID in a header of a response, "" if it has another form: IDs reach
// histories, logs, traces and the audit trail, and the service chooses their text.
func answerID(header http.Header, name string) string {
	if id := header.Get(name); idPattern.MatchString(id) {
		return id
	}
	return ""
}

// Options configures a Client. The zero value with a Credential works for the
// public cloud.
type Options struct {
	// Cloud is ARM's location (see CloudConfiguration); zero is public.
	Cloud cloud.Configuration
	// Credential issues the tokens (see NewCredential). Nil sends none, which is
	// allowed to loopback only.
	Credential azcore.TokenCredential
	// Transport is the HTTP client (see NewTransport); nil is one with the
	// system's authorities. Redirects of an *http.Client are bounded; another
	// Transporter must not follow any itself.
	Transport policy.Transporter
	// Version of the product, in the User-Agent; "" is v0.0.0.
	Version string
	// ApplicationID precedes the User-Agent, at most 24 characters; UserAgentSuffix ends
	// it.
	ApplicationID, UserAgentSuffix string
	// PollInterval replaces the wait between two polls where the service names
	// none: 60 s for Location (ARM's contract), else 15 s.
	PollInterval time.Duration
	// Throttle, when set, is the last policy before a request leaves and the first to
	// get its response: for a client-side budget (see NewThrottle).
	Throttle policy.Policy
	// MayWrite, when set, decides about every PUT, PATCH, POST and DELETE right before it
	// is handed to the connection.
	MayWrite WriteCheck
	// Journal, when set, records every write that leaves.
	Journal Journal
	// Observer is called for each request that left, from many goroutines.
	Observer func(Request)
	// Clock returns the current time; nil means time.Now.
	Clock func() time.Time
	// Description describes the credential for Check.
	Description string
	// AuxiliaryTenants are additional tenants; their tokens accompany every request,
	// for references to resources of another tenant (at most three, ARM's limit).
	AuxiliaryTenants []string
	// VaultSuffix is the suffix of the hosts of readable key vaults (see the function
	// VaultSuffix); "" allows none.
	VaultSuffix string
	// ReadOnly refuses every request that could change anything, by all connections, with
	// an *Error of CodeReadOnly.
	ReadOnly bool
	// Connections are additional ways to ARM by the names of their credentials.
	Connections map[string]Connection
}

// Call is the operation of the Client that sends a request.
type Call string

// The calls.
const (
	CallGet    Call = "get"
	CallList   Call = "list"
	CallPut    Call = "put"
	CallPatch  Call = "patch"
	CallDelete Call = "delete"
	CallPost   Call = "post"
	CallPoll   Call = "poll"
)

// Request describes one HTTP request to an Observer. All its fields but Duration and Span
// have few values, so that they can be labels of metrics.
type Request struct {
	Call   Call
	Method string
	// Type is the resource type, for example Microsoft.Kusto/clusters.
	Type string
	// Status is 0 without a response.
	Status   int
	Duration time.Duration
	// Span is the span of the request, invalid without traces.
	Span trace.SpanContext
}

// Client sends requests to ARM, by its own connection or by the one that
// WithCredential selects. It is safe for concurrent use, caches no state of resources
// and never retries.
type Client struct {
	// name of the connection, "" for the client's own; connections is nil in a
	// connection.
	name, description string
	connections       *connections
	vaults            *vaults
	endpoint          string
	pipeline          runtime.Pipeline
	host              *url.URL
	pollInterval      time.Duration
	now               clock
	offers            *offerCache
	// principal returns the object ID of the credential, "" if its token names none.
	principal func(context.Context) string
}

// NewClient returns a client; it sends nothing.
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
		return nil, errors.New("configure endpoint: invalid URL")
	}
	if options.Credential == nil && !loopback(host) {
		return nil, fmt.Errorf("configure credential: none is allowed for loopback only, not for %s", host.Host)
	}
	now := clock(options.Clock)
	if now == nil {
		now = time.Now
	}
	pipeline, err := newPipeline(options, host, now)
	if err != nil {
		return nil, fmt.Errorf("configure ARM client: %w", err)
	}
	secrets, err := newVaults(options, now)
	if err != nil {
		return nil, fmt.Errorf("configure key vaults: %w", err)
	}
	client := &Client{description: options.Description, endpoint: endpoint, pipeline: pipeline, vaults: secrets, host: host, pollInterval: options.PollInterval, now: now, offers: &offerCache{}, principal: principalOf(options)}
	if options.Connections != nil {
		client.connections, err = newConnections(options)
	}
	return client, err
}

// newPipeline returns azcore's pipeline without its two retry layers: the workflow
// decides about retries, and registering a provider is a separate activity.
func newPipeline(options Options, host *url.URL, now clock) (runtime.Pipeline, error) {
	transport, err := preparedTransport(options.Transport)
	if err != nil {
		return runtime.Pipeline{}, err
	}
	var credential azcore.TokenCredential
	if options.Credential != nil {
		credential = guardCredential(options.Credential)
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
		Transport:                       &guardedTransport{next: transport, endpoint: host, now: now, observe: options.Observer, mayWrite: options.MayWrite, journal: options.Journal, readOnly: options.ReadOnly},
		PerCallPolicies:                 []policy.Policy{runtime.NewRequestIDPolicy(), headerPolicy{}},
	}
	if options.UserAgentSuffix != "" {
		client.PerRetryPolicies = append(client.PerRetryPolicies, userAgentPolicy{options.UserAgentSuffix})
	}
	if options.Throttle != nil {
		client.PerRetryPolicies = append(client.PerRetryPolicies, options.Throttle)
	}
	return armruntime.NewPipeline("armature", version, credential, runtime.PipelineOptions{},
		&armpolicy.ClientOptions{ClientOptions: client, DisableRPRegistration: true, AuxiliaryTenants: options.AuxiliaryTenants})
}

// userAgentPolicy appends a text to the User-Agent that azcore sets.
type userAgentPolicy struct{ suffix string }

// Do appends the text and calls the next policy.
func (p userAgentPolicy) Do(request *policy.Request) (*http.Response, error) {
	header := request.Raw().Header
	if agent := header.Get("User-Agent"); !strings.HasSuffix(agent, p.suffix) {
		header.Set("User-Agent", strings.TrimSpace(agent+" "+p.suffix))
	}
	return request.Next()
}

type correlationKey struct{}

// WithCorrelationID adds the ID (a GUID) as x-ms-correlation-request-id to every
// request of the context, so that Azure's activity log finds them.
func WithCorrelationID(ctx context.Context, id string) context.Context {
	return context.WithValue(ctx, correlationKey{}, id)
}

// headerPolicy sets the headers of all requests, azcore's pollers included.
type headerPolicy struct{}

// Do sets the headers and calls the next policy.
func (headerPolicy) Do(request *policy.Request) (*http.Response, error) {
	header := request.Raw().Header
	header.Set("Accept", "application/json")
	if id, _ := request.Raw().Context().Value(correlationKey{}).(string); id != "" {
		header.Set(headerCorrelationID, id)
	}
	return request.Next()
}
