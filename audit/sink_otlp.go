package audit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"

	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	logspb "go.opentelemetry.io/proto/otlp/logs/v1"
	resourcepb "go.opentelemetry.io/proto/otlp/resource/v1"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
)

// eventPrefix begins the event names of log records.
const eventPrefix = "armature.audit."

// Collector is a sink that sends each record to an OpenTelemetry collector as a log record:
// the JSON line is the body, and what one filters by are attributes. It speaks the protocol
// by itself (OTLP over HTTP, binary): the SDK's processors drop what they cannot export.
type Collector struct {
	url     string
	headers http.Header
	client  *http.Client
	version string
}

// NewCollector returns a sink for a collector: http(s)://host:port[/path]; without a path it
// is /v1/logs. Headers are added to each request.
func NewCollector(target, version string, client *http.Client, headers http.Header) (*Collector, error) {
	u, err := url.Parse(target)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, errors.New("must be the URL of a collector: http://host:4318 or https://host")
	}
	if u.Path == "" || u.Path == "/" {
		u.Path = "/v1/logs"
	}
	return &Collector{url: u.String(), headers: headers, client: withoutRedirects(client), version: version}, nil
}

// Name returns "otlp".
func (*Collector) Name() string { return "otlp" }

// Write exports the records with one request, and halves of them where the collector refuses
// some.
func (c *Collector) Write(ctx context.Context, lines []Line) error {
	return deliver(ctx, lines, c.send)
}

func (c *Collector) send(ctx context.Context, lines []Line) error {
	scope := &logspb.ScopeLogs{Scope: &commonpb.InstrumentationScope{Name: "armature.audit", Version: c.version}}
	for _, line := range lines {
		scope.LogRecords = append(scope.LogRecords, logRecord(line))
	}
	// Its encoding is that of ExportLogsServiceRequest (opentelemetry.io/docs/specs/otlp).
	body, err := proto.Marshal(&logspb.LogsData{ResourceLogs: []*logspb.ResourceLogs{{
		Resource:  &resourcepb.Resource{Attributes: []*commonpb.KeyValue{attribute("service.name", "armature"), attribute("service.version", c.version)}},
		ScopeLogs: []*logspb.ScopeLogs{scope},
	}}})
	if err != nil {
		return fmt.Errorf("encode log records: %w", err)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("export log records: %w", err)
	}
	for name, values := range c.headers {
		request.Header[name] = values
	}
	request.Header.Set("Content-Type", "application/x-protobuf")
	response, err := c.client.Do(request)
	if err != nil {
		return fmt.Errorf("export log records: %w", withoutURL(err))
	}
	defer func() { _ = response.Body.Close() }()
	answer, err := io.ReadAll(io.LimitReader(response.Body, maxAnswerBytes))
	switch {
	case refusesContent(response.StatusCode):
		return &contentError{fmt.Errorf("the collector answered %d", response.StatusCode)}
	case response.StatusCode != http.StatusOK:
		return fmt.Errorf("the collector answered %d", response.StatusCode)
	case err != nil:
		return fmt.Errorf("read the collector's answer: %w", err)
	case rejected(answer) > 0:
		return &contentError{fmt.Errorf("the collector rejected %d of %d log records", rejected(answer), len(lines))}
	}
	return nil
}

// Close ends idle connections.
func (c *Collector) Close() error {
	c.client.CloseIdleConnections()
	return nil
}

// rejected returns the number of rejected records in an ExportLogsServiceResponse:
// partial_success is its field 1, rejected_log_records the field 1 of that.
func rejected(answer []byte) uint64 {
	var count uint64
	for partial := field(answer, protowire.BytesType); len(partial) > 0; {
		number, kind, n := protowire.ConsumeTag(partial)
		if n < 0 {
			return count
		}
		partial = partial[n:]
		if number == 1 && kind == protowire.VarintType {
			count, _ = protowire.ConsumeVarint(partial)
			return count
		}
		if n = protowire.ConsumeFieldValue(number, kind, partial); n < 0 {
			return count
		}
		partial = partial[n:]
	}
	return count
}

// field returns the field 1 of a message, nil without one.
func field(message []byte, kind protowire.Type) []byte {
	number, found, n := protowire.ConsumeTag(message)
	if n < 0 || number != 1 || found != kind {
		return nil
	}
	value, _ := protowire.ConsumeBytes(message[n:])
	return value
}

// logRecord returns a line as a log record.
func logRecord(line Line) *logspb.LogRecord {
	record := &logspb.LogRecord{
		TimeUnixNano: uint64(max(0, line.Time.UnixNano())), EventName: eventPrefix + string(line.Event),
		SeverityNumber: logspb.SeverityNumber_SEVERITY_NUMBER_INFO, SeverityText: "INFO",
		Body: &commonpb.AnyValue{Value: &commonpb.AnyValue_StringValue{StringValue: string(line.JSON)}},
	}
	if slices.Contains([]Result{ResultRefused, ResultUnknown, ResultNotSent}, line.Result) {
		record.SeverityNumber, record.SeverityText = logspb.SeverityNumber_SEVERITY_NUMBER_WARN, "WARN"
	}
	for _, a := range []struct{ name, value string }{
		{"armature.audit.key", line.Key},
		{"armature.audit.result", string(line.Result)},
		{"armature.reason", line.Reason},
		{"azure.resource.id", line.ID},
		{"azure.correlation_id", line.CorrelationID},
		{"http.request.method", line.Method},
	} {
		if a.value != "" {
			record.Attributes = append(record.Attributes, attribute(a.name, a.value))
		}
	}
	return record
}

func attribute(name, value string) *commonpb.KeyValue {
	return &commonpb.KeyValue{Key: name, Value: &commonpb.AnyValue{Value: &commonpb.AnyValue_StringValue{StringValue: value}}}
}
