package leaks_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/armature-io/armature/dev/internal/collector"
	"github.com/armature-io/armature/dev/internal/leaks"
	"github.com/armature-io/armature/internal/testonly/canary"
)

// secret is planted. JSON and URLs escape it.
const secret = `Zq7env81<&>"'ö`

// TestFindInSpans plants a secret in each part of a span that an exporter sends, and finds it
// in what the collector got; without one it finds nothing.
func TestFindInSpans(t *testing.T) {
	quoted, err := json.Marshal(map[string]string{"message": secret})
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		reason string
		in     []attribute.KeyValue
		plant  func(span trace.Span)
		name   string
		want   bool
	}{
		"nothing":       {"a span without secrets", nil, func(trace.Span) {}, "pass", false},
		"name":          {"names of spans are texts", nil, func(trace.Span) {}, "PUT " + secret, true},
		"value":         {"the usual place", nil, func(s trace.Span) { s.SetAttributes(attribute.String("url.query", secret)) }, "pass", true},
		"encoded value": {"JSON escapes it", nil, func(s trace.Span) { s.SetAttributes(attribute.String("body", string(quoted))) }, "pass", true},
		"list":          {"a value may be a list", nil, func(s trace.Span) { s.SetAttributes(attribute.StringSlice("tags", []string{"a", secret})) }, "pass", true},
		"key":           {"keys are texts too", nil, func(s trace.Span) { s.SetAttributes(attribute.Bool(secret, true)) }, "pass", true},
		"event":         {"RecordError makes one", nil, func(s trace.Span) { s.RecordError(fmt.Errorf("refused: %s", secret)) }, "pass", true},
		"status":        {"the text of an error", nil, func(s trace.Span) { s.SetStatus(codes.Error, secret) }, "pass", true},
		"link":          {"links have attributes", nil, link, "pass", true},
		"resource":      {"attributes of the program", []attribute.KeyValue{attribute.String("process.command_args", secret)}, func(trace.Span) {}, "pass", true},
		"forms of the secret": {"base64 hides nothing", nil, func(s trace.Span) {
			s.SetAttributes(attribute.String("a", base64.StdEncoding.EncodeToString([]byte(secret))))
		}, "pass", true},
	} {
		t.Run(name, func(t *testing.T) {
			spans := collector.Start(t)
			export(t, spans, c.in, c.name, c.plant)
			if len(spans.Spans()) != 1 {
				t.Fatalf("the collector has %d spans, want one", len(spans.Spans()))
			}
			found := leaks.Find(map[string]string{"spans": string(spans.Raw())}, map[string]string{secret: "a secret"})
			if (len(found) > 0) != c.want {
				t.Errorf("found %v, want any: %v: %s", found, c.want, c.reason)
			}
		})
	}
}

// link adds a link with a secret.
func link(s trace.Span) {
	s.AddLink(trace.Link{SpanContext: s.SpanContext(), Attributes: []attribute.KeyValue{attribute.String("cause", secret)}})
}

// export sends one span to a collector, as the product does: by HTTP.
func export(t *testing.T, to *collector.Collector, in []attribute.KeyValue, name string, plant func(trace.Span)) {
	t.Helper()
	for _, variable := range to.HTTP() {
		key, value, _ := strings.Cut(variable, "=")
		t.Setenv(key, value)
	}
	exporter, err := otlptracehttp.New(t.Context(), otlptracehttp.WithCompression(otlptracehttp.GzipCompression))
	if err != nil {
		t.Fatal(err)
	}
	provider := sdktrace.NewTracerProvider(sdktrace.WithSyncer(exporter), sdktrace.WithResource(resource.NewSchemaless(in...)))
	_, span := provider.Tracer("test").Start(t.Context(), name)
	plant(span)
	span.End()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if err := provider.Shutdown(ctx); err != nil {
		t.Fatal(err)
	}
}

// TestFindInExemplars plants a secret in the exemplar of a histogram, which exists in the
// OpenMetrics format only.
func TestFindInExemplars(t *testing.T) {
	registry := prometheus.NewRegistry()
	seconds := prometheus.NewHistogram(prometheus.HistogramOpts{Name: "seconds", Help: "Seconds."})
	registry.MustRegister(seconds)
	seconds.(prometheus.ExemplarObserver).ObserveWithExemplar(1, prometheus.Labels{"trace_id": "planted-4711"})
	request := httptest.NewRequest(http.MethodGet, "/metrics", http.NoBody)
	request.Header.Set("Accept", "application/openmetrics-text; version=1.0.0")
	response := httptest.NewRecorder()
	promhttp.HandlerFor(registry, promhttp.HandlerOpts{EnableOpenMetrics: true}).ServeHTTP(response, request)
	if found := leaks.Find(map[string]string{"metrics": response.Body.String()}, map[string]string{"planted-4711": "a secret"}); len(found) != 1 {
		t.Errorf("found %v, want the secret in\n%s", found, response.Body)
	}
}

// TestFindTokens finds a token that no list of secrets has.
func TestFindTokens(t *testing.T) {
	const token = "eyJhbGciOiJub25lIn0.eyJzdWIiOiJwbGFudGVkIn0.c2ln"
	if found := leaks.Find(map[string]string{"log": "Authorization: Bearer " + token}, nil); len(found) != 1 || found[0].Kind != "a token" {
		t.Errorf("found %v, want a token", found)
	}
}

// TestFindCanaries finds each kind of secret in each encoding, in the JSON of a payload and of a
// payload in JSON, and in the base64 of a longer text.
func TestFindCanaries(t *testing.T) {
	t.Parallel()
	encodings, groups := canary.Encodings()
	maps.Copy(encodings, groups)
	quote := func(text string) string {
		quoted, _ := json.Marshal(map[string]string{"message": "refused: " + text + "."})
		return string(quoted)
	}
	for kind, secret := range canary.Secrets() {
		texts := map[string]string{"nothing": "refused: (masked)."}
		for name, encode := range encodings {
			text := encode(secret.Value())
			texts[name], texts[name+" in JSON"], texts[name+" in JSON in JSON"] = "refused: "+text+".", quote(text), quote(quote(text))
		}
		for _, user := range []string{"", "u", "us", "use"} {
			texts["base64 after "+user] = base64.StdEncoding.EncodeToString([]byte(user + secret.Value() + "more"))
		}
		found := map[string]bool{"nothing": true}
		for _, leak := range leaks.Find(texts, map[string]string{secret.Value(): kind}) {
			if leak.Kind == kind && leak.Place == "nothing" {
				t.Errorf("%s is found in nothing", kind)
			}
			found[leak.Place] = true
		}
		for place, text := range texts {
			if !found[place] {
				t.Errorf("%s is not found as %s in %s", kind, place, text)
			}
		}
	}
}

// TestPieces finds the rest of a secret in a message that was cut.
func TestPieces(t *testing.T) {
	t.Parallel()
	for kind, secret := range canary.Secrets() {
		for _, piece := range leaks.Pieces(secret) {
			if !strings.Contains(secret.Value(), piece) {
				t.Errorf("%q is no piece of %s", piece, kind)
			}
		}
	}
	if pieces := leaks.Pieces(canary.Secret{Text: "name=public0123456789;key=«abcdefghijklmn/short+ABCDEFGHIJKL»"}); !slices.Equal(pieces, []string{"abcdefghijklmn", "ABCDEFGHIJKL"}) {
		t.Errorf("the pieces are %q", pieces)
	}
}
