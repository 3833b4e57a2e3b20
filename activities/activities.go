package activities

import (
	"cmp"
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/armature-io/armature/activities/feed"
	"github.com/armature-io/armature/activities/importing"
	"github.com/armature-io/armature/activities/lookup"
	"github.com/armature-io/armature/activities/writing"
	"github.com/armature-io/armature/arm"
	"github.com/armature-io/armature/internal/audit"
	"github.com/armature-io/armature/internal/batching"
	"github.com/armature-io/armature/internal/extensionhost"
	"github.com/armature-io/armature/internal/payload"
	"github.com/armature-io/armature/internal/servertime"
	"github.com/armature-io/armature/internal/signing"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/secrets"
	"go.temporal.io/sdk/activity"
)

// Dependencies are what the activities need; all are required but those that may be nil.
type Dependencies struct {
	Client   *arm.Client
	Registry *extensionhost.Registry
	Secrets  *secrets.Resolver
	Masker   *secrets.Masker
	Fleet    Fleet
	Waker    Waker
	Turns    Turns
	Freezer  writing.Freezer
	Budgets  writing.Budgets
	Memory   MemoryReader
	Attempts writing.Attempts
	// Feeds, if not nil, deliver reports of changes.
	Feeds Feeds
	// Signatures, if not nil, must accept what is written or deleted.
	Signatures *signing.Verifier
	// Audit, if not nil, is the audit trail of all writes.
	Audit *audit.Journal
	// Authors, if not nil, decrypts the authors of freezes. It is not embedded, because each
	// method of Activities is an activity.
	Authors Unsealer
	Log     *slog.Logger
}

// Options tune the activities; the zero value works.
type Options struct {
	// Encryption are the keys of payloads that this worker has.
	Encryption payload.Status
	// WarnOfSignatures logs what the signatures do not accept, and writes it.
	WarnOfSignatures bool
	// RereadWindow is how long a response that contradicts an accepted write, or shows a known
	// resource as absent, is read again before it is believed; default 60 s.
	RereadWindow time.Duration
	// SettleTime is how long after an accepted PUT an absent resource is no disappearance;
	// default 15 min.
	SettleTime time.Duration
	// RereadInterval is the time between two such reads; default 5 s.
	RereadInterval time.Duration
	// ReadInterval is the time between two reads of a resource while its operation
	// cannot be polled; default 15 s.
	ReadInterval time.Duration
	// AbsentWindow is how long a resource may be absent while its creation cannot be
	// polled; default 10 min.
	AbsentWindow time.Duration
	// OwnerMaxAge is how long a reading of an owner is cached; default 30 s.
	OwnerMaxAge time.Duration
	// MaxSlotWait is the longest wait between two polls that keeps its worker slot;
	// default 5 s, negative for none.
	MaxSlotWait time.Duration
	// TurnTimeout is how long the queue of a parent may take to respond; default 20 s.
	TurnTimeout time.Duration
	// FeedSources are the sources of changes by the name of the credential; none without an entry.
	// FeedInterval is the time between two readings of one; default 2 min.
	FeedSources  map[string]feed.Source
	FeedInterval time.Duration
	// WorkflowSlots is how many workflow tasks the worker runs at the same time; default 1000.
	WorkflowSlots int
	// Pause waits in a worker slot, and returns false where the wait was
	// interrupted; default a timer.
	Pause func(ctx context.Context, delay time.Duration) bool
	// HashKey is the key of the hashes in the baseline. FormerHashKey is another one with
	// which baselines may have been recorded, nil for none.
	HashKey, FormerHashKey []byte
	// Rotation states that HashKey is secret: then the baseline contains keyed hashes
	// of secrets too, and a rotated secret is a difference.
	Rotation bool
	// PutBudget bounds the PUTs per hour of the fleet that correct drift, and
	// DisappearanceBudget those that recreate what was deleted outside Armature; 0 for
	// no bound.
	PutBudget, DisappearanceBudget int
	// OverdueAfter is how long a resource may be blocked or not ready before its
	// condition is an error; default 1 h, negative for never. A resource is never
	// overdue while it or its owner is in one of the states OverdueExempt, in any
	// case.
	OverdueAfter  time.Duration
	OverdueExempt []string
	// Exports are the secrets that exports may write, by the name of the credential; none
	// without an entry.
	Exports map[string][]resource.VaultPattern
	// KeepUnregistered makes RegisterProvider register nothing: it reports the
	// command to run.
	KeepUnregistered bool
	// Records, unless nil, have the newest statement of each resource, also of deleted
	// ones. A write whose statement is older is not sent.
	Records writing.Records
	// StartFrozen names the start that freezes everything, for Diagnose; "true" is every start,
	// "" none.
	StartFrozen string
	// ReadOnly makes every write a verdict: nothing is sent that could change Azure.
	ReadOnly bool
	// Observed are the resources that are only observed, whatever policy their manifests state.
	Observed resource.Observed
	// Rules, when set, returns the state of the worker's rules.
	Rules func() RulesState
	// Senders, when set, returns what Diagnose reports about the tokens of senders.
	Senders func() []Finding
	// Observe, when set, receives every verdict of every step.
	Observe func(step string, verdict resource.Verdict)
	// Now is the clock; default time.Now. Clock replaces it with one that is compared with
	// the server's and shared with others.
	Now   func() time.Time
	Clock *servertime.Clock
	// StartTime returns when the server started an activity; default as Temporal states it.
	// If Now is set, time is virtual, and the default is Clock.
	StartTime func(ctx context.Context) time.Time
}

