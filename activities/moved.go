package activities

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/armature-io/armature/arm"
	"github.com/armature-io/armature/resource"
)

// Bounds of the search for a moved resource: one list of the resources of its type, and a
// GET for each with its name, which Azure keeps at a move.
const (
	maxMovedListed     = 5000
	maxMovedCandidates = 8
)

// findMoved returns the place of a resource that is absent at its own: another one in the
// subscription, of the same type and name, with the remembered identity. It returns zero
// where none proves to be it, also where the list may not be read.
func (r *resourceReader) findMoved(ctx context.Context, target resource.Target, identity resource.Identity, heartbeat *heartbeater[readProgress]) (resource.ID, error) {
	subscription, err := resource.ParseID("/subscriptions/" + target.ID.Subscription())
	if err != nil || !resource.IsMovable(target.ID) {
		return resource.ID{}, nil //nolint:nilerr // what is in no subscription is not moved
	}
	requests, cancel := requestContext(ctx)
	defer cancel()
	items, err := r.client.Find(requests, subscription, "resources", resource.ResourceGroupAPIVersion,
		"resourceType eq '"+strings.ReplaceAll(target.ID.Type(), "'", "''")+"'", maxMovedListed)
	if err != nil {
		return resource.ID{}, unlessRefused(err)
	}
	candidates, stale := sameName(items, target.ID)
	if stale && r.sinceFirst(heartbeat) < r.rereadWindow {
		return resource.ID{}, notYet("the list of resources still shows "+target.ID.Short()+" at its place, where a GET finds nothing; both are read again", r.rereadInterval)
	}
	for _, candidate := range candidates {
		found, err := r.readIdentity(requests, target, candidate)
		switch {
		case err != nil:
			return resource.ID{}, err
		case identity.Proves(found):
			return candidate, nil
		}
	}
	return resource.ID{}, nil
}

// sameName returns the listed resources with the type and the name of another one,
// elsewhere. It reports whether the list still has the other one: ARM's lists lag behind.
func sameName(items []json.RawMessage, old resource.ID) (found []resource.ID, stale bool) {
	for _, item := range items {
		var listed struct {
			ID string `json:"id"`
		}
		if json.Unmarshal(item, &listed) != nil {
			continue
		}
		id, err := resource.ParseID(listed.ID)
		stale = stale || err == nil && id.Equal(old)
		if err == nil && !id.Equal(old) && strings.EqualFold(id.Type(), old.Type()) && strings.EqualFold(id.Name(), old.Name()) {
			found = append(found, id)
		}
	}
	slices.SortFunc(found, func(a, b resource.ID) int { return strings.Compare(a.Key(), b.Key()) })
	return found[:min(len(found), maxMovedCandidates)], stale
}

// readIdentity returns the identity that ARM shows for a resource now, nil for an absent
// one and for one that may not be read.
func (r *resourceReader) readIdentity(ctx context.Context, target resource.Target, id resource.ID) (resource.Identity, error) {
	response, err := r.client.Get(ctx, id, target.APIVersion)
	if err != nil {
		if arm.IsAbsent(err) {
			err = nil
		}
		return nil, unlessRefused(err)
	}
	body, err := resource.DecodeBody(response.Body)
	if err != nil {
		return nil, nil //nolint:nilerr // what cannot be read proves nothing
	}
	return identityOf(id.Type(), body), nil
}

// unlessRefused returns nil for a refusal by ARM, and other errors as they are.
func unlessRefused(err error) error {
	if failure, ok := errors.AsType[*arm.Error](err); ok && slices.Contains([]int{http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound, http.StatusBadRequest}, failure.Status) {
		return nil
	}
	return err
}

// movedVerdict stops the creation of a resource that exists elsewhere.
func movedVerdict(in PreCheckInput) resource.Verdict {
	id := in.Desired.ID
	return resource.Block(resource.ReasonMoved, fmt.Sprintf(
		"%s was moved to %s (the same %s); it is not created again at its old place. Run armature move %s %s, and state the new place in the manifest",
		id.Short(), in.Moved, in.Identity, id, in.Moved))
}
