package activities

import (
	"github.com/armature-io/armature/resource"
)

// PlanAction is what a pass would do to a resource.
type PlanAction string

// The actions of a plan. None covers what is in sync and what a policy leaves
// alone; Delete is for the starter, which knows what no manifest names any more.
const (
	PlanCreate  PlanAction = "create"
	PlanUpdate  PlanAction = "update"
	PlanDelete  PlanAction = "delete"
	PlanNone    PlanAction = "none"
	PlanBlocked PlanAction = "blocked"
	PlanError   PlanAction = "error"
)

// PlanResourceInput asks what a pass would do with a spec.
type PlanResourceInput struct {
	Desired resource.Desired `json:"desired"`
	// Together are those of the resources it needs that the same plan names: one
	// of them that does not exist is created first and is no obstacle.
	Together []resource.ID `json:"together,omitempty"`
}

// PlanResourceResult is the plan of one resource; nothing in it is secret.
type PlanResourceResult struct {
	Action     PlanAction        `json:"action"`
	Reason     resource.Reason   `json:"reason,omitempty"`
	Severity   resource.Severity `json:"severity,omitempty"`
	Message    string            `json:"message,omitempty"`
	APIVersion string            `json:"apiVersion"`
	// Managed is set when a workflow keeps the resource already, with the spec of
	// Generation.
	Managed    bool  `json:"managed,omitempty"`
	Generation int64 `json:"generation,omitempty"`
	// Differences and More are those of resource.Verdict.
	Differences []resource.Difference `json:"differences,omitempty"`
	More        int                   `json:"more,omitempty"`
	// Drops names what others set and the PUT takes away.
	Drops []string `json:"drops,omitempty"`
	// After are the resources that the same plan creates first.
	After []resource.ID `json:"after,omitempty"`
	// WaitingFor are the resources that block.
	WaitingFor []resource.ID `json:"waitingFor,omitempty"`
	RequestID  string        `json:"requestID,omitempty"`
	// Held says why nothing is written for now although something is due: a pause
	// or a freeze.
	Held string `json:"held,omitempty"`
	// Fingerprint is a keyed hash of the decision, of the generation and of what
	// was observed where the spec says something; it is another one when the world
	// moved.
	Fingerprint string `json:"fingerprint,omitempty"`
}
