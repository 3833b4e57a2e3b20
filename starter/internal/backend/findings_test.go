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
