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

// apply applies the examples, waits until they are Ready, and shows the table;
// what is not Ready is described. It tells whether all is Ready.
func (d *demo) apply(ctx context.Context) bool {
	err := d.armature(ctx, d.out, "apply", "-f", d.examples, "--wait", "--timeout", d.timeout.String())
	if ctx.Err() != nil {
		return false
	}
	if err != nil {
		fmt.Fprintln(d.err, "local:", err)
	}
	fmt.Fprintln(d.out)
	if err := d.armature(ctx, d.out, "get"); err != nil {
		fmt.Fprintln(d.err, "local:", err)
		return false
	}
	d.describeUnready(ctx)
	return err == nil
}

// describeUnready tells of each resource that is not Ready why it is not.
func (d *demo) describeUnready(ctx context.Context) {
	var list bytes.Buffer
	if err := d.armature(ctx, &list, "get", "-o", "json"); err != nil {
		fmt.Fprintln(d.err, "local:", err)
		return
	}
	var shown []struct {
		ID    string          `json:"id"`
		Phase workflows.Phase `json:"phase"`
	}
	if err := json.Unmarshal(list.Bytes(), &shown); err != nil {
		fmt.Fprintln(d.err, "local: read what `armature get` says:", err)
		return
	}
	for _, s := range shown {
		if s.Phase == workflows.PhaseReady {
			continue
		}
		fmt.Fprintln(d.out)
		if err := d.armature(ctx, d.out, "describe", s.ID); err != nil {
			fmt.Fprintln(d.err, "local:", err)
		}
	}
}

// armature runs the CLI as a user would, against the demo's Temporal.
func (d *demo) armature(ctx context.Context, out io.Writer, args ...string) error {
	command := exec.CommandContext(ctx, d.cli, args...)
	command.Env = os.Environ()
	if d.external == "" {
		command.Env = append(command.Env, "TEMPORAL_ADDRESS="+d.temporal.HostPort, "TEMPORAL_NAMESPACE="+d.temporal.Namespace)
	}
	command.Stdout, command.Stderr = out, d.err
	// Ctrl-C reaches the CLI by itself; it ends with a sentence of its own.
	command.Cancel = func() error { return command.Process.Signal(os.Interrupt) }
	command.WaitDelay = stopTimeout
	if err := command.Run(); err != nil {
		return fmt.Errorf("run %s %s: %w", d.cliName(), args[0], err)
	}
	return nil
}

func (d *demo) cliName() string {
	if filepath.Base(d.cli) == d.cli {
		return d.cli
	}
	return filepath.Clean(d.cli)
}
