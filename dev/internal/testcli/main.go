// Command testcli is starter/cmd/main.go with options of an embedder: a payload codec, and
// a plugin that names itself in the identity of its client.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/armature-io/armature/dev/internal/testworker/codec"
	"github.com/armature-io/armature/starter"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
)

func main() {
	plugin, err := temporal.NewSimplePlugin(temporal.SimplePluginOptions{
		Name: "test",
		ConfigureClient: func(_ context.Context, options client.PluginConfigureClientOptions) error {
			fmt.Fprintln(os.Stderr, "plugin configures", options.ClientOptions.Namespace)
			return nil
		},
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(starter.Main(os.Args[1:], starter.Options{
		Version: "test", Plugins: []client.Plugin{plugin}, PayloadCodecs: []converter.PayloadCodec{codec.Reversing{}},
	}))
}
