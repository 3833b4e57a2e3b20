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

// CloudOptions says where ARM is. The zero value is the public cloud.
type CloudOptions struct {
	// Name is public, government, china or custom; "" is public.
	Name string
	// Endpoint replaces the cloud's https://host[:port][/path]; a custom cloud
	// needs one. Plain HTTP only to loopback.
	Endpoint string
	// Audience replaces what tokens are asked for. The default of another
	// endpoint than the cloud's own is the endpoint in a custom cloud, else the
	// cloud's audience.
	Audience string
	// AuthorityHost replaces where tokens come from, an https:// URL.
	AuthorityHost string
	// VaultSuffix replaces what the hosts of the cloud's key vaults end with.
	VaultSuffix string
}

// CloudConfiguration gives azcore's form of the options, or all their faults.
func CloudConfiguration(options CloudOptions) (cloud.Configuration, error) {
	base, err := namedCloud(options.Name)
	if err != nil {
		return cloud.Configuration{}, err
	}
	service := base.Services[cloud.ResourceManager]
	authority := base.ActiveDirectoryAuthorityHost
	var faults []error
	if options.Endpoint != "" {
		endpoint, err := checkEndpoint(options.Endpoint)
		if err != nil {
			faults = append(faults, err)
		}
		service.Endpoint = endpoint
	}
	if service.Endpoint == "" && len(faults) == 0 {
		faults = append(faults, errors.New("configure cloud custom: it needs an endpoint"))
	}
	if options.Audience != "" {
		service.Audience = options.Audience
	}
	if service.Audience == "" {
		service.Audience = service.Endpoint
	}
	if options.AuthorityHost != "" {
		if err := checkAuthority(options.AuthorityHost); err != nil {
			faults = append(faults, err)
		}
		authority = options.AuthorityHost
	}
	if len(faults) > 0 {
		return cloud.Configuration{}, errors.Join(faults...)
	}
	return cloud.Configuration{
		ActiveDirectoryAuthorityHost: authority,
		Services:                     map[cloud.ServiceName]cloud.ServiceConfiguration{cloud.ResourceManager: service},
	}, nil
}

// namedCloud gives azcore's configuration. Its ARM endpoints are filled in by
// the arm packages of azcore, which is why this file names one.
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
	return cloud.Configuration{}, fmt.Errorf("configure cloud %q: it must be %s, %s, %s or %s",
		name, CloudPublic, CloudGovernment, CloudChina, CloudCustom)
}

// checkEndpoint gives the endpoint without a trailing slash.
func checkEndpoint(endpoint string) (string, error) {
	u, err := url.Parse(endpoint)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http":
		return "", errors.New("configure endpoint: it must be https://host or, to loopback only, http://host")
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return "", fmt.Errorf("configure endpoint of host %s: it may hold no user, query or fragment", u.Host)
	case u.Scheme == "http" && !loopback(u):
		return "", fmt.Errorf("configure endpoint %s: plain HTTP is allowed to loopback only, use https", endpoint)
	}
	return strings.TrimRight(endpoint, "/"), nil
}

func checkAuthority(authority string) error {
	u, err := url.Parse(authority)
	if err != nil || u.Host == "" || u.Scheme != "https" || u.User != nil {
		return errors.New("configure authority host: it must be https://host")
	}
	return nil
}

// loopback reports whether a URL names this machine without asking a resolver.
func loopback(u *url.URL) bool {
	host := u.Hostname()
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}

// sameHost compares scheme, host and port; operation URLs and further pages
// live where the endpoint lives, or nobody asks them.
func sameHost(a, b *url.URL) bool {
	return strings.EqualFold(a.Scheme, b.Scheme) && strings.EqualFold(a.Hostname(), b.Hostname()) && port(a) == port(b)
}

func port(u *url.URL) string {
	switch {
	case u.Port() != "":
		return u.Port()
	case strings.EqualFold(u.Scheme, "https"):
		return "443"
	}
	return "80"
}
