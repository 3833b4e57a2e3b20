// Package otlp exports the spans of a program by OTLP, as the standard variables of
// OpenTelemetry (OTEL_*) configure it. It owns exporters and the provider of spans; package
// tracing makes the spans.
package otlp

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/armature-io/armature/internal/tracing"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	"go.opentelemetry.io/otel/sdk/trace"
)

// maxValueBytes bounds each text of an attribute, unless OTEL_SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT
// sets another bound: the path of an operation may have 4 KB. Names of spans and attributes
// come from tables and resource types.
const maxValueBytes = 1024

// Options configure the export of a program.
type Options struct {
	// Service is the service.name unless OTEL_SERVICE_NAME is set; Version is the
	// service.version.
	Service, Version string
	// Lookup returns a variable of the environment. It decides whether traces are on; the
	// exporter reads the details from the process.
	Lookup func(name string) (string, bool)
	// Provider are options of an embedding program, such as trace.WithBatcher with an
	// exporter of its own. With any of them traces are on, and the variables add no exporter.
	Provider []trace.TracerProviderOption
	// Failed is called when an export fails for the first time in a row.
	Failed func(err error)
}

// Provider makes and exports spans. A nil Provider is off.
type Provider struct{ provider *trace.TracerProvider }

// Open returns the provider that options and environment describe, nil where traces are off:
// they are on with OTEL_TRACES_EXPORTER=otlp or an endpoint. It sends nothing yet.
func Open(ctx context.Context, options Options) (*Provider, error) {
	all := []trace.TracerProviderOption{trace.WithIDGenerator(tracing.IDs{}), trace.WithResource(describe(ctx, options)), trace.WithRawSpanLimits(limits())}
	if len(options.Provider) == 0 {
		on, err := isOn(options.Lookup)
		if !on || err != nil {
			return nil, err
		}
		exporter, err := newExporter(ctx, options.Lookup)
		if err != nil {
			return nil, err
		}
		all = append(all, trace.WithBatcher(&quietExporter{SpanExporter: exporter, failed: options.Failed, secrets: headerValues(options.Lookup)}))
	}
	return &Provider{trace.NewTracerProvider(append(all, options.Provider...)...)}, nil
}

// Tracer returns the tracer of the provider; that of a nil provider is off.
func (p *Provider) Tracer() *tracing.Tracer {
	if p == nil {
		return nil
	}
	return tracing.New(p.provider)
}

// Close exports what is left, within a time.
func (p *Provider) Close(timeout time.Duration) error {
	if p == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	if err := p.provider.Shutdown(ctx); err != nil {
		return fmt.Errorf("export spans: %w", err)
	}
	return nil
}

// limits returns the bounds of spans: those of OpenTelemetry, with one for texts.
func limits() trace.SpanLimits {
	bounds := trace.NewSpanLimits()
	if bounds.AttributeValueLengthLimit < 0 {
		bounds.AttributeValueLengthLimit = maxValueBytes
	}
	return bounds
}

// isOn reports whether the variables turn traces on.
func isOn(lookup func(string) (string, bool)) (bool, error) {
	get := func(name string) string { value, _ := lookup(name); return strings.ToLower(strings.TrimSpace(value)) }
	if get("OTEL_SDK_DISABLED") == "true" {
		return false, nil
	}
	switch exporter := get("OTEL_TRACES_EXPORTER"); exporter {
	case "otlp":
		return true, nil
	case "none":
		return false, nil
	case "":
		return get("OTEL_EXPORTER_OTLP_ENDPOINT") != "" || get("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT") != "", nil
	default:
		return false, fmt.Errorf("OTEL_TRACES_EXPORTER %q is not supported; use otlp or none", exporter)
	}
}

// newExporter returns the exporter for the protocol of the variables. It reads the rest of
// them by itself.
func newExporter(ctx context.Context, lookup func(string) (string, bool)) (trace.SpanExporter, error) {
	if err := check(lookup); err != nil {
		return nil, err
	}
	traces, _ := lookup("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL")
	all, _ := lookup("OTEL_EXPORTER_OTLP_PROTOCOL")
	var client otlptrace.Client
	switch protocol := cmp.Or(traces, all, "http/protobuf"); protocol {
	case "grpc":
		client = otlptracegrpc.NewClient()
	case "http/protobuf":
		client = otlptracehttp.NewClient()
	default:
		return nil, fmt.Errorf("OTEL_EXPORTER_OTLP_PROTOCOL %q is not supported; use grpc or http/protobuf", protocol)
	}
	exporter, err := otlptrace.New(ctx, client)
	if err != nil {
		return nil, fmt.Errorf("set up the export of traces (OTEL_EXPORTER_OTLP_*): %w", err)
	}
	return exporter, nil
}

// describe returns the attributes of the program. OTEL_RESOURCE_ATTRIBUTES and
// OTEL_SERVICE_NAME come last and win. Arguments of the command line are left out.
func describe(ctx context.Context, options Options) *resource.Resource {
	// A detector that fails leaves its own attributes out.
	found, _ := resource.New(ctx, resource.WithTelemetrySDK(), resource.WithHost(),
		resource.WithAttributes(attribute.String("service.name", options.Service), attribute.String("service.version", options.Version)),
		resource.WithFromEnv())
	if found == nil {
		return resource.Empty()
	}
	return found
}
