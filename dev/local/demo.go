package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/contrib/envconfig"

	"github.com/armature-io/armature/armsim"
	"github.com/armature-io/armature/config"
	"github.com/armature-io/armature/dev/internal/freeport"
	"github.com/armature-io/armature/dev/temporaldev"
	"github.com/armature-io/armature/service"
	"github.com/armature-io/armature/workflows"
)

// passwordVariable is the only secret that the examples refer to.
const passwordVariable = "ARMATURE_SECRET_POSTGRES_PASSWORD"

// manualApproval is the simulated time after which the private endpoint with manual
// approval is approved: long enough to see why it waits.
const manualApproval = 6 * time.Minute

// demo is the running demo, its parts in the order of their start.
type demo struct {
	settings
	out, err io.Writer
	// temporal is the connection to Temporal; ui is nil for Temporal over TLS.
	temporal client.Options
	ui       *temporaldev.UI
	pages    *pages
	sim      *armsim.Server
	// workerEnded is closed when the worker has stopped.
	workerEnded chan struct{}
	// stops are called in reverse order.
	stops []func()
}

// demoVersion is the version of the demo's worker.
const demoVersion = "demo"

func (d *demo) start(ctx context.Context) error {
	d.workerEnded = make(chan struct{})
	if err := prepareFolder(d.folder, d.keep); err != nil {
		return err
	}
	for _, step := range []func(context.Context) error{d.startTemporal, d.startUI, d.startSimulator, d.seed, d.startWorker, d.startPages} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	d.printAddresses()
	return nil
}

// stop stops all parts of the demo, the last one first.
func (d *demo) stop() {
	for _, stop := range slices.Backward(d.stops) {
		stop()
	}
}

func (d *demo) startTemporal(ctx context.Context) error {
	if d.external != "" {
		options, err := envconfig.LoadDefaultClientOptions()
		if err != nil {
			return fmt.Errorf("read the Temporal connection: %w", err)
		}
		if options.Namespace == "" {
			options.Namespace = client.DefaultNamespace
		}
		d.temporal = options
		return nil
	}
	server, err := temporaldev.Start(ctx, d.folder, temporaldev.Options{
		Port: d.temporalPort, SearchAttributes: workflows.SearchAttributes(),
	})
	if err != nil {
		return err
	}
	d.stops = append(d.stops, func() { _ = server.Stop() })
	d.temporal = client.Options{HostPort: server.Address(), Namespace: temporaldev.Namespace}
	return nil
}

// startUI starts a Web UI with a codec server. An external Temporal server gets one
// too, because its own has no codec server, but not over TLS.
func (d *demo) startUI(ctx context.Context) error {
	if d.temporal.ConnectionOptions.TLS != nil || d.temporal.Credentials != nil {
		fmt.Fprintln(d.out, "Temporal is connected over TLS: use its own Web UI")
		return nil
	}
	ui, err := temporaldev.StartUI(ctx, d.temporal.HostPort, temporaldev.UIOptions{
		Port: d.uiPort, CodecPort: d.codecPort, Namespace: d.temporal.Namespace,
	})
	if err != nil {
		return err
	}
	d.ui = ui
	d.stops = append(d.stops, func() { _ = ui.Stop() })
	return nil
}

func (d *demo) startSimulator(context.Context) error {
	sim, err := armsim.New(armsim.Options{Seed: 1, TimeScale: d.timeScale, ManualApproval: manualApproval}).
		Listen(armsim.ListenOptions{Address: freeport.Address(d.simPort)})
	if err != nil {
		return fmt.Errorf("start the ARM simulator: %w", err)
	}
	d.sim = sim
	resources := filepath.Join(d.folder, resourcesFile)
	d.stops = append(d.stops, func() {
		_ = sim.Close()
		if err := saveResources(resources, sim.Simulator()); err != nil {
			fmt.Fprintln(d.err, "local:", err)
		}
	})
	return loadResources(resources, sim.Simulator())
}

