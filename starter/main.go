// Command armature is the CLI of Armature. This package owns the commands: flags,
// help, questions and screens. It is a client of Temporal only: it loads manifests,
// sends messages to workflows and shows their state. It never talks to ARM and takes
// no decision about a resource.
package main

import (
	"context"
	"os"

	"github.com/armature-io/armature/starter/internal/console"
)

// version is set by -ldflags "-X main.version=v1.2.3".
var version = "dev"

func main() {
	os.Exit(console.Main(func(ctx context.Context) int { return run(ctx, newApp(), os.Args[1:]) }))
}
