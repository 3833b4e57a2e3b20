// Package harness is the ground on which the e2e tests stand: an embedded
// Temporal server and an ARM simulator in the test's own process, workers as
// processes that can be killed, and the CLI as a black box.
//
// A scenario makes a [World] and says what it needs; the world ends with its
// test. Nothing is shared between worlds but the binaries, so scenarios may run
// side by side.
package harness

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Binaries are the paths of the programs under test.
type Binaries struct {
	// Worker is the product's worker, CLI its armature.
	Worker, CLI string
}

// Build builds the programs into folder. TestMain calls it once.
func Build(ctx context.Context, folder string) (Binaries, error) {
	root, err := Root(ctx)
	if err != nil {
		return Binaries{}, err
	}
	b := Binaries{Worker: filepath.Join(folder, "worker"), CLI: filepath.Join(folder, "armature")}
	if err := BuildProgram(ctx, root, "./worker", b.Worker); err != nil {
		return Binaries{}, err
	}
	if err := BuildProgram(ctx, root, "./starter", b.CLI); err != nil {
		return Binaries{}, err
	}
	return b, nil
}

// BuildProgram builds one main package of the module in folder module, for
// scenarios with a worker of their own (a test extension).
func BuildProgram(ctx context.Context, module, pkg, output string) error {
	command := exec.CommandContext(ctx, "go", "build", "-o", output, pkg)
	command.Dir = module
	if said, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("build %s: %w\n%s", pkg, err, said)
	}
	return nil
}

// Root is the folder of the product module, found from the folder of dev/ that
// the test runs in.
func Root(ctx context.Context) (string, error) {
	command := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", "github.com/armature-io/armature")
	command.Stderr = os.Stderr
	out, err := command.Output()
	if err != nil {
		return "", fmt.Errorf("find the product module: %w", err)
	}
	return strings.TrimSpace(string(out)), nil
}
