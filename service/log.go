package service

import (
	"context"
	"errors"
	"io"
	"log/slog"

	"github.com/armature-io/armature/config"
	"go.temporal.io/api/serviceerror"
)

func newLogger(settings config.Log, out io.Writer) *slog.Logger {
	var level slog.Level
	if err := level.UnmarshalText([]byte(settings.Level)); err != nil {
		level = slog.LevelInfo // not reached: config.Validate refuses other levels
	}
	options := &slog.HandlerOptions{Level: level}
	if settings.Format == "text" {
		return slog.New(slog.NewTextHandler(out, options))
	}
	return slog.New(slog.NewJSONHandler(out, options))
}

// quietPolls drops the warnings of the SDK's pollers while Temporal is unreachable:
// each poller would repeat them, and health logs the outage once.
type quietPolls struct{ slog.Handler }

// Handle drops warnings about an unreachable server.
func (q quietPolls) Handle(ctx context.Context, record slog.Record) error {
	unreachable := false
	if record.Level == slog.LevelWarn {
		record.Attrs(func(attribute slog.Attr) bool {
			err, isError := attribute.Value.Any().(error)
			unreachable = isError && isUnreachable(err)
			return !unreachable
		})
	}
	if unreachable {
		return nil
	}
	return q.Handler.Handle(ctx, record)
}

// WithAttrs keeps the filter.
func (q quietPolls) WithAttrs(attributes []slog.Attr) slog.Handler {
	return quietPolls{q.Handler.WithAttrs(attributes)}
}

// WithGroup keeps the filter.
func (q quietPolls) WithGroup(name string) slog.Handler {
	return quietPolls{q.Handler.WithGroup(name)}
}

// isUnreachable reports whether a call failed because Temporal did not respond in time.
func isUnreachable(err error) bool {
	_, unavailable := errors.AsType[*serviceerror.Unavailable](err)
	_, deadline := errors.AsType[*serviceerror.DeadlineExceeded](err)
	return unavailable || deadline || errors.Is(err, context.DeadlineExceeded)
}
