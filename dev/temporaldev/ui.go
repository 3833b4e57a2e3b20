package temporaldev

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	uiserver "github.com/temporalio/ui-server/v2/server"
	uiconfig "github.com/temporalio/ui-server/v2/server/config"
	uioptions "github.com/temporalio/ui-server/v2/server/server_options"

	"github.com/armature-io/armature/dev/internal/freeport"
	"github.com/armature-io/armature/internal/payload"
)

// UIOptions configures a [UI]. The zero value works.
type UIOptions struct {
	// Port is the port of the Web UI, CodecPort of the codec server; 0 picks a free
	// one.
	Port, CodecPort int
	// Namespace is the namespace that the Web UI opens; "" means [Namespace].
	Namespace string
	// Codec is what the Web UI knows of a codec server. Nil means the one that StartUI
	// starts; an empty one shows payloads as stored.
	Codec *uiconfig.Codec
	// Login is where users log in, nil for a Web UI without login. Its callback is
	// [UI.Callback].
	Login *uiconfig.AuthProvider
}

// UI is a running Temporal Web UI with its codec server.
type UI struct {
	ui        *uiserver.Server
	codec     *http.Server
	port      int
	codecPort int
	namespace string
}

// StartUI starts the codec server and the Web UI of the Temporal server at
// temporalAddress (host:port, without TLS), and waits until both respond.
func StartUI(ctx context.Context, temporalAddress string, options UIOptions) (*UI, error) {
	reserved, err := freeport.Reserve(options.Port, options.CodecPort)
	if err != nil {
		return nil, fmt.Errorf("start web ui: %w", err)
	}
	defer reserved.Release() // both listen by then
	u := &UI{port: reserved.Numbers[0], codecPort: reserved.Numbers[1], namespace: options.Namespace}
	if u.namespace == "" {
		u.namespace = Namespace
	}
	u.codec = &http.Server{
		Addr:              freeport.Address(u.codecPort),
		Handler:           payload.Handler(u.origins()...),
		ReadHeaderTimeout: 10 * time.Second,
	}
	u.ui = uiserver.NewServer(uioptions.WithConfigProvider(u.config(temporalAddress, options)))
	failed := make(chan error, 2)
	go func() { failed <- u.codec.ListenAndServe() }()
	go func() { failed <- u.ui.Start() }()
	if err := u.waitReady(ctx, failed); err != nil {
		_ = u.Stop() // the reason for the failed start matters more
		return nil, err
	}
	return u, nil
}

func (u *UI) config(temporalAddress string, options UIOptions) *uiconfig.Config {
	c := &uiconfig.Config{
		TemporalGRPCAddress: temporalAddress,
		Host:                loopback,
		Port:                u.port,
		EnableUI:            true,
		DefaultNamespace:    u.namespace,
		CORS:                uiconfig.CORS{CookieInsecure: true, AllowOrigins: u.origins()},
		Codec:               uiconfig.Codec{Endpoint: u.CodecAddress()},
		HideLogs:            true,
		DisableNewsFetch:    true,
	}
	if options.Codec != nil {
		c.Codec = *options.Codec
	}
	if options.Login != nil {
		login := *options.Login
		login.CallbackURL = u.Callback()
		c.Auth = uiconfig.Auth{Enabled: true, Providers: []uiconfig.AuthProvider{login}}
	}
	return c
}

// origins returns the origins under which a browser can open the Web UI.
func (u *UI) origins() []string {
	return []string{u.Address(), "http://localhost:" + strconv.Itoa(u.port)}
}

// Address returns the URL of the Web UI, http://host:port.
func (u *UI) Address() string { return "http://" + freeport.Address(u.port) }

// LoginAddress returns the URL at which users open a Web UI with a login. It differs from
// the site of issuers at 127.0.0.1, as sites do in production: cookies depend on it.
func (u *UI) LoginAddress() string { return u.origins()[1] }

// Callback returns the URL to which an issuer sends users back after their login.
func (u *UI) Callback() string { return u.LoginAddress() + "/auth/sso/callback" }

// CodecAddress returns the URL of the codec server, http://host:port.
func (u *UI) CodecAddress() string { return "http://" + freeport.Address(u.codecPort) }

// WorkflowAddress returns the URL of a workflow's page. The slashes of the ID are
// escaped, as the Web UI requires.
func (u *UI) WorkflowAddress(workflowID string) string {
	return u.Address() + "/namespaces/" + url.PathEscape(u.namespace) + "/workflows/" + url.PathEscape(workflowID)
}

// Stop stops the Web UI and the codec server.
func (u *UI) Stop() error {
	u.ui.Stop()
	if err := u.codec.Close(); err != nil {
		return fmt.Errorf("stop codec server: %w", err)
	}
	return nil
}

func (u *UI) waitReady(ctx context.Context, failed <-chan error) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	ready := make(chan struct{})
	defer close(ready)
	go func() {
		select {
		case err := <-failed:
			fail(errors.Join(errors.New("server ended"), err))
		case <-ready:
		}
	}()
	for _, address := range []string{u.Address() + "/healthz", u.CodecAddress()} {
		err := waitUntil(ctx, address, func(ctx context.Context) error { return checkHTTP(ctx, address) })
		if err != nil {
			return fmt.Errorf("start web ui: %w", err)
		}
	}
	return nil
}

// checkHTTP returns nil if an HTTP server responds, with any status.
func checkHTTP(ctx context.Context, address string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	return response.Body.Close()
}
