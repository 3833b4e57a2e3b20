package audit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
)

// maxDeliveries bounds the requests with which a sink finds the lines that a server refuses.
const maxDeliveries = 64

// RefusedError reports the lines of a batch that a server refuses and would refuse again. It
// has the others.
type RefusedError struct {
	Lines []Line
	Cause error
}

// Error returns the cause with the number of lines.
func (e *RefusedError) Error() string {
	return fmt.Sprintf("%d audit lines are refused for good: %v", len(e.Lines), e.Cause)
}

// Unwrap returns the cause.
func (e *RefusedError) Unwrap() error { return e.Cause }

// has reports whether a line is among those that are refused.
func (e *RefusedError) has(line Line) bool {
	return slices.ContainsFunc(e.Lines, func(refused Line) bool { return bytes.Equal(refused.JSON, line.JSON) })
}

// Report logs and counts the lines as lost.
func (e *RefusedError) Report(log *slog.Logger, count func(sink string, outcome Outcome, lines int), sink string) {
	count(sink, OutcomeLost, len(e.Lines))
	for _, line := range e.Lines {
		log.Error("an audit line is lost: the sink refuses it for good, and took others", "sink", sink, "line", string(line.JSON), "error", e.Cause)
	}
}

// contentError means that a server refuses what was sent, and not the sender.
type contentError struct{ error }

// refusesContent reports whether a server with this status would refuse the same lines
// again: as malformed, too large or invalid. Any other status may change with the setting of
// the sender or the state of the server.
func refusesContent(status int) bool {
	return status == http.StatusBadRequest || status == http.StatusRequestEntityTooLarge || status == http.StatusUnprocessableEntity
}

// deliver sends lines, and halves of them where the content is refused. The error is a
// *RefusedError where the server took some of the lines: one that refuses all of them is
// rather misconfigured than right, and nothing is given up.
func deliver(ctx context.Context, lines []Line, send func(context.Context, []Line) error) error {
	d := delivery{send: send}
	err := d.deliver(ctx, lines)
	switch {
	case err != nil:
		return err
	case len(d.refused) > 0 && d.taken == 0:
		return d.cause
	case len(d.refused) > 0:
		return &RefusedError{Lines: d.refused, Cause: d.cause}
	}
	return nil
}

// delivery is one batch on its way.
type delivery struct {
	send     func(context.Context, []Line) error
	requests int
	taken    int
	refused  []Line
	cause    error
}

func (d *delivery) deliver(ctx context.Context, lines []Line) error {
	d.requests++
	err := d.send(ctx, lines)
	_, isContent := errors.AsType[*contentError](err)
	switch {
	case err == nil:
		d.taken += len(lines)
		return nil
	case !isContent, d.requests >= maxDeliveries:
		return err
	case len(lines) == 1:
		d.refused, d.cause = append(d.refused, lines[0]), err
		return nil
	}
	if err := d.deliver(ctx, lines[:len(lines)/2]); err != nil {
		return err
	}
	return d.deliver(ctx, lines[len(lines)/2:])
}
