package arm

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"

	azcorearm "github.com/Azure/azure-sdk-for-go/sdk/azcore/arm"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/cloud"
)

// The names of clouds.
const (
	CloudPublic     = "public"
	CloudGovernment = "government"
	CloudChina      = "china"
	CloudCustom     = "custom"
)

// CloudOptions selects a cloud. The zero value is the public cloud.
type CloudOptions struct {
	// Name is public, government, china or custom; "" is public.
	Name string
	// Endpoint replaces the cloud's https://host[:port][/path]; a custom cloud
	// requires one. Plain HTTP only to loopback.
	Endpoint string
	// Audience replaces the audience of tokens. The default is the cloud's; in a
	// custom cloud it is the endpoint.
	Audience string
	// AuthorityHost replaces the host that issues tokens, an https:// URL.
	AuthorityHost string
	// VaultSuffix replaces the suffix of the hosts of the cloud's key vaults.
	VaultSuffix string
}

// CloudConfiguration returns azcore's form of the options, or all their errors.
func CloudConfiguration(options CloudOptions) (cloud.Configuration, error) {
	base, err := namedCloud(options.Name)
	if err != nil {
		return cloud.Configuration{}, err
	}
	service := base.Services[cloud.ResourceManager]
	authority := base.ActiveDirectoryAuthorityHost
	var problems []error
	if options.Endpoint != "" {
		endpoint, err := checkEndpoint(options.Endpoint)
		if err != nil {
			problems = append(problems, err)
		}
		service.Endpoint = endpoint
	}
	if service.Endpoint == "" && len(problems) == 0 {
		problems = append(problems, errors.New("configure cloud custom: endpoint required"))
	}
	if options.Audience != "" {
		service.Audience = options.Audience
	}
	if service.Audience == "" {
		service.Audience = service.Endpoint
	}
	if options.AuthorityHost != "" {
		if err := checkAuthority(options.AuthorityHost); err != nil {
			problems = append(problems, err)
		}
		authority = options.AuthorityHost
	}
	if len(problems) > 0 {
		return cloud.Configuration{}, errors.Join(problems...)
	}
	return cloud.Configuration{
		ActiveDirectoryAuthorityHost: authority,
		Services:                     map[cloud.ServiceName]cloud.ServiceConfiguration{cloud.ResourceManager: service},
	}, nil
}

// namedCloud returns azcore's configuration. Its ARM endpoints are filled in by the
// arm packages of azcore, which is why this file refers to one.
func namedCloud(name string) (cloud.Configuration, error) {
	_ = azcorearm.ClientOptions{}
	switch name {
	case "", CloudPublic:
		return cloud.AzurePublic, nil
	case CloudGovernment:
		return cloud.AzureGovernment, nil
	case CloudChina:
		return cloud.AzureChina, nil
	case CloudCustom:
		return cloud.Configuration{}, nil
	}
	return cloud.Configuration{}, fmt.Errorf("configure cloud %q: must be %s, %s, %s or %s",
		name, CloudPublic, CloudGovernment, CloudChina, CloudCustom)
}

// checkEndpoint returns the endpoint without a trailing slash.
func checkEndpoint(endpoint string) (string, error) {
	u, err := url.Parse(endpoint)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http":
		return "", errors.New("configure endpoint: must be https://host or, to loopback only, http://host")
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return "", fmt.Errorf("configure endpoint of host %s: must not have user, query or fragment", u.Host)
	case u.Scheme == "http" && !loopback(u):
		return "", fmt.Errorf("configure endpoint %s: plain HTTP is allowed to loopback only, use https", endpoint)
	}
	return strings.TrimRight(endpoint, "/"), nil
}

// checkAuthority refuses an authority host that is not https://host.
func checkAuthority(authority string) error {
	u, err := url.Parse(authority)
	if err != nil || u.Host == "" || u.Scheme != "https" || u.User != nil {
		return errors.New("configure authority host: must be https://host")
	}
	return nil
}

// loopback reports whether a URL names this machine without a DNS lookup.
func loopback(u *url.URL) bool {
	host := u.Hostname()
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}

// sameHost compares scheme, host and port. Operation URLs and further pages on
// another host than the endpoint's are never requested.
func sameHost(a, b *url.URL) bool {
	return strings.EqualFold(a.Scheme, b.Scheme) && strings.EqualFold(a.Hostname(), b.Hostname()) && port(a) == port(b)
}

// port returns the port of a URL, else the scheme's.
func port(u *url.URL) string {
	switch {
	case u.Port() != "":
		return u.Port()
	case strings.EqualFold(u.Scheme, "https"):
		return "443"
	}
	return "80"
}
