// Command readiness-worker runs a worker with checks that need more than the bodies of
// resources: an answer of DNS, a list of Azure, and the approval of another service.
package main

import (
	"context"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/service"
)

// gateVariable has the URL of the service that approves changes; without it no change
// needs an approval.
const gateVariable = "APPROVAL_GATE_URL"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	own := []extensions.Entry{
		{Type: "Microsoft.Network/dnsZones/A", Link: Propagation{Resolver: net.DefaultResolver}},
		{Type: "Microsoft.Compute/virtualMachines", Link: ComputeUsage{}},
	}
	if url := os.Getenv(gateVariable); url != "" {
		gate := Gate{URL: url, Client: &http.Client{Timeout: 2 * time.Second}}
		own = append(own, extensions.Entry{Type: extensions.AllTypes, Link: gate})
	}
	os.Exit(service.Main(ctx, os.Args[1:], service.Options{Extensions: own}))
}
