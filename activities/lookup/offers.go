package lookup

import (
	"context"
	"strings"
	"time"

	"github.com/armature-io/armature/arm"
	"github.com/armature-io/armature/resource"
)

// maxOffersAge bounds the age of cached offers: long enough for the plan of a stack, and short
// enough that a registration counts soon.
const maxOffersAge = 10 * time.Minute

// Offer returns the provider's offer of a resource's type in the subscription: its locations and
// api-versions. ok is false if the subscription is not registered for the provider, or the
// provider does not list the type.
func (r *Reader) Offer(ctx context.Context, id resource.ID) (offer arm.Offer, ok bool, err error) {
	namespace, kind, _ := strings.Cut(id.Type(), "/")
	if id.Subscription() == "" || kind == "" {
		return arm.Offer{}, false, nil
	}
	if _, err := r.client.For(ctx, id); err != nil {
		return arm.Offer{}, false, err
	}
	key := strings.ToLower(id.Subscription()+" "+namespace) + " " + r.client.ConnectionName(ctx, id)
	types, err := r.offers.get(ctx, key, "the offers of "+namespace, func(ctx context.Context) (map[string]arm.Offer, error) {
		return r.client.Offers(ctx, id.Subscription(), namespace)
	})
	offer, ok = types[strings.ToLower(kind)]
	return offer, ok, err
}
