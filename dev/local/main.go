// Command local runs the demo of Armature in one process: an embedded Temporal
// server with Web UI and codec server, the ARM simulator and a worker. It applies
// the examples with the CLI, in a process of its own, and shows their progress.
//
// On a terminal it runs until Ctrl-C. Otherwise it exits with 0 once all examples
// are Ready, or with 1 if they are not after --timeout.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"golang.org/x/term"
)

// settings are the values of flags and environment.
type settings struct {
	folder    string
	keep      bool
	stay      bool
	examples  string
	cli       string
	timeout   time.Duration
	timeScale float64

	temporalPort, uiPort, codecPort, simPort, healthPort int
	// external is the Temporal server to use instead of the embedded one.
	external string
}

const (
	exitFailed = 1
	exitUsage  = 2
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	set, err := parse(args, stderr)
	if errors.Is(err, flag.ErrHelp) {
		return 0
	}
	if err != nil {
		fmt.Fprintln(stderr, "local:", err)
		return exitUsage
	}
	d := &demo{settings: set, out: stdout, err: stderr}
	defer d.stop()
	if err := d.start(ctx); err != nil {
		fmt.Fprintln(stderr, "local:", err)
		return exitFailed
	}
	ready := d.apply(ctx)
	if set.stay {
		select {
		case <-ctx.Done():
		case <-d.workerEnded:
			ready = false
		}
	}
	if !ready {
		return exitFailed
	}
	return 0
}

func parse(args []string, stderr io.Writer) (settings, error) {
	var set settings
	flags := flag.NewFlagSet("local", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.StringVar(&set.folder, "folder", filepath.Join("dev", ".demo"), "folder for the database and the logs; emptied at the start")
	flags.BoolVar(&set.keep, "keep", os.Getenv("KEEP") != "" && os.Getenv("KEEP") != "0", "keep the folder, so that workflows continue where they stopped (environment: KEEP=1)")
	flags.StringVar(&set.examples, "examples", "examples", "manifests to apply")
	flags.StringVar(&set.cli, "cli", "armature", "armature command: a path or a name on PATH")
	flags.DurationVar(&set.timeout, "timeout", 5*time.Minute, "how long to wait until all examples are Ready")
	flags.Float64Var(&set.timeScale, "time-scale", 20, "simulated seconds of Azure in one real second")
	flags.IntVar(&set.temporalPort, "temporal-port", 7233, "port of the embedded Temporal server; 0 picks a free port, as for all ports")
	flags.IntVar(&set.uiPort, "ui-port", 8233, "port of the Web UI")
	flags.IntVar(&set.codecPort, "codec-port", 8234, "port of the codec server")
	flags.IntVar(&set.simPort, "armsim-port", 8443, "port of the ARM simulator")
	flags.IntVar(&set.healthPort, "health-port", 9464, "port of the worker's health checks and metrics")
	if err := flags.Parse(args); err != nil {
		return set, fmt.Errorf("read flags: %w", err)
	}
	if flags.NArg() > 0 {
		return set, fmt.Errorf("read flags: unexpected argument %q", flags.Arg(0))
	}
	set.stay = term.IsTerminal(int(os.Stdin.Fd()))
	set.external = os.Getenv("TEMPORAL_ADDRESS")
	return set, nil
}
