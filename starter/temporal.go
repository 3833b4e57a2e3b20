package main

import (
	"context"
	"log/slog"
	"net"
	"strings"
	"time"

	"github.com/armature-io/armature/payload"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/searchattr"
	"github.com/armature-io/armature/workflows"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/contrib/envconfig"
	sdklog "go.temporal.io/sdk/log"
)

// Deadlines of one call. An update waits for a worker, workerTimeout unless
// --worker-timeout says otherwise; a query that nobody answers must not hold up a
// list.
const (
	dialTimeout   = 8 * time.Second
	workerTimeout = 10 * time.Second
	queryTimeout  = 3 * time.Second
	readTimeout   = 10 * time.Second
)

// messenger sends updates to workflows.
type messenger interface {
	// update sends to a running workflow; errNotManaged when there is none.
	update(ctx context.Context, workflowID string, m message) error
	// updateWithStart starts the workflow of desired where none runs.
	updateWithStart(ctx context.Context, desired resource.Desired, m message) error
}

// reader reads workflows. None of its calls but status needs a worker.
type reader interface {
	// status asks the workflow; errNoWorker when nobody answers in time.
	status(ctx context.Context, workflowID string) (workflows.Status, error)
	// record is what the server knows; errNotManaged when it knows nothing.
	record(ctx context.Context, workflowID string) (record, error)
	// list are the records of a visibility query.
	list(ctx context.Context, query string) ([]record, error)
}

// backend is an open connection.
type backend struct {
	messenger
	reader
	fridge
	planner
	examiner
	historian
	operator  searchattr.Operator
	counter   searchattr.Counter // nil: nobody is asked what the server knows
	namespace string
	close     func()
}

// message is one update: its name, payload, and where the answer goes (a
// pointer).
type message struct {
	name   string
	input  any
	result any
}

// connectTemporal opens the connection that envconfig describes, and fails
// within dialTimeout when nobody is there.
func connectTemporal(ctx context.Context, a *app) (*backend, error) {
	options, err := envconfig.LoadClientOptions(envconfig.LoadClientOptionsRequest{EnvLookup: environment{a}})
	if err != nil {
		return nil, badInput("read the Temporal configuration: %w; check the TEMPORAL_* variables and temporal.toml", err)
	}
	options.DataConverter = payload.DataConverter()
	options.Logger = sdklog.NewStructuredLogger(slog.New(slog.DiscardHandler))
	options.Identity = a.by
	if options.HostPort == "" {
		options.HostPort = client.DefaultHostPort
	}
	if options.Namespace == "" {
		options.Namespace = client.DefaultNamespace
	}
	if _, port, err := net.SplitHostPort(options.HostPort); (err != nil || port == "" || strings.Contains(options.HostPort, "/")) && !strings.Contains(options.HostPort, ":///") {
		return nil, badInput("read the Temporal configuration: the address %q is no host:port; write TEMPORAL_ADDRESS like temporal.example.com:7233, without a scheme", options.HostPort)
	}
	deadline, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	c, err := client.DialContext(deadline, options)
	if err != nil {
		if ctx.Err() != nil {
			return nil, failed("interrupted before anything was sent")
		}
		return nil, unreachable("reach Temporal at %s: %s; start it or set TEMPORAL_ADDRESS (and TEMPORAL_NAMESPACE, TEMPORAL_API_KEY or TEMPORAL_TLS_* where it needs them)",
			options.HostPort, dialReason(err))
	}
	t := &temporalClient{client: c, address: options.HostPort, secured: a.secured(options), namespace: options.Namespace, taskQueue: a.taskQueue, patience: a.workerTimeout}
	return &backend{messenger: t, reader: t, fridge: t, planner: t, examiner: t, historian: t, operator: c.OperatorService(), counter: c, namespace: options.Namespace, close: c.Close}, nil
}

// secured says whether the connection is encrypted, and which profile says so.
func (a *app) secured(options client.Options) string {
	words := "without TLS"
	if options.ConnectionOptions.TLS != nil || options.Credentials != nil {
		words = "with TLS"
	}
	if profile, _ := a.lookup("TEMPORAL_PROFILE"); profile != "" {
		words += ", profile " + profile
	}
	return words
}

// environment lets envconfig read the app's environment.
type environment struct{ a *app }

func (e environment) Environ() []string                    { return e.a.environ }
func (e environment) LookupEnv(name string) (string, bool) { return e.a.lookup(name) }

// temporalClient is messenger and reader on the SDK's client.
type temporalClient struct {
	client  client.Client
	address string
	// secured says how the connection is made, for doctor.
	secured   string
	namespace string
	taskQueue string
	// patience is how long one message waits for its answer.
	patience time.Duration
}

// summaryMax bounds the static summary in bytes: the server refuses a start
// whose summary is over 400.
const summaryMax = 200

// startOptions start the workflow of a resource. It has no timeouts: it lives
// as long as the resource is managed.
func startOptions(desired resource.Desired, taskQueue string) client.StartWorkflowOptions {
	return client.StartWorkflowOptions{
		ID:                       desired.ID.WorkflowID(),
		TaskQueue:                taskQueue,
		WorkflowIDConflictPolicy: enumspb.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING,
		Memo:                     workflows.Memo(desired),
		TypedSearchAttributes:    workflows.IdentityAttributes(desired),
		StaticSummary:            cutBytes(desired.ID.Type()+" "+desired.ID.Short(), summaryMax),
		StaticDetails:            staticDetails(desired),
	}
}

func staticDetails(desired resource.Desired) string {
	details := "- **ID** `" + desired.ID.String() + "`\n- **api-version** `" + desired.APIVersion + "`\n"
	if !desired.Owner.IsZero() {
		details += "- **owner** `" + desired.Owner.String() + "`\n"
	}
	return details
}

func (t *temporalClient) status(ctx context.Context, workflowID string) (workflows.Status, error) {
	deadline, cancel := context.WithTimeout(ctx, queryTimeout)
	defer cancel()
	value, err := t.client.QueryWorkflow(deadline, workflowID, "", workflows.StatusQuery)
	if err != nil {
		return workflows.Status{}, t.translate(ctx, err)
	}
	var status workflows.Status
	if err := value.Get(&status); err != nil {
		return workflows.Status{}, failed("read the status of %s: %w; is this armature older than the worker?", workflowID, err)
	}
	return status, nil
}
