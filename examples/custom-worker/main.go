// Command custom-worker runs a worker with one check of its own.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/service"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	own := extensions.Entry{Type: StorageAccountType, Link: StorageAccount{}}
	os.Exit(service.Main(ctx, os.Args[1:], service.Options{Extensions: []extensions.Entry{own}}))
}
