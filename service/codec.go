package service

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/armature-io/armature/caller"
	"github.com/armature-io/armature/internal/payload"
)

const codecUsage = `worker codec serves the payload codec, with which the Temporal Web UI and the
Temporal CLI (--codec-endpoint) show payloads over 2 KB, and encrypted ones, as
JSON. It needs the keys of the workers, and neither Temporal nor Azure (unless a
key is in a key vault). It has no data of its own: a client can only decode
payloads that it already has. Callers need a token of --oidc-issuer, unless only
this machine reaches --listen, or --open is set.

Flags:
`

// Bounds of one connection to the codec server: a browser sends some megabytes from the
// same machine or network. A request that waits for others counts, too.
const (
	codecReadTimeout  = 15 * time.Second
	codecWriteTimeout = 30 * time.Second
	maxCodecHeader    = 32 << 10
)

// codecSettings are the flags of the codec server.
type codecSettings struct {
	listen  string
	origins []string
	probe   bool
	callers codecCallers
	keys    keyFlags
	// converters have the keys.
	converters *payload.Converters
	// verifier is nil where callers need no identity.
	verifier *caller.Verifier
	// mayDecrypt decides about single keys, nil where all callers have all.
	mayDecrypt func(*http.Request, string) bool
}

// codecMain serves the codec until ctx is done, or checks with --probe whether a codec
// server of the same flags is serving, and returns the exit code.
func codecMain(ctx context.Context, args []string, options Options) int {
	settings, err := parseCodec(args, options)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return ExitStopped
	case err != nil:
		fmt.Fprintln(options.Stderr, err)
		return ExitConfig
	}
	run := serveCodec
	if settings.probe {
		run = probeCodec
	} else if settings.converters, err = settings.keys.load(ctx, options); err != nil {
		fmt.Fprintln(options.Stderr, err)
		return ExitConfig
	}
	if err := run(ctx, settings, options); err != nil {
		fmt.Fprintln(options.Stderr, err)
		return ExitFailed
	}
	return ExitStopped
}

func parseCodec(args []string, options Options) (codecSettings, error) {
	var s codecSettings
	flags := flag.NewFlagSet("worker codec", flag.ContinueOnError)
	flags.SetOutput(options.Stdout)
	flags.Usage = func() {
		fmt.Fprint(options.Stdout, codecUsage)
		flags.PrintDefaults()
	}
	flags.StringVar(&s.listen, "listen", "127.0.0.1:8088", "host:port to serve at")
	origins := flags.String("origins", "http://127.0.0.1:8080,http://localhost:8080",
		"origins of the Web UI (scheme://host[:port]), separated by commas; other sites get no access")
	s.callers.register(flags)
	s.keys.register(flags)
	flags.BoolVar(&s.probe, "probe", false, "do not serve; check whether the codec server at --listen is serving (exit 0 or 1)")
	if err := flags.Parse(args); err != nil {
		return s, err
	}
	if flags.NArg() > 0 {
		return s, fmt.Errorf("read flags: unexpected argument %q", flags.Arg(0))
	}
	if _, _, err := net.SplitHostPort(s.listen); err != nil {
		return s, fmt.Errorf("read flags: --listen %q is not host:port", s.listen)
	}
	for origin := range strings.SplitSeq(*origins, ",") {
		parsed, err := url.Parse(origin)
		if err != nil || parsed.Host == "" || origin != parsed.Scheme+"://"+parsed.Host {
			return s, fmt.Errorf("read flags: --origins %q is not scheme://host[:port]", origin)
		}
		s.origins = append(s.origins, origin)
	}
	if s.probe {
		return s, nil
	}
	if err := s.callers.check(s.listen); err != nil {
		return s, err
	}
	var err error
	if s.verifier, err = s.callers.verifier(options.Now); err != nil {
		return s, err
	}
	s.mayDecrypt, err = s.callers.mayDecrypt()
	return s, err
}

func serveCodec(ctx context.Context, s codecSettings, options Options) error {
	security, err := codecTLS(s.callers.certificate, s.callers.key)
	if err != nil {
		return fmt.Errorf("serve codec: %w", err)
	}
	listener, err := net.Listen("tcp", s.listen)
	if err != nil {
		return fmt.Errorf("serve codec: %w", err)
	}
	if options.OnListen != nil {
		options.OnListen(listener.Addr().String())
	}
	defer listener.Close()
	log := slog.New(slog.NewJSONHandler(options.Stderr, nil))
	if warning := s.callers.warning(s.listen); warning != "" {
		log.Warn("the codec server is exposed", "listen", s.listen, "reason", warning)
	}
	handler := payload.HandlerOptions{Origins: s.origins, MayDecrypt: s.mayDecrypt}
	if s.verifier != nil {
		handler.Protect = protect(s.verifier, log)
	}
	mux := newServeMux()
	mux.Handle("/", s.converters.NewHandler(handler))
	server := &http.Server{
		ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelWarn), Handler: mux, ReadHeaderTimeout: httpTimeout, ReadTimeout: codecReadTimeout, WriteTimeout: codecWriteTimeout,
		IdleTimeout: time.Minute, MaxHeaderBytes: maxCodecHeader, TLSConfig: security,
	}
	stop := context.AfterFunc(ctx, func() { _ = server.Close() }) // all requests are short
	defer stop()
	scheme, serve := "http", server.Serve
	if server.TLSConfig != nil {
		scheme, serve = "https", func(l net.Listener) error { return server.ServeTLS(l, "", "") }
	}
	fmt.Fprintf(options.Stdout, "codec server at %s://%s for %s\n", scheme, listener.Addr(), strings.Join(s.origins, ", "))
	if err := serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve codec: %w", err)
	}
	return nil
}

func probeCodec(ctx context.Context, s codecSettings, _ Options) error {
	host, err := localAddress(s.listen)
	if err != nil {
		return fmt.Errorf("probe codec server: %w", err)
	}
	if s.callers.certificate == "" {
		return checkHealth(ctx, http.DefaultClient, "codec server", "http://"+host+"/healthz")
	}
	client, err := probeClient(s.callers.certificate)
	if err != nil {
		return fmt.Errorf("probe codec server: %w", err)
	}
	return checkHealth(ctx, client, "codec server", "https://"+host+"/healthz")
}
