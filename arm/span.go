package arm

import (
	"net/http"
	"strconv"
	"strings"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
)

// Names of the attributes of requests. Those without armature are OpenTelemetry's for HTTP
// and for Azure's clients.
const (
	spanMethod        = attribute.Key("http.request.method")
	spanStatus        = attribute.Key("http.response.status_code")
	spanHost          = attribute.Key("server.address")
	spanPath          = attribute.Key("url.path")
	spanErrorType     = attribute.Key("error.type")
	spanNamespace     = attribute.Key("az.namespace")
	spanRequestID     = attribute.Key("az.service_request_id")
	spanCorrelationID = attribute.Key("az.correlation_id")
	spanAPIVersion    = attribute.Key("armature.api_version")
	spanType          = attribute.Key("armature.resource.type")
	spanCall          = attribute.Key("armature.call")
)

// beginSpan begins the span of a request, with the provider of the span in its context:
// there is none without that. It has neither headers nor a body, and of the query only the
// api-version: the URLs of operations have signatures there.
func beginSpan(request *http.Request, trip *roundTrip) trace.Span {
	tracer := trace.SpanFromContext(request.Context()).TracerProvider().Tracer("github.com/armature-io/armature/arm")
	namespace, _, _ := strings.Cut(trip.typ, "/")
	_, span := tracer.Start(request.Context(), strings.TrimSpace(request.Method+" "+trip.typ), trace.WithSpanKind(trace.SpanKindClient))
	if span.IsRecording() {
		span.SetAttributes(
			spanMethod.String(request.Method), spanHost.String(request.URL.Hostname()), spanPath.String(request.URL.Path),
			spanNamespace.String(namespace), spanType.String(trip.typ), spanCall.String(string(trip.call)),
			spanAPIVersion.String(request.URL.Query().Get("api-version")))
	}
	return span
}

// endSpan ends the span of a request that was sent. The correlation ID is the one that
// Azure's activity log shows. The absence of a resource that is read is no error.
func endSpan(span trace.Span, request *http.Request, response *http.Response, err error) {
	defer span.End()
	if !span.IsRecording() {
		return
	}
	correlation := request.Header.Get(headerCorrelationID)
	if err != nil || response == nil {
		span.SetAttributes(spanCorrelationID.String(correlation), spanErrorType.String("no response"))
		span.SetStatus(codes.Error, "no response")
		return
	}
	if answered := answerID(response.Header, headerCorrelationID); answered != "" {
		correlation = answered
	}
	span.SetAttributes(spanStatus.Int(response.StatusCode), spanCorrelationID.String(correlation), spanRequestID.String(answerID(response.Header, headerRequestID)))
	absent := response.StatusCode == http.StatusNotFound && (request.Method == http.MethodGet || request.Method == http.MethodHead)
	if status := strconv.Itoa(response.StatusCode); response.StatusCode >= http.StatusBadRequest && !absent {
		span.SetAttributes(spanErrorType.String(status))
		span.SetStatus(codes.Error, status)
	}
}
