package service

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"slices"

	"github.com/armature-io/armature/config"
	"go.temporal.io/api/serviceerror"
)

func newLogger(settings config.Log, to io.Writer) *slog.Logger {
	var level slog.Level
	if err := level.UnmarshalText([]byte(settings.Level)); err != nil {
		level = slog.LevelInfo // Validate lets no other text through
	}
	options := &slog.HandlerOptions{Level: level}
	if settings.Format == "text" {
		return slog.New(slog.NewTextHandler(to, options))
	}
	return slog.New(slog.NewJSONHandler(to, options))
}

// quietPolls drops what the SDK's pollers say while Temporal is out of reach:
// each of them would say it again and again, and health says it once. What the SDK
// adds to each line of a run or an activity is written when there is a line: most
// of them log nothing.
type quietPolls struct {
	slog.Handler
	attributes []slog.Attr
}

// Handle drops warnings about a server that is out of reach.
func (q quietPolls) Handle(ctx context.Context, record slog.Record) error {
	unreachable := false
	if record.Level == slog.LevelWarn {
		record.Attrs(func(attribute slog.Attr) bool {
			err, isError := attribute.Value.Any().(error)
			unreachable = isError && outOfReach(err)
			return !unreachable
		})
	}
	if unreachable {
		return nil
	}
	return q.written().Handle(ctx, record)
}

// WithAttrs keeps the filter.
func (q quietPolls) WithAttrs(attributes []slog.Attr) slog.Handler {
	return quietPolls{q.Handler, slices.Concat(q.attributes, attributes)}
}

// WithGroup keeps the filter.
func (q quietPolls) WithGroup(name string) slog.Handler {
	return quietPolls{Handler: q.written().WithGroup(name)}
}

// written is the handler that writes the attributes too.
func (q quietPolls) written() slog.Handler {
	if len(q.attributes) == 0 {
		return q.Handler
	}
	return q.Handler.WithAttrs(q.attributes)
}

func outOfReach(err error) bool {
	var unavailable *serviceerror.Unavailable
	var deadline *serviceerror.DeadlineExceeded
	return errors.As(err, &unavailable) || errors.As(err, &deadline) || errors.Is(err, context.DeadlineExceeded)
}
