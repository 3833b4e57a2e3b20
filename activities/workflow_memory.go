package activities

import (
	"context"
	"encoding/json"

	"github.com/armature-io/armature/resource"
)

// WorkflowMemory is what the workflow of a managed resource keeps beside its
// status: the result of the query "memory".
type WorkflowMemory struct {
	// Generation counts the applied specs; 0 means that nothing is managed (yet).
	Generation int64           `json:"generation"`
	Policy     resource.Policy `json:"policy,omitempty"`
	Paused     bool            `json:"paused,omitempty"`
	Deleting   bool            `json:"deleting,omitempty"`
	// Applied and Existed are as in PreCheckInput.
	Applied bool `json:"applied,omitempty"`
	Existed bool `json:"existed,omitempty"`
	// Memory is the baseline that PostCheck returned.
	Memory json.RawMessage `json:"baseline,omitempty"`
	// Reported are the changes that the feed reported, oldest first.
	Reported []resource.ReportedChange `json:"reported,omitempty"`
	// Identity is what PostCheck returned.
	Identity resource.Identity `json:"identity,omitempty"`
	// Desired is the applied spec.
	Desired *resource.Desired `json:"desired,omitempty"`
}

// MemoryReader queries the workflow of a resource. It returns false where nothing
// manages the resource.
type MemoryReader interface {
	ReadMemory(ctx context.Context, id resource.ID) (WorkflowMemory, bool, error)
}
