package page

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/armature-io/armature/resource"
)

// readable undoes the escapes of a query that no browser needs.
var readable = strings.NewReplacer("%2F", "/", "%3D", "=", "%2C", ",")

// Address returns the address of the page about resources, below the base address of the
// pages: that of a single resource, else the overview, of the labels of a selector.
func Address(base, selector string, ids ...resource.ID) (string, error) {
	u, err := url.Parse(base)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return "", fmt.Errorf("is %q, and no base address such as https://armature.example.com", base)
	}
	path := address("/", "label", selector)
	if len(ids) == 1 && selector == "" {
		path = resourceHref(ids[0])
	}
	return strings.TrimSuffix(u.String(), "/") + readable.Replace(path), nil
}
