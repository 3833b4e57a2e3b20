package activities

import (
	"encoding/json"

	"github.com/armature-io/armature/resource"
)

// Replaced describes the values that a write was to change, as they were before it. A read
// that shows all of them is older than the write, or Azure kept them.
type Replaced struct {
	// Paths are those of the values, in resource.Path syntax; Values is one keyed hash of
	// them all, masked.
	Paths  []string `json:"paths,omitempty"`
	Values string   `json:"values,omitempty"`
	// ETag is that of the response to the write, if the write changed it: a read with it
	// is not older.
	ETag string `json:"etag,omitempty"`
}

// statePath is where a resource shows the outcome of its last operation.
const statePath = "properties.provisioningState"

// replaced returns the values that a write was to change; nil if no read can show its effect:
// it creates the resource, or only changes values that ARM does not show.
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

// showsReplaced reports whether a read of a resource still shows the values from before a
// write, masked, without a proof that it is newer.
func (h *hasher) showsReplaced(before *Replaced, etag string, masked map[string]any) bool {
	return before != nil && masked != nil && (before.ETag == "" || before.ETag != etag) && h.hashAt(masked, before.Paths) == before.Values
}

// hashAt returns one keyed hash of the values of a masked body at paths.
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
