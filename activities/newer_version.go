package activities

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/armature-io/armature/arm"
	"github.com/armature-io/armature/drift"
	"github.com/armature-io/armature/internal/extensionhost"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/types"
)

// newerVersions are the newer api-versions that a resource is read in, because a PUT may
// remove what only they have.
type newerVersions struct {
	requests *requestMaker
	// refused are the types with an api-version, in lower case, that the service does not
	// have although it is published.
	refused sync.Map
}

// of returns what a PUT of a resource may remove because the api-version of its
// manifest does not have it; the zero value for put: replace, which lets it go, and where
// the service refused the newer version.
func (n *newerVersions) of(desired resource.Desired, keeps bool) types.Newer {
	if n.requests.registry.Facts(desired.ID.Type()).PutKeepsOmitted != "" {
		return types.Newer{}
	}
	newer := types.NewerThan(desired.ID.Type(), desired.APIVersion)
	if _, refused := n.refused.Load(versionKey(desired.ID, newer.Version)); refused || !keeps {
		return types.Newer{}
	}
	return newer
}

// read reads a resource in a newer api-version, masked. It returns nil where the
// service does not have the version, which is then not tried again for the type.
func (n *newerVersions) read(ctx context.Context, desired resource.Desired, version string) (map[string]any, error) {
	target := desired.Target()
	target.APIVersion = version
	response, err := n.requests.client.Get(ctx, target.ID, version)
	if failure, ok := errors.AsType[*arm.Error](err); ok && slices.Contains(versionCodes[:], failure.Code) {
		n.refused.Store(versionKey(target.ID, version), true)
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	observed, err := resource.DecodeBody(response.Body)
	if err != nil {
		return nil, err
	}
	return n.requests.mask(ctx, observed, target), nil
}

// versionCodes are ARM's codes for an api-version that the service or the cloud does not
// have (learn.microsoft.com/azure/azure-resource-manager/templates/common-deployment-errors).
var versionCodes = [...]string{"NoRegisteredProviderFound", "InvalidApiVersionParameter", "InvalidResourceType", "UnsupportedApiVersion"}

func versionKey(id resource.ID, version string) string {
	return strings.ToLower(id.Type() + "@" + version)
}

// checkNewer returns the verdict that stops a correction in an old api-version, because
// another tool set values that only a newer one has; nil where the PUT may be sent. It
// reads the resource once more, for such api-versions alone.
func (p *put) checkNewer(ctx context.Context) *resource.Verdict {
	newer := p.newer.of(p.in.Desired, p.keepsOthers() && !p.patches())
	if !p.request.Hold || newer.Version == "" {
		return nil
	}
	observed, err := p.newer.read(ctx, p.in.Desired, newer.Version)
	switch {
	case err != nil:
		verdict := p.errorVerdict(ctx, p.in.Desired.ID, newer.Version, err)
		verdict.Message = fmt.Sprintf("cannot read what a correction in api-version %s could remove: %s", p.in.Desired.APIVersion, verdict.Message)
		return &verdict
	case observed == nil:
		return nil
	}
	drops := drift.NewerDrops(p.request.Object.Desired, observed, newer, p.request.Comparison())
	if len(drops.Paths) == 0 {
		return nil
	}
	name := p.in.Desired.ID.Short()
	verdict := resource.Block(resource.ReasonHeld, fmt.Sprintf(
		"a correction in api-version %s would remove what only newer versions have and another tool set: %s; no user requested it, so nothing is sent. "+
			"To keep it, apply the manifest with api-version %s; to let it go, set put: replace, or run armature reconcile %s",
		p.in.Desired.APIVersion, extensionhost.DropsText(drops), newer.Version, name))
	verdict.Class, verdict.Actor = resource.RetryVerySlow, "the owner of the manifest"
	verdict.Drops, verdict.MoreDrops = drops.Paths, drops.More
	return &verdict
}

// remember adds to the baseline after a PUT the values that only a newer api-version
// shows: what the service had set by itself.
func (n *newerVersions) remember(ctx context.Context, in PostCheckInput, request extensionhost.Request, baseline *drift.Baseline) {
	newer := n.of(in.Desired, request.KeepOthers || request.Merge)
	if !in.Sent || newer.Version == "" {
		return
	}
	if observed, err := n.read(ctx, in.Desired, newer.Version); err == nil && observed != nil {
		baseline.Newer = drift.NewNewerValues(request.Object.Desired, observed, newer, request.Comparison())
	}
}
