package caller

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"time"
)

const (
	// requestTimeout bounds one request to the issuer.
	requestTimeout = 10 * time.Second
	// maxPublishedSize is the largest answer of an issuer in bytes.
	maxPublishedSize = 1 << 20
	// maxKeyRequests is the number of requests for keys in keyInterval. A token can name a
	// key that does not exist, and each such token would send one.
	maxKeyRequests = 3
	keyInterval    = 30 * time.Second
)

// keysError means that a key was not found, and that the issuer was not asked or did not
// answer.
type keysError struct{ error }

func (e *keysError) Unwrap() error { return e.error }

// checkAddress returns an error for an address whose answers another machine could change.
func checkAddress(address string) error {
	parsed, err := url.Parse(address)
	switch {
	case err != nil || parsed.Host == "" || parsed.Opaque != "":
		return errors.New("use an address such as https://login.example.com")
	case parsed.Scheme == "https", parsed.Scheme == "http" && isLoopback(parsed.Hostname()):
		return nil
	}
	return errors.New("use https: who changes the answer could sign tokens")
}

func isLoopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return strings.EqualFold(host, "localhost") || err == nil && ip.IsLoopback()
}

// newClient returns the client for an issuer: bounded in time, size, redirects and
// requests.
func newClient(options Options) *http.Client {
	var client http.Client
	if options.Client != nil {
		client = *options.Client
	}
	if client.Timeout == 0 || client.Timeout > requestTimeout {
		client.Timeout = requestTimeout
	}
	if client.Transport == nil {
		client.Transport = http.DefaultTransport
	}
	client.Transport = &boundedTransport{next: client.Transport, now: options.Now}
	client.CheckRedirect = func(r *http.Request, earlier []*http.Request) error {
		if len(earlier) > 3 {
			return errors.New("too many redirects")
		}
		return checkAddress(r.URL.String())
	}
	return &client
}

// boundedTransport bounds the sizes of answers, and the number of requests for keys.
type boundedTransport struct {
	next http.RoundTripper
	now  func() time.Time

	mu   sync.Mutex
	keys []time.Time // when keys were requested within keyInterval
}

// discoveryPath is the end of the address of what an issuer publishes (OpenID Connect
// Discovery 1.0, section 4). Every other request of the library is one for keys.
const discoveryPath = "/.well-known/openid-configuration"

// RoundTrip sends a request.
func (t *boundedTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	wantsKeys := !strings.HasSuffix(r.URL.Path, discoveryPath)
	if wantsKeys && !t.admit() {
		return nil, &keysError{fmt.Errorf("no key of the issuer fits the token, and its keys were read %d times within %s", maxKeyRequests, keyInterval)}
	}
	response, err := t.next.RoundTrip(r)
	if err == nil && response.StatusCode != http.StatusOK && wantsKeys && !isRedirect(response.StatusCode) {
		_ = response.Body.Close()
		err = fmt.Errorf("read the keys of the issuer: %s", response.Status)
	}
	if err != nil {
		if wantsKeys {
			err = &keysError{err}
		}
		return nil, err
	}
	response.Body = struct {
		io.Reader
		io.Closer
	}{io.LimitReader(response.Body, maxPublishedSize), response.Body}
	return response, nil
}

// admit reports whether one more request for keys is within the bound, and counts it.
func (t *boundedTransport) admit() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.now()
	for len(t.keys) > 0 && now.Sub(t.keys[0]) >= keyInterval {
		t.keys = t.keys[1:]
	}
	if len(t.keys) >= maxKeyRequests {
		return false
	}
	t.keys = append(t.keys, now)
	return true
}

func isRedirect(status int) bool { return status >= 300 && status < 400 }
