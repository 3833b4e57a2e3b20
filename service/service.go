package service

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/armature-io/armature/config"
	"github.com/armature-io/armature/extensions"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/interceptor"
)

// Exit codes of a worker.
const (
	// ExitStopped follows a stop by signal.
	ExitStopped = 0
	// ExitFailed follows a fault that somebody has to mend in Temporal, for
	// example search attributes that the worker may not register.
	ExitFailed = 1
	// ExitConfig follows a faulty configuration, credential or CA. Nothing ran.
	ExitConfig = 2
)

// Options are what a worker is made of, besides its configuration. The zero
// value is a worker without extensions.
type Options struct {
	// Extensions fill the registry, usually azure.BuiltIn() and your own.
	Extensions []extensions.Entry
	// Version is shown in the log and sent to ARM; "" is dev.
	Version string
	// Temporal replaces what the TEMPORAL_* variables and profiles say. Data
	// converter, logger and metrics are set by the service.
	Temporal *client.Options
	// Interceptors are added to those of Temporal. One that also implements
	// interceptor.WorkerInterceptor, as the SDK's OpenTelemetry tracing does, intercepts
	// workflows and activities too.
	Interceptors []interceptor.ClientInterceptor
	// OnListen is told the address of the HTTP server (host:port), which is
	// of use when the configured port is 0.
	OnListen func(address string)
	// Stdout and Stderr take the help and the log; nil means those of the
	// process.
	Stdout, Stderr io.Writer
}

// ConfigError says that nothing ran, and why: all faults, one a line.
type ConfigError struct{ faults []error }

// Error is all faults, one a line.
func (e *ConfigError) Error() string { return errors.Join(e.faults...).Error() }

// Unwrap gives the faults to errors.Is and errors.As.
func (e *ConfigError) Unwrap() []error { return e.faults }

// probeCommand as first argument asks a running worker of the same
// configuration whether it is ready: a container without a shell has no other
// program for its health check.
const probeCommand = "probe"

// codecCommand as first argument serves the payload codec instead of a task
// queue: its payloads are those of a worker of the same version.
const codecCommand = "codec"

// Main loads the configuration from args (without the program's name), file and
// variables, runs until ctx is done and returns the exit code.
func Main(ctx context.Context, args []string, options Options) int {
	options.fill()
	run := Run
	if len(args) > 0 && args[0] == codecCommand {
		return codecMain(ctx, args[1:], options)
	}
	if len(args) > 0 && args[0] == probeCommand {
		args, run = args[1:], probe
	}
	loaded, err := config.Load(args)
	switch {
	case errors.Is(err, config.ErrHelp):
		fmt.Fprint(options.Stdout, config.Usage())
		return ExitStopped
	case err != nil:
		err = &ConfigError{faults: []error{err}}
	default:
		err = run(ctx, loaded, options)
	}
	if err == nil {
		return ExitStopped
	}
	fmt.Fprintln(options.Stderr, err)
	if refused := (*ConfigError)(nil); errors.As(err, &refused) {
		return ExitConfig
	}
	return ExitFailed
}

// Run serves until ctx is done, then lets activities in flight end (stop-timeout
// at most) and returns nil. A *ConfigError means that nothing ran. Temporal or
// ARM out of reach is no error: Run says so once, /readyz answers 503, and it
// goes on trying.
func Run(ctx context.Context, settings config.Config, options Options) error {
	options.fill()
	w, err := assemble(ctx, settings, options)
	if err != nil {
		return err
	}
	defer w.close()
	return w.serve(ctx)
}

func (o *Options) fill() {
	if o.Stdout == nil {
		o.Stdout = os.Stdout
	}
	if o.Stderr == nil {
		o.Stderr = os.Stderr
	}
	if o.Version == "" {
		o.Version = "dev"
	}
}
