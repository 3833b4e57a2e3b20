package otlp_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/armature-io/armature/internal/tracing/otlp"
	"go.opentelemetry.io/otel/attribute"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"
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

// TestVariables checks that a variable that the exporter would print and ignore turns the
// start into an error, which does not have the value of a header.
func TestVariables(t *testing.T) {
	folder := t.TempDir()
	empty := filepath.Join(folder, "empty.pem")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		reason, variable, value, want string
	}{
		"header":           {"the form of the standard", "HEADERS", "authorization=Bearer%20planted, x-tenant=a", ""},
		"header of HTTP":   {"a colon is a common mistake", "HEADERS", "Authorization: Bearer planted", "header 1 is not NAME=VALUE"},
		"second header":    {"the position helps", "TRACES_HEADERS", "x-tenant=a,planted", "OTEL_EXPORTER_OTLP_TRACES_HEADERS: header 2"},
		"encoding":         {"the value would be dropped", "HEADERS", "key=planted%zz", "header 1"},
		"line break":       {"no header can have one", "HEADERS", "key=planted%0Aother", "header 1"},
		"endpoint":         {"a host alone is no URL", "ENDPOINT", "collector:4318", "must be the URL of a collector"},
		"endpoint is none": {"it would be ignored", "TRACES_ENDPOINT", "http://[::1", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"},
		"authority":        {"the system's would be trusted instead", "CERTIFICATE", filepath.Join(folder, "none.pem"), "no such file"},
		"no authority":     {"the same", "CERTIFICATE", empty, "no certificate in"},
		"timeout":          {"it is a number", "TIMEOUT", "10s", "milliseconds"},
	} {
		t.Run(name, func(t *testing.T) {
			variables := map[string]string{"OTEL_TRACES_EXPORTER": "otlp", "OTEL_EXPORTER_OTLP_" + c.variable: c.value}
			for variable, value := range variables {
				t.Setenv(variable, value)
			}
			_, err := otlp.Open(t.Context(), otlp.Options{Lookup: func(name string) (string, bool) { value, set := variables[name]; return value, set }})
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("the error is %v, want %q: %s", err, c.want, c.reason)
			}
			if err != nil && strings.Contains(err.Error(), "planted") {
				t.Errorf("the error has the value: %v", err)
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

// TestLimits checks that the texts of attributes are bounded, unless a variable sets another
// bound.
func TestLimits(t *testing.T) {
	for name, c := range map[string]struct {
		reason, variable string
		want             int
	}{
		"default":  {"the path of an operation may have 4 KB", "", 1024},
		"variable": {"the standard one", "20", 20},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("OTEL_SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT", c.variable)
			spans := tracetest.NewInMemoryExporter()
			provider, err := otlp.Open(t.Context(), otlp.Options{
				Lookup:   func(string) (string, bool) { return "", false },
				Provider: []sdktrace.TracerProviderOption{sdktrace.WithSyncer(spans)},
			})
			if err != nil {
				t.Fatal(err)
			}
			_, span := provider.Tracer().Start(t.Context(), "one", trace.WithAttributes(attribute.String("url.path", strings.Repeat("a", 5000))))
			span.End()
			if got := len(spans.GetSpans()[0].Attributes[0].Value.AsString()); got != c.want {
				t.Errorf("the attribute has %d bytes, want %d: %s", got, c.want, c.reason)
			}
		})
	}
}
