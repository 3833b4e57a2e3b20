// Package starter is the CLI of Armature, armature. It owns the commands: flags,
// help, questions and screens. It is a client of Temporal only: it loads manifests,
// sends messages to workflows and shows their state. It never talks to ARM and takes
// no decision about a resource. Its pages for a team also ask the issuer of their users.
//
// Programs that import it get the same commands with options of their own, see [Main].
package starter

import (
	"cmp"
	"context"

	"github.com/armature-io/armature/starter/internal/cli"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/interceptor"
)

// Options are the parts of a CLI that are not in its environment. The zero value is
// armature.
type Options struct {
	// Version is what `version` prints; "" is dev.
	Version string
	// Plugins configure the client of Temporal and surround its connection. Each is asked to
	// configure once. A data converter that one sets replaces DataConverter.
	Plugins []client.Plugin
	// Interceptors are added to those of plugins. One can add headers to messages, for
	// service.Options.Authorize of the workers.
	Interceptors []interceptor.ClientInterceptor
	// DataConverter converts values before compression and encryption, nil means JSON; and
	// PayloadCodecs encode what these have written. Workers, codec server and all CLIs of a
	// namespace need the same, as service.Options describes.
	DataConverter converter.DataConverter
	PayloadCodecs []converter.PayloadCodec
	// Token returns the OpenID Connect token of the user, which is sent encrypted with each
	// message, for service.Options.Callers of the workers; nil means ARMATURE_TOKEN.
	Token func(ctx context.Context) (string, error)
}

// version returns the version of the CLI.
func (o Options) version() string { return cmp.Or(o.Version, "dev") }

// Main runs the command line args, without the program's name, and returns its exit code.
// The first SIGINT or SIGTERM cancels the command.
func Main(args []string, options Options) int {
	return cli.Main(func(ctx context.Context) int { return run(ctx, newApp(options), args) })
}
