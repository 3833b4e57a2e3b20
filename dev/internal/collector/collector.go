// Package collector is a receiver of OTLP traces in memory, by gRPC and HTTP, for tests.
package collector

import (
	"compress/gzip"
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	collectorpb "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"
)

// Span is a span as it arrived. IDs are hexadecimal; Parent is "" for the root of a trace.
type Span struct {
	Service, Name           string
	TraceID, SpanID, Parent string
	Kind                    tracepb.Span_SpanKind
	Begun, Ended            time.Time
	Attributes              map[string]string
	Links                   []Link
	// Events is the number of events, of which an error would be one.
	Events                    int
	Failed                    bool
	StatusMessage, TraceState string
}

// Link is a link of a span.
type Link struct{ TraceID, SpanID string }

// Collector is a receiver that keeps everything.
type Collector struct {
	collectorpb.UnimplementedTraceServiceServer
	mu    sync.Mutex
	spans map[string]Span
	order []string
	// raw is each request, for a search of values.
	raw       [][]byte
	http, rpc string
}

// Start starts a receiver that stops with the test.
func Start(t testing.TB) *Collector {
	t.Helper()
	c := &Collector{spans: map[string]Span{}}
	plain, rpc := listen(t), listen(t)
	c.http, c.rpc = "http://"+plain.Addr().String(), "http://"+rpc.Addr().String()
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/traces", c.receive)
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second}
	services := grpc.NewServer()
	collectorpb.RegisterTraceServiceServer(services, c)
	var group sync.WaitGroup
	group.Go(func() { _ = server.Serve(plain) })
	group.Go(func() { _ = services.Serve(rpc) })
	t.Cleanup(func() {
		_ = server.Close()
		services.Stop()
		group.Wait()
	})
	return c
}

func listen(t testing.TB) net.Listener {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return listener
}

// HTTP returns the variables with which a program exports by HTTP.
func (c *Collector) HTTP() []string { return environment("http/protobuf", c.http) }

// GRPC returns the variables with which a program exports by gRPC.
func (c *Collector) GRPC() []string { return environment("grpc", c.rpc) }

func environment(protocol, endpoint string) []string {
	return []string{
		"OTEL_EXPORTER_OTLP_ENDPOINT=" + endpoint, "OTEL_EXPORTER_OTLP_PROTOCOL=" + protocol, "OTEL_BSP_SCHEDULE_DELAY=200",
	}
}

func (c *Collector) receive(w http.ResponseWriter, r *http.Request) {
	body, err := read(r)
	request := &collectorpb.ExportTraceServiceRequest{}
	if err == nil {
		err = proto.Unmarshal(body, request)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	_, _ = c.Export(r.Context(), request)
	w.Header().Set("Content-Type", "application/x-protobuf")
}

func read(r *http.Request) ([]byte, error) {
	body := io.Reader(r.Body)
	if r.Header.Get("Content-Encoding") == "gzip" {
		unzipped, err := gzip.NewReader(body)
		if err != nil {
			return nil, fmt.Errorf("read request: %w", err)
		}
		body = unzipped
	}
	return io.ReadAll(body) //nolint:wrapcheck // a test server
}

// Export keeps the spans of a request. Of a span that arrives twice the last counts.
func (c *Collector) Export(_ context.Context, request *collectorpb.ExportTraceServiceRequest) (*collectorpb.ExportTraceServiceResponse, error) {
	raw, err := proto.Marshal(request)
	if err != nil {
		return nil, fmt.Errorf("keep request: %w", err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.raw = append(c.raw, raw)
	for _, program := range request.GetResourceSpans() {
		service := attributes(program.GetResource().GetAttributes())["service.name"]
		for _, scope := range program.GetScopeSpans() {
			for _, span := range scope.GetSpans() {
				found := spanOf(service, span)
				if _, again := c.spans[found.SpanID]; !again {
					c.order = append(c.order, found.SpanID)
				}
				c.spans[found.SpanID] = found
			}
		}
	}
	return &collectorpb.ExportTraceServiceResponse{}, nil
}

func spanOf(service string, span *tracepb.Span) Span {
	found := Span{
		Service: service, Name: span.GetName(), Kind: span.GetKind(), TraceState: span.GetTraceState(),
		TraceID: hex.EncodeToString(span.GetTraceId()), SpanID: hex.EncodeToString(span.GetSpanId()), Parent: hex.EncodeToString(span.GetParentSpanId()),
		Begun: time.Unix(0, int64(span.GetStartTimeUnixNano())), Ended: time.Unix(0, int64(span.GetEndTimeUnixNano())),
		Attributes: attributes(span.GetAttributes()), Events: len(span.GetEvents()),
		Failed: span.GetStatus().GetCode() == tracepb.Status_STATUS_CODE_ERROR, StatusMessage: span.GetStatus().GetMessage(),
	}
	for _, link := range span.GetLinks() {
		found.Links = append(found.Links, Link{hex.EncodeToString(link.GetTraceId()), hex.EncodeToString(link.GetSpanId())})
	}
	return found
}

func attributes(all []*commonpb.KeyValue) map[string]string {
	found := map[string]string{}
	for _, a := range all {
		switch value := a.GetValue().GetValue().(type) {
		case *commonpb.AnyValue_StringValue:
			found[a.GetKey()] = value.StringValue
		case *commonpb.AnyValue_IntValue:
			found[a.GetKey()] = fmt.Sprint(value.IntValue)
		case *commonpb.AnyValue_BoolValue:
			found[a.GetKey()] = fmt.Sprint(value.BoolValue)
		default:
			found[a.GetKey()] = a.GetValue().String()
		}
	}
	return found
}

// Spans returns the spans that arrived, by their begin.
func (c *Collector) Spans() []Span {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := make([]Span, 0, len(c.order))
	for _, id := range c.order {
		all = append(all, c.spans[id])
	}
	slices.SortStableFunc(all, func(a, b Span) int { return a.Begun.Compare(b.Begun) })
	return all
}

// Trace returns the spans of one trace, by their begin.
func (c *Collector) Trace(id string) []Span {
	return slices.DeleteFunc(c.Spans(), func(s Span) bool { return s.TraceID != id })
}

// Raw returns everything that arrived, as it was encoded.
func (c *Collector) Raw() []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Concat(c.raw...)
}
