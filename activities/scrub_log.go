package activities

import (
	"context"
	"log/slog"

	"github.com/armature-io/armature/secrets"
)

// scrubber is a log handler that takes secret values out of what it is given:
// the modifiers of extensions see the payload, and what they say of it is logged.
type scrubber struct {
	next   slog.Handler
	values []string
}

// withoutSecrets is a logger that shows none of the values.
func withoutSecrets(log *slog.Logger, values []string) *slog.Logger {
	if log == nil || len(values) == 0 {
		return log
	}
	return slog.New(scrubber{next: log.Handler(), values: values})
}

// Enabled implements slog.Handler.
func (s scrubber) Enabled(ctx context.Context, level slog.Level) bool {
	return s.next.Enabled(ctx, level)
}

// Handle implements slog.Handler.
func (s scrubber) Handle(ctx context.Context, record slog.Record) error {
	clean := slog.NewRecord(record.Time, record.Level, secrets.Scrub(record.Message, s.values), record.PC)
	record.Attrs(func(attr slog.Attr) bool {
		clean.AddAttrs(s.attr(attr))
		return true
	})
	return s.next.Handle(ctx, clean)
}

// attr writes whatever is no group as text, for a secret may be inside.
func (s scrubber) attr(attr slog.Attr) slog.Attr {
	value := attr.Value.Resolve()
	if value.Kind() != slog.KindGroup {
		return slog.String(attr.Key, secrets.Scrub(value.String(), s.values))
	}
	return slog.Attr{Key: attr.Key, Value: slog.GroupValue(s.attrs(value.Group())...)}
}

func (s scrubber) attrs(attrs []slog.Attr) []slog.Attr {
	clean := make([]slog.Attr, len(attrs))
	for i, attr := range attrs {
		clean[i] = s.attr(attr)
	}
	return clean
}

// WithAttrs implements slog.Handler.
func (s scrubber) WithAttrs(attrs []slog.Attr) slog.Handler {
	return scrubber{next: s.next.WithAttrs(s.attrs(attrs)), values: s.values}
}

// WithGroup implements slog.Handler.
func (s scrubber) WithGroup(name string) slog.Handler {
	return scrubber{next: s.next.WithGroup(name), values: s.values}
}
