package activities

import (
	"encoding/json"
	"time"

	"github.com/armature-io/armature/resource"
)

// CheckOwnerInput asks whether the owner and the references let the pass go on.
type CheckOwnerInput struct {
	Desired resource.Desired `json:"desired"`
	// Deleting leaves the references out and reads the owner afresh.
	Deleting bool `json:"deleting,omitempty"`
	// Force skips the check of the owner, not that of the references.
	Force bool `json:"force,omitempty"`
	// Changes are those of which the workflow was told: no reading from before
	// counts.
	Changes []Change `json:"changes,omitempty"`
	// Held are the resources for which this check blocked last, and of which the
	// workflow was told nothing since.
	Held []resource.ID `json:"held,omitempty"`
}

// CheckOwnerResult is the verdict of the owner check.
type CheckOwnerResult struct {
	Verdict resource.Verdict `json:"verdict"`
	// Freed are those of Held that hold nothing up any more and of which nobody
	// else will tell those who wait for them.
	Freed []resource.ID `json:"freed,omitempty"`
	// OwnerAbsent is set when ARM said that the owner does not exist.
	OwnerAbsent bool `json:"ownerAbsent,omitempty"`
	// OverdueAfter is how long the resource may be not Ready before it is overdue:
	// the worker's setting, negative for never, also while the owner is in an
	// exempt state.
	OverdueAfter time.Duration `json:"overdueAfter,omitempty"`
}

// Expectation says what a read after a write waits for.
type Expectation string

// The expectations: a plain read takes what it finds; after an accepted PUT an
// absent resource is read again for a while, after a DELETE a present one.
const (
	ExpectAny     Expectation = ""
	ExpectPresent Expectation = "present"
	ExpectAbsent  Expectation = "absent"
)

// met reports whether what a read found is what was expected.
func (e Expectation) met(exists bool) bool {
	return e == ExpectAny || exists == (e == ExpectPresent)
}

// GetResourceInput names the resource to read.
type GetResourceInput struct {
	ID         resource.ID `json:"id"`
	APIVersion string      `json:"apiVersion"`
	// Credential is that of resource.Desired.
	Credential string `json:"credential,omitempty"`
	// Plain and Secret are the paths of resource.Desired with these names.
	Plain  []string `json:"plain,omitempty"`
	Secret []string `json:"secret,omitempty"`
	// SecretRefs is that of resource.Desired: the values behind them are masked
	// wherever the answer holds them.
	SecretRefs []string    `json:"secretRefs,omitempty"`
	Expect     Expectation `json:"expect,omitempty"`
	Repeated   Repeated    `json:"repeated,omitzero"`
}

// GetResourceResult is the observed resource, masked.
type GetResourceResult struct {
	// Verdict stops the pass when the read was refused.
	Verdict resource.Verdict `json:"verdict"`
	Exists  bool             `json:"exists"`
	// Observed is one JSON object, nil when absent.
	Observed json.RawMessage `json:"observed,omitempty"`
	// State is the provisioning state and whatever else the resource calls its
	// state ("Succeeded, Running"), "" where ARM shows none; InFlight the former
	// when it means an operation in flight.
	State    string `json:"state,omitempty"`
	InFlight string `json:"inFlight,omitempty"`
	// OverdueExempt is set in a state in which the resource is never overdue.
	OverdueExempt bool `json:"overdueExempt,omitempty"`
	// Leaf is set for a type for which nobody waits.
	Leaf   bool      `json:"leaf,omitempty"`
	ReadAt time.Time `json:"readAt"`
}

// PreCheckInput carries what is desired and what was observed.
type PreCheckInput struct {
	Desired  resource.Desired `json:"desired"`
	Observed json.RawMessage  `json:"observed,omitempty"`
	// Memory is what PostCheck remembered, opaque to the workflow.
	Memory json.RawMessage `json:"memory,omitempty"`
	// Force skips the guard of operations in flight.
	Force bool `json:"force,omitempty"`
	// Applied is set once this workflow wrote the resource or found it Ready.
	Applied bool `json:"applied,omitempty"`
	// BlockedFor is how long that guard has blocked already.
	BlockedFor time.Duration `json:"blockedFor,omitempty"`
	// Changes are those of CheckOwnerInput.
	Changes []Change `json:"changes,omitempty"`
}

// PreCheckResult says whether a PUT is due, and why.
type PreCheckResult struct {
	Verdict resource.Verdict `json:"verdict"`
	// Adopt asks PostCheck to remember the differences: they stay.
	Adopt bool `json:"adopt,omitempty"`
	// Turn is the parent whose turn a PUT needs, none where ARM takes changes of
	// siblings in parallel.
	Turn resource.ID `json:"turn,omitzero"`
}

