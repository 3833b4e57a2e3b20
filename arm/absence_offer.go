package arm

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/types"
)

// maxOffersAge is how long the offers of a provider are cached.
const maxOffersAge = 10 * time.Minute

// offerCache has what providers offer, by scope and namespace. It is safe for concurrent
// use.
type offerCache struct {
	mu    sync.Mutex
	known map[string]cachedOffers
}

type cachedOffers struct {
	offers map[string]Offer
	at     time.Time
}

func (o *offerCache) get(key string, now time.Time) (map[string]Offer, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	found, ok := o.known[key]
	return found.offers, ok && now.Sub(found.at) < maxOffersAge
}

// put adds offers and removes expired ones: those of a large provider take some 100 KB.
func (o *offerCache) put(key string, offers map[string]Offer, now time.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.known == nil {
		o.known = map[string]cachedOffers{}
	}
	maps.DeleteFunc(o.known, func(_ string, known cachedOffers) bool { return now.Sub(known.at) >= maxOffersAge })
	o.known[key] = cachedOffers{offers: offers, at: now}
}

// notOffered returns why a provider does not offer a type in an api-version, "" where it
// does: a 404 of a type that does not exist says nothing about a resource. A type that
// the provider does not list, or whose provider cannot be read, counts as offered if it
// is published. Its error is transient.
func (c *Client) notOffered(ctx context.Context, id resource.ID, apiVersion string) (string, error) {
	offers, err := c.offersOf(ctx, id)
	if err != nil {
		if e, isResponse := errors.AsType[*Error](err); !isResponse || isTransient(e) {
			return "", err
		}
	}
	_, kind, _ := strings.Cut(strings.ToLower(id.Type()), "/")
	if offer, known := offers[kind]; known {
		if slices.ContainsFunc(offer.APIVersions, func(version string) bool { return strings.EqualFold(version, apiVersion) }) {
			return "", nil
		}
		return fmt.Sprintf("%s does not offer %s in api-version %s", id.Provider(), id.Type(), apiVersion), nil
	}
	if shape := types.Lookup(id.Type(), apiVersion); shape != nil && shape.Exact {
		return "", nil
	}
	return fmt.Sprintf("neither %s nor the published types have %s in api-version %s", id.Provider(), id.Type(), apiVersion), nil
}

// providerPath returns the path of the provider of a resource in its subscription, or in the
// tenant.
func providerPath(id resource.ID) string {
	path := "/providers/" + id.Provider()
	if id.Subscription() != "" {
		path = "/subscriptions/" + id.Subscription() + path
	}
	return path
}

// offersOf returns what the provider of a resource offers in its subscription, or in the
// tenant.
func (c *Client) offersOf(ctx context.Context, id resource.ID) (map[string]Offer, error) {
	c, err := c.For(ctx, id)
	if err != nil {
		return nil, err
	}
	path := providerPath(id)
	key := strings.ToLower(path)
	if offers, ok := c.offers.get(key, c.now()); ok {
		return offers, nil
	}
	target, err := c.path(path, providersAPIVersion)
	if err != nil {
		return nil, err
	}
	response, err := c.read(ctx, CallGet, "Microsoft.Resources/providers", target)
	if err != nil {
		return nil, fmt.Errorf("read provider %s: %w", id.Provider(), err)
	}
	offers := decodeOffers(response.Body)
	c.offers.put(key, offers, c.now())
	return offers, nil
}
