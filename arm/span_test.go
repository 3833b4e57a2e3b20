package arm

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
)

// traced returns a context with a span, and the spans that have ended.
func traced(t *testing.T) (context.Context, *tracetest.SpanRecorder) {
	t.Helper()
	spans := tracetest.NewSpanRecorder()
	ctx, span := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(spans)).Tracer("test").Start(testContext(t), "step")
	t.Cleanup(func() { span.End() })
	return ctx, spans
}

func stated(span sdktrace.ReadOnlySpan) map[string]string {
	found := map[string]string{}
	for _, a := range span.Attributes() {
		found[string(a.Key)] = a.Value.String()
	}
	return found
}

// TestSpanOfRequest checks what the span of a request states, and when it has failed.
func TestSpanOfRequest(t *testing.T) {
	for name, c := range map[string]struct {
		reason      string
		reply       reply
		put         bool
		failed      bool
		correlation string
	}{
		"found":   {"the service may choose another correlation ID", reply{200, map[string]string{"X-Ms-Correlation-Request-Id": "theirs"}, `{}`}, false, false, "theirs"},
		"silent":  {"without one in the response, the ID that was sent counts", reply{200, nil, `{}`}, false, false, "ours"},
		"absent":  {"the absence of what is read is an answer", reply{404, nil, `{"error":{"code":"ResourceNotFound"}}`}, false, false, "ours"},
		"refused": {"a refusal is a failure", reply{403, nil, `{"error":{"code":"AuthorizationFailed","message":"planted"}}`}, true, true, "ours"},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, spans := traced(t)
			ctx = WithCorrelationID(ctx, "ours")
			var observed Request
			client := newScript(t, c.reply).client(t, func(o *Options) { o.Observer = func(r Request) { observed = r } })
			id, method := parseID(t, clusterID), http.MethodGet
			if c.put {
				method = http.MethodPut
				_, _ = client.Put(ctx, id, apiVersion, []byte(`{"planted":1}`), PutOptions{}) // the span is what counts
			} else {
				_, _ = client.Get(ctx, id, apiVersion)
			}
			ended := spans.Ended()
			if len(ended) != 1 || ended[0].Name() != method+" "+id.Type() {
				t.Fatalf("the spans are %v, want one of the request", ended)
			}
			got := stated(ended[0])
			if got["az.correlation_id"] != c.correlation || got["az.service_request_id"] != "request-1" || got["url.path"] != id.String() || got["armature.api_version"] != apiVersion {
				t.Errorf("the span states %v: %s", got, c.reason)
			}
			if failed := ended[0].Status().Code == codes.Error; failed != c.failed {
				t.Errorf("the span has failed: %v, want %v: %s", failed, c.failed, c.reason)
			}
			for key, value := range got {
				if strings.Contains(value, "planted") {
					t.Errorf("%s has a value of a body: %s", key, value)
				}
			}
			if observed.Span.SpanID() != ended[0].SpanContext().SpanID() {
				t.Errorf("the observer got the span %s, want %s", observed.Span.SpanID(), ended[0].SpanContext().SpanID())
			}
		})
	}
}

// TestSpanHasNoQuery checks that the signature in the URL of an operation is not in its span.
func TestSpanHasNoQuery(t *testing.T) {
	ctx, spans := traced(t)
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://management.azure.com/operations/1?api-version=2024-01-01&s=planted&t=1", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	beginSpan(request, &roundTrip{call: CallPoll, typ: "Microsoft.Kusto/clusters"}).End()
	for key, value := range stated(spans.Ended()[0]) {
		if strings.Contains(value, "planted") {
			t.Errorf("%s has a part of the query: %s", key, value)
		}
	}
}

// TestSpanOnlyOfSentRequests checks that a write that is refused before it is sent has no
// span, and that a request without a span in its context has none either.
func TestSpanOnlyOfSentRequests(t *testing.T) {
	ctx, spans := traced(t)
	server := newScript(t, reply{200, nil, `{}`})
	client := server.client(t, func(o *Options) {
		o.MayWrite = func(context.Context, Write) error { return errors.New("frozen") }
	})
	if _, err := client.Put(ctx, parseID(t, clusterID), apiVersion, []byte(`{}`), PutOptions{}); err == nil {
		t.Fatal("the refused PUT has no error")
	}
	if _, err := client.Get(testContext(t), parseID(t, clusterID), apiVersion); err != nil {
		t.Fatal(err)
	}
	if ended := spans.Ended(); len(ended) != 0 {
		t.Errorf("the spans are %v, want none", ended)
	}
	if sent := server.requests(); len(sent) != 1 || sent[0].header.Get("Traceparent") != "" {
		t.Errorf("the requests are %v, want one without a trace context", sent)
	}
}
