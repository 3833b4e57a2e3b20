package temporaldev

import (
	"context"
	"fmt"
	"net"
	"strconv"
	"time"
)

// freePorts replaces each 0 by a free port of the loopback interface, and fails
// when a given port is taken: servers that are handed a port end the process,
// or worse, when they cannot have it.
func freePorts(wanted ...int) ([]int, error) {
	picked := make([]int, len(wanted))
	for i, port := range wanted {
		// All listeners stay open until the last port is picked, so that no
		// port is picked twice.
		listener, err := net.Listen("tcp", hostPort(port))
		if err != nil {
			return nil, fmt.Errorf("take port %d: %w", port, err)
		}
		defer func() { _ = listener.Close() }()
		picked[i] = listener.Addr().(*net.TCPAddr).Port
	}
	return picked, nil
}

func hostPort(port int) string { return net.JoinHostPort(loopback, strconv.Itoa(port)) }

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
