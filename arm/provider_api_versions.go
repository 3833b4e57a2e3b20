package arm

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/armature-io/armature/resource"
)

// APIVersion is the newest api-version of a resource type that a subscription (a
// GUID) offers: a stable one where there is one, "" where the provider does not
// tell.
func (c *Client) APIVersion(ctx context.Context, subscription, resourceType string) (string, error) {
	scope, err := resource.ParseID("/subscriptions/" + subscription)
	if err != nil {
		return "", err
	}
	namespace, kind, _ := strings.Cut(resourceType, "/")
	c, err = c.For(ctx, scope)
	if err != nil {
		return "", fmt.Errorf("read provider %s of %s: %w", namespace, scope, err)
	}
	target, err := c.url(scope, "providers/"+namespace, providersAPIVersion)
	if err != nil {
		return "", fmt.Errorf("read provider %s of %s: %w", namespace, scope, err)
	}
	response, err := c.read(ctx, CallGet, "Microsoft.Resources/providers", target)
	if err != nil {
		return "", fmt.Errorf("read provider %s of %s: %w", namespace, scope, err)
	}
	// A nested type that the list does not name has the api-versions of its parent.
	version := newestVersion(response.Body, kind)
	for cut := strings.LastIndex(kind, "/"); version == "" && cut > 0; cut = strings.LastIndex(kind, "/") {
		kind = kind[:cut]
		version = newestVersion(response.Body, kind)
	}
	return version, nil
}

// newestVersion picks from the description of a provider; api-versions are dates
// with "-preview" behind those that are no stable ones.
func newestVersion(body []byte, kind string) string {
	var provider struct {
		ResourceTypes []struct {
			ResourceType string   `json:"resourceType"`
			APIVersions  []string `json:"apiVersions"`
		} `json:"resourceTypes"`
	}
	if json.Unmarshal(body, &provider) != nil {
		return ""
	}
	stable := func(version string) bool { return len(version) == len("2006-01-02") }
	best := ""
	for _, offered := range provider.ResourceTypes {
		if !strings.EqualFold(offered.ResourceType, kind) {
			continue
		}
		slices.Sort(offered.APIVersions)
		for _, version := range offered.APIVersions {
			if stable(version) || !stable(best) {
				best = version
			}
		}
	}
	return best
}
