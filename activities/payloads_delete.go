package activities

import (
	"time"

	"github.com/armature-io/armature/resource"
)

// CheckDependentsInput asks which managed resources go before this one.
type CheckDependentsInput struct {
	ID resource.ID `json:"id"`
	// Needs are the resources that this one depends on.
	Needs []resource.ID `json:"needs,omitempty"`
	// Cascade tells them to go, By is who asked for it.
	Cascade bool   `json:"cascade,omitempty"`
	By      string `json:"by,omitempty"`
}

// CheckDependentsResult blocks while there is one.
type CheckDependentsResult struct {
	Verdict resource.Verdict `json:"verdict"`
	// OverdueAfter is the worker's setting, as in CheckOwnerResult: this is the
	// first step of a delete pass.
	OverdueAfter time.Duration `json:"overdueAfter,omitempty"`
}

// CheckContentsInput asks what else a DELETE would take along.
type CheckContentsInput struct {
	ID         resource.ID `json:"id"`
	APIVersion string      `json:"apiVersion"`
	// Credential is that of resource.Desired.
	Credential string `json:"credential,omitempty"`
	// Cascade does not look, By is who said so.
	Cascade bool   `json:"cascade,omitempty"`
	By      string `json:"by,omitempty"`
}

// CheckContentsResult blocks while there is anything.
type CheckContentsResult struct {
	Verdict resource.Verdict `json:"verdict"`
	// Turn is the parent whose turn the DELETE needs, none where ARM takes
	// changes of siblings in parallel.
	Turn resource.ID `json:"turn,omitzero"`
}

// DeleteResourceInput names what to delete.
type DeleteResourceInput struct {
	Desired  resource.Desired `json:"desired"`
	Repeated Repeated         `json:"repeated,omitzero"`
}

// DeleteResourceResult says what became of the DELETE.
type DeleteResourceResult struct {
	Verdict resource.Verdict `json:"verdict"`
	// Done is set when nothing is left to poll.
	Done       bool          `json:"done,omitempty"`
	Token      string        `json:"token,omitempty"`
	RetryAfter time.Duration `json:"retryAfter,omitempty"`
}
