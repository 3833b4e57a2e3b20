package rollout

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/armature-io/armature/internal/nearest"
	"github.com/armature-io/armature/starter/internal/backend"
	"github.com/armature-io/armature/starter/internal/cli"
	"github.com/armature-io/armature/workflows"
)

const (
	// settleTimeout bounds the wait until all task queues route work as it was set.
	settleTimeout  = 30 * time.Second
	settleInterval = 250 * time.Millisecond
)

// changer changes which versions of a deployment get work.
type changer struct {
	*command
	*reading
}

// find returns the version that a build ID, or the beginning of one, names.
func (c changer) find(build string) (string, error) {
	var names, matches []string
	for _, v := range c.deployment.Versions {
		if v.BuildID == build {
			return build, nil
		}
		names = append(names, v.BuildID)
		if strings.HasPrefix(v.BuildID, build) {
			matches = append(matches, v.BuildID)
		}
	}
	switch len(matches) {
	case 0:
		return "", cli.BadInput("find version %q in deployment %s: it is not known%s; versions are %s", build, c.deployment.Name, nearest.Suggest(build, names), versionNames(c.deployment))
	case 1:
		return matches[0], nil
	}
	return "", cli.BadInput("find version %q in deployment %s: %d versions begin with it: %s", build, c.deployment.Name, len(matches), strings.Join(matches, ", "))
}

// served returns an error unless a worker polls as the version.
func (c changer) served(build string) error {
	if c.isServed(build) {
		return nil
	}
	return cli.Failed("route work to version %s: no worker polls task queue %s as this version; start one first, nothing was changed", build, c.status.TaskQueue)
}

// ramp gives a version a share of the resources, 0 to end its ramp.
func (c changer) ramp(ctx context.Context, build string, percent float32) error {
	build, err := c.find(build)
	if err != nil {
		return err
	}
	if percent == 0 {
		return c.endRamp(ctx)
	}
	if err := c.served(build); err != nil {
		return err
	}
	if build == c.deployment.Current {
		return cli.Failed("ramp version %s: it is the current version already; nothing was changed", build)
	}
	if err := c.SetRamping(ctx, c.deployment, build, percent); err != nil {
		return err
	}
	c.printf("version %s  ramping %s\n", build, percentText(percent))
	return c.follow(ctx, build)
}

// endRamp takes all work back to the current version.
func (c changer) endRamp(ctx context.Context) error {
	from := c.deployment.Ramping
	if from == "" {
		c.printf("no version is ramping\n")
		return nil
	}
	if err := c.SetRamping(ctx, c.deployment, "", 0); err != nil {
		return err
	}
	c.printf("version %s  no longer ramping\n", from)
	return c.follow(ctx, c.deployment.Current)
}

// promote makes a version current.
func (c changer) promote(ctx context.Context, build string) error {
	build, err := c.find(build)
	if err != nil {
		return err
	}
	if build == c.deployment.Current && c.deployment.Ramping == "" {
		c.printf("version %s  is current already\n", build)
		return c.follow(ctx, build)
	}
	if err := c.served(build); err != nil {
		return err
	}
	if err := c.SetCurrent(ctx, c.deployment, build); err != nil {
		return err
	}
	c.printf("version %s  current\n", build)
	return c.follow(ctx, build)
}

// back ends a ramp, or makes the version current that was current before.
func (c changer) back(ctx context.Context) error {
	if c.deployment.Ramping != "" {
		return c.endRamp(ctx)
	}
	var before backend.DeploymentVersion
	for _, v := range c.deployment.Versions {
		if v.BuildID != c.deployment.Current && v.LastCurrent.After(before.LastCurrent) {
			before = v
		}
	}
	if before.BuildID == "" {
		return cli.Failed("go back: no other version of deployment %s was ever current; name one: armature rollout promote BUILD", c.deployment.Name)
	}
	return c.promote(ctx, before.BuildID)
}

// follow waits until the routing is in force, and asks the resources of other versions to move:
// each continues as a new run between two passes.
func (c changer) follow(ctx context.Context, build string) error {
	if err := c.settle(ctx); err != nil {
		return err
	}
	sent, err := c.send(ctx, build)
	if err == nil {
		c.printf("%s asked to move, each between two passes\n", cli.CountOf(sent, "workflow was", "workflows were"))
	}
	return err
}

// settle waits until all task queues route work as it was set.
func (c changer) settle(ctx context.Context) error {
	limited, cancel := context.WithTimeout(ctx, settleTimeout)
	defer cancel()
	for {
		d, err := c.Deployment(limited, c.deployment.Name)
		switch {
		case limited.Err() == nil && err != nil:
			return err
		case err == nil && d.Settled:
			return nil
		}
		select {
		case <-c.After(settleInterval):
		case <-limited.Done():
			if ctx.Err() != nil {
				return backend.ErrInterrupted
			}
			c.note("note: not all task queues route work this way yet; `armature rollout status` shows what moved")
			return nil
		}
	}
}

// send signals every workflow that is not on the version. Those that are not routed to it
// stay where they are.
func (c changer) send(ctx context.Context, build string) (int, error) {
	var sent atomic.Int64
	for _, v := range c.status.Versions {
		if v.BuildID == build || v.Status == backend.VersionDrained {
			continue
		}
		for _, others := range []bool{false, true} {
			q := c.query(v)
			q.Others = others
			records, err := c.List(ctx, q.String())
			if err != nil {
				return int(sent.Load()), err
			}
			err = backend.ForEach(ctx, len(records), backend.MaxParallel, func(ctx context.Context, i int) error {
				sent.Add(1)
				return c.Signal(ctx, records[i].WorkflowID, workflows.MoveVersionSignal)
			})
			if err != nil {
				return int(sent.Load()), fmt.Errorf("ask workflows to move: %w", err)
			}
		}
	}
	return int(sent.Load()), nil
}

// rescue moves what is stranded on a version without workers to the current version.
func (c changer) rescue(ctx context.Context, build string) error {
	build, err := c.find(build)
	if err != nil {
		return err
	}
	target := c.deployment.Current
	switch {
	case target == "" || target == build:
		return cli.Failed("move from version %s: %s; `armature rollout promote` another one first, nothing was changed", build,
			map[bool]string{true: "no version is current", false: "it is the current version"}[target == ""])
	case c.isServed(build):
		return cli.Failed("move from version %s: its workers are there, so nothing is stranded; `armature rollout promote %s` asks its resources to move, nothing was changed", build, target)
	}
	if err := c.served(target); err != nil {
		return err
	}
	moved := 0
	for _, others := range []bool{false, true} {
		q := backend.VersionQuery{TaskQueue: c.status.TaskQueue, Deployment: c.deployment.Name, BuildID: build, Others: others}
		records, err := c.List(ctx, q.String())
		if err != nil {
			return err
		}
		err = backend.ForEach(ctx, len(records), backend.MaxParallel, func(ctx context.Context, i int) error {
			if err := c.MoveOnce(ctx, records[i].WorkflowID, c.deployment.Name, target); err != nil {
				return err
			}
			return c.Signal(ctx, records[i].WorkflowID, workflows.MoveVersionSignal)
		})
		if err != nil {
			return fmt.Errorf("move from version %s: %w", build, err)
		}
		moved += len(records)
	}
	c.printf("version %s  %s moved to version %s\n", build, cli.CountOf(moved, "workflow", "workflows"), target)
	return nil
}
