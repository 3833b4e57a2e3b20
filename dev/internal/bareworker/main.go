// Command bareworker is what Armature is measured against: a Temporal worker
// with the SDK's own options, whose one workflow runs the commands of a pass in
// sync and does nothing in them: a local activity, an activity that makes one GET
// and drops the answer, two local activities, a timer. It takes an update that
// sets the interval, as an apply does with Armature.
//
// Its environment is the product worker's: TEMPORAL_ADDRESS,
// ARMATURE_TASK_QUEUE, ARMATURE_AZURE_ENDPOINT, ARMATURE_HTTP_LISTEN for
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
	transport := &http.Transport{MaxIdleConnsPerHost: connections}
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

// passes runs a pass, sleeps for the interval, and so on; the first one when the
// first interval comes.
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
		seen := messages
		if err := pass(ctx, url); err != nil {
			return err
		}
		if err := sleep(ctx, interval, func() bool { return messages != seen }); err != nil {
			return err
		}
	}
	return fmt.Errorf("%s is to end before continue-as-new", url)
}

// pass has the commands of a pass in sync.
func pass(ctx workflow.Context, url string) error {
	var a *activities
	local := workflow.WithLocalActivityOptions(ctx, workflow.LocalActivityOptions{
		ScheduleToCloseTimeout: 5 * time.Second, RetryPolicy: &temporal.RetryPolicy{MaximumAttempts: 1},
	})
	if err := workflow.ExecuteLocalActivity(local, a.Nothing).Get(ctx, nil); err != nil {
		return err
	}
	request := workflow.WithActivityOptions(ctx, workflow.ActivityOptions{StartToCloseTimeout: 90 * time.Second, HeartbeatTimeout: 15 * time.Second})
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

// sleep races a timer against a condition.
func sleep(ctx workflow.Context, most time.Duration, until func() bool) error {
	ctx, cancel := workflow.WithCancel(ctx)
	defer cancel()
	timer := workflow.NewTimer(ctx, most)
	return workflow.Await(ctx, func() bool { return until() || timer.IsReady() })
}

// connections are kept open, so that no GET has to make one.
const connections = 100

type activities struct {
	endpoint string
	client   *http.Client
}

// Nothing is a local activity that does nothing.
func (*activities) Nothing(context.Context) error { return nil }

// Get reads a path of ARM and drops the answer.
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
