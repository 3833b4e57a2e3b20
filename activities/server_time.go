package activities

import (
	"context"
	"time"
)

// serverTime is a time of the Temporal server, with the reading of the local clock at which
// it was current.
type serverTime struct{ at, local time.Time }

type serverTimeKey struct{}

// atServerTime starts the clock of an activity at a time of the Temporal server: what is
// compared across workers must not be one worker's clock. A zero time, of an older workflow,
// leaves the estimate of the worker.
func (a *Activities) atServerTime(ctx context.Context, at time.Time) context.Context {
	if at.IsZero() {
		return ctx
	}
	return context.WithValue(ctx, serverTimeKey{}, serverTime{at: at, local: a.clock.Local()})
}

// now returns the time of the Temporal server.
func (m *requestMaker) now(ctx context.Context) time.Time {
	if start, ok := ctx.Value(serverTimeKey{}).(serverTime); ok {
		return start.at.Add(m.clock.Local().Sub(start.local))
	}
	return m.clock.Now()
}
