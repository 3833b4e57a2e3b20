package payload

import (
	"crypto/tls"
	"testing"

	"go.temporal.io/sdk/client"
)

func TestIsExposed(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason  string
		options client.Options
		want    bool
	}{
		"remote":          {reason: "the payloads cross a network", options: client.Options{HostPort: "temporal.example.com:7233"}, want: true},
		"remote address":  {reason: "the same by its address", options: client.Options{HostPort: "10.0.0.1:7233"}, want: true},
		"name of a trick": {reason: "it is another machine", options: client.Options{HostPort: "localhost.example.com:7233"}, want: true},
		"resolver":        {reason: "a scheme of gRPC changes nothing", options: client.Options{HostPort: "dns:///temporal:7233"}, want: true},
		"loopback":        {reason: "this machine", options: client.Options{HostPort: "127.0.0.1:7233"}},
		"loopback of 6":   {reason: "this machine", options: client.Options{HostPort: "[::1]:7233"}},
		"localhost":       {reason: "this machine", options: client.Options{HostPort: "localhost:7233"}},
		"socket":          {reason: "this machine", options: client.Options{HostPort: "unix:///run/temporal"}},
		"TLS":             {reason: "encrypted", options: client.Options{HostPort: "10.0.0.1:7233", ConnectionOptions: client.ConnectionOptions{TLS: &tls.Config{MinVersion: tls.VersionTLS12}}}},
		"API key":         {reason: "the SDK enables TLS with it", options: client.Options{HostPort: "10.0.0.1:7233", Credentials: client.NewAPIKeyStaticCredentials("k")}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := IsExposed(c.options); got != c.want {
				t.Errorf("exposed: %t, want %t: %s", got, c.want, c.reason)
			}
		})
	}
}
