package backend

import (
	"strings"
	"testing"

	"github.com/armature-io/armature/activities"
)

// TestExposedServerIsAWarning checks that doctor names a connection in clear.
func TestExposedServerIsAWarning(t *testing.T) {
	t.Parallel()
	if got := serverFinding("t:7233 is reachable without TLS", false, "specs, IDs and commands"); got.State != activities.FindingOK || got.Advice != "" {
		t.Errorf("a connection to this machine: %+v", got)
	}
	got := serverFinding("t:7233 is reachable without TLS", true, "specs, IDs and commands")
	if got.State != activities.FindingWarn || !strings.Contains(got.Message, "in clear") || !strings.Contains(got.Advice, "TEMPORAL_TLS") {
		t.Errorf("a connection to another machine: %+v", got)
	}
}

// TestOldServerIsAFault checks that doctor names a server that is too old, with the next
// step, and passes one that hides its version.
func TestOldServerIsAFault(t *testing.T) {
	t.Parallel()
	old := (&dryRunServer{version: "1.27.4"}).connect(t).checkServer(t.Context())
	if old.State != activities.FindingError || !strings.Contains(old.Message, "version 1.27.4, and Armature needs 1.28") || !strings.Contains(old.Advice, "armature doctor") {
		t.Errorf("an old server: %+v", old)
	}
	for _, version := range []string{"1.28.0", "1.32.1", "1.31.0-151.4", ""} {
		if got := (&dryRunServer{version: version}).connect(t).checkServer(t.Context()); got.State != activities.FindingOK {
			t.Errorf("version %q: %+v", version, got)
		}
	}
}
