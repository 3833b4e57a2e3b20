// Package backend is the CLI's client of Temporal. It owns the messages to workflows and
// the reading of workflows and histories, with the keys, signatures and traces of a
// connection, its findings for doctor, and the errors for a user. It knows neither flags
// nor screens, and takes no decision about a resource.
package backend

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/internal/payload"
	"github.com/armature-io/armature/internal/searchattr"
	"github.com/armature-io/armature/internal/tracing"
	"github.com/armature-io/armature/starter/internal/cli"
	"github.com/armature-io/armature/workflows"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	sdklog "go.temporal.io/sdk/log"
	"go.temporal.io/sdk/temporal"
)

// Timeouts of single calls. Queries have a short one, because a list must not wait
// for a missing worker.
const (
	dialTimeout  = 8 * time.Second
	queryTimeout = 3 * time.Second
	// queryPause is the pause before a query that the server gave up early is repeated.
	queryPause = 200 * time.Millisecond
	// stepTimeout bounds a second query while a worker runs a step: the checks of one
	// workflow task take 5 s each, and queries wait for them.
	stepTimeout = 12 * time.Second
	// readTimeout bounds calls that need no worker. The server responded when the connection
	// was made, so silence means a slow server sooner than a dead one.
	readTimeout = 30 * time.Second
	// memoryTimeout bounds the query for the memory of one workflow, which needs a worker.
	memoryTimeout = 10 * time.Second
	// DefaultWorkerTimeout bounds an update unless Options set another timeout.
	DefaultWorkerTimeout = 10 * time.Second
)

// Options configure a connection.
type Options struct {
	// Environment has the TEMPORAL_* variables.
	Environment cli.Environment
	// Identity is the acting user: user@host.
	Identity  string
	TaskQueue string
	// Converters are those of the workers; nil are those without keys.
	Converters *payload.Converters
	// Embedded are the options of an embedder, as Embed returns them; nil without one.
	Embedded *client.Options
	// Token, where set, replaces TokenVariable.
	Token Token
	// WorkerTimeout is how long one message waits for a worker; 0 means
	// DefaultWorkerTimeout.
	WorkerTimeout time.Duration
	// Tracer makes the spans of messages; nil for none.
	Tracer *tracing.Tracer
	// Note writes a sentence for the user; nil drops it.
	Note func(format string, args ...any)
}

// Client is an open connection to Temporal.
type Client struct {
	client  client.Client
	address string
	// security describes the connection for doctor: "with TLS, profile prod".
	security string
	// exposed is set when the connection crosses a network in clear.
	exposed       bool
	namespace     string
	taskQueue     string
	workerTimeout time.Duration
	converters    *payload.Converters
	// writes runs checkWrite once, whose error is writeErr.
	writes   sync.Once
	writeErr error
	// note writes a sentence for the user.
	note func(format string, args ...any)
	// readable is set once a workflow of the task queue was read without a missing key.
	readable atomic.Bool
	// pageSize is the size of the pages of a list, 0 until store was read: then the first
	// page may be large, too.
	store    sync.Once
	pageSize atomic.Int32
	// lists counts the list requests.
	lists atomic.Int64
}

// Lists returns the number of list requests of a Client so far, 0 for any other reader.
func Lists(reader Reader) int64 {
	if c, ok := reader.(*Client); ok {
		return c.lists.Load()
	}
	return 0
}

// Connect opens the connection that envconfig describes (TEMPORAL_* and
// temporal.toml). It fails within dialTimeout when the server does not respond.
func Connect(ctx context.Context, o Options) (*Client, error) {
	options, err := loadOptions(o)
	if err != nil {
		return nil, err
	}
	if o.Converters == nil {
		o.Converters = payload.Clear()
	}
	o.Converters.Apply(&options)
	withToken(o, &options)
	options.Logger = sdklog.NewStructuredLogger(slog.New(slog.DiscardHandler))
	options.Identity = o.Identity
	options.Interceptors = append(options.Interceptors, tracing.NewClientInterceptor(o.Tracer))
	if options.HostPort == "" {
		options.HostPort = client.DefaultHostPort
	}
	if options.Namespace == "" {
		options.Namespace = client.DefaultNamespace
	}
	if !validAddress(options.HostPort) {
		return nil, cli.BadInput("read the Temporal configuration: the address %q is not host:port; set TEMPORAL_ADDRESS to an address like temporal.example.com:7233, without a scheme", options.HostPort)
	}
	deadline, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	c, err := client.DialContext(deadline, options)
	if err != nil {
		if ctx.Err() != nil {
			return nil, cli.Failed("interrupted before anything was sent")
		}
		return nil, cli.Unreachable("reach Temporal at %s: %s; start it or set TEMPORAL_ADDRESS (and TEMPORAL_NAMESPACE, TEMPORAL_API_KEY or TEMPORAL_TLS_* if required)",
			options.HostPort, dialReason(err))
	}
	if o.Note == nil {
		o.Note = func(string, ...any) {}
	}
	if o.WorkerTimeout == 0 {
		o.WorkerTimeout = DefaultWorkerTimeout
	}
	return &Client{
		client: c, address: options.HostPort, security: security(options, o.Environment), exposed: payload.IsExposed(options), namespace: options.Namespace,
		note: o.Note, taskQueue: o.TaskQueue, workerTimeout: o.WorkerTimeout, converters: o.Converters,
	}, nil
}

