package activities

import (
	"context"
	"log/slog"
	"time"

	"github.com/armature-io/armature/arm"
	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/secrets"
	"go.temporal.io/sdk/activity"
	"golang.org/x/time/rate"
)

// Dependencies are what the activities need; all are required.
type Dependencies struct {
	Client   *arm.Client
	Registry *extensions.Registry
	Secrets  *secrets.Resolver
	Masker   *secrets.Masker
	Fleet    Fleet
	Waker    Waker
	Turns    Turns
	Freezer  Freezer
	Recaller Recaller
	Log      *slog.Logger
}

// Options tune the activities; the zero value works.
type Options struct {
	// RereadWindow is how long an answer that contradicts an accepted write is
	// read again before it is believed; default 60 s.
	RereadWindow time.Duration
	// RereadInterval is the time between two such reads; default 5 s.
	RereadInterval time.Duration
	// ReadInterval is the time between two reads of a resource whose operation
	// cannot be polled; default 15 s.
	ReadInterval time.Duration
	// AbsentWindow is how long a resource may be absent while its creation
	// cannot be polled; default 10 min.
	AbsentWindow time.Duration
	// OwnerMaxAge is the life of a cached owner; default 30 s.
	OwnerMaxAge time.Duration
	// InPlace is the longest wait between two polls that keeps its slot; default
	// 5 s, negative never.
	InPlace time.Duration
	// Pause makes such a wait, and is false where its end did not come; default a
	// timer.
	Pause func(ctx context.Context, delay time.Duration) bool
	// HashKey makes the hashes in memory keyed ones.
	HashKey []byte
	// Rotation says that HashKey is secret: then memory holds keyed hashes of
	// secrets too, and a rotated one is a difference.
	Rotation bool
	// PutBudget bounds the PUTs of an hour that correct drift; 0 = no bound.
	PutBudget int
	// OverdueAfter is how long a resource may be blocked or not ready before its
	// condition is an error; default 1 h, negative never. While it, or its owner,
	// rests in one of OverdueExempt (words of ARM in any case), it never is.
	OverdueAfter  time.Duration
	OverdueExempt []string
	// KeepUnregistered makes RegisterProvider ask for no registration: it says
	// what to run.
	KeepUnregistered bool
	// Observe, when set, sees every verdict of every step.
	Observe func(step string, verdict resource.Verdict)
	// Now is the clock; default time.Now.
	Now func() time.Time
}

// Activities holds what the activities share. Its exported methods are the
// activities.
type Activities struct {
	Dependencies
	options       Options
	owners        *ownerReader
	bodies        bodies
	registrations registrations
	budget        *rate.Limiter
	// places are those of the waits in place.
	places chan struct{}
}

// New puts the activities together.
func New(dependencies Dependencies, options Options) *Activities {
	fill(&options.RereadWindow, time.Minute)
	fill(&options.RereadInterval, 5*time.Second)
	fill(&options.ReadInterval, 15*time.Second)
	fill(&options.AbsentWindow, 10*time.Minute)
	fill(&options.OwnerMaxAge, 30*time.Second)
	if options.InPlace == 0 {
		options.InPlace = inPlaceMost
	}
	if options.Pause == nil {
		options.Pause = pause
	}
	if options.OverdueAfter == 0 {
		options.OverdueAfter = time.Hour
	}
	if options.Now == nil {
		options.Now = time.Now
	}
	a := &Activities{Dependencies: dependencies, options: options, budget: newBudget(options.PutBudget), places: make(chan struct{}, inPlaceAtOnce)}
	a.owners = newOwnerReader(dependencies.Client, dependencies.Masker, options.OwnerMaxAge, options.Now)
	return a
}

func fill(value *time.Duration, fallback time.Duration) {
	if *value <= 0 {
		*value = fallback
	}
}

// as makes what an activity asks of ARM and of key vaults go by the credential of
// the resource.
func as(ctx context.Context, credential string, id resource.ID) context.Context {
	return arm.WithSubject(arm.WithCredential(ctx, credential), id)
}

// answerMargin is how much earlier than the activity its requests end.
const answerMargin = 5 * time.Second

// forARM is the context of an activity's requests. ARM logs the run ID with
// them. They end a little before the activity does: a request that hangs is then
// a fault that is counted and becomes a verdict, where a timeout of Temporal
// would be repeated for ever and say nothing.
func forARM(ctx context.Context) (context.Context, context.CancelFunc) {
	deadline, bounded := ctx.Deadline()
	ctx = correlated(ctx)
	if !bounded {
		return context.WithCancel(ctx)
	}
	return context.WithDeadline(ctx, deadline.Add(-margin(time.Until(deadline))))
}

// margin is what of the time that is left a request may not use.
func margin(left time.Duration) time.Duration { return min(answerMargin, left/4) }

// correlated makes ARM log the run ID with every request of the activity.
func correlated(ctx context.Context) context.Context {
	return arm.WithCorrelationID(ctx, activity.GetInfo(ctx).WorkflowExecution.RunID)
}

func (a *Activities) now() time.Time { return a.options.Now() }

// observed reports a verdict to the observer and hands it on.
func (a *Activities) observed(step string, verdict resource.Verdict) resource.Verdict {
	if a.options.Observe != nil {
		a.options.Observe(step, verdict)
	}
	return verdict
}
