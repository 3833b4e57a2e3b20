package activities

import (
	"time"

	"github.com/armature-io/armature/activities/writing"
)

// PassFacts are the facts of a pass that several of its steps need. A workflow builds them in
// one place and embeds them in the inputs of the steps. The zero value knows nothing.
type PassFacts struct {
	// Generation is the generation of the spec in the input.
	Generation int64 `json:"generation,omitempty"`
	// StatedAt is when a user last stated the spec or its deletion.
	StatedAt time.Time `json:"statedAt,omitzero"`
	// Changes are the changes that the workflow was notified of: no older reading counts.
	Changes []Change `json:"changes,omitempty"`
	// Repeated is how the passes before ended.
	Repeated Repeated `json:"repeated,omitzero"`
	Mandate
	// Cause is the reason of the writes. Workers with an audit trail get it.
	Cause *writing.Cause `json:"cause,omitempty"`
}

// Mandate is who wants a pass to write, and what they approved. The zero value is a spec that
// was never Ready: its apply requests the write.
type Mandate struct {
	// RequestedAt is when a user requested the pass, zero if no user did. No reading of
	// another resource from before it counts.
	RequestedAt time.Time `json:"requestedAt,omitzero"`
	// Correction is set for a spec that was Ready before: the write corrects drift.
	Correction bool `json:"correction,omitempty"`
	// Force is --force of a user: no guard of operations in flight, owners and refusals.
	Force    bool      `json:"force,omitempty"`
	Approved Approvals `json:"approved,omitzero"`
}

// Approvals are the effects of a write that a user approved beside the write itself.
type Approvals struct {
	// Recreation allows to create a resource again that disappeared. It ends once a read
	// shows the resource.
	Recreation bool `json:"recreation,omitempty"`
	// Replacement allows to delete a resource and to create it again if Azure refuses to
	// change it (recreate: on-immutable). It allows one DELETE: a resource that a later read
	// shows may be another one.
	Replacement bool `json:"replacement,omitempty"`
	// Drops allows to remove settings of other tools.
	Drops bool `json:"drops,omitempty"`
}

// Requested reports whether a user requested the pass.
func (m Mandate) Requested() bool { return !m.RequestedAt.IsZero() }

// Unrequested reports whether no user wants the write: budgets limit it.
func (m Mandate) Unrequested() bool { return m.Correction && !m.Requested() }

// Hold reports whether a write keeps settings of other tools that it would remove: it is a
// correction that no user forced or approved.
func (m Mandate) Hold() bool { return m.Correction && !m.Approved.Drops && !m.Force }

// maxSharedAge is how old, at the request of a user, a reading may be that lets a pass
// continue: the resources of one command ask at different moments, and share it.
const maxSharedAge = 2 * time.Second

// shared returns the facts for a pass that continues: readings from just before the request
// count.
func (f PassFacts) shared() PassFacts {
	if f.Requested() {
		f.RequestedAt = f.RequestedAt.Add(-maxSharedAge)
	}
	return f
}