// validAddress reports whether an address is host:port, or has a scheme of gRPC
// such as dns:///.
func validAddress(address string) bool {
	_, port, err := net.SplitHostPort(address)
	return strings.Contains(address, ":///") || err == nil && port != "" && !strings.Contains(address, "/")
}

// security describes whether the connection is encrypted, and the profile that
// configures it.
func security(options client.Options, environment cli.Environment) string {
	summary := "without TLS"
	if options.ConnectionOptions.TLS != nil || options.Credentials != nil {
		summary = "with TLS"
	}
	if profile, _ := environment.LookupEnv("TEMPORAL_PROFILE"); profile != "" {
		summary += ", profile " + profile
	}
	return summary
}

// Namespace returns the namespace of the connection.
func (c *Client) Namespace() string { return c.namespace }

// Operator returns the service that registers search attributes.
func (c *Client) Operator() searchattr.Operator { return c.client.OperatorService() }

// Counter returns the service that counts workflows.
func (c *Client) Counter() searchattr.Counter { return c.client }

// Close closes the connection.
func (c *Client) Close() { c.client.Close() }

// StartStack starts the workflow that accompanies the deletion of a stack. id is the ID of the
// run.
func (c *Client) StartStack(ctx context.Context, id string, stack activities.Stack) error {
	if err := c.checkWrite(ctx); err != nil {
		return err
	}
	deadline, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	_, err := c.client.ExecuteWorkflow(deadline, client.StartWorkflowOptions{
		ID: id, TaskQueue: c.taskQueue, StaticSummary: fmt.Sprintf("deletion of %d resources", len(stack.Resources)+len(stack.Locks)),
		Priority: temporal.Priority{PriorityKey: workflows.PriorityUser},
	}, workflows.DeleteStackWorkflow, stack)
	if err != nil {
		return c.translateRead(ctx, err)
	}
	return nil
}

// Memory queries what the workflow of a resource keeps beside its status. It returns a
// *NoWorkerError when no worker responds in time, as Status does.
func (c *Client) Memory(ctx context.Context, workflowID string) (memory activities.WorkflowMemory, err error) {
	value, err := c.query(ctx, workflowID, workflows.MemoryQuery, memoryTimeout)
	if err != nil {
		return memory, err
	}
	if err := value.Get(&memory); err != nil {
		return memory, cmp.Or(unreadable(err), error(cli.Failed("read the spec of %s: %w; is this armature older than the worker?", workflowID, err)))
	}
	return memory, nil
}

// Status queries a workflow for the status of its resource. It returns a
// *NoWorkerError when no worker responds in time.
func (c *Client) Status(ctx context.Context, workflowID string) (workflows.Status, error) {
	value, err := c.query(ctx, workflowID, workflows.StatusQuery, queryTimeout)
	if err != nil {
		return workflows.Status{}, err
	}
	var status workflows.Status
	if err := value.Get(&status); err != nil {
		return workflows.Status{}, cmp.Or(unreadable(err), error(cli.Failed("read the status of %s: %w; is this armature older than the worker?", workflowID, err)))
	}
	return status, nil
}

// query queries a workflow. While a worker runs a step of the resource, which queries wait
// for, or was killed in one, it waits longer.
func (c *Client) query(ctx context.Context, workflowID, kind string, timeout time.Duration) (converter.EncodedValue, error) {
	value, err := c.queryOnce(ctx, workflowID, kind, timeout)
	noWorker, unanswered := errors.AsType[*NoWorkerError](err)
	if !unanswered {
		return value, err
	}
	if noWorker.StepSince = c.stepSince(ctx, workflowID); noWorker.StepSince.IsZero() {
		return nil, err
	}
	if value, err = c.queryOnce(ctx, workflowID, kind, stepTimeout); is[*NoWorkerError](err) {
		return nil, noWorker
	}
	return value, err
}

// queryOnce queries a workflow within a time. The server gives up a query early where the
// worker that it waited for was killed; another worker gets the next one.
func (c *Client) queryOnce(ctx context.Context, workflowID, kind string, timeout time.Duration) (converter.EncodedValue, error) {
	deadline, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	value, err := c.client.QueryWorkflow(deadline, workflowID, "", kind)
	for is[*serviceerror.DeadlineExceeded](err) && deadline.Err() == nil {
		select {
		case <-time.After(queryPause):
			value, err = c.client.QueryWorkflow(deadline, workflowID, "", kind)
		case <-deadline.Done():
		}
	}
	return value, c.translate(ctx, err)
}

// stepSince returns when a worker took the workflow task that it still holds, zero if none
// holds one.
func (c *Client) stepSince(ctx context.Context, workflowID string) time.Time {
	deadline, cancel := context.WithTimeout(ctx, queryTimeout)
	defer cancel()
	response, err := c.client.DescribeWorkflowExecution(deadline, workflowID, "")
	if err != nil || response.GetPendingWorkflowTask().GetState() != enumspb.PENDING_WORKFLOW_TASK_STATE_STARTED {
		return time.Time{}
	}
	return timeOf(response.GetPendingWorkflowTask().GetStartedTime())
}
