package searchattr

// The search attributes of ReconcileResource. The first six are of type Keyword; the
// last three are lists of Keywords, which is the maximum on SQL stores.
const (
	ArmType             = "ArmType"
	ArmSubscription     = "ArmSubscription"
	ArmResourceGroup    = "ArmResourceGroup"
	ArmName             = "ArmName"
	ArmOwner            = "ArmOwner"
	ReconcilePhase      = "ReconcilePhase"
	ReconcileReason     = "ReconcileReason"
	ReconcileSince      = "ReconcileSince"
	ReconcileWaitingFor = "ReconcileWaitingFor"
	ReconcileLabels     = "ReconcileLabels"
	ReconcileNeeds      = "ReconcileNeeds"
)
