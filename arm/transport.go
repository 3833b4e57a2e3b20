package arm

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/cloud"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
)

// maxAnswerBytes bounds the body of one answer; ARM's own limit is 8 MB for
// lists and 4 MB for the rest.
const maxAnswerBytes = 8 << 20

// fault is an error that is its text.
type fault string

// Error is the text.
func (f fault) Error() string { return string(f) }

// Faults of this side of the wire.
const (
	errForeignHost = fault("the URL is not on the endpoint's host, so no token is sent there")
	errTooLarge    = fault("the answer is larger than 8 MB")
)

// TransportOptions configures the HTTP client for ARM and the token endpoint.
type TransportOptions struct {
	// CAFile is a PEM file of authorities trusted besides the system's.
	CAFile string
	// SkipVerify trusts any certificate; only where endpoint and authority
	// host of Cloud are loopback.
	SkipVerify bool
	Cloud      cloud.Configuration
}

// NewTransport gives an HTTP client that follows no redirect away from the host
// or method of a request.
func NewTransport(options TransportOptions) (policy.Transporter, error) {
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if options.CAFile != "" {
		pool, err := withCA(options.CAFile)
		if err != nil {
			return nil, err
		}
		config.RootCAs = pool
	}
	if options.SkipVerify {
		if err := checkSkipVerify(options.Cloud); err != nil {
			return nil, err
		}
		config.InsecureSkipVerify = true
	}
	return withoutRedirects(&http.Client{Transport: &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           (&net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
		TLSClientConfig:       config,
		TLSHandshakeTimeout:   10 * time.Second,
		ForceAttemptHTTP2:     true,
		MaxIdleConns:          100,
		MaxIdleConnsPerHost:   32,
		IdleConnTimeout:       90 * time.Second,
		ExpectContinueTimeout: time.Second,
	}}), nil
}

func checkSkipVerify(at cloud.Configuration) error {
	hosts := []string{at.Services[cloud.ResourceManager].Endpoint}
	if at.ActiveDirectoryAuthorityHost != "" {
		hosts = append(hosts, at.ActiveDirectoryAuthorityHost)
	}
	for _, host := range hosts {
		if u, err := url.Parse(host); err != nil || !loopback(u) {
			return errors.New("configure transport: verification may be skipped only where endpoint and authority host are loopback")
		}
	}
	return nil
}

func withCA(file string) (*x509.CertPool, error) {
	pem, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("read CA file: %w", err)
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool()
	}
	if !pool.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("read CA file %s: it holds no PEM certificate", file)
	}
	return pool, nil
}

// withoutRedirects copies a client so that it follows a redirect only of a GET
// on the same host: elsewhere a token would leak, and net/http turns a
// redirected PUT into a GET whose 200 would look like an accepted PUT.
func withoutRedirects(client *http.Client) *http.Client {
	copied := *client
	copied.CheckRedirect = func(request *http.Request, via []*http.Request) error {
		first := via[0]
		if len(via) > 3 || first.Method != http.MethodGet || !sameHost(first.URL, request.URL) {
			return http.ErrUseLastResponse
		}
		return nil
	}
	return &copied
}

// exchange records what happened on the wire during one call. It travels in the
// context, since azcore's pollers make their own requests.
type exchange struct {
	call Call
	typ  string
	// response is the last answer, nil when none came.
	response *http.Response
	// sent says whether a request left; refused whether one was kept back.
	sent, refused bool
	tooLarge      bool
}

type exchangeKey struct{}

func withExchange(ctx context.Context, x *exchange) context.Context {
	return context.WithValue(ctx, exchangeKey{}, x)
}

// wire is the last stop before the network: it keeps back what is addressed to
// another host, bounds answers, records the exchange and tells the observer.
type wire struct {
	next     policy.Transporter
	endpoint *url.URL
	now      clock
	observe  func(Request)
}

// Do sends one request.
func (w *wire) Do(request *http.Request) (*http.Response, error) {
	x, ok := request.Context().Value(exchangeKey{}).(*exchange)
	if !ok {
		x = &exchange{}
	}
	if !sameHost(request.URL, w.endpoint) {
		x.refused = true
		return nil, errForeignHost
	}
	x.sent, x.response = true, nil
	start := w.now()
	response, err := w.next.Do(request)
	seen := Request{Call: x.call, Method: request.Method, Type: x.typ, Duration: w.now().Sub(start)}
	if err == nil && response != nil {
		seen.Status = response.StatusCode
		x.response = response
		response.Body = &boundedBody{body: response.Body, left: maxAnswerBytes, x: x}
	}
	if w.observe != nil {
		w.observe(seen)
	}
	return response, err
}

// boundedBody fails instead of giving more than its bound.
type boundedBody struct {
	body io.ReadCloser
	left int64
	x    *exchange
}

// Read gives at most the bound in all, then errTooLarge.
func (b *boundedBody) Read(p []byte) (int, error) {
	if b.left < 0 {
		return 0, errTooLarge
	}
	if int64(len(p)) > b.left+1 {
		p = p[:b.left+1]
	}
	n, err := b.body.Read(p)
	if b.left -= int64(n); b.left < 0 {
		b.x.tooLarge = true
		return 0, errTooLarge
	}
	return n, err
}

// Close closes the body.
func (b *boundedBody) Close() error { return b.body.Close() }

// IsUntrustedCertificate tells a certificate that does not verify from another fault of the
// network.
func IsUntrustedCertificate(err error) bool {
	var verification *tls.CertificateVerificationError
	var authority x509.UnknownAuthorityError
	var hostname x509.HostnameError
	return errors.As(err, &verification) || errors.As(err, &authority) || errors.As(err, &hostname)
}
