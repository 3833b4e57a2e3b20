package backend

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/armature-io/armature/internal/tracing"
	"github.com/armature-io/armature/internal/tracing/otlp"
	"github.com/armature-io/armature/starter/internal/cli"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
)

// exportTimeout is how long a command waits for the collector at its end.
const exportTimeout = 3 * time.Second

// exitCodeKey is the attribute of the exit code, as OpenTelemetry names it.
const exitCodeKey = attribute.Key("process.exit.code")

// CommandTrace is the trace of one command. The zero value has none.
type CommandTrace struct {
	provider *otlp.Provider
	span     trace.Span
	note     func(format string, args ...any)
	noted    sync.Once
}

// BeginTrace begins the span of a command and returns the context for it. TRACEPARENT and
// TRACESTATE name the span of the caller, as OpenTelemetry defines for processes: a pipeline
// can show the command as a part of its own trace. A wrong variable is noted and turns traces
// off: it must not keep a command from being run.
func BeginTrace(ctx context.Context, version string, environment cli.Environment, note func(format string, args ...any)) (context.Context, *CommandTrace) {
	c := &CommandTrace{note: note}
	var err error
	c.provider, err = otlp.Open(ctx, otlp.Options{
		Service: "armature", Version: version, Lookup: environment.LookupEnv,
		Failed: c.lost,
	})
	if err != nil {
		note("traces are off: %v", err)
	}
	if c.provider == nil {
		return ctx, c
	}
	var caller tracing.Parent
	caller.Traceparent, _ = environment.LookupEnv("TRACEPARENT")
	caller.Tracestate, _ = environment.LookupEnv("TRACESTATE")
	ctx, c.span = c.Tracer().Start(caller.Into(ctx), "armature")
	return ctx, c
}

// Tracer returns the tracer of the command, which is off without traces.
func (c *CommandTrace) Tracer() *tracing.Tracer {
	if c == nil {
		return nil
	}
	return c.provider.Tracer()
}

// End ends the span of a command, and exports it unless the command sent nothing to Temporal.
// Arguments are left out: they may be anything.
func (c *CommandTrace) End(command string, sent bool, exitCode int) {
	if c.provider == nil || !sent {
		return
	}
	c.span.SetName(strings.TrimSpace(command))
	c.span.SetAttributes(exitCodeKey.Int(exitCode))
	if exitCode != 0 {
		c.span.SetStatus(codes.Error, "")
	}
	c.span.End()
	if err := c.provider.Close(exportTimeout); err != nil {
		c.lost(fmt.Errorf("no response within %s", exportTimeout))
	}
}

// lost notes once that traces were not exported.
func (c *CommandTrace) lost(err error) {
	c.noted.Do(func() { c.note("traces were not exported: %v; check OTEL_EXPORTER_OTLP_ENDPOINT", err) })
}
