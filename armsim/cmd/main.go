// Command armsim serves the ARM simulator on a port.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/armature-io/armature/armsim"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Getenv, os.Stderr))
}

// settings contains the values of the flags.
type settings struct {
	probe     bool
	bodies    string // file of recordings
	simulator armsim.Options
	listen    armsim.ListenOptions
}

// run serves until the context ends. It returns the exit code: 0, 1 when serving
// failed, 2 for invalid flags.
func run(ctx context.Context, args []string, getenv func(string) string, stderr io.Writer) int {
	log := slog.New(slog.NewTextHandler(stderr, nil))
	set, err := parse(args, getenv, stderr)
	if errors.Is(err, flag.ErrHelp) {
		return 0 // parse printed it
	}
	if err != nil {
		fmt.Fprintln(stderr, "armsim:", err)
		return 2
	}
	if set.probe {
		if err := probe(ctx, set.listen); err != nil {
			fmt.Fprintln(stderr, "armsim:", err)
			return 1
		}
		return 0
	}
	server, err := armsim.New(set.simulator).Listen(set.listen)
	if err != nil {
		fmt.Fprintln(stderr, "armsim:", err)
		return 1
	}
	if set.bodies != "" {
		log.Info("serving recorded responses", "file", set.bodies, "recordings", len(set.simulator.Recordings))
	}
	log.Info("serving simulated Azure Resource Manager", "url", server.URL(), "ca", server.CAFile(), "auth", set.simulator.RequireAuth)
	select {
	case <-ctx.Done():
		err = server.Close()
	case err = <-server.Done():
	}
	if err != nil {
		fmt.Fprintln(stderr, "armsim:", err)
		return 1
	}
	return 0
}

