// Package e2e tests the product from the outside: the CLI and the worker as
// processes, on an embedded Temporal server and the ARM simulator. Each file is
// a scenario; package harness provides the environment.
package e2e

import (
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/armature-io/armature/dev/internal/harness"
)

// binaries are built once for all scenarios.
var binaries harness.Binaries

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	folder, err := os.MkdirTemp("", "armature-e2e-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = os.RemoveAll(folder) }()
	if binaries, err = harness.Build(context.Background(), folder); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}
