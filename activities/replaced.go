package activities

import (
	"encoding/json"

	"github.com/armature-io/armature/resource"
)

// Replaced identifies the old values at the paths that a write changes. A read that shows all of
// them is older than the write, or Azure kept them.
type Replaced struct {
	// Paths have resource.Path syntax. Values is one keyed hash of the old values, masked.
	Paths  []string `json:"paths,omitempty"`
	Values string   `json:"values,omitempty"`
	// ETag is the ETag of the response to the write, if it differs from the one before: a read
	// with it is new.
	ETag string `json:"etag,omitempty"`
}

// statePath leads to the outcome of the last operation on a resource.
const statePath = "properties.provisioningState"

// replaced returns the old values of a PUT; nil if no read can show its effect: it creates the
// resource, or changes only values that ARM does not show.
func (p *put) replaced(etag string) *Replaced {
	if len(p.changed) == 0 {
		return nil
	}
	before := &Replaced{Paths: p.changed, Values: p.hashAt(p.masked, p.changed)}
	if etag != p.etag {
		before.ETag = etag
	}
	return before
}

// showsReplaced reports whether a read, masked, shows the values from before a write, and its ETag
// does not prove it new.
func (h *hasher) showsReplaced(before *Replaced, etag string, masked map[string]any) bool {
	return before != nil && masked != nil && (before.ETag == "" || before.ETag != etag) && h.hashAt(masked, before.Paths) == before.Values
}

// hashAt returns one keyed hash of the values at paths of a masked body; "" if they cannot be
// encoded.
func (h *hasher) hashAt(masked map[string]any, paths []string) string {
	values := make([]any, 0, len(paths))
	for _, text := range paths {
		path, err := resource.ParsePath(text)
		value, shown := path.Get(masked)
		values = append(values, err == nil && shown, value)
	}
	encoded, err := json.Marshal(values)
	if err != nil {
		return ""
	}
	return h.hash(encoded)
}
