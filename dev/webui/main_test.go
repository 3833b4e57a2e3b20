package webui

import (
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/armature-io/armature/dev/internal/harness"
)

const (
	// chromiumVariable names the browser, a path.
	chromiumVariable = "CHROMIUM"
	// screenshotsVariable names the folder in which screenshots are kept; else
	// they go where `go test -artifacts` wants them, or away with the test.
	screenshotsVariable = "SCREENSHOTS"
)

// binaries are built once.
var binaries harness.Binaries

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	if os.Getenv(chromiumVariable) == "" {
		return m.Run() // each test reports what is missing
	}
	folder, err := os.MkdirTemp("", "armature-webui-")
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
