package service

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/armature-io/armature/activities/feed"
	"github.com/armature-io/armature/arm"
	"github.com/armature-io/armature/config"
)

// collectEvents is how long the further events of one operation are awaited.
const collectEvents = 2 * time.Second

// feedSources returns the sources of changes by the name of the credential; none without a feed.
func feedSources(settings config.Config, azure *azure, observe func(arm.Request), now func() time.Time) (map[string]feed.Source, error) {
	if azure == nil || settings.Feed.Source == config.FeedOff {
		return nil, nil //nolint:nilnil // a lookup in a nil map finds no source
	}
	sources := map[string]feed.Source{}
	if settings.Feed.Source == config.FeedResourceGraph {
		for name := range azure.options.Connections {
			sources[name] = feed.NewGraph(azure.client, now)
		}
		sources[arm.CredentialDefaultName] = feed.NewGraph(azure.client, now)
		return sources, nil
	}
	var problems []error
	queues := settings.FeedQueues()
	for _, name := range slices.Sorted(maps.Keys(queues)) {
		options := azure.options
		if named, isNamed := azure.options.Connections[name]; isNamed {
			options = named.Options
		}
		queue, err := arm.NewQueue(arm.QueueOptions{URL: queues[name], Credential: options.Credential, Transport: options.Transport, Observer: observe})
		if err != nil {
			problems = append(problems, fmt.Errorf("queue of credential %s: %w", name, err))
			continue
		}
		sources[name] = feed.NewQueue(queue, now, collectEvents)
	}
	return sources, errors.Join(problems...)
}

// followFeeds keeps the workflow of each feed running and reads its state, until ctx is done.
func (p *process) followFeeds(ctx context.Context) {
	logged := map[string]string{}
	for waited := true; waited; waited = sleep(ctx, p.freezeInterval) {
		for _, credential := range slices.Sorted(maps.Keys(p.feeds)) {
			state, err := p.fleet.FollowFeed(ctx, credential)
			problem := state.Refused + state.Failed
			if err != nil && !isUnreachable(err) && ctx.Err() == nil {
				problem = err.Error()
			}
			if problem != "" && problem != logged[credential] {
				p.log.Warn("the feed of changes has a problem, retrying", "credential", credential, "error", problem)
			}
			logged[credential] = problem
			p.metrics.observeFeed(credential, state, time.Now())
		}
	}
}
