package audit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
)

// maxAnswerBytes bounds what is read of an endpoint's response.
const maxAnswerBytes = 64 << 10

// Endpoint is a sink that sends lines to an HTTPS endpoint: POST with a body of lines
// (application/x-ndjson). Lines count as written once it answers with a status below 300.
type Endpoint struct {
	url    string
	token  func() (string, error)
	client *http.Client
}

// NewEndpoint returns a sink for a URL. Token returns the bearer token of a request; nil
// sends none. The URL must be https, or http to this machine.
func NewEndpoint(target string, client *http.Client, token func() (string, error)) (*Endpoint, error) {
	u, err := url.Parse(target)
	switch {
	case err != nil || u.Host == "":
		return nil, errors.New("must be a URL: https://host/path")
	case u.User != nil:
		return nil, errors.New("must not contain a password: use audit.token")
	case u.Scheme != "https" && (u.Scheme != "http" || !isLoopback(u.Hostname())):
		return nil, errors.New("must begin with https:// (http:// is allowed to this machine only)")
	}
	return &Endpoint{url: target, token: token, client: withoutRedirects(client)}, nil
}

// withoutRedirects returns a copy of a client that follows no redirect: it would take the
// token along. Nil is the default client.
func withoutRedirects(client *http.Client) *http.Client {
	copied := http.Client{}
	if client != nil {
		copied = *client
	}
	copied.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &copied
}

// withoutURL returns the cause of a failed request: the query of the URL may contain a key.
func withoutURL(err error) error {
	if inner, ok := errors.AsType[*url.Error](err); ok {
		return inner.Err
	}
	return err
}

func isLoopback(host string) bool { return host == "localhost" || host == "127.0.0.1" || host == "::1" }

// Name returns "https".
func (*Endpoint) Name() string { return "https" }

// Write sends the lines with one request, and halves of them where the endpoint refuses
// their content.
func (e *Endpoint) Write(ctx context.Context, lines []Line) error {
	return deliver(ctx, lines, func(ctx context.Context, lines []Line) error {
		status, err := e.send(ctx, lines)
		if err == nil && status >= http.StatusMultipleChoices {
			err = fmt.Errorf("the audit endpoint answered %d", status)
		}
		if refusesContent(status) {
			err = &contentError{err}
		}
		return err
	})
}

// send returns the status of the response.
func (e *Endpoint) send(ctx context.Context, lines []Line) (int, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, e.url, bytes.NewReader(joined(lines)))
	if err != nil {
		return 0, fmt.Errorf("send audit lines: %w", err)
	}
	request.Header.Set("Content-Type", "application/x-ndjson")
	// An endpoint may use it to recognise a batch that is sent again.
	request.Header.Set("Idempotency-Key", Key("batch", string(lines[0].JSON), string(lines[len(lines)-1].JSON)))
	if e.token != nil {
		token, err := e.token()
		if err != nil {
			return 0, fmt.Errorf("read audit.token: %w", err)
		}
		request.Header.Set("Authorization", "Bearer "+token)
	}
	response, err := e.client.Do(request)
	if err != nil {
		return 0, fmt.Errorf("send audit lines: %w", withoutURL(err))
	}
	defer func() { _ = response.Body.Close() }()
	_, _ = io.Copy(io.Discard, io.LimitReader(response.Body, maxAnswerBytes)) // so that the connection is used again
	return response.StatusCode, nil
}

// Close ends idle connections.
func (e *Endpoint) Close() error {
	e.client.CloseIdleConnections()
	return nil
}
