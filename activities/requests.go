package activities

import (
	"log/slog"

	"github.com/armature-io/armature/activities/lookup"
	"github.com/armature-io/armature/arm"
	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/internal/servertime"
	"github.com/armature-io/armature/secrets"
)

// requestMaker makes the requests to the extension points, and verdicts from the errors of
// ARM.
type requestMaker struct {
	*secretReader
	*hasher
	client   *arm.Client
	registry *extensions.Registry
	lookup   *lookup.Reader
	bodies   *lookup.Bodies
	states   *managedStates
	etags    *ignoredETags
	clock    *servertime.Clock
	log      *slog.Logger
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
