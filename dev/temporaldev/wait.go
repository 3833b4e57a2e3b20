package temporaldev

import (
	"context"
	"fmt"
	"time"
)

// waitUntil polls until check returns nil or the context ends. The error then contains
// the name and the last error of check.
func waitUntil(ctx context.Context, name string, check func(context.Context) error) error {
	ticker := time.NewTicker(50 * time.Millisecond)
	defer ticker.Stop()
	for {
		attempt, cancel := context.WithTimeout(ctx, 2*time.Second)
		err := check(attempt)
		cancel()
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for %s: %w (last error: %w)", name, context.Cause(ctx), err)
		case <-ticker.C:
		}
	}
}
