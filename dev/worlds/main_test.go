package worlds

import (
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/armature-io/armature/dev/internal/harness"
)

// binaries are built once for all worlds.
var binaries harness.Binaries

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	folder, err := os.MkdirTemp("", "armature-worlds-")
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