func (d *demo) startWorker(ctx context.Context) error {
	if os.Getenv(passwordVariable) == "" {
		password, _, err := savedSecret(d.folder, "postgres-password")
		if err == nil {
			err = os.Setenv(passwordVariable, password)
		}
		if err != nil {
			return fmt.Errorf("set the demo's password: %w", err)
		}
	}
	_, maskKey, err := savedSecret(d.folder, "mask-key")
	if err != nil {
		return err
	}
	log, err := os.OpenFile(filepath.Join(d.folder, "worker.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("open the worker's log: %w", err)
	}
	settings := config.Default()
	settings.HTTP.Listen = freeport.Address(d.healthPort)
	settings.MaskKey = config.Reference("file:" + maskKey)
	settings.Azure.Cloud, settings.Azure.Endpoint = config.CloudCustom, d.sim.URL()
	settings.Azure.Credential = config.CredentialNone
	// One version for all builds: a demo is replaced in place, and replays what it kept.
	settings.Worker.Deployment, settings.Worker.BuildID = workflows.TaskQueue, demoVersion
	// The worker does not stop on the signal, but in the order of d.stops.
	running, cancel := context.WithCancel(context.WithoutCancel(ctx))
	go func() {
		defer close(d.workerEnded)
		options := service.Options{
			Version: demoVersion, Temporal: &d.temporal, Stdout: log, Stderr: log,
		}
		if err := service.Run(running, settings, options); err != nil {
			fmt.Fprintln(d.err, "local: the worker stopped:", err)
		}
	}()
	d.stops = append(d.stops, func() {
		cancel()
		<-d.workerEnded
		_ = log.Close()
	})
	return nil
}

// printAddresses prints where the parts of the demo are.
func (d *demo) printAddresses() {
	fmt.Fprintf(d.out, "Temporal   %s  namespace %s\n", d.temporal.HostPort, d.temporal.Namespace)
	if d.ui != nil {
		fmt.Fprintf(d.out, "Web UI     %s\n", d.ui.Address())
	}
	fmt.Fprintf(d.out, "pages      %s  (opens once)\n", d.pages.last())
	fmt.Fprintf(d.out, "simulator  %s  (%gx time)\n", d.sim.URL(), d.timeScale)
	fmt.Fprintf(d.out, "logs       %s\n\n", d.folder)
}

// printSummary prints the result and what to do next. A kept folder or an external
// Temporal server may have resources beside the examples that are not Ready.
func (d *demo) printSummary(examplesReady bool, notReady int) {
	switch {
	case examplesReady && notReady == 0:
		fmt.Fprintln(d.out, "\nEverything is Ready.")
	case examplesReady:
		fmt.Fprintf(d.out, "\nThe examples are Ready. Resources beside them that are not Ready: %d (see above).\n", notReady)
	default:
		fmt.Fprintf(d.out, "\nNot everything is Ready. The worker's log is %s.\n", filepath.Join(d.folder, "worker.log"))
	}
	if address := d.pages.last(); address != "" {
		fmt.Fprintf(d.out, "armature ui shows who has to act: %s\n", address)
	}
	if d.ui != nil {
		fmt.Fprintf(d.out, "The Web UI shows every decision: %s/namespaces/%s/workflows\n", d.ui.Address(), d.temporal.Namespace)
	}
	if d.stay {
		fmt.Fprintf(d.out, "Try in another terminal: %s describe adx\nPress Ctrl-C to stop.\n", d.shellCommand())
	}
}

// shellCommand returns the CLI as a user would call it for this Temporal server.
func (d *demo) shellCommand() string {
	if d.external != "" || d.temporalPort == 7233 {
		return d.cliName()
	}
	return "TEMPORAL_ADDRESS=" + d.temporal.HostPort + " " + d.cliName()
}

// stopTimeout bounds how long a CLI call may run after Ctrl-C.
const stopTimeout = 10 * time.Second
