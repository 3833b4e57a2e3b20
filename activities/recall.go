package activities

import (
	"context"
	"encoding/json"

	"github.com/armature-io/armature/resource"
)

// Recollection is what the workflow of a managed resource knows of it beside
// its status: the answer of the query "memory".
type Recollection struct {
	// Generation counts the specs that were applied; 0 means that nothing is
	// managed (yet).
	Generation int64           `json:"generation"`
	Policy     resource.Policy `json:"policy,omitempty"`
	Paused     bool            `json:"paused,omitempty"`
	Deleting   bool            `json:"deleting,omitempty"`
	// Applied is that of PreCheckInput.
	Applied bool `json:"applied,omitempty"`
	// Memory is what PostCheck remembered.
	Memory json.RawMessage `json:"memory,omitempty"`
}

// Recaller asks the workflow of a resource what it remembers. False means that
// nothing manages the resource.
type Recaller interface {
	Recall(ctx context.Context, id resource.ID) (Recollection, bool, error)
}
