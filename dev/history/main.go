// Command history prints the event history of a workflow with decoded payloads, like
// `temporal workflow show`, and writes it for replay tests. It reads the connection to
// Temporal from the variables that every Temporal tool uses.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"

	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/contrib/envconfig"

	"github.com/armature-io/armature/dev/internal/histories"
	"github.com/armature-io/armature/payload"
)

const usage = `Usage: history [flags] WORKFLOW_ID | FILE.json

Prints one line for each event. TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE and the
other TEMPORAL_* variables select the server.

`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// run returns the exit code: 0, 1 on failure, 2 for invalid flags.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("history", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.Usage = func() {
		fmt.Fprint(stderr, usage)
		flags.PrintDefaults()
	}
	runID := flags.String("run", "", "run ID; default is the latest run")
	asJSON := flags.Bool("json", false, "write the history as JSON for the replayer, with payloads as stored")
	counts := flags.Bool("counts", false, "print the number of events and bytes, in total and by type")
	payloads := flags.Bool("payloads", false, "print decoded inputs and results too")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	if flags.NArg() != 1 {
		flags.Usage()
		return 2
	}
	history, err := load(ctx, flags.Arg(0), *runID)
	if err == nil {
		err = show(stdout, history, *asJSON, *counts, *payloads)
	}
	if err != nil {
		fmt.Fprintln(stderr, "history:", err)
		return 1
	}
	return 0
}

// load reads a history from a file if the name ends in .json, otherwise from Temporal.
func load(ctx context.Context, name, runID string) (*historypb.History, error) {
	if strings.HasSuffix(name, ".json") {
		file, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		defer func() { _ = file.Close() }()
		return histories.Read(file)
	}
	options, err := envconfig.LoadDefaultClientOptions()
	if err != nil {
		return nil, fmt.Errorf("read temporal connection: %w", err)
	}
	options.DataConverter = payload.DataConverter()
	c, err := client.DialContext(ctx, options)
	if err != nil {
		return nil, fmt.Errorf("reach temporal: %w", err)
	}
	defer c.Close()
	return histories.Fetch(ctx, c, name, runID)
}

func show(w io.Writer, history *historypb.History, asJSON, counts, payloads bool) error {
	switch {
	case asJSON:
		return histories.Write(w, history)
	case counts:
		encoder := json.NewEncoder(w)
		encoder.SetIndent("", "  ")
		return encoder.Encode(histories.Count(history, 0))
	}
	for _, line := range histories.Lines(history, payloads) {
		if _, err := fmt.Fprintln(w, line); err != nil {
			return err
		}
	}
	return nil
}
