// Package harness runs the environment of the e2e tests: an embedded Temporal
// server and an ARM simulator in the test's own process, workers as processes
// that can be killed, and the CLI as a black box.
//
// A scenario creates a [World] with the options that it needs; the world stops
// with its test. Worlds share only the binaries, so scenarios may run in parallel.
// The package knows no scenario.
package harness

import (
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Binaries are the paths of the programs under test.
type Binaries struct {
	// Worker is the worker, CLI the armature command.
	Worker, CLI string
	// Settings are variables of the worker that shorten its waits.
	Settings []string
}

// quickWaits are the settings that shorten the waits of a worker, as flags.
func quickWaits() map[string]string {
	return map[string]string{"--reread-window": "ARMATURE_REREAD_WINDOW=3s", "--settle-time": "ARMATURE_SETTLE_TIME=2s"}
}

// Main is a TestMain: it prepares, builds the programs into binaries, runs the tests of the
// package and ends the process with their exit code.
func Main(m *testing.M, binaries *Binaries, prepare ...func(context.Context) error) {
	os.Exit(runTests(m, binaries, prepare))
}

func runTests(m *testing.M, binaries *Binaries, prepare []func(context.Context) error) int {
	folder, err := os.MkdirTemp("", "armature-tests-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = os.RemoveAll(folder) }()
	build := func(ctx context.Context) (err error) {
		*binaries, err = Build(ctx, folder)
		return err
	}
	for _, step := range append(prepare, build) {
		if err := step(context.Background()); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	return m.Run()
}

// Build builds the programs into folder.
func Build(ctx context.Context, folder string) (Binaries, error) {
	root, err := Root(ctx)
	if err != nil {
		return Binaries{}, err
	}
	b := Binaries{
		Worker: filepath.Join(folder, "worker"), CLI: filepath.Join(folder, "armature"),
		Settings: slices.Sorted(maps.Values(quickWaits())),
	}
	if err := BuildProgram(ctx, root, "./worker", b.Worker); err != nil {
		return Binaries{}, err
	}
	if err := BuildProgram(ctx, root, "./starter/cmd", b.CLI); err != nil {
		return Binaries{}, err
	}
	return b, nil
}

// BuildProgram builds one main package of the module in folder module, for
// scenarios with another worker (one with a test extension).
func BuildProgram(ctx context.Context, module, pkg, output string) error {
	command := exec.CommandContext(ctx, "go", "build", "-o", output, pkg)
	command.Dir = module
	if output, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("build %s: %w\n%s", pkg, err, output)
	}
	return nil
}

// Root returns the folder of the product module. The working directory must be
// inside of dev/.
func Root(ctx context.Context) (string, error) {
	command := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", "github.com/armature-io/armature")
	command.Stderr = os.Stderr
	out, err := command.Output()
	if err != nil {
		return "", fmt.Errorf("find the product module: %w", err)
	}
	return strings.TrimSpace(string(out)), nil
}