// Activities is the state that the activities share. Its exported methods are the
// activities.
type Activities struct {
	Dependencies
	*requestMaker
	*resourceReader
	options       Options
	imports       *importing.Lister
	newer         *newerVersions
	registrations registrations
	later         later
	denials       denials
	looks         *looks
	// slotWaits limits the waits that keep their worker slot.
	slotWaits chan struct{}
	// patchOnly are the types, in lower case, that have no PUT.
	patchOnly sync.Map
	// proposals joins the questions of preflights.
	proposals *batching.Batcher[proposed, judged]
}

// New returns the activities.
func New(dependencies Dependencies, options Options) *Activities {
	setDefault(&options.RereadWindow, time.Minute)
	setDefault(&options.SettleTime, 15*time.Minute)
	setDefault(&options.RereadInterval, 5*time.Second)
	setDefault(&options.ReadInterval, 15*time.Second)
	setDefault(&options.AbsentWindow, 10*time.Minute)
	setDefault(&options.OwnerMaxAge, 30*time.Second)
	setDefault(&options.TurnTimeout, 20*time.Second)
	setDefault(&options.FeedInterval, 2*time.Minute)
	options.MaxSlotWait = cmp.Or(options.MaxSlotWait, maxSlotWait)
	options.OverdueAfter = cmp.Or(options.OverdueAfter, time.Hour)
	if options.Pause == nil {
		options.Pause = pause
	}
	started := func(context.Context) time.Time { return options.Clock.Now() }
	if options.Now == nil {
		options.Now = time.Now
		started = func(ctx context.Context) time.Time { return activity.GetInfo(ctx).StartedTime }
	}
	if options.Clock == nil {
		options.Clock = servertime.New(options.Now)
	}
	if options.StartTime == nil {
		options.StartTime = started
	}
	dependencies.Masker = dependencies.Registry.Masker(dependencies.Masker)
	reader := lookup.New(dependencies.Client, dependencies.Masker, options.OwnerMaxAge, options.Clock.Now)
	requests := &requestMaker{
		secretReader: &secretReader{resolver: dependencies.Secrets, masker: dependencies.Masker},
		hasher:       &hasher{key: options.HashKey, formerKey: options.FormerHashKey, rotation: options.Rotation},
		client:       dependencies.Client, registry: dependencies.Registry, lookup: reader, bodies: &lookup.Bodies{},
		states:    &managedStates{fleet: dependencies.Fleet, lookup: reader, clock: options.Clock},
		followers: &followers{feeds: dependencies.Feeds, sources: options.FeedSources, client: dependencies.Client, registry: dependencies.Registry},
		observed:  options.Observed,
		etags:     &ignoredETags{log: dependencies.Log}, clock: options.Clock, now: options.Clock.Now, log: dependencies.Log,
	}
	reports := reporter(func(step string, verdict resource.Verdict) resource.Verdict {
		if options.Observe != nil {
			options.Observe(step, verdict)
		}
		return verdict
	})
	return &Activities{
		Dependencies: dependencies, requestMaker: requests,
		resourceReader: &resourceReader{
			requestMaker: requests, report: reports,
			rereadWindow: options.RereadWindow, rereadInterval: options.RereadInterval, overdueStates: options.OverdueExempt,
		},
		newer:     &newerVersions{requests: requests},
		options:   options,
		proposals: newProposals(dependencies.Client),
		imports:   importing.New(dependencies.Client, dependencies.Registry, options.Pause),
		looks:     newLooks(cmp.Or(options.WorkflowSlots, defaultWorkflowSlots)),
		slotWaits: make(chan struct{}, maxSlotWaits),
	}
}

func setDefault(value *time.Duration, fallback time.Duration) {
	if *value <= 0 {
		*value = fallback
	}
}

// withCredential selects the resource's credential for ARM and Key Vault requests.
func withCredential(ctx context.Context, credential string, id resource.ID) context.Context {
	return arm.WithSubject(arm.WithCredential(ctx, credential), id)
}

// maxRequestMargin is how much earlier than the activity its requests end.
const maxRequestMargin = 5 * time.Second

// requestContext returns the context of an activity's requests to ARM. They end a
// little before the activity does: a request that hangs is then an error that is
// counted and becomes a verdict, while Temporal would retry a timeout without end
// and without a reason.
func requestContext(ctx context.Context) (context.Context, context.CancelFunc) {
	deadline, bounded := ctx.Deadline()
	ctx = withRunID(ctx)
	if !bounded {
		return context.WithCancel(ctx)
	}
	return context.WithDeadline(ctx, deadline.Add(-requestMargin(time.Until(deadline))))
}

// requestMargin returns the part of the remaining time that a request may not use.
func requestMargin(remaining time.Duration) time.Duration {
	return min(maxRequestMargin, remaining/4)
}

// withRunID sets the run ID of the workflow as the
// correlation ID, which ARM logs with each request.
func withRunID(ctx context.Context) context.Context {
	info := activity.GetInfo(ctx)
	return arm.WithCorrelationID(ctx, info.WorkflowExecution.RunID)
}

// reporter passes the verdict of a step to Options.Observe and returns it.
type reporter func(step string, verdict resource.Verdict) resource.Verdict

// noteChanges drops cached readings from before each change.
func (m *requestMaker) noteChanges(changes []Change) {
	for _, change := range changes {
		m.lookup.NoteChange(change.ID, change.At)
	}
}
