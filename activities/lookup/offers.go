package lookup

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/armature-io/armature/arm"
	"github.com/armature-io/armature/resource"
)

// maxOffersAge is how long the offers of a provider are cached: long enough for the
// plan of a stack, and short enough that a registration counts soon.
const maxOffersAge = 10 * time.Minute

// offers caches what providers offer, by subscription, namespace and connection.
type offers struct {
	client   *arm.Client
	now      func() time.Time
	requests singleflight.Group

	mu    sync.Mutex
	known map[string]knownOffers
}

type knownOffers struct {
	types map[string]arm.Offer
	at    time.Time
}

func newOffers(client *arm.Client, now func() time.Time) *offers {
	return &offers{client: client, now: now, known: map[string]knownOffers{}}
}

// Offer returns what the provider of a resource's type offers of it in the
// subscription. ok is false if the subscription is not registered for the provider, or
// the provider does not list the type. The response is cached for some minutes.
func (r *Reader) Offer(ctx context.Context, id resource.ID) (offer arm.Offer, ok bool, err error) {
	namespace, kind, _ := strings.Cut(id.Type(), "/")
	if id.Subscription() == "" || kind == "" {
		return arm.Offer{}, false, nil
	}
	if _, err := r.client.For(ctx, id); err != nil {
		return arm.Offer{}, false, err
	}
	types, err := r.offers.of(ctx, id, namespace)
	offer, ok = types[strings.ToLower(kind)]
	return offer, ok, err
}

func (o *offers) of(ctx context.Context, id resource.ID, namespace string) (map[string]arm.Offer, error) {
	subscription := id.Subscription()
	key := strings.ToLower(subscription+" "+namespace) + " " + o.client.ConnectionName(ctx, id)
	if types, ok := o.get(key); ok {
		return types, nil
	}
	done := o.requests.DoChan(key, func() (any, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), Timeout)
		defer cancel()
		types, err := o.client.Offers(ctx, subscription, namespace)
		if err == nil {
			o.put(key, types)
		}
		return types, err
	})
	select {
	case result := <-done:
		types, _ := result.Val.(map[string]arm.Offer)
		return types, result.Err
	case <-ctx.Done():
		return nil, fmt.Errorf("read what %s offers: %w", namespace, ctx.Err())
	}
}

func (o *offers) get(key string) (map[string]arm.Offer, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	found, ok := o.known[key]
	return found.types, ok && o.now().Sub(found.at) < maxOffersAge
}

// put adds offers and removes expired ones: the list of a large provider takes some
// 100 KB.
func (o *offers) put(key string, types map[string]arm.Offer) {
	o.mu.Lock()
	defer o.mu.Unlock()
	maps.DeleteFunc(o.known, func(_ string, known knownOffers) bool { return o.now().Sub(known.at) >= maxOffersAge })
	o.known[key] = knownOffers{types: types, at: o.now()}
}
