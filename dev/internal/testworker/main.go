// Command testworker is worker/main.go with an additional extension that waits at a
// step of the pass until the test releases it. The crash tests kill it there.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/armature-io/armature/dev/internal/testworker/gate"
	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/extensions/azure"
	"github.com/armature-io/armature/service"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	links := azure.BuiltIn()
	if step := os.Getenv(gate.StepVariable); step != "" {
		link := gate.Link(step, os.Getenv(gate.FolderVariable))
		links = append(links, extensions.Entry{Type: extensions.AllTypes, Link: link})
	}
	os.Exit(service.Main(ctx, os.Args[1:], service.Options{Extensions: links, Version: "test"}))
}
