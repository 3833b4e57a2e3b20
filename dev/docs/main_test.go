package docs

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"testing"

	"github.com/armature-io/armature/dev/internal/harness"
)

// binaries are built once for all pages.
var binaries harness.Binaries

func TestMain(m *testing.M) { harness.Main(m, &binaries, fillCache) }

// fillCache sets the flags of the pages for the builds of the process, and builds what pages
// build beside worker and CLI. From an empty cache all this takes minutes, longer than a
// command of a page may take.
func fillCache(ctx context.Context) error {
	root, err := harness.Root(ctx)
	if err != nil {
		return err
	}
	if err := os.Setenv("GOFLAGS", goFlags); err != nil {
		return fmt.Errorf("set the flags of builds: %w", err)
	}
	command := exec.CommandContext(ctx, "go", "build", "./extensions/...", "./armsim/...")
	command.Dir = root
	if output, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("build what pages build: %w\n%s", err, output)
	}
	return nil
}
