package searchattr

// The search attributes of ReconcileResource. The first six are of type Keyword; the
// last three are lists of Keywords, which is the maximum on SQL stores.
const (
	ArmType             = "ArmType"
	ArmSubscription     = "ArmSubscription"
	ArmResourceGroup    = "ArmResourceGroup"
	ArmOwner            = "ArmOwner"
	ReconcilePhase      = "ReconcilePhase"
	ReconcileReason     = "ReconcileReason"
	ReconcileWaitingFor = "ReconcileWaitingFor"
	ReconcileLabels     = "ReconcileLabels"
	ReconcileNeeds      = "ReconcileNeeds"
)
