package main

import (
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/armature-io/armature/armsim"
)

const intro = `armsim serves a simulated Azure Resource Manager: resource groups, resources
and extension resources of any type, long-running operations in every shape that
Azure uses, throttling, provider registration, locks, and the refusals of
providers. It keeps everything in memory. The Azure SDK and other ARM clients
work against it unchanged.

Of a published type it keeps the properties that the type has in the api-version,
and drops others, as most of Azure does. With --validate it refuses such bodies.

Serve HTTPS, with a token endpoint that accepts any application:

    armsim --https --ca-out ca.pem --require-auth

Clients use https://localhost:4545 as endpoint, audience and authority host,
and must trust ca.pem. With --time-scale 600 ten minutes pass in a second.

The control API changes the simulator's behavior and reports requests. It needs
no token:

    curl --cacert ca.pem https://localhost:4545/_sim/counters
    curl --cacert ca.pem https://localhost:4545/_sim/faults -d \
      '{"method":"PUT","status":503,"code":"ServiceUnavailable","count":2}'

To accept only one client secret, set ARMSIM_CLIENT_SECRET.

Flags:
`

// usage prints the introduction and the flags.
func usage(flags *flag.FlagSet, out io.Writer) {
	fmt.Fprint(out, intro)
	flags.PrintDefaults()
}

// readBodies reads the recordings of --bodies.
func readBodies(set *settings) error {
	file, err := os.Open(set.bodies)
	if err != nil {
		return fmt.Errorf("read flags: --bodies: %w", err)
	}
	defer func() { _ = file.Close() }() // only read
	if set.simulator.Recordings, err = armsim.ReadRecordings(file); err != nil {
		return fmt.Errorf("read flags: --bodies %s: %w", set.bodies, err)
	}
	return nil
}
