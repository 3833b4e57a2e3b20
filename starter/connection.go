package starter

import (
	"context"
	"time"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/internal/payload"
	"github.com/armature-io/armature/internal/searchattr"
	"github.com/armature-io/armature/internal/signing"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/starter/internal/backend"
	"github.com/armature-io/armature/starter/internal/project"
	"github.com/armature-io/armature/starter/internal/rollout"
	"github.com/armature-io/armature/workflows"
)

// messenger sends updates to workflows.
type messenger interface {
	Update(ctx context.Context, workflowID string, m backend.Message) error
	UpdateWithStart(ctx context.Context, desired resource.Desired, m backend.Message) error
	StartStack(ctx context.Context, id string, stack activities.Stack) error
}

// freezer sets and reads freezes.
type freezer interface {
	Freeze(ctx context.Context, freeze workflows.Freeze) (workflows.FreezeResult, error)
	Unfreeze(ctx context.Context, freeze workflows.Freeze, key *signing.Signer) (workflows.FreezeResult, error)
	ConfirmFreeze(ctx context.Context, freeze workflows.Freeze) (backend.Confirmation, error)
	Freezes(ctx context.Context) (freezes []workflows.Freeze, interrupted bool, err error)
}

// dryRunner runs workflows on a worker that change nothing.
type dryRunner interface {
	Memory(ctx context.Context, workflowID string) (activities.WorkflowMemory, error)
	Plan(ctx context.Context, workflowID string, in activities.PlanResourceInput) (activities.PlanResourceResult, error)
	PlanDeletion(ctx context.Context, workflowID, taskQueue string, in activities.PlanDeletionInput) (activities.PlanDeletionResult, error)
	Import(ctx context.Context, workflowID string, in activities.ImportResourceInput) (activities.ImportResourceResult, error)
	TryChecks(ctx context.Context, workflowID string, in activities.TryChecksInput) (activities.TryChecksResult, error)
	Move(ctx context.Context, workflowID string, in activities.MoveResourceInput) (activities.MoveResourceResult, error)
}

// examiner checks what Armature needs.
type examiner interface {
	Findings(ctx context.Context) (findings []activities.Finding, hasNamespace bool)
	CountPhases(ctx context.Context, phases []string) (map[string]int, error)
	Diagnose(ctx context.Context, in activities.DiagnoseInput) (activities.DiagnoseResult, error)
}

// historian reads histories.
type historian interface {
	backend.Historian
	Runs(ctx context.Context, workflowID string) ([]backend.HistoryRun, error)
	RunsSince(ctx context.Context, workflowID string, since time.Time) ([]backend.HistoryRun, error)
}

// pollReader reports whether workers serve a task queue, and which.
type pollReader interface {
	Polled(ctx context.Context, taskQueue string) bool
	Pollers(ctx context.Context) ([]backend.Poller, error)
}

// connection is an open connection to Temporal: one interface for each group of
// commands. Tests replace them.
type connection struct {
	messenger
	backend.Reader
	freezer
	dryRunner
	examiner
	historian
	pollReader
	// versions is nil in tests that need none.
	versions rollout.Connection
	operator searchattr.Operator
	// counter is nil in tests: setup then does not wait for the server.
	counter   searchattr.Counter
	namespace string
	close     func()
}

// connectTemporal opens the connection that the environment describes.
func connectTemporal(ctx context.Context, o backend.Options) (*connection, error) {
	c, err := backend.Connect(ctx, o)
	if err != nil {
		return nil, err
	}
	return &connection{
		messenger: c, Reader: c, freezer: c, dryRunner: c, examiner: c, historian: c, pollReader: c, versions: c,
		operator: c.Operator(), counter: c.Counter(), namespace: c.Namespace(), close: c.Close,
	}, nil
}

// connection opens the connection of the command; run closes it.
func (a *app) connection(ctx context.Context) (*connection, error) {
	converters, err := a.payloads(ctx)
	if err == nil && a.open == nil {
		a.open, err = a.connect(ctx, backend.Options{Environment: a.environment, Identity: a.by, TaskQueue: a.taskQueue, WorkerTimeout: a.workerTimeout, Converters: converters, Tracer: a.trace.Tracer(), Embedded: a.embedded, Token: a.options.Token, Note: a.note})
	}
	return a.open, err
}

// payloads returns the converters of the command, with the keys of its flags and variables.
func (a *app) payloads(ctx context.Context) (*payload.Converters, error) {
	var err error
	if a.converters == nil {
		embedded := payload.Options{Base: a.options.DataConverter, Codecs: a.options.PayloadCodecs}
		if a.embedded, err = backend.Embed(ctx, a.environment, a.options.Plugins, a.options.Interceptors, &embedded); err == nil {
			a.converters, err = a.keys.Load(ctx, a.environment, embedded)
		}
	}
	return a.converters, err
}

// loader returns how commands read manifests.
func (a *app) loader() project.Loader {
	return project.Loader{
		Stdin: a.in, Note: a.note,
		Reader: func(ctx context.Context) (backend.Reader, error) { return a.connection(ctx) },
		HasKey: func() (bool, error) {
			key, err := backend.LoadSigner(a.signingKey, a.environment, "", a.now)
			return key != nil, err
		},
	}
}

// disconnect closes the connection of the command, if it has one.
func (a *app) disconnect() {
	if a.open != nil {
		a.open.close()
		a.open = nil
	}
}
