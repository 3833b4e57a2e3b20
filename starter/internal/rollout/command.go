package rollout

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/armature-io/armature/starter/internal/backend"
	"github.com/armature-io/armature/starter/internal/cli"
	"github.com/spf13/cobra"
)

// Options are what the command uses from outside.
type Options struct {
	Out, Err io.Writer
	Now      func() time.Time
	After    func(time.Duration) <-chan time.Time
	Connect  func(context.Context) (Connection, error)
	// TaskQueue returns the task queue of the command line.
	TaskQueue func() string
}

// command is the command; name is --deployment.
type command struct {
	Options
	name string
}

// exitInProgress is the exit code of a status that is neither complete nor broken.
const exitInProgress = 2

// errInProgress ends a status in progress. It prints nothing.
var errInProgress = &cli.ExitError{Code: exitInProgress, Err: errors.New("")}

// waitInterval is the time between two looks of status --wait.
const waitInterval = 5 * time.Second

// Command returns the command.
func Command(options Options) *cobra.Command {
	o := &command{Options: options}
	c := &cobra.Command{
		Use:   "rollout",
		Short: "Roll out a worker version, and back",
		Long: `rollout shows the versions of the workers and what runs on each, and moves work from
one version to the next. A worker with worker.deployment has a version: a resource stays
on the version that its run began on, and moves between two passes, without a request to
Azure, once another one is current.

Start the workers of the new version beside the old ones. Then ramp it up, look at
status, promote it, and stop the old workers when status is complete. back undoes either
step. docs/upgrade.md is the runbook.`,
	}
	c.PersistentFlags().StringVar(&o.name, "deployment", "", "worker deployment (default: that of the task queue's workers)")
	c.AddCommand(o.statusCommand(), o.rampCommand(), o.promoteCommand(), o.backCommand(), o.rescueCommand())
	return c
}

func (o *command) statusCommand() *cobra.Command {
	var (
		output  cli.Format
		wait    bool
		timeout time.Duration
	)
	c := &cobra.Command{
		Use:   "status",
		Short: "Show the versions and what runs on each",
		Long: `status shows each version with its workers and the resources that run on it: how many
are Ready, how many a freeze or a budget holds (Frozen, Held), how many have failed for
good, and of how many the workflow tasks keep failing. "+1" are workflows of freezes,
budgets and queues. It names the resources that are on an older version the longest, and
what is stranded: pinned to a version that no worker serves.

It needs no worker, and asks Temporal for counts, not for each resource.

Exit codes:
  0  everything runs on the current version, or there are no versions
  1  something is stranded or failing, or any error
  2  a ramp or a move is in progress
  3  Temporal is unreachable`,
		Example: "  armature rollout status\n  armature rollout status --wait --timeout 2h && docker compose stop worker-old",
		Args:    cli.NoArgs(""),
		RunE: func(c *cobra.Command, _ []string) error {
			status, err := o.read(c.Context(), wait, timeout)
			if err != nil {
				return err
			}
			if output.IsMachine() {
				err = output.Write(o.Out, status)
			} else {
				status.write(o.Out, o.Now())
			}
			switch {
			case err != nil:
				return err
			case status.State == StateBroken:
				return cli.Failed("the rollout has %s, see above", cli.Count(len(status.Problems), "problem"))
			case status.State == StateRamping || status.State == StateMoving:
				return errInProgress
			}
			return nil
		},
	}
	c.Flags().BoolVar(&wait, "wait", false, "wait until everything runs on the current version, or something is stranded or failing")
	c.Flags().DurationVar(&timeout, "timeout", 2*time.Hour, "limit of --wait")
	cli.AddFormat(c, &output)
	return c
}

