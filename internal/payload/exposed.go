package payload

import (
	"net"
	"net/netip"
	"strings"

	"go.temporal.io/sdk/client"
)

// IsExposed reports whether a connection carries payloads and commands in clear to another
// machine: without TLS, which credentials imply, and not over loopback or a local socket.
func IsExposed(options client.Options) bool {
	if options.ConnectionOptions.TLS != nil || options.Credentials != nil || strings.HasPrefix(options.HostPort, "unix:") {
		return false
	}
	address := options.HostPort[strings.LastIndex(options.HostPort, "/")+1:] // behind a scheme such as dns:///
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		host = address
	}
	ip, err := netip.ParseAddr(host)
	return !strings.EqualFold(host, "localhost") && (err != nil || !ip.IsLoopback())
}

// ClearParts names what is readable on a connection that is exposed.
func (c *Converters) ClearParts() string {
	if c.Encrypts() {
		return "IDs, labels and the names of commands"
	}
	return "specs, IDs and commands"
}
