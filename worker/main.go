// Command worker serves one Temporal task queue with the built-in extensions. It owns
// the version and the signals; package service has everything else. A custom worker is
// a copy of this file with more entries.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/armature-io/armature/service"
)

// version is set by -ldflags "-X main.version=v1.2.3".
var version = "dev"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the process immediately
	os.Exit(service.Main(ctx, os.Args[1:], service.Options{Version: version}))
}
