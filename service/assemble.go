package service

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/activities/feed"
	"github.com/armature-io/armature/activities/writing"
	"github.com/armature-io/armature/caller"
	"github.com/armature-io/armature/config"
	"github.com/armature-io/armature/extensions/rules"
	"github.com/armature-io/armature/fleet"
	"github.com/armature-io/armature/internal/audit"
	"github.com/armature-io/armature/internal/extensionhost"
	"github.com/armature-io/armature/internal/payload"
	"github.com/armature-io/armature/internal/servertime"
	"github.com/armature-io/armature/internal/tracing/otlp"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/secrets"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"
	"google.golang.org/grpc"
)

// process is an assembled worker process that does not run yet.
type process struct {
	settings   config.Config
	log        *slog.Logger
	listener   net.Listener // nil without health and metrics
	metrics    *metrics
	temporal   client.Client
	connection client.Options
	converters *payload.Converters
	traces     *otlp.Provider // nil without traces
	fleet      *fleet.Fleet
	namespace  string
	identity   string
	version    version
	activities *activities.Activities
	plugins    []worker.Plugin
	authorizer *authorizer // nil where nothing is decided or verified
	callers    caller.Group
	lifts      *lifts
	health     *health
	state      *stateMetrics
	rules      *rules.Set // nil without rules
	// checks returns the fingerprint of the links and rules in force.
	checks  func() string
	journal *audit.Journal
	// feeds are the sources of changes by the name of the credential.
	feeds map[string]feed.Source
	// freezeInterval is the longest time between two readings of freezes and feeds.
	freezeInterval time.Duration
}

