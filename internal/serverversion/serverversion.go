// Package serverversion knows the oldest Temporal server that Armature runs on. It sends no
// request.
package serverversion

import (
	"fmt"

	"golang.org/x/mod/semver"
)

// Oldest is the oldest minor version that has everything in use without a setting: updates
// that start their workflow, worker deployments, priorities, paused and reset activities, and
// STARTS_WITH in lists. Server 1.27 has worker deployments switched off and neither
// priorities nor activities that can be reset.
const Oldest = "1.28"

// Advice is the next step of a user whose server is older.
const Advice = "upgrade the Temporal server, one minor version after the other (https://docs.temporal.io/self-hosted-guide/upgrade-server), then run `armature doctor`"

// Check returns an error if a server is older than Oldest. A version of another form, such
// as "" behind a proxy, passes: it says nothing about the age of the server. Pre-releases
// count as their release, because Temporal Cloud runs builds like 1.31.0-151.4.
func Check(version string) error {
	minor := semver.MajorMinor("v" + version)
	if minor == "" || semver.Compare(minor, "v"+Oldest) >= 0 {
		return nil
	}
	return fmt.Errorf("the Temporal server has version %s, and Armature needs %s or newer", version, Oldest)
}
