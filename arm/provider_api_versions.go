package arm

import (
	"context"
	"slices"
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
	// A nested type that is not listed has the api-versions of its parent.
	version := newestVersion(body, kind)
	for cut := strings.LastIndex(kind, "/"); version == "" && cut > 0; cut = strings.LastIndex(kind, "/") {
		kind = kind[:cut]
		version = newestVersion(body, kind)
	}
	return version, nil
}

// newestVersion returns the newest api-version of a type in the body of a provider;
// api-versions are dates, with a suffix such as -preview unless stable.
func newestVersion(body []byte, kind string) string {
	provider := decodeView[struct {
		ResourceTypes []struct {
			ResourceType string   `json:"resourceType"`
			APIVersions  []string `json:"apiVersions"`
		} `json:"resourceTypes"`
	}](body)
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
