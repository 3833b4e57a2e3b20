// Command worker serves one Temporal task queue with the built-in extensions.
// A worker of your own is a copy of this file with more entries.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/armature-io/armature/extensions/azure"
	"github.com/armature-io/armature/service"
)

// version is stamped by -ldflags "-X main.version=v1.2.3".
var version = "dev"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	os.Exit(service.Main(ctx, os.Args[1:], service.Options{Extensions: azure.BuiltIn(), Version: version}))
}
