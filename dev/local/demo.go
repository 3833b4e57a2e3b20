package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/contrib/envconfig"

	"github.com/armature-io/armature/armsim"
	"github.com/armature-io/armature/config"
	"github.com/armature-io/armature/dev/internal/freeport"
	"github.com/armature-io/armature/dev/temporaldev"
	"github.com/armature-io/armature/extensions/azure"
	"github.com/armature-io/armature/service"
	"github.com/armature-io/armature/workflows"
)

// passwordVariable is the one secret that the examples name.
const passwordVariable = "ARMATURE_SECRET_POSTGRES_PASSWORD"

// manualApproval is when (simulated) somebody approves the private endpoint that
// asks for it: long enough to see why it waits.
const manualApproval = 6 * time.Minute

// demo is what runs, in the order in which it starts.
type demo struct {
	settings
	out, err io.Writer
	// temporal is how to reach Temporal; ui is nil where it cannot be shown.
	temporal client.Options
	ui       *temporaldev.UI
	sim      *armsim.Server
	// workerEnded is closed when the worker is gone.
	workerEnded chan struct{}
	// stops undo what was started, the last one first.
	stops []func()
}

func (d *demo) start(ctx context.Context) error {
	d.workerEnded = make(chan struct{})
	if err := prepareFolder(d.folder, d.keep); err != nil {
		return err
	}
	for _, step := range []func(context.Context) error{d.startTemporal, d.startUI, d.startSimulator, d.plant, d.startWorker} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	d.greet()
	return nil
}

// stop ends everything; what fails to end goes with the process.
func (d *demo) stop() {
	for i := len(d.stops) - 1; i >= 0; i-- {
		d.stops[i]()
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

// startUI shows a Temporal server of the user's too, with the codec server that
// their own Web UI lacks, but not over TLS.
func (d *demo) startUI(ctx context.Context) error {
	if d.temporal.ConnectionOptions.TLS != nil || d.temporal.Credentials != nil {
		fmt.Fprintln(d.out, "Temporal is reached over TLS: look at its own Web UI")
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
		if err := keepResources(resources, sim.Simulator()); err != nil {
			fmt.Fprintln(d.err, "local:", err)
		}
	})
	return restoreResources(resources, sim.Simulator())
}

func (d *demo) startWorker(ctx context.Context) error {
	if os.Getenv(passwordVariable) == "" {
		password, _, err := keptSecret(d.folder, "postgres-password")
		if err == nil {
			err = os.Setenv(passwordVariable, password)
		}
		if err != nil {
			return fmt.Errorf("set the demo's password: %w", err)
		}
	}
	_, maskKey, err := keptSecret(d.folder, "mask-key")
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
	// The worker outlives the signal that ends the demo until its turn to stop.
	running, cancel := context.WithCancel(context.WithoutCancel(ctx))
	go func() {
		defer close(d.workerEnded)
		options := service.Options{
			Extensions: azure.BuiltIn(), Version: "demo", Temporal: &d.temporal, Stdout: log, Stderr: log,
		}
		if err := service.Run(running, settings, options); err != nil {
			fmt.Fprintln(d.err, "local: the worker ended:", err)
		}
	}()
	d.stops = append(d.stops, func() {
		cancel()
		<-d.workerEnded
		_ = log.Close()
	})
	return nil
}

func (d *demo) greet() {
	fmt.Fprintf(d.out, "Temporal   %s  namespace %s\n", d.temporal.HostPort, d.temporal.Namespace)
	if d.ui != nil {
		fmt.Fprintf(d.out, "Web UI     %s\n", d.ui.Address())
	}
	fmt.Fprintf(d.out, "simulator  %s  (%gx time)\n", d.sim.URL(), d.timeScale)
	fmt.Fprintf(d.out, "logs       %s\n\n", d.folder)
}

// farewell says where to look next.
func (d *demo) farewell(ready bool) {
	if ready {
		fmt.Fprintln(d.out, "\nEverything is Ready.")
	} else {
		fmt.Fprintf(d.out, "\nNot everything is Ready. The worker's log is %s.\n", filepath.Join(d.folder, "worker.log"))
	}
	if d.ui != nil {
		fmt.Fprintf(d.out, "Every decision stands in the Web UI: %s/namespaces/%s/workflows\n", d.ui.Address(), d.temporal.Namespace)
	}
	if d.stay {
		fmt.Fprintf(d.out, "Try in another terminal: %s describe adx\nCtrl-C ends it.\n", d.hint())
	}
}

// hint is the CLI as a user would call it against this Temporal.
func (d *demo) hint() string {
	if d.external != "" || d.temporalPort == 7233 {
		return d.cliName()
	}
	return "TEMPORAL_ADDRESS=" + d.temporal.HostPort + " " + d.cliName()
}

// stopTimeout bounds how long a call of the CLI may go on after Ctrl-C.
const stopTimeout = 10 * time.Second
