package worlds

import (
	"testing"

	"github.com/armature-io/armature/dev/internal/harness"
)

// binaries are built once for all worlds.
var binaries harness.Binaries

func TestMain(m *testing.M) { harness.Main(m, &binaries) }