func parse(args []string, getenv func(string) string, stderr io.Writer) (settings, error) {
	var set settings
	var caDir, hosts, subscriptions, policyTags, eventQueues string
	var throttle bool
	flags := flag.NewFlagSet("armsim", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.Usage = func() { usage(flags, stderr) }
	flags.StringVar(&set.listen.Address, "listen", "127.0.0.1:4545", "host:port to listen on")
	flags.BoolVar(&set.listen.AllowRemote, "allow-remote", false, "listen beyond loopback; any client that reaches the port controls the simulator")
	flags.BoolVar(&set.listen.TLS, "https", false, "serve HTTPS with a certificate of a new CA, or with --cert")
	flags.StringVar(&set.listen.CertificateFile, "cert", "", "certificate for --https (PEM), with --key; instead of a new CA")
	flags.StringVar(&set.listen.KeyFile, "key", "", "key of --cert (PEM)")
	flags.StringVar(&set.listen.CAFile, "ca-out", "", "write the CA to this file (PEM)")
	flags.StringVar(&caDir, "cert-dir", "", "write the CA to ca.pem in this folder; instead of --ca-out")
	flags.StringVar(&hosts, "hosts", "", "further host names in the certificate, comma-separated")
	flags.BoolVar(&set.probe, "probe", false, "do not serve; check whether the simulator at --listen is serving (exit 0 or 1)")
	flags.Float64Var(&set.simulator.TimeScale, "time-scale", 1, "simulated seconds per real second")
	flags.Int64Var(&set.simulator.Seed, "seed", 1, "seed of all random values")
	flags.StringVar(&subscriptions, "subscriptions", "", "GUIDs that exist, comma-separated; empty: all")
	flags.StringVar(&set.simulator.TenantID, "tenant", "", "the only accepted tenant; empty: any")
	flags.BoolVar(&set.simulator.RequireAuth, "require-auth", false, "refuse requests without a token of the token endpoint")
	flags.StringVar(&set.simulator.ClientID, "client-id", "", "the only accepted application; empty: any")
	flags.StringVar(&set.simulator.VaultSuffix, "vault-suffix", "", "suffix of the hosts that are key vaults, for example vault.example; empty: none")
	flags.StringVar(&set.simulator.Audience, "audience", "", "the only accepted audience of tokens; empty: any")
	flags.DurationVar(&set.simulator.ReadAfterWrite, "read-after-write", 0, "simulated time for which reads lag behind writes")
	flags.IntVar(&set.simulator.Replicas, "replicas", 1, "replicas that serve GETs in turn, of which only the last one lags (--read-after-write)")
	flags.DurationVar(&set.simulator.ListLag, "list-lag", 0, "simulated time for which lists of all resources and Resource Graph lag behind")
	flags.BoolVar(&set.simulator.Validate, "validate", false, "refuse bodies that differ from the published type (400): unknown properties, wrong kinds and values, missing required properties; without it unknown properties are dropped")
	flags.StringVar(&set.bodies, "bodies", "", "file of recorded responses, one JSON object per line, plain or gzip; they serve PUTs of recorded IDs")
	flags.BoolVar(&set.simulator.PrivateEndpointInterfaces, "private-endpoint-interfaces", false, "create the network interfaces of private endpoints as resources")
	flags.DurationVar(&set.simulator.ManualApproval, "approve-manual-after", 0, "approve manual connections of private endpoints after this simulated time; 0: only by the control API")
	flags.BoolVar(&throttle, "throttle", false, "throttle as ARM does: 250 reads, 200 writes, 200 deletes, refilled by 25, 10 and 10 per simulated second")
	flags.BoolVar(&set.simulator.RequireRegistration, "require-registration", false, "start without registered providers, as in a new subscription")
	flags.StringVar(&policyTags, "policy-tags", "", "name=value,...: a policy adds these tags to every group and top-level resource that is PUT")
	flags.StringVar(&eventQueues, "event-queues", "", "ACCOUNT/QUEUE,...: storage queues that get the events of all changes, at /_queue/ACCOUNT/QUEUE")
	if err := flags.Parse(args); err != nil {
		return set, fmt.Errorf("read flags: %w", err)
	}
	if flags.NArg() > 0 {
		return set, fmt.Errorf("read flags: unexpected argument %q", flags.Arg(0))
	}
	if set.simulator.TimeScale <= 0 {
		return set, fmt.Errorf("read flags: --time-scale %g must be positive", set.simulator.TimeScale)
	}
	if own := set.listen.CertificateFile != ""; own != (set.listen.KeyFile != "") || own && !set.listen.TLS {
		return set, errors.New("read flags: --cert needs --key and --https")
	}
	// The secret comes from the environment, because process lists show arguments.
	set.simulator.ClientSecret = getenv("ARMSIM_CLIENT_SECRET")
	set.simulator.Subscriptions = list(subscriptions)
	if throttle {
		set.simulator.Throttle = armsim.ARMThrottle()
	}
	if tags := list(policyTags); len(tags) > 0 {
		policy := armsim.Policy{Name: "add-tags", Effect: "modify", Tags: map[string]string{}}
		for _, tag := range tags {
			name, value, ok := strings.Cut(tag, "=")
			if !ok || name == "" {
				return set, fmt.Errorf("read flags: --policy-tags %q is not name=value", tag)
			}
			policy.Tags[name] = value
		}
		set.simulator.Policies = []armsim.Policy{policy}
	}
	for _, queue := range list(eventQueues) {
		account, name, ok := strings.Cut(queue, "/")
		if !ok || account == "" || name == "" {
			return set, fmt.Errorf("read flags: --event-queues %q is not ACCOUNT/QUEUE", queue)
		}
		set.simulator.EventQueues = append(set.simulator.EventQueues, armsim.QueueSubscription{Account: account, Queue: name})
	}
	if set.bodies != "" {
		if err := readBodies(&set); err != nil {
			return set, err
		}
	}
	set.listen.Hosts = list(hosts)
	if suffix := set.simulator.VaultSuffix; suffix != "" {
		set.listen.Hosts = append(set.listen.Hosts, "*."+suffix)
	}
	if caDir != "" && set.listen.CAFile == "" {
		set.listen.CAFile = filepath.Join(caDir, "ca.pem")
	}
	return set, nil
}

func list(value string) []string {
	var out []string
	for _, item := range strings.Split(value, ",") {
		if item = strings.TrimSpace(item); item != "" {
			out = append(out, item)
		}
	}
	return out
}
