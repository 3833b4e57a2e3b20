// Command bareworker is the baseline of the benchmarks: a Temporal worker with the
// SDK's default options and one workflow, which runs the commands of a pass in sync
// without their logic: a local activity, an activity with one GET, two local
// activities and a timer. An update sets the interval, as an apply does in Armature.
//
// It reads the variables of the product worker: TEMPORAL_ADDRESS,
// ARMATURE_TASK_QUEUE, ARMATURE_AZURE_ENDPOINT, and ARMATURE_HTTP_LISTEN for
// /readyz.
package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"go.temporal.io/sdk/client"
	sdklog "go.temporal.io/sdk/log"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	c, err := client.Dial(client.Options{
		HostPort: os.Getenv("TEMPORAL_ADDRESS"), Namespace: os.Getenv("TEMPORAL_NAMESPACE"),
		Logger: sdklog.NewStructuredLogger(slog.New(slog.DiscardHandler)),
	})
	if err != nil {
		return fmt.Errorf("connect to temporal: %w", err)
	}
	defer c.Close()
	w := worker.New(c, os.Getenv("ARMATURE_TASK_QUEUE"), worker.Options{})
	w.RegisterWorkflowWithOptions(passes, workflow.RegisterOptions{Name: "Bare"})
	transport := &http.Transport{MaxIdleConnsPerHost: maxIdleConnections}
	w.RegisterActivity(&activities{endpoint: os.Getenv("ARMATURE_AZURE_ENDPOINT"), client: &http.Client{Transport: transport}})
	if err := w.Start(); err != nil {
		return fmt.Errorf("start worker: %w", err)
	}
	defer w.Stop()
	server := &http.Server{Addr: os.Getenv("ARMATURE_HTTP_LISTEN"), ReadHeaderTimeout: time.Second, Handler: http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})}
	context.AfterFunc(ctx, func() { _ = server.Close() })
	if err := server.ListenAndServe(); ctx.Err() == nil {
		return fmt.Errorf("serve /readyz: %w", err)
	}
	return nil
}

// passes runs a pass and then sleeps for the interval, repeatedly. It waits for the
// first interval before the first pass.
func passes(ctx workflow.Context, url string) error {
	var interval time.Duration
	messages := 0
	set := func(_ workflow.Context, next time.Duration) error {
		interval = next
		messages++
		return nil
	}
	if err := workflow.SetUpdateHandler(ctx, "interval", set); err != nil {
		return err
	}
	if err := workflow.Await(ctx, func() bool { return messages > 0 }); err != nil {
		return err
	}
	for !workflow.GetInfo(ctx).GetContinueAsNewSuggested() {
		handled := messages
		if err := pass(ctx, url); err != nil {
			return err
		}
		if err := sleep(ctx, interval, func() bool { return messages != handled }); err != nil {
			return err
		}
	}
	return fmt.Errorf("stop before continue-as-new: %s ran too long", url)
}

// pass runs the commands of a pass in sync.
func pass(ctx workflow.Context, url string) error {
	var a *activities
	local := workflow.WithLocalActivityOptions(ctx, workflow.LocalActivityOptions{
		ScheduleToCloseTimeout: 5 * time.Second, RetryPolicy: &temporal.RetryPolicy{MaximumAttempts: 1},
	})
	if err := workflow.ExecuteLocalActivity(local, a.Nothing).Get(ctx, nil); err != nil {
		return err
	}
	request := workflow.WithActivityOptions(ctx, workflow.ActivityOptions{StartToCloseTimeout: 90 * time.Second, HeartbeatTimeout: 30 * time.Second})
	if err := workflow.ExecuteActivity(request, a.Get, url).Get(ctx, nil); err != nil {
		return err
	}
	for range 2 {
		if err := workflow.ExecuteLocalActivity(local, a.Nothing).Get(ctx, nil); err != nil {
			return err
		}
	}
	return nil
}

// sleep waits for a duration or until the condition holds.
func sleep(ctx workflow.Context, duration time.Duration, until func() bool) error {
	ctx, cancel := workflow.WithCancel(ctx)
	defer cancel()
	timer := workflow.NewTimer(ctx, duration)
	return workflow.Await(ctx, func() bool { return until() || timer.IsReady() })
}

// maxIdleConnections is large enough that no GET opens a connection.
const maxIdleConnections = 100

type activities struct {
	endpoint string
	client   *http.Client
}

// Nothing is a local activity that does nothing.
func (*activities) Nothing(context.Context) error { return nil }

// Get reads a path of ARM and discards the response.
func (a *activities) Get(ctx context.Context, path string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, a.endpoint+path, nil)
	if err != nil {
		return err
	}
	response, err := a.client.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	if _, err := io.Copy(io.Discard, response.Body); err != nil || response.StatusCode != http.StatusOK {
		return fmt.Errorf("get %s: %s: %w", path, response.Status, err)
	}
	return nil
}
