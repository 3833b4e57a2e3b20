package config

import (
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"
)

// Feed configures the feed of changes.
type Feed struct {
	// Source is one of the Feed constants.
	Source string
	// Queue is the URL of the storage queue of the worker's own credential; a named credential
	// has its own, Credential.FeedQueue.
	Queue string
	// Interval is the time between two readings; 0 is the default of the source.
	Interval time.Duration
}

// Values of feed.source.
const (
	FeedOff           = "off"
	FeedResourceGraph = "resource-graph"
	FeedQueue         = "queue"
)

const (
	// graphInterval and queueInterval are the defaults of the sources.
	graphInterval = 2 * time.Minute
	queueInterval = 5 * time.Second
	// maxFeedInterval is the longest one with which a feed is not late.
	maxFeedInterval = 10 * time.Minute
)

// ReadInterval returns the time between two readings.
func (f Feed) ReadInterval() time.Duration {
	switch {
	case f.Interval > 0:
		return f.Interval
	case f.Source == FeedQueue:
		return queueInterval
	}
	return graphInterval
}

// FeedQueues returns the URLs of the queues by the name of the credential, CredentialDefault for
// the worker's own; none unless the source is a queue.
func (c Config) FeedQueues() map[string]string {
	queues := map[string]string{}
	if c.Feed.Source == FeedQueue {
		queues[CredentialDefault] = c.Feed.Queue
		for name, credential := range c.Credentials {
			queues[name] = credential.FeedQueue
		}
		maps.DeleteFunc(queues, func(_, queue string) bool { return queue == "" })
	}
	return queues
}

// feed checks the feed of changes.
func (c Config) feed(p *problems) {
	p.oneOf("feed.source", c.Feed.Source, FeedOff, FeedResourceGraph, FeedQueue)
	p.require(c.Feed.Interval == 0 || c.Feed.Interval >= time.Second && c.Feed.Interval <= maxFeedInterval, "feed.interval", "must be 0s, or 1s to %s, not %s", maxFeedInterval, c.Feed.Interval)
	stated := map[string]string{"feed.queue": c.Feed.Queue}
	for name, credential := range c.Credentials {
		stated[credentialsKey+"."+name+".feed-queue"] = credential.FeedQueue
	}
	for _, key := range slices.Sorted(maps.Keys(stated)) {
		if queue := stated[key]; queue != "" {
			p.require(c.Feed.Source == FeedQueue, key, "allowed with feed.source queue only")
			p.require(isQueue(queue), key, "must be the URL of a storage queue, https://ACCOUNT.queue.core.windows.net/QUEUE, without a token in it")
		}
	}
	p.require(c.Feed.Source != FeedQueue || len(c.FeedQueues()) > 0, "feed.queue", "required with feed.source queue, here or as feed-queue of a credential")
}

// isQueue reports whether a text has the form of the URL of a queue.
func isQueue(text string) bool {
	queue, err := url.Parse(text)
	return err == nil && (queue.Scheme == "https" || queue.Scheme == "http" && loopback(text)) && queue.Host != "" &&
		strings.Trim(queue.Path, "/") != "" && queue.RawQuery == "" && queue.Fragment == "" && queue.User == nil
}
