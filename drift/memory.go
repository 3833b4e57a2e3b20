package drift

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
)

// MaxRemembered bounds a Memory: it lives in the workflow's state.
const MaxRemembered = 200

// Memory is what stayed different after the last good PUT: paths and hashes,
// no values. Its zero value remembers nothing.
type Memory struct {
	// APIVersion is the one that the baseline belongs to; under another one
	// nothing is remembered.
	APIVersion string `json:"apiVersion,omitempty"`
	// Baseline by path in resource.Path syntax.
	Baseline map[string]Entry `json:"baseline,omitempty"`
}

// Entry holds the hashes of both sides of one path: while neither changes, the
// difference is Azure's will.
type Entry struct {
	Desired  string `json:"desired"`
	Observed string `json:"observed"`
	// NotTaken is set when the path was a reason for the PUT.
	NotTaken bool `json:"notTaken,omitempty"`
}

// Remember is the memory after a good PUT, from the body that was sent and the
// GET that followed in a terminal state. Options.Reasons are the paths for
// which the PUT was made. The first MaxRemembered paths are kept.
func Remember(desired, observed map[string]any, opts Options) Memory {
	memory := Memory{APIVersion: opts.APIVersion}
	reasons := make(map[string]bool, len(opts.Reasons))
	for _, path := range opts.Reasons {
		reasons[path] = true
	}
	for _, d := range differences(desired, observed, opts) {
		if len(memory.Baseline) == MaxRemembered {
			break
		}
		if memory.Baseline == nil {
			memory.Baseline = make(map[string]Entry)
		}
		path := d.path.String()
		entry := d.entry(opts.Key)
		entry.NotTaken = reasons[path]
		memory.Baseline[path] = entry
	}
	return memory
}

// holds finds the entry of a difference that is as it was remembered.
func (m Memory) holds(d difference, opts Options) (Entry, bool) {
	if len(m.Baseline) == 0 || m.APIVersion != opts.APIVersion {
		return Entry{}, false
	}
	entry, known := m.Baseline[d.path.String()]
	now := d.entry(opts.Key)
	return entry, known && entry.Desired == now.Desired && entry.Observed == now.Observed
}

func (d difference) entry(key []byte) Entry {
	entry := Entry{Desired: hash(key, d.desired), Observed: absentText}
	if d.present {
		entry.Observed = hash(key, d.observed)
	}
	return entry
}

// hash is the first 16 bytes of the keyed hash of a value, in hex. Maps are
// encoded with sorted keys, so equal values have equal hashes.
func hash(key []byte, value any) string {
	raw, err := json.Marshal(value)
	if err != nil {
		return "unknown"
	}
	mac := hmac.New(sha256.New, key)
	mac.Write(raw)
	return hex.EncodeToString(mac.Sum(nil)[:16])
}
