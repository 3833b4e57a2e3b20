package arm

import (
	"context"
	"slices"
	"strings"
)

// Offer is what a provider offers of a resource type in a subscription. Locations are
// display names ("West US 2"); a type without any exists in no location.
type Offer struct {
	Locations   []string `json:"locations"`
	APIVersions []string `json:"apiVersions"`
}

// Newest returns the newest stable api-version, else the newest preview, "" if none is
// listed.
func (o Offer) Newest() string {
	best := ""
	for _, version := range slices.Sorted(slices.Values(o.APIVersions)) {
		if isStableVersion(version) || !isStableVersion(best) {
			best = version
		}
	}
	return best
}

// isStableVersion reports whether an api-version is not a preview.
func isStableVersion(version string) bool { return len(version) == len("2006-01-02") }

// Offers returns the types of a provider with what it offers of them in a subscription,
// by their name without the namespace in lower case, for example "virtualnetworks". It
// returns nil if the subscription is not registered for the provider.
func (c *Client) Offers(ctx context.Context, subscription, namespace string) (map[string]Offer, error) {
	body, err := c.readProvider(ctx, subscription, namespace)
	if err != nil {
		return nil, err
	}
	if !strings.EqualFold(registrationState(body), ProviderRegistered) {
		return nil, nil
	}
	return decodeOffers(body), nil
}

func decodeOffers(body []byte) map[string]Offer {
	provider := decodeView[struct {
		ResourceTypes []struct {
			ResourceType string `json:"resourceType"`
			Offer
		} `json:"resourceTypes"`
	}](body)
	offers := make(map[string]Offer, len(provider.ResourceTypes))
	for _, offered := range provider.ResourceTypes {
		offers[strings.ToLower(offered.ResourceType)] = offered.Offer
	}
	return offers
}