// PutResourceInput is what to write.
type PutResourceInput struct {
	Desired resource.Desired `json:"desired"`
	// Memory is what PostCheck remembered; a re-read compares with it.
	Memory json.RawMessage `json:"memory,omitempty"`
	// ObservedAt is the time of the read on which the decision stands.
	ObservedAt time.Time `json:"observedAt"`
	// Reset is set in a run that was reset: the PUT may have been sent before.
	Reset bool `json:"reset,omitempty"`
	// Uncompared is set when an extension asked for the PUT without a
	// comparison: that the resource is in sync is then no reason to leave it out.
	Uncompared bool `json:"uncompared,omitempty"`
	// Force joins no operation in flight: it is what --force is for.
	Force bool `json:"force,omitempty"`
	// Create is set when the resource is absent: there are no tags of others that
	// the PUT must keep. Correction is set when nobody asked for the PUT: this
	// spec was Ready before.
	Create     bool `json:"create,omitempty"`
	Correction bool `json:"correction,omitempty"`
	// Changes are those of CheckOwnerInput: a $ref path is not read from before.
	Changes  []Change `json:"changes,omitempty"`
	Repeated Repeated `json:"repeated,omitzero"`
}

// PutResourceResult says what became of the PUT.
type PutResourceResult struct {
	// Verdict stops the pass when ARM refused.
	Verdict resource.Verdict `json:"verdict"`
	// Done is set when nothing is left to wait for.
	Done bool `json:"done,omitempty"`
	// Token resumes the long-running operation; "" with Done unset means: read
	// the resource until it settled.
	Token string `json:"token,omitempty"`
	// RetryAfter is the wait before the first poll.
	RetryAfter time.Duration `json:"retryAfter,omitempty"`
	// Sent is false when the PUT turned out to be needless or in flight.
	Sent bool `json:"sent,omitempty"`
	// Secrets are keyed hashes of the secrets that were sent, by reference: one may
	// be rotated before PostCheck looks. None without a key that is secret.
	Secrets map[string]string `json:"secrets,omitempty"`
	// Unknown is set when the activity gave up on a PUT that ARM may have
	// accepted: the next PutResource needs Reset.
	Unknown bool `json:"unknown,omitempty"`
	// Unregistered is the provider for which the subscription is not registered
	// when that is why ARM refused: RegisterProvider comes next.
	Unregistered string `json:"unregistered,omitempty"`
}

// PollOperationInput names the operation to wait for.
type PollOperationInput struct {
	ID         resource.ID `json:"id"`
	APIVersion string      `json:"apiVersion"`
	Token      string      `json:"token,omitempty"`
	// RetryAfter is the wait before the first request.
	RetryAfter time.Duration `json:"retryAfter,omitempty"`
	// SecretRefs is that of resource.Desired: what ARM says of a failed operation
	// may repeat the values behind them. Plain and Secret are those of
	// GetResourceInput.
	Plain      []string `json:"plain,omitempty"`
	Secret     []string `json:"secret,omitempty"`
	SecretRefs []string `json:"secretRefs,omitempty"`
	// Credential is that of resource.Desired.
	Credential string `json:"credential,omitempty"`
	// Delete is set when the operation ends in the resource's absence.
	Delete bool `json:"delete,omitempty"`
	// Expect asks for a read of the resource after an operation that succeeded.
	Expect   Expectation `json:"expect,omitempty"`
	Repeated Repeated    `json:"repeated,omitzero"`
}

// PollOperationResult says how the operation ended.
type PollOperationResult struct {
	// Verdict is a Success, or an Error with ARM's code and message.
	Verdict resource.Verdict `json:"verdict"`
	// Polls counts the requests, Duration is from the first to the last.
	Polls    int           `json:"polls"`
	Duration time.Duration `json:"duration"`
	// States are the words that the service said, in order, without repeats.
	States []string `json:"states,omitempty"`
	// Got is what the read showed; nil where it is to be read again: it failed, or
	// contradicted what was expected.
	Got *GetResourceResult `json:"got,omitempty"`
}

// PostCheckInput carries what the last read of the pass showed.
type PostCheckInput struct {
	Desired  resource.Desired `json:"desired"`
	Observed json.RawMessage  `json:"observed,omitempty"`
	Memory   json.RawMessage  `json:"memory,omitempty"`
	// Put is set when this pass wrote the resource; Differences are its
	// reasons.
	Put         bool                  `json:"put,omitempty"`
	Differences []resource.Difference `json:"differences,omitempty"`
	// Secrets are those of PutResourceResult.
	Secrets map[string]string `json:"secrets,omitempty"`
	// Changes are those of CheckOwnerInput.
	Changes []Change `json:"changes,omitempty"`
}

// PostCheckResult says whether the resource is Ready.
type PostCheckResult struct {
	Verdict resource.Verdict `json:"verdict"`
	// Memory replaces what was remembered, when set.
	Memory json.RawMessage `json:"memory,omitempty"`
	// Kept are paths where Azure keeps another value than the manifest's and which
	// are not fought, at most 20.
	Kept []string `json:"kept,omitempty"`
}
