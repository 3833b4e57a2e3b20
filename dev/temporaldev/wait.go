package temporaldev

import (
	"context"
	"fmt"
	"time"
)

// waitUntil asks until the answer is no error or the context ends; the error
// then says what was waited for and the last answer.
func waitUntil(ctx context.Context, what string, ask func(context.Context) error) error {
	ticker := time.NewTicker(50 * time.Millisecond)
	defer ticker.Stop()
	for {
		attempt, cancel := context.WithTimeout(ctx, 2*time.Second)
		err := ask(attempt)
		cancel()
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for %s: %w (last answer: %w)", what, context.Cause(ctx), err)
		case <-ticker.C:
		}
	}
}
