package service

import "testing"

func TestReachable(t *testing.T) {
	cases := map[string]struct{ reason, listen, want string }{
		"any":       {"a container listens at any address", "0.0.0.0:9464", "127.0.0.1:9464"},
		"any of v6": {"the same in IPv6", "[::]:9464", "127.0.0.1:9464"},
		"no host":   {"an empty host is any address", ":9464", "127.0.0.1:9464"},
		"one":       {"who listens at one address does not listen at loopback", "10.0.0.7:9464", "10.0.0.7:9464"},
		"a name":    {"a name is looked up as the listener did", "localhost:9464", "localhost:9464"},
		"v6":        {"an IPv6 address keeps its brackets", "[::1]:9464", "[::1]:9464"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if got, err := reachable(c.listen); got != c.want || err != nil {
				t.Errorf("%s: %q is asked at %q (%v), want %q", c.reason, c.listen, got, err, c.want)
			}
		})
	}
}
