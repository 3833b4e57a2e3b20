package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/armature-io/armature/workflows"
)

// apply applies the examples, waits until they are Ready, lists all resources, and
// describes those that are not Ready. It reports whether all examples are Ready.
func (d *demo) apply(ctx context.Context) bool {
	applyErr := d.armature(ctx, d.out, "apply", "-f", d.examples, "--wait", "--timeout", d.timeout.String())
	if ctx.Err() != nil {
		return false
	}
	if applyErr != nil {
		fmt.Fprintln(d.err, "local:", applyErr)
	}
	fmt.Fprintln(d.out)
	notReady, err := d.list(ctx)
	if err != nil {
		fmt.Fprintln(d.err, "local:", err)
	}
	ready := applyErr == nil && err == nil
	d.printSummary(ready, notReady)
	return ready
}

// list prints all resources, describes those that are not Ready, and returns their
// number.
func (d *demo) list(ctx context.Context) (notReady int, err error) {
	if err := d.armature(ctx, d.out, "get"); err != nil {
		return 0, err
	}
	var list bytes.Buffer
	if err := d.armature(ctx, &list, "get", "-o", "json"); err != nil {
		return 0, err
	}
	var resources []struct {
		ID    string          `json:"id"`
		Phase workflows.Phase `json:"phase"`
	}
	if err := json.Unmarshal(list.Bytes(), &resources); err != nil {
		return 0, fmt.Errorf("decode the output of armature get: %w", err)
	}
	for _, r := range resources {
		if r.Phase == workflows.PhaseReady {
			continue
		}
		notReady++
		fmt.Fprintln(d.out)
		if err := d.armature(ctx, d.out, "describe", r.ID); err != nil {
			fmt.Fprintln(d.err, "local:", err)
		}
	}
	return notReady, nil
}

// armature runs the CLI against the demo's Temporal server.
func (d *demo) armature(ctx context.Context, out io.Writer, args ...string) error {
	command := d.command(ctx, args...)
	command.Stdout, command.Stderr = out, d.err
	if err := command.Run(); err != nil {
		return fmt.Errorf("run %s %s: %w", d.cliName(), args[0], err)
	}
	return nil
}

// command returns a call of the CLI against the demo's Temporal server.
func (d *demo) command(ctx context.Context, args ...string) *exec.Cmd {
	command := exec.CommandContext(ctx, d.cli, args...)
	command.Env = os.Environ()
	if d.external == "" {
		command.Env = append(command.Env, "TEMPORAL_ADDRESS="+d.temporal.HostPort, "TEMPORAL_NAMESPACE="+d.temporal.Namespace)
	}
	// The CLI stops by itself on Ctrl-C and prints a message.
	command.Cancel = func() error { return command.Process.Signal(os.Interrupt) }
	command.WaitDelay = stopTimeout
	return command
}

// cliName returns the CLI as a user would type it.
func (d *demo) cliName() string {
	if filepath.Base(d.cli) == d.cli {
		return d.cli
	}
	return filepath.Clean(d.cli)
}
