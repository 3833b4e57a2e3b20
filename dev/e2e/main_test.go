// Package e2e tests the product from the outside: the CLI and the worker as
// processes, on an embedded Temporal server and the ARM simulator. Each file is
// a scenario; package harness provides the environment.
package e2e

import (
	"testing"

	"github.com/armature-io/armature/dev/internal/harness"
)

// binaries are built once for all scenarios.
var binaries harness.Binaries

func TestMain(m *testing.M) { harness.Main(m, &binaries) }
