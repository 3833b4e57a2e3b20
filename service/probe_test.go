package service

import "testing"

func TestLocalAddress(t *testing.T) {
	cases := map[string]struct{ reason, listen, want string }{
		"any":       {"a container listens at any address", "0.0.0.0:9464", "127.0.0.1:9464"},
		"any v6":    {"IPv6 has an any address too", "[::]:9464", "127.0.0.1:9464"},
		"no host":   {"an empty host is any address", ":9464", "127.0.0.1:9464"},
		"one":       {"a server at one address does not listen at loopback", "10.0.0.7:9464", "10.0.0.7:9464"},
		"host name": {"the client resolves a name as the listener did", "localhost:9464", "localhost:9464"},
		"v6":        {"an IPv6 address keeps its brackets", "[::1]:9464", "[::1]:9464"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if got, err := localAddress(c.listen); got != c.want || err != nil {
				t.Errorf("localAddress(%q) = %q, %v; want %q: %s", c.listen, got, err, c.want, c.reason)
			}
		})
	}
}
