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

// maxResponseBytes bounds the body of one response; ARM's own limit is 8 MB for lists
// and 4 MB for the rest.
const maxResponseBytes = 8 << 20

// Errors of guardedTransport.
var (
	errForeignHost         = errors.New("the URL is not on the endpoint's host, so no token is sent there")
	errForeignSubscription = errors.New("the URL of the operation is in a subscription for which its credential may not be used, so it is not requested")
	errTooLarge            = errors.New("the response is larger than 8 MB")
)

// TransportOptions configures the HTTP client for ARM and the token endpoint.
type TransportOptions struct {
	// CAFile is a PEM file of authorities to trust besides the system's.
	CAFile string
	// SkipVerify trusts any certificate; only where endpoint and authority
	// host of Cloud are loopback.
	SkipVerify bool
	Cloud      cloud.Configuration
}

// NewTransport returns an HTTP client that follows no redirect away from the host
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

// checkSkipVerify refuses to skip the verification of certificates beyond loopback.
func checkSkipVerify(target cloud.Configuration) error {
	hosts := []string{target.Services[cloud.ResourceManager].Endpoint}
	if target.ActiveDirectoryAuthorityHost != "" {
		hosts = append(hosts, target.ActiveDirectoryAuthorityHost)
	}
	for _, host := range hosts {
		if u, err := url.Parse(host); err != nil || !loopback(u) {
			return errors.New("configure transport: verification may be skipped only where endpoint and authority host are loopback")
		}
	}
	return nil
}

// withCA returns the system's authorities and the ones of a PEM file.
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
		return nil, fmt.Errorf("read CA file %s: no PEM certificate found", file)
	}
	return pool, nil
}

// preparedTransport returns a transport that follows no redirects; nil means
// NewTransport's.
func preparedTransport(transport policy.Transporter) (policy.Transporter, error) {
	if transport == nil {
		return NewTransport(TransportOptions{})
	}
	if client, ok := transport.(*http.Client); ok {
		return withoutRedirects(client), nil
	}
	return transport, nil
}

// withoutRedirects returns a copy of a client that follows redirects only of a GET
// on the same host: otherwise a token would leak, and net/http turns a redirected
// PUT into a GET whose 200 would look like an accepted PUT.
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

// roundTrip records one call on the network. It travels in the context, because
// azcore's pollers send their own requests.
type roundTrip struct {
	call Call
	typ  string
	// action is the action of a POST; reads is set for one that changes nothing.
	action string
	reads  bool
	// foreign reports whether the connection may not be used for the subscription that the
	// URL names, in lower case; nil for none.
	foreign func(subscription string) bool
	// response is the last response, nil before the first.
	response *http.Response
	// sent is set once a request left, refused once one was stopped.
	sent, refused bool
	tooLarge      bool
}

// roundTripKey is in the context, because azcore carries nothing else from the client to its
// transport.
type roundTripKey struct{}

func withRoundTrip(ctx context.Context, trip *roundTrip) context.Context {
	return context.WithValue(ctx, roundTripKey{}, trip)
}

// guardedTransport is the last step before the network: it refuses requests to
// another host, bounds responses, records the round trip and calls the observer.
type guardedTransport struct {
	next     policy.Transporter
	endpoint *url.URL
	now      clock
	observe  func(Request)
	mayWrite WriteCheck // nil for none
	journal  Journal    // nil for none
	// hosted is set for key vaults and storage accounts: the host is a part of what a
	// request writes.
	hosted bool
	// readOnly refuses every write.
	readOnly bool
}

// Do sends one request.
func (g *guardedTransport) Do(request *http.Request) (*http.Response, error) {
	trip, ok := request.Context().Value(roundTripKey{}).(*roundTrip)
	if !ok {
		trip = &roundTrip{}
	}
	if !sameHost(request.URL, g.endpoint) {
		trip.refused = true
		return nil, errForeignHost
	}
	if trip.foreign != nil && trip.foreign(scopeOf(request).subscription) {
		trip.refused = true
		return nil, errForeignSubscription
	}
	if g.readOnly && trip.isWrite(request.Method) {
		trip.refused = true
		return nil, readOnlyError(request.Method)
	}
	send := sender(g.next.Do)
	if g.journal != nil && trip.isWrite(request.Method) {
		send = g.journaled(trip, send)
	}
	if g.mayWrite != nil && trip.isWrite(request.Method) {
		send = g.checked(trip, send)
	}
	trip.sent, trip.response = true, nil
	start := g.now()
	span := beginSpan(request, trip)
	response, err := send(request)
	if trip.refused {
		trip.sent = false
		return nil, err
	}
	endSpan(span, request, response, err)
	observed := Request{Call: trip.call, Method: request.Method, Type: trip.typ, Duration: g.now().Sub(start), Span: span.SpanContext()}
	if err == nil && response != nil {
		observed.Status = response.StatusCode
		trip.response = response
		response.Body = &boundedBody{body: response.Body, left: maxResponseBytes, trip: trip}
	}
	if g.observe != nil {
		g.observe(observed)
	}
	return response, err
}

// boundedBody is a response body that fails beyond its bound.
type boundedBody struct {
	body io.ReadCloser
	left int64
	trip *roundTrip
}

// Read returns errTooLarge once the body exceeds the bound.
func (b *boundedBody) Read(p []byte) (int, error) {
	if b.left < 0 {
		return 0, errTooLarge
	}
	if int64(len(p)) > b.left+1 {
		p = p[:b.left+1]
	}
	n, err := b.body.Read(p)
	if b.left -= int64(n); b.left < 0 {
		b.trip.tooLarge = true
		return 0, errTooLarge
	}
	return n, err
}

// Close closes the body.
func (b *boundedBody) Close() error { return b.body.Close() }

// IsUntrustedCertificate reports whether an error means that a certificate does not
// verify, and no other network error.
func IsUntrustedCertificate(err error) bool {
	_, verification := errors.AsType[*tls.CertificateVerificationError](err)
	_, authority := errors.AsType[x509.UnknownAuthorityError](err)
	_, hostname := errors.AsType[x509.HostnameError](err)
	return verification || authority || hostname
}