// assemble builds everything, top to bottom, and reports all problems together.
func assemble(ctx context.Context, settings config.Config, options Options) (*process, error) {
	if err := settings.Validate(); err != nil {
		return nil, &ConfigError{err} // later steps would repeat these problems
	}
	var problems []error
	check := func(err error) { problems = append(problems, err) }
	log := newLogger(settings.Log, options.Stderr)
	metrics, err := newMetrics(log)
	check(err)
	journal, err := newJournal(settings.Audit, options.Stdout, metrics, log)
	check(err)
	azure, err := newAzure(settings, options.Version, metrics.countRequest, options.MayWrite, journalOf(journal, writing.Journal))
	check(err)
	entries, ruleSet, err := withRules(ctx, settings.Rules, options.entries(), log)
	check(err)
	registry, err := extensionhost.New(entries...)
	check(err)
	connection, embedded, err := temporalOptions(ctx, options, log, metrics.sdk)
	check(err)
	converters, err := newConverters(ctx, settings, azure, embedded)
	check(err)
	converters.Apply(&connection)
	traces, err := newTraces(ctx, options, log)
	check(err)
	connection = withTraces(connection, traces.Tracer(), metrics)
	version, err := newVersion(settings.Worker.Version, options.Version)
	check(err)
	check(settings.CheckMaskKey())
	maskKey, err := newMaskKey(settings, connection.Namespace)
	check(err)
	temporalFiles := temporalSecretFiles(options)
	check(settings.CheckExposed(temporalFiles))
	records, err := newRecords(settings, azure, metrics.countRequest)
	check(err)
	clock := servertime.New(options.Now)
	feeds, err := feedSources(settings, azure, metrics.countRequest, clock.Now)
	check(err)
	signatures, err := newVerifier(settings.Signing, connection.Namespace)
	check(err)
	observed, err := resource.ParseObserved(string(settings.Observe))
	check(err)
	senders, err := newSenders(settings.Callers, options)
	check(err)
	var exports map[string][]resource.VaultPattern
	if azure != nil {
		exports, err = exportOptions(settings, azure.client)
		check(err)
		check(azure.verify(ctx))
	}
	if err := errors.Join(problems...); err != nil {
		closeJournal(journal)
		return nil, &ConfigError{err}
	}
	build := buildText(options.Version, debug.ReadBuildInfo)
	checks := func() string { return registry.Fingerprint(build) }
	connection.ConnectionOptions.DialOptions = append(slices.Clip(connection.ConnectionOptions.DialOptions),
		grpc.WithChainUnaryInterceptor(identityOf(connection.Identity, checks)))
	temporal, err := client.NewLazyClient(connection)
	check(err)
	listener, err := listen(settings.HTTP.Listen)
	check(err)
	if err := errors.Join(problems...); err != nil {
		closeJournal(journal)
		return nil, &ConfigError{err}
	}
	if !maskKey.secret && settings.Azure.Credential != config.CredentialNone {
		log.Warn("mask-key is none: rotated secrets, and secrets that other tools changed, are not detected")
	}
	logEncryption(log, converters.Status())
	if payload.IsExposed(connection) {
		log.Warn("the connection to Temporal is not encrypted: what it carries crosses the network, and may be changed there; "+
			"set TEMPORAL_TLS, TEMPORAL_TLS_* or TEMPORAL_API_KEY", "address", connection.HostPort, "clear", converters.ClearParts())
	}
	if options.OnListen != nil && listener != nil {
		options.OnListen(listener.Addr().String())
	}
	metrics.observeClock(clock)
	metrics.observeBudget(azure.throttle.Remaining)
	state := newStateMetrics(settings.Metrics.Interval, settings.Metrics.Label,
		map[string]int{writing.PutBudget: settings.PutBudget, writing.DisappearanceBudget: settings.DisappearanceBudget}, options.Now)
	metrics.registry.MustRegister(state)
	logExtensions(ctx, registry, log)
	ruleState := rulesState(ruleSet)
	metrics.observeRules(ruleState)
	health := newHealth(log, connection.HostPort, temporal, azure, clock)
	health.rules = ruleState
	authors := converters.Sealer(connection.Namespace)
	senders.data, senders.authors = converters.Data, authors
	resources := fleet.New(temporal, fleet.Options{Namespace: connection.Namespace, TaskQueue: settings.TaskQueue, ListsPerSecond: settings.Worker.ListsPerSecond, Now: clock.Now, Converters: converters, Observed: observed})
	if len(observed) > 0 {
		log.Warn("some resources are only observed: what differs is reported, and nothing is written or deleted for them", "observe", string(settings.Observe), "resources", observed.String())
	}
	if settings.StartFrozen != "" {
		resources.StartFrozen(startFreeze(settings.StartFrozen))
	}
	return &process{
		fleet:    resources,
		feeds:    feeds,
		state:    state,
		settings: settings, log: log, rules: ruleSet, checks: checks, listener: listener, metrics: metrics,
		temporal: temporal, connection: connection, converters: converters, traces: traces, namespace: connection.Namespace, identity: connection.Identity, version: version,
		activities: activities.New(activities.Dependencies{
			Client:   azure.client,
			Registry: registry,
			Secrets:  secrets.New(secretOptions(settings, azure.client, temporalFiles)),
			Masker:   maskKey.masker(),
			Fleet:    resources, Waker: resources, Turns: resources, Freezer: resources, Budgets: resources, Memory: resources, Attempts: resources, Feeds: resources,
			Signatures: signatures, Audit: journal, Authors: authors, Log: log,
		}, activities.Options{
			Encryption:       converters.Status(),
			WarnOfSignatures: settings.Signing.Mode == config.SigningWarn,
			RereadWindow:     settings.RereadWindow, SettleTime: settings.SettleTime, HashKey: maskKey.key, FormerHashKey: maskKey.former, Rotation: maskKey.secret, Observe: metrics.countVerdict, Rules: ruleState,
			PutBudget: settings.PutBudget, DisappearanceBudget: settings.DisappearanceBudget,
			OverdueAfter: overdueAfter(settings), OverdueExempt: strings.FieldsFunc(settings.OverdueExempt, isComma),
			KeepUnregistered: !settings.Azure.RegisterProviders, ReadOnly: settings.ReadOnly, Observed: observed, Clock: clock,
			Records: records, StartFrozen: string(settings.StartFrozen),
			Exports: exports, Senders: func() []activities.Finding {
				return senders.findings(options.Authorize != nil, converters.Status().WriteKey != "")
			},
			WorkflowSlots: settings.Worker.WorkflowSlots,
			FeedSources:   feeds, FeedInterval: settings.Feed.ReadInterval(),
		}),
		plugins:        options.WorkerPlugins,
		authorizer:     newAuthorizer(options.Authorize, senders, log, auditMessages(journal, log)),
		callers:        senders.callers,
		lifts:          &lifts{verifier: signatures, warn: settings.Signing.Mode == config.SigningWarn, log: log},
		freezeInterval: options.FreezeInterval,
		health:         health,
		journal:        journal,
	}, nil
}

// overdueAfter converts the setting, in which 0 means never, to the option of the
// activities, in which a negative duration means never.
func overdueAfter(settings config.Config) time.Duration {
	if settings.OverdueAfter == 0 {
		return -1
	}
	return settings.OverdueAfter
}

func isComma(r rune) bool { return r == ',' || r == ' ' }

// listen returns nil for an empty address.
func listen(address string) (net.Listener, error) {
	if address == "" {
		return nil, nil //nolint:nilnil // the setting allows a worker without a listener
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("http.listen: %w; choose another port, or \"\" to disable health and metrics", err)
	}
	return listener, nil
}

// close exports what the worker has not sent yet, audit trail and traces at once.
func (p *process) close() {
	var group sync.WaitGroup
	group.Go(func() { closeJournal(p.journal) })
	group.Go(func() {
		if err := p.traces.Close(exportTimeout); err != nil {
			p.log.Warn("cannot export the last traces", "error", err)
		}
	})
	group.Wait()
	p.temporal.Close()
	if p.listener != nil {
		_ = p.listener.Close() // already closed if the HTTP server ran
	}
}
