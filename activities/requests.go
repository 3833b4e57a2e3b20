package activities

import (
	"log/slog"
	"time"

	"github.com/armature-io/armature/activities/lookup"
	"github.com/armature-io/armature/arm"
	"github.com/armature-io/armature/internal/extensionhost"
	"github.com/armature-io/armature/internal/servertime"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/secrets"
)

// requestMaker makes the requests to the extension points, and verdicts from the errors of
// ARM.
type requestMaker struct {
	*secretReader
	*hasher
	client   *arm.Client
	registry *extensionhost.Registry
	lookup   *lookup.Reader
	bodies   *lookup.Bodies
	states   *managedStates
	etags    *ignoredETags
	// observed are the resources that are only observed, whatever policy their manifests state.
	observed resource.Observed
	// followers know which resources a feed follows.
	followers *followers
	clock     *servertime.Clock
	// now returns the time of the Temporal server: what is compared across workers must not be
	// the clock of one worker.
	now func() time.Time
	log *slog.Logger
}

// startedAt returns a maker whose clock starts now at a time of the Temporal server. A zero
// time, of a workflow that sends none, leaves the estimate of the worker.
func (m *requestMaker) startedAt(at time.Time) *requestMaker {
	if at.IsZero() {
		return m
	}
	started, local := *m, m.clock.Local()
	started.now = func() time.Time { return at.Add(m.clock.Local().Sub(local)) }
	return &started
}

// secretReader reads the secrets of manifests, and hides them.
type secretReader struct {
	resolver *secrets.Resolver
	masker   *secrets.Masker
}

// hasher makes keyed hashes for what may not be in a history.
type hasher struct {
	key, formerKey []byte
	// rotation is set if the key is secret: then secrets have hashes too.
	rotation bool
}
