package activities

import (
	"context"
	"log/slog"

	"github.com/armature-io/armature/secrets"
)

// logScrubber is a log handler that removes secret values from its records: the
// modifiers of extensions see the payload, and may log parts of it.
type logScrubber struct {
	next   slog.Handler
	values []string
}

// scrubLog returns a logger that shows none of the values.
func scrubLog(log *slog.Logger, values []string) *slog.Logger {
	if log == nil || len(values) == 0 {
		return log
	}
	return slog.New(logScrubber{next: log.Handler(), values: values})
}

// Enabled implements slog.Handler.
func (s logScrubber) Enabled(ctx context.Context, level slog.Level) bool {
	return s.next.Enabled(ctx, level)
}

// Handle implements slog.Handler.
func (s logScrubber) Handle(ctx context.Context, record slog.Record) error {
	clean := slog.NewRecord(record.Time, record.Level, secrets.Scrub(record.Message, s.values), record.PC)
	record.Attrs(func(attr slog.Attr) bool {
		clean.AddAttrs(s.attr(attr))
		return true
	})
	return s.next.Handle(ctx, clean)
}

// attr writes every value but a group as text, because it may contain a secret.
func (s logScrubber) attr(attr slog.Attr) slog.Attr {
	value := attr.Value.Resolve()
	if value.Kind() != slog.KindGroup {
		return slog.String(attr.Key, secrets.Scrub(value.String(), s.values))
	}
	return slog.Attr{Key: attr.Key, Value: slog.GroupValue(s.attrs(value.Group())...)}
}

func (s logScrubber) attrs(attrs []slog.Attr) []slog.Attr {
	clean := make([]slog.Attr, len(attrs))
	for i, attr := range attrs {
		clean[i] = s.attr(attr)
	}
	return clean
}

// WithAttrs implements slog.Handler.
func (s logScrubber) WithAttrs(attrs []slog.Attr) slog.Handler {
	return logScrubber{next: s.next.WithAttrs(s.attrs(attrs)), values: s.values}
}

// WithGroup implements slog.Handler.
func (s logScrubber) WithGroup(name string) slog.Handler {
	return logScrubber{next: s.next.WithGroup(name), values: s.values}
}
