package otlp

import (
	"context"
	"errors"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/armature-io/armature/internal/text"
	"go.opentelemetry.io/otel/sdk/trace"
)

const (
	// maxErrorRunes bounds the reason of a failed export.
	maxErrorRunes = 300
	// minSecret is the length from which the value of a header is removed from messages.
	minSecret = 6
)

// addresses matches a URL, of which scheme and host are shown: the rest may hold a key.
var addresses = regexp.MustCompile(`\b(https?://)(?:[^\s/@"]*@)?([^\s/?"]*)[^\s"]*`)

// quietExporter reports the first of several failed exports in a row. The SDK would print
// each one to stderr.
type quietExporter struct {
	trace.SpanExporter
	failed func(error)
	// secrets are values of the headers, which a collector may repeat in its response.
	secrets []string
	failing atomic.Bool
}

// ExportSpans exports spans. Those of a failed export are lost.
func (e *quietExporter) ExportSpans(ctx context.Context, spans []trace.ReadOnlySpan) error {
	err := e.SpanExporter.ExportSpans(ctx, spans)
	if err == nil {
		e.failing.Store(false)
		return nil
	}
	if !e.failing.Swap(true) && e.failed != nil {
		e.failed(e.clean(err))
	}
	return nil
}

// clean returns the cause of a failed request on one line, without its URL and the values of
// its headers: both may hold a key, and the exporter quotes the response of the collector.
func (e *quietExporter) clean(err error) error {
	if request, ok := errors.AsType[*url.Error](err); ok {
		err = request.Err
	}
	found := addresses.ReplaceAllString(strings.Join(strings.Fields(err.Error()), " "), "$1$2")
	for _, secret := range e.secrets {
		found = strings.ReplaceAll(found, secret, "(masked)")
	}
	return errors.New(text.Cut(found, maxErrorRunes))
}

// headerValues returns the values of the headers that the variables set, as they are written
// and as they are sent (opentelemetry.io/docs/specs/otel/protocol/exporter: key=value, with
// commas between, percent-encoded). The longest are the first.
func headerValues(lookup func(string) (string, bool)) []string {
	var values []string
	for _, name := range []string{"OTEL_EXPORTER_OTLP_HEADERS", "OTEL_EXPORTER_OTLP_TRACES_HEADERS"} {
		list, _ := lookup(name)
		for header := range strings.SplitSeq(list, ",") {
			_, value, _ := strings.Cut(header, "=")
			value = strings.TrimSpace(value)
			sent, err := url.PathUnescape(value)
			if err != nil {
				sent = value
			}
			for _, one := range append(strings.Fields(sent), value, sent) { // Bearer TOKEN is two words
				if len(one) >= minSecret {
					values = append(values, one)
				}
			}
		}
	}
	slices.SortFunc(values, func(a, b string) int { return len(b) - len(a) })
	return values
}
