package backend

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/armature-io/armature/internal/text"
	"github.com/armature-io/armature/starter/internal/cli"
	"github.com/armature-io/armature/workflows"
	"github.com/google/uuid"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	taskqueuepb "go.temporal.io/api/taskqueue/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
)

const (
	// confirmTimeout bounds the wait for all workers together.
	confirmTimeout = 3 * time.Second
	// maxConfirmations bounds the workers that are asked at once.
	maxConfirmations = 64
)

// Confirmation is what the live workers of a task queue say about a freeze.
type Confirmation struct {
	// Workers counts those that poll the task queue, or did within two minutes.
	Workers int
	// Silent are those that have not confirmed, with the reason, sorted.
	Silent []string
	// Unsupported is set when the server cannot ask them.
	Unsupported bool
}

// Text returns the line about workers that confirmed, "" unless all of them did.
func (c Confirmation) Text() string {
	if c.Workers == 0 || c.Unsupported || len(c.Silent) > 0 {
		return ""
	}
	return "  confirmed by " + cli.Count(c.Workers, "worker") + "\n"
}

// Note returns the sentence about what is missing, "" where nothing is. err is the error of
// ConfirmFreeze.
func (c Confirmation) Note(err error) string {
	switch {
	case err != nil:
		return fmt.Sprintf("the freeze is set; whether the workers have read it is unknown: %v", err)
	case c.Unsupported:
		return "this Temporal server cannot ask the workers (it has no standalone activities); they read the freeze before they write, within 5 s"
	case len(c.Silent) > 0:
		return fmt.Sprintf("the freeze is set, and not confirmed by %d of %s: %s; one that still runs reads it before it writes, within 5 s; stop it to be sure",
			len(c.Silent), cli.Count(c.Workers, "worker"), strings.Join(c.Silent, ", "))
	}
	return ""
}

// ConfirmFreeze asks each worker that polls the task queue whether it honours a freeze. A
// worker that does not answer holds it up for confirmTimeout.
func (c *Client) ConfirmFreeze(ctx context.Context, freeze workflows.Freeze) (Confirmation, error) {
	polls, err := c.livePolls(ctx)
	if err != nil {
		return Confirmation{}, err
	}
	deadline, cancel := context.WithTimeout(ctx, confirmTimeout)
	defer cancel()
	var (
		mu     sync.Mutex
		result = Confirmation{Workers: len(polls)}
	)
	identities := make([]string, 0, len(polls))
	for identity := range polls {
		identities = append(identities, identity)
	}
	err = ForEach(ctx, len(identities), maxConfirmations, func(_ context.Context, i int) error {
		err := c.confirm(deadline, identities[i], freeze)
		mu.Lock()
		defer mu.Unlock()
		switch {
		case is[*serviceerror.Unimplemented](err):
			result.Unsupported = true
		case err != nil:
			result.Silent = append(result.Silent, fmt.Sprintf("%s (%s; last poll %s ago)", identities[i], silence(err), text.Duration(polls[identities[i]])))
		}
		return nil
	})
	slices.Sort(result.Silent)
	return result, err
}

// confirm asks one worker.
func (c *Client) confirm(ctx context.Context, identity string, freeze workflows.Freeze) error {
	handle, err := c.client.ExecuteActivity(ctx, client.StartActivityOptions{
		ID: "armature:confirm:" + uuid.NewString(), TaskQueue: workflows.ConfirmTaskQueue(c.taskQueue, identity),
		ScheduleToCloseTimeout: confirmTimeout, Summary: "confirm the freeze",
		RetryPolicy: &temporal.RetryPolicy{MaximumAttempts: 1},
		Priority:    temporal.Priority{PriorityKey: workflows.PriorityBrake},
	}, workflows.ConfirmFreezeActivity)
	if err != nil {
		return err //nolint:wrapcheck // silence and the caller look for its type
	}
	var result workflows.ConfirmFreezeResult
	if err := handle.Get(ctx, &result); err != nil {
		return err //nolint:wrapcheck // the same
	}
	if !result.Includes(freeze) {
		return errOldFreezes
	}
	return nil
}

var errOldFreezes = errors.New("it has not read the freeze")

// silence returns why a worker has not confirmed.
func silence(err error) string {
	switch {
	case is[*temporal.TimeoutError](err), errors.Is(err, context.DeadlineExceeded), is[*serviceerror.DeadlineExceeded](err):
		return "no answer within " + text.Duration(confirmTimeout)
	case errors.Is(err, errOldFreezes):
		return err.Error()
	}
	return cli.OneLine(err.Error())
}

// livePolls returns the workers that polled the task queue lately, with the time since
// their last polls. The server lists one that is gone for minutes.
func (c *Client) livePolls(ctx context.Context) (map[string]time.Duration, error) {
	deadline, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	var pollers []*taskqueuepb.PollerInfo
	for _, kind := range []enumspb.TaskQueueType{enumspb.TASK_QUEUE_TYPE_WORKFLOW, enumspb.TASK_QUEUE_TYPE_ACTIVITY} {
		described, err := c.client.DescribeTaskQueue(deadline, c.taskQueue, kind)
		if err != nil {
			return nil, c.translateRead(ctx, err)
		}
		pollers = append(pollers, described.GetPollers()...)
	}
	workers, newest := workflows.Workers(pollers), time.Time{}
	for _, worker := range workers {
		if worker.Last.After(newest) {
			newest = worker.Last
		}
	}
	polls := map[string]time.Duration{}
	for _, worker := range workers {
		if worker.IsLive(newest) {
			polls[worker.Identity] = max(0, time.Since(worker.Last))
		}
	}
	return polls, nil
}
