package resource

import "strings"

// inFlight is the closed table of provisioning states of an operation in progress,
// during which a PUT would be refused or would interfere. Other states pass, so
// that a new state of Azure never blocks forever. Sources: reference of ARM's
// asynchronous operations; the states of AKS, Kusto, PostgreSQL, Compute and
// Network.
var inFlight = map[string]bool{
	"accepted": true, "activating": true, "allocating": true, "attaching": true, "configuring": true,
	"creating": true, "deallocating": true, "deleting": true, "deprovisioning": true,
	"detaching": true, "disabling": true, "dropping": true, "enabling": true, "inprogress": true,
	"migrating": true, "moving": true, "preparing": true, "provisioning": true,
	"registering": true, "reimaging": true, "restarting": true, "restoring": true, "resuming": true,
	"rotatingclustercertificates": true, "scaling": true, "starting": true,
	"stopping": true, "suspending": true, "syncing": true, "updating": true, "upgrading": true,
}

// InFlight reports whether a provisioning state means that an operation is in
// progress. It ignores case, which varies between providers.
func InFlight(state string) bool { return inFlight[strings.ToLower(state)] }

// Broken reports whether a provisioning state means that the last operation failed
// or was canceled.
func Broken(state string) bool {
	switch strings.ToLower(state) {
	case "failed", "canceled", "cancelled":
		return true
	}
	return false
}
