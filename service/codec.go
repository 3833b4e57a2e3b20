package service

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"

	"github.com/armature-io/armature/payload"
)

const codecUsage = `worker codec serves the payload codec, by which the Temporal Web UI and the
Temporal CLI (--codec-endpoint) show payloads over 2 KB in plain. It needs
neither Temporal nor Azure. Whoever reaches it can decode what he already has;
it holds no key.

Flags:
`

// codecSettings are what the flags of the codec server say.
type codecSettings struct {
	listen  string
	origins []string
	probe   bool
}

// codecMain serves the codec until ctx is done, or asks a codec server of the
// same flags whether it serves, and returns the exit code.
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
		"addresses of the Web UI as a browser names them, separated by commas: no other site may ask")
	flags.BoolVar(&s.probe, "probe", false, "do not serve: ask the codec server at --listen whether it serves (exit 0 or 1)")
	if err := flags.Parse(args); err != nil {
		return s, err
	}
	if flags.NArg() > 0 {
		return s, fmt.Errorf("read flags: unexpected argument %q", flags.Arg(0))
	}
	if _, _, err := net.SplitHostPort(s.listen); err != nil {
		return s, fmt.Errorf("read flags: --listen %q is not host:port", s.listen)
	}
	for _, origin := range strings.Split(*origins, ",") {
		parsed, err := url.Parse(origin)
		if err != nil || parsed.Host == "" || origin != parsed.Scheme+"://"+parsed.Host {
			return s, fmt.Errorf("read flags: --origins %q is not scheme://host[:port]", origin)
		}
		s.origins = append(s.origins, origin)
	}
	return s, nil
}

func serveCodec(ctx context.Context, s codecSettings, options Options) error {
	listener, err := net.Listen("tcp", s.listen)
	if err != nil {
		return fmt.Errorf("serve codec: %w", err)
	}
	if options.OnListen != nil {
		options.OnListen(listener.Addr().String())
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, http.StatusOK, map[string]string{"status": "ok"})
	})
	mux.Handle("/", payload.Handler(s.origins...))
	server := &http.Server{Handler: mux, ReadHeaderTimeout: httpTimeout}
	stop := context.AfterFunc(ctx, func() { _ = server.Close() }) // every request is short
	defer stop()
	fmt.Fprintf(options.Stdout, "codec server at http://%s for %s\n", listener.Addr(), strings.Join(s.origins, ", "))
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve codec: %w", err)
	}
	return nil
}

func probeCodec(ctx context.Context, s codecSettings, _ Options) error {
	host, err := reachable(s.listen)
	if err != nil {
		return fmt.Errorf("probe codec server: %w", err)
	}
	return askHealth(ctx, "codec server", "http://"+host+"/healthz")
}
