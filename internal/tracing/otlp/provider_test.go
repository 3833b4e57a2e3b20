package otlp_test

import (
	"strings"
	"testing"

	"github.com/armature-io/armature/internal/tracing/otlp"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
)

// TestOpen checks which variables turn traces on.
func TestOpen(t *testing.T) {
	for name, c := range map[string]struct {
		reason    string
		variables map[string]string
		want      bool
		problem   string
	}{
		"nothing":            {"off by default", nil, false, ""},
		"endpoint":           {"it can have no other purpose", map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1"}, true, ""},
		"endpoint of traces": {"more precise", map[string]string{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://127.0.0.1:1/v1/traces"}, true, ""},
		"exporter":           {"the default endpoint is localhost", map[string]string{"OTEL_TRACES_EXPORTER": "otlp"}, true, ""},
		"none":               {"a chart may set the endpoint for metrics", map[string]string{"OTEL_TRACES_EXPORTER": "none", "OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1"}, false, ""},
		"disabled":           {"it turns the SDK off", map[string]string{"OTEL_SDK_DISABLED": "true", "OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1"}, false, ""},
		"grpc":               {"the other protocol", map[string]string{"OTEL_EXPORTER_OTLP_PROTOCOL": "grpc", "OTEL_TRACES_EXPORTER": "otlp"}, true, ""},
		"another exporter":   {"it would be ignored silently", map[string]string{"OTEL_TRACES_EXPORTER": "zipkin"}, false, "use otlp or none"},
		"another protocol":   {"it would be ignored silently", map[string]string{"OTEL_TRACES_EXPORTER": "otlp", "OTEL_EXPORTER_OTLP_PROTOCOL": "http/json"}, false, "use grpc or http/protobuf"},
	} {
		t.Run(name, func(t *testing.T) {
			for variable, value := range c.variables {
				t.Setenv(variable, value)
			}
			provider, err := otlp.Open(t.Context(), otlp.Options{Lookup: func(name string) (string, bool) { value, set := c.variables[name]; return value, set }})
			if (provider != nil) != c.want {
				t.Errorf("traces are on: %v, want %v: %s", provider != nil, c.want, c.reason)
			}
			if c.problem == "" && err != nil || c.problem != "" && (err == nil || !strings.Contains(err.Error(), c.problem)) {
				t.Errorf("the error is %v, want %q: %s", err, c.problem, c.reason)
			}
		})
	}
}

// TestOpenWithProvider checks that the options of an embedding program turn traces on, and
// that the program has a name.
func TestOpenWithProvider(t *testing.T) {
	spans := tracetest.NewInMemoryExporter()
	provider, err := otlp.Open(t.Context(), otlp.Options{
		Service: "worker", Version: "v1", Lookup: func(string) (string, bool) { return "", false },
		Provider: []sdktrace.TracerProviderOption{sdktrace.WithSyncer(spans)},
	})
	if err != nil || provider == nil {
		t.Fatalf("Open returns %v, %v, want a provider", provider, err)
	}
	_, span := provider.Tracer().Start(t.Context(), "one")
	span.End()
	exported := spans.GetSpans()
	if len(exported) != 1 || !strings.Contains(exported[0].Resource.String(), "service.name=worker") {
		t.Errorf("the exporter of the program got %v, want one span of service worker", exported)
	}
}
