package resource

import "time"

// Managed is the Ready condition of a resource that Armature manages, as its own workflow
// recorded it last. It is not the provisioning state: a private endpoint that waits for an
// approval is provisioned, and not Ready.
type Managed struct {
	Ready bool
	// Reason is that of the condition; ReasonCheckFailed, with Ready unset, means that
	// Temporal did not return it.
	Reason Reason
	// Since is when Ready last changed, zero where it is not known.
	Since time.Time
}

// WaitFor defines by what the resources that one needs count as ready.
type WaitFor string

// WaitForReady is the Ready condition of those that Armature manages, WaitForProvisioned
// the provisioning state. WaitForDefault, the empty text in a spec, is the provisioning state
// for the owner and for $ref, and the Ready condition for dependsOn.
const (
	WaitForDefault     WaitFor = "default"
	WaitForReady       WaitFor = "ready"
	WaitForProvisioned WaitFor = "provisioned"
)
