package service

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/armature-io/armature/arm"
	"github.com/armature-io/armature/caller"
	"github.com/armature-io/armature/config"
	"github.com/armature-io/armature/extensions"
	"go.opentelemetry.io/otel/sdk/trace"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/worker"
)

// Exit codes of a worker.
const (
	// ExitStopped follows a stop by signal.
	ExitStopped = 0
	// ExitFailed follows an error that an operator must fix in Temporal, for
	// example search attributes that the worker may not register.
	ExitFailed = 1
	// ExitConfig follows an invalid configuration, credential or CA. Nothing ran.
	ExitConfig = 2
)

// Options are the parts of a worker that are not in its configuration. The zero
// value is a worker with the built-in extensions.
type Options struct {
	// Extensions are your own. They follow the built-in ones in each chain.
	Extensions []extensions.Entry
	// WithoutBuiltIn leaves the built-in extensions out: their checks, and all facts about
	// types. For own links that decide before built-in ones, set it and append azure.BuiltIn()
	// to Extensions.
	WithoutBuiltIn bool
	// Version appears in the log and in requests to ARM; "" is dev.
	Version string
	// Temporal replaces the TEMPORAL_* variables and profiles. The service sets
	// data converter, logger and metrics.
	Temporal *client.Options
	// Tracing are options of the provider of spans, such as trace.WithBatcher with an
	// exporter of the embedding program. With any of them traces are on, and the exporter
	// that the variables OTEL_* describe is not used.
	Tracing []trace.TracerProviderOption
	// Interceptors are added to those of Temporal. One that also implements
	// interceptor.WorkerInterceptor, as the SDK's OpenTelemetry tracing does, intercepts
	// workflows and activities too.
	Interceptors []interceptor.ClientInterceptor
	// Plugins configure the client of Temporal and surround its connection, and the worker
	// where they are plugins of workers too. Each is asked to configure once. A data converter
	// that one sets replaces DataConverter. WorkerPlugins configure the worker only.
	Plugins       []client.Plugin
	WorkerPlugins []worker.Plugin
	// DataConverter converts values before compression and encryption; nil means JSON. It
	// must read the JSON of histories from before it. PayloadCodecs encode what compression
	// and encryption wrote, first to last, and return payloads unchanged that they did not
	// encode. The codec server uses them too. All workers, CLIs (starter.Options) and codec
	// servers of a namespace need the same.
	DataConverter converter.DataConverter
	PayloadCodecs []converter.PayloadCodec
	// OnListen receives the address of the HTTP server (host:port), which a
	// caller needs when the configured port is 0.
	OnListen func(address string)
	// MayWrite, when set, decides about every write before the worker's own checks do, for
	// example for a change window. Its error ends the step: it is the message of a block, or
	// carries a verdict (extensions.NotYet).
	MayWrite arm.WriteCheck
	// Authorize, when set, decides about every message that changes a resource or lifts a
	// freeze, before its workflow gets it; its error refuses the message, and is the reason
	// that the sender reads. It may use the network, has 30 s, and must end with its context:
	// 64 calls run at a time. It runs beside the workflow: a message whose decision takes
	// longer than 200 ms is refused as not decided (workflows.RefusedNotDecided), and its
	// sender sends it again with the same ID, content and token, as the CLI and workers do. A
	// message may be decided about twice, by several workers too, and a decision leaves nothing
	// in the history. MayWrite decides about the requests that follow.
	Authorize func(ctx context.Context, action Action) error
	// Callers, when set, verifies the tokens that CLIs send (ARMATURE_TOKEN), for
	// Action.Caller. A message with a token that it refuses is refused.
	Callers *caller.Verifier
	// FreezeInterval is the longest time between two readings of the freezes and of the states of
	// the feeds, also of a worker that writes nothing; default a minute. After one of them a freeze
	// is kept again whose workflow was terminated.
	FreezeInterval time.Duration
	// Now is the worker's clock; nil means time.Now.
	Now func() time.Time
	// Stdout and Stderr receive the help and the log; nil means the streams of the
	// process.
	Stdout, Stderr io.Writer
}

// ConfigError reports that the worker did not start, with every problem on a line.
type ConfigError struct{ error }

// Unwrap returns the joined problems.
func (e *ConfigError) Unwrap() error { return e.error }

// probeCommand as first argument checks whether a running worker of the same
// configuration is ready: a container without a shell has no other program for its
// health check.
const probeCommand = "probe"

// replayCommand as first argument replays histories against the workflows of this program.
const replayCommand = "replay"

// codecCommand as first argument serves the payload codec instead of a task
// queue: a worker of the same version writes the payloads that it decodes.
const codecCommand = "codec"

// tryCommand as first argument runs the checks of this program against one resource.
const tryCommand = "try"

// Main loads the configuration from args (without the program's name), file and
// variables, runs until ctx is done and returns the exit code.
func Main(ctx context.Context, args []string, options Options) int {
	options.fill()
	// The reader of the log may end (a pipe into `head`, a log collector that restarts).
	// Its signal would end the worker amid its requests.
	signal.Ignore(syscall.SIGPIPE)
	run := Run
	if len(args) > 0 {
		switch args[0] {
		case codecCommand:
			return codecMain(ctx, args[1:], options)
		case replayCommand:
			return replayMain(ctx, args[1:], options)
		case tryCommand:
			if args, run = tryArguments(args[1:]); run == nil {
				fmt.Fprint(options.Stderr, tryUsage)
				return ExitConfig
			}
		case probeCommand:
			args, run = args[1:], probe
		}
	}
	loaded, err := config.Load(args)
	switch {
	case errors.Is(err, config.ErrHelp):
		fmt.Fprint(options.Stdout, config.Usage())
		return ExitStopped
	case err != nil:
		err = &ConfigError{err}
	default:
		err = run(ctx, loaded, options)
	}
	if err == nil {
		return ExitStopped
	}
	fmt.Fprintln(options.Stderr, err)
	if _, invalid := errors.AsType[*ConfigError](err); invalid {
		return ExitConfig
	}
	return ExitFailed
}

// Run serves until ctx is done, waits for running activities (stop-timeout at most)
// and returns nil. A *ConfigError means that nothing ran. An unreachable Temporal or
// ARM is no error: Run logs it once, /readyz returns 503, and Run retries.
func Run(ctx context.Context, settings config.Config, options Options) error {
	options.fill()
	p, err := assemble(ctx, settings, options)
	if err != nil {
		return err
	}
	defer p.close()
	return p.serve(ctx)
}

func (o *Options) fill() {
	if o.Stdout == nil {
		o.Stdout = os.Stdout
	}
	if o.Stderr == nil {
		o.Stderr = os.Stderr
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	o.Version = cmp.Or(o.Version, "dev")
	o.FreezeInterval = cmp.Or(o.FreezeInterval, time.Minute)
}
