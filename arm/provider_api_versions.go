package arm

import (
	"context"
	"strings"
)

// APIVersion returns the newest api-version of a resource type that a subscription (a
// GUID) offers: a stable one if there is one, "" if the provider does not list the
// type.
func (c *Client) APIVersion(ctx context.Context, subscription, resourceType string) (string, error) {
	namespace, kind, _ := strings.Cut(resourceType, "/")
	body, err := c.readProvider(ctx, subscription, namespace)
	if err != nil {
		return "", err
	}
	offers := decodeOffers(body)
	kind = strings.ToLower(kind)
	// A nested type that is not listed has the api-versions of its parent.
	version := offers[kind].Newest()
	for cut := strings.LastIndex(kind, "/"); version == "" && cut > 0; cut = strings.LastIndex(kind, "/") {
		kind = kind[:cut]
		version = offers[kind].Newest()
	}
	return version, nil
}
