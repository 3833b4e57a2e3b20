package webui

import (
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

func TestMain(m *testing.M) {
	if os.Getenv(chromiumVariable) == "" {
		os.Exit(m.Run()) // each test reports what is missing
	}
	harness.Main(m, &binaries)
}