// read reads the status, with wait until nothing moves any more.
func (o *command) read(ctx context.Context, wait bool, timeout time.Duration) (Status, error) {
	connection, err := o.Connect(ctx)
	if err != nil {
		return Status{}, err
	}
	var expired <-chan time.Time
	if wait && timeout > 0 {
		expired = o.After(timeout)
	}
	shown := ""
	for {
		status, err := Read(ctx, connection, o.TaskQueue(), o.name, o.Now())
		if err != nil || !wait || status.State != StateRamping && status.State != StateMoving {
			return status, err
		}
		if headline := status.headline(); headline != shown {
			shown = headline
			o.note("%s", headline)
		}
		select {
		case <-o.After(waitInterval):
		case <-expired:
			return status, nil
		case <-ctx.Done():
			return status, backend.ErrInterrupted
		}
	}
}

func (o *command) rampCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "ramp BUILD PERCENT",
		Short: "Give a version a share of the resources",
		Long: `ramp gives a version a share of the resources, 0.1 to 100 percent, and new ones in the
same share. The server chooses them by a hash of their IDs, so a larger share includes a
smaller one. The rest stays on the current version. 0 ends the ramp. BUILD may be the
beginning of a build ID. Each resource is asked to move; repeat the command if it was
interrupted.

` + cli.ExitHelp,
		Example: "  armature rollout ramp v2 5\n  armature rollout ramp v2 50",
		Args:    cobra.ExactArgs(2),
		RunE: func(c *cobra.Command, args []string) error {
			percent, err := strconv.ParseFloat(strings.TrimSuffix(args[1], "%"), 32)
			if err != nil || !(percent >= 0 && percent <= 100) {
				return cli.BadInput("%q is no share; use a number from 0 to 100, for example 5", args[1])
			}
			return o.change(c.Context(), func(ctx context.Context, ch changer) error { return ch.ramp(ctx, args[0], float32(percent)) })
		},
	}
}

func (o *command) promoteCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "promote BUILD",
		Short: "Make a version current: all resources move to it",
		Long: `promote makes a version current: new resources begin on it, and the others move to it
between two passes: each is asked to. Repeat the command if it was interrupted. The workers
of the version before must run until rollout status is complete. BUILD may be the beginning
of a build ID.

` + cli.ExitHelp,
		Example: "  armature rollout promote v2",
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return o.change(c.Context(), func(ctx context.Context, ch changer) error { return ch.promote(ctx, args[0]) })
		},
	}
}

func (o *command) backCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "back",
		Short: "End a ramp, or return to the version before",
		Long: `back ends a ramp: its resources return to the current version. Without a ramp it makes
the version current that was current before; its workers must run. A second back
returns to where the first one began.

` + cli.ExitHelp,
		Example: "  armature rollout back",
		Args:    cli.NoArgs(""),
		RunE: func(c *cobra.Command, _ []string) error {
			return o.change(c.Context(), func(ctx context.Context, ch changer) error { return ch.back(ctx) })
		},
	}
}

func (o *command) rescueCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "rescue BUILD",
		Short: "Move what is stranded on a version without workers",
		Long: `rescue moves what is pinned to a version that no worker serves any more to the current
version, which replays its history. Start a worker of the old version instead where you
can: its resources then move without a replay. ` + "`worker replay`" + ` of the current
version finds before what would not replay; nothing changes in Azure for
such a resource until a worker of the old version is back.

` + cli.ExitHelp,
		Example: "  armature rollout rescue v1",
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return o.change(c.Context(), func(ctx context.Context, ch changer) error { return ch.rescue(ctx, args[0]) })
		},
	}
}

// change reads the deployment and changes it.
func (o *command) change(ctx context.Context, do func(context.Context, changer) error) error {
	connection, err := o.Connect(ctx)
	if err != nil {
		return err
	}
	r, err := newReading(ctx, connection, o.TaskQueue(), o.name, o.Now())
	if err != nil {
		return err
	}
	if r.deployment.Name == "" {
		return cli.Failed("find a worker deployment: the workers of task queue %s have no versions; set worker.deployment in their configuration", o.TaskQueue())
	}
	return do(ctx, changer{command: o, reading: r})
}

func (o Options) printf(format string, args ...any) { fmt.Fprintf(o.Out, format, args...) }

// note writes one sentence for the user beside the output.
func (o Options) note(format string, args ...any) { fmt.Fprintf(o.Err, format+"\n", args...) }
