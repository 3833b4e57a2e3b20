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
	"github.com/armature-io/armature/payload"
)

// UIOptions configure a [UI]. The zero value works.
type UIOptions struct {
	// Port of the Web UI and CodecPort of the codec server; 0 picks a free one.
	Port, CodecPort int
	// Namespace that the Web UI opens; "" is [Namespace].
	Namespace string
	// NoCodec shows payloads as they are stored: the codec server runs, and the
	// Web UI is not told of it.
	NoCodec bool
}

// UI is a running Temporal Web UI with its codec server.
type UI struct {
	ui        *uiserver.Server
	codec     *http.Server
	port      int
	codecPort int
	namespace string
	noCodec   bool
}

// StartUI starts the Web UI of the Temporal server at temporalAddress
// (host:port, without TLS) and the codec server, and waits until both answer.
func StartUI(ctx context.Context, temporalAddress string, options UIOptions) (*UI, error) {
	taken, err := freeport.Take(options.Port, options.CodecPort)
	if err != nil {
		return nil, fmt.Errorf("start web ui: %w", err)
	}
	defer taken.Release() // both listen by then
	u := &UI{port: taken.Ports[0], codecPort: taken.Ports[1], namespace: options.Namespace, noCodec: options.NoCodec}
	if u.namespace == "" {
		u.namespace = Namespace
	}
	u.codec = &http.Server{
		Addr:              freeport.Address(u.codecPort),
		Handler:           payload.Handler(u.origins()...),
		ReadHeaderTimeout: 10 * time.Second,
	}
	u.ui = uiserver.NewServer(uioptions.WithConfigProvider(u.config(temporalAddress)))
	failed := make(chan error, 2)
	go func() { failed <- u.codec.ListenAndServe() }()
	go func() { failed <- u.ui.Start() }()
	if err := u.waitReady(ctx, failed); err != nil {
		_ = u.Stop() // the reason why it is not ready matters more
		return nil, err
	}
	return u, nil
}

func (u *UI) config(temporalAddress string) *uiconfig.Config {
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
	if u.noCodec {
		c.Codec.Endpoint = ""
	}
	return c
}

// origins are the ways in which a browser may name the Web UI.
func (u *UI) origins() []string {
	return []string{u.Address(), "http://localhost:" + strconv.Itoa(u.port)}
}

// Address is the Web UI's address, http://host:port.
func (u *UI) Address() string { return "http://" + freeport.Address(u.port) }

// CodecAddress is the codec server's address, http://host:port.
func (u *UI) CodecAddress() string { return "http://" + freeport.Address(u.codecPort) }

// WorkflowAddress is the Web UI's page of a workflow. The slashes of the ID are
// escaped, as the Web UI wants them.
func (u *UI) WorkflowAddress(workflowID string) string {
	return u.Address() + "/namespaces/" + url.PathEscape(u.namespace) + "/workflows/" + url.PathEscape(workflowID)
}

// Stop ends the Web UI and the codec server.
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
		err := waitUntil(ctx, address, func(ctx context.Context) error { return answers(ctx, address) })
		if err != nil {
			return fmt.Errorf("start web ui: %w", err)
		}
	}
	return nil
}

// answers returns nil if an HTTP server answers, whatever it says.
func answers(ctx context.Context, address string) error {
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
