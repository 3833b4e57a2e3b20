package starter

import (
	"context"

	"github.com/armature-io/armature/starter/internal/rollout"
	"github.com/spf13/cobra"
)

func (a *app) rolloutCommand() *cobra.Command {
	return rollout.Command(rollout.Options{Out: a.out, Err: a.err, Now: a.now, After: a.after, TaskQueue: func() string { return a.taskQueue },
		Connect: func(ctx context.Context) (rollout.Connection, error) {
			b, err := a.connection(ctx)
			if err != nil {
				return nil, err
			}
			return b.versions, nil
		}})
}
