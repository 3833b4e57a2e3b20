// Package page serves an estate as web pages: an overview with the root causes first, a graph,
// and a page for each resource. It owns the HTTP server, its view models and templates. It
// reads Temporal through interfaces, decides nothing, changes nothing, and knows no flags.
package page

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/armature-io/armature/internal/audit"
	"github.com/armature-io/armature/starter/internal/backend"
	"github.com/armature-io/armature/starter/internal/plan"
	"github.com/armature-io/armature/workflows"
)

// Fleet is what Temporal knows beside the resources.
type Fleet interface {
	Freezes(ctx context.Context) (freezes []workflows.Freeze, interrupted bool, err error)
	Pollers(ctx context.Context) ([]backend.Poller, error)
}

// Options configure a Server.
type Options struct {
	Reader backend.Reader
	Fleet  Fleet
	// Namespace and TaskQueue are shown; resources without a task queue have TaskQueue.
	Namespace, TaskQueue string
	// History reads the requests and writes of a resource, and a sentence about where they
	// begin.
	History func(ctx context.Context, workflowID string) (records []audit.Record, begin string, err error)
	// Specs reads the specs of resources, and the resources by them.
	Specs backend.SpecReader
	// Plan is a saved plan to show first, nil for none; PlanAgain plans it as it is now.
	Plan      *SavedPlan
	PlanAgain func(ctx context.Context, file plan.File) (plan.Plan, error)
	// WebUI is the address of the Temporal Web UI, "" for no links to it. Portal is that of
	// the Azure portal.
	WebUI, Portal string
	// Others are the pages of other namespaces.
	Others []Other
	// Shared lets users log in, nil in the local mode.
	Shared *Shared
	Now    func() time.Time
	// Announce prints an address that opens the page, in the local mode once.
	Announce func(address string)
}

// Other is the page of another namespace.
type Other struct{ Name, Address string }

// Server serves the pages of one namespace.
type Server struct {
	options   Options
	estate    *estate
	resources *resources
	plans     *planCheck
	// door is nil in the shared mode.
	door *door
}

// The bounds of the HTTP server.
const (
	headerTimeout   = 5 * time.Second
	requestTimeout  = 10 * time.Second
	writeTimeout    = planTimeout + time.Minute
	idleTimeout     = 2 * time.Minute
	shutdownTimeout = 3 * time.Second
	maxHeaderBytes  = 16 << 10
)

// Listen returns a listener on an address, host:port. It refuses any but a loopback address
// unless users log in: the local page has no login but the address that the command prints.
func Listen(ctx context.Context, address string, shared bool) (net.Listener, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("listen on %q: it is not host:port; use an address such as 127.0.0.1:8420", address)
	}
	if ip := net.ParseIP(host); !shared && host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return nil, fmt.Errorf("listen on %s: other computers are refused, because the page has no login; use a loopback address such as 127.0.0.1:8420, or let users log in: --base-url, --oidc-issuer, --oidc-client-id, --oidc-client-secret and --read", address)
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("listen: %w; use --listen 127.0.0.1:0 for a free port", err)
	}
	return listener, nil
}

// Serve serves the pages until ctx ends, which is no error.
func Serve(ctx context.Context, listener net.Listener, options Options) error {
	s := New(options, listener.Addr().String())
	options.Announce(s.address())
	server := &http.Server{
		Handler: s.Handler(), ReadHeaderTimeout: headerTimeout, ReadTimeout: requestTimeout, WriteTimeout: writeTimeout, IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeaderBytes,
		ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelError),
	}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(listener) }()
	select {
	case err := <-failed:
		return fmt.Errorf("serve the page: %w", err)
	case <-ctx.Done():
	}
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownTimeout)
	defer cancel()
	if err := server.Shutdown(ending); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("end the page: %w", err)
	}
	return nil
}

// New returns a server that listens at host:port. In the local mode browsers name it so.
func New(options Options, host string) *Server {
	s := &Server{options: options, estate: newEstate(options)}
	s.resources = newResources(options, s.estate)
	if options.Shared == nil {
		s.door = newDoor(host, s.first(), options.Now, options.Announce)
	}
	if options.Plan != nil {
		s.plans = &planCheck{saved: *options.Plan, again: options.PlanAgain, now: options.Now}
	}
	return s
}

// first returns the path of the first page.
func (s *Server) first() string {
	if s.options.Plan != nil {
		return "/plan"
	}
	return "/"
}

// address returns the address to open.
func (s *Server) address() string {
	if s.door != nil {
		return s.door.address()
	}
	return "https://" + s.options.Shared.host + s.first()
}

// Handler returns the pages behind the door, or behind the login.
func (s *Server) Handler() http.Handler {
	pages := http.NewServeMux()
	pages.HandleFunc("GET /{$}", s.overview)
	pages.HandleFunc("GET /graph", s.graph)
	pages.HandleFunc("GET /resource", s.resource)
	pages.HandleFunc("GET /resource/history", s.history)
	pages.HandleFunc("GET /resource/bodies", s.bodies)
	if s.plans != nil {
		pages.HandleFunc("GET /plan", s.plan)
	}
	pages.HandleFunc("GET /", func(w http.ResponseWriter, r *http.Request) {
		s.notFound(w, r, "There is no page "+r.URL.Path+".")
	})
	all := http.NewServeMux()
	all.Handle("GET /static/", http.HandlerFunc(serveStatic))
	if s.door != nil {
		all.Handle("/", s.door.guard(pages))
		return s.door.gate().check(all)
	}
	s.options.Shared.handle(all)
	all.Handle("/", s.options.Shared.guard(pages))
	return answerProbes(s.options.Shared.gate().check(all))
}
