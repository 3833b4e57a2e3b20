package drift

import (
	"strings"

	"github.com/armature-io/armature/resource"
)

// The bounds of a Memory, which lives in the workflow's state.
const (
	// MaxMemoryBytes is more than the JSON of any Memory.
	MaxMemoryBytes = 128 * 1024
	// MaxRemembered bounds the paths of the baseline that can be shown, and
	// maxBaselineBytes their bytes; what is beyond is remembered by one hash.
	MaxRemembered    = 200
	maxBaselineBytes = 40 * 1024
	// maxApplied and maxAdded bound the hashed paths of the last applied body
	// and of what others had added to its lists.
	maxApplied = 6000
	maxAdded   = 1000
	// maxFights bounds the paths that are counted for Contested.
	maxFights = 50
)

// Memory is what is known of the last applied body and of what stayed different
// after its PUT: paths and hashes, no values. Its zero value remembers nothing.
type Memory struct {
	// APIVersion is the one that the memory belongs to.
	APIVersion string `json:"apiVersion,omitempty"`
	// Body is the hash of the last applied body.
	Body string `json:"body,omitempty"`
	// Baseline by path in resource.Path syntax.
	Baseline map[string]Entry `json:"baseline,omitempty"`
	// Rest is one hash over the differences that Baseline has no room for.
	Rest string `json:"rest,omitempty"`
	// Applied are the paths that the last applied body stated, the deepest left
	// out where there are too many.
	Applied PathSet `json:"applied,omitempty"`
	// Added are the elements that others had added to its lists. Crowded is set
	// when there is no room for them: then added elements are not seen.
	Added   PathSet `json:"added,omitempty"`
	Crowded bool    `json:"crowded,omitempty"`
	// Fights by path: how often a PUT put it back, and against what.
	Fights map[string]Fight `json:"fights,omitempty"`
}

// Entry holds the keyed hashes of both sides of one path: while neither changes,
// the difference is Azure's will.
type Entry struct {
	Desired string `json:"desired,omitempty"`
	// Observed is "absent" where the GET has nothing, null, [] or {}, and empty where it is not
	// looked at: a secret, or a property that a GET never shows.
	Observed string `json:"observed,omitempty"`
	// Secret is the keyed hash of the values behind $secret references.
	Secret string `json:"secret,omitempty"`
	// NotTaken is set when the path was a reason for the PUT.
	NotTaken bool `json:"notTaken,omitempty"`
}

// Remember is the memory after a good PUT (Options.Put), from the body that was
// sent and the GET that followed in a terminal state, or after a comparison that
// found the resource in sync.
func Remember(desired, observed map[string]any, opts Options) Memory {
	h := hasher{opts.Key}
	memory := Memory{APIVersion: opts.APIVersion, Body: h.place(root(desired))}
	if !opts.Put && opts.Memory.APIVersion == memory.APIVersion && opts.Memory.Body == memory.Body {
		// The baseline is that of the PUT: values may come and go.
		return opts.Memory.withSecrets(desired, opts)
	}
	reasons := make(map[string]resource.Difference, len(opts.Reasons))
	for _, reason := range opts.Reasons {
		reasons[reason.Path] = reason
	}
	w := &walker{of: opts.subject(observed), stated: map[pathHash]int{}}
	var kept []difference
	added := map[pathHash]int{}
	for _, d := range w.differences(desired, observed, opts.Ignore) {
		if _, reason := reasons[d.text]; d.rule == ruleItemAdded && !reason {
			added[hashPath(d.path)] = 0
			continue
		}
		kept = append(kept, d)
	}
	kept = append(kept, w.keptRemovals(observed, opts)...)
	memory.Applied = newPathSet(w.stated, maxApplied)
	memory.Added, memory.Crowded = newPathSet(added, maxAdded), len(added) > maxAdded
	memory.fill(kept, reasons, opts)
	memory.Fights = fights(kept, memory.Body, opts)
	return memory
}

// fill keeps the first differences by path and the others by one hash.
func (m *Memory) fill(found []difference, reasons map[string]resource.Difference, opts Options) {
	bytes := 0
	var rest []difference
	for _, d := range found {
		bytes += len(d.text) + 160 // the hashes and names of an Entry
		if len(m.Baseline) == MaxRemembered || bytes > maxBaselineBytes {
			rest = append(rest, d)
			continue
		}
		if m.Baseline == nil {
			m.Baseline = make(map[string]Entry)
		}
		entry := d.entry(opts)
		if _, reason := reasons[d.text]; reason && opts.Put {
			entry.NotTaken = !d.unseen
		} else if old, known := opts.Memory.Baseline[d.text]; known && !opts.Put {
			entry.NotTaken = old.NotTaken && old.Desired == entry.Desired
		}
		m.Baseline[d.text] = entry
	}
	m.Rest = restHash(rest, opts)
}

// keptRemovals are the members whose removal was a reason for the PUT and that
// Azure kept as they were. They count as stated, so that they are still seen.
func (w *walker) keptRemovals(observed map[string]any, opts Options) []difference {
	var kept []difference
	for _, reason := range opts.Reasons {
		path, err := resource.ParsePath(reason.Path)
		if reason.Rule != ruleRemoved || err != nil || !opts.Put {
			continue
		}
		value, present := path.Get(observed)
		d := difference{path: path, text: reason.Path, observed: value, present: present, rule: ruleRemoved}
		if present && d.show().Observed == reason.Observed {
			w.stated[hashPath(path)] = len(path)
			kept = append(kept, d)
		}
	}
	return kept
}

// withSecrets adds the hashes of secrets that could not be read before.
func (m Memory) withSecrets(desired map[string]any, opts Options) Memory {
	filled := make(map[string]Entry, len(m.Baseline))
	for text, entry := range m.Baseline {
		path, err := resource.ParsePath(text)
		if value, stated := path.Get(desired); err == nil && stated && entry.Secret == "" {
			entry.Secret = hasher{opts.Key}.secrets(value, opts)
		}
		filled[text] = entry
	}
	if len(filled) > 0 {
		m.Baseline = filled
	}
	return m
}

// restHash is one hash over differences, "" for none.
func restHash(found []difference, opts Options) string {
	if len(found) == 0 {
		return ""
	}
	var b strings.Builder
	for _, d := range found {
		entry := d.entry(opts)
		b.WriteString(d.text + "\x00" + entry.Desired + "\x00" + entry.Observed + "\x00" + entry.Secret + "\n")
	}
	return hasher{opts.Key}.sum(b.String())
}

// entry is what is remembered of a difference.
func (d difference) entry(opts Options) Entry {
	h := hasher{opts.Key}
	entry := Entry{Desired: h.place(placeOf(d.path, d.desired)), Secret: h.secrets(d.desired, opts)}
	switch {
	case d.unseen:
	case !d.present || isEmpty(d.observed):
		entry.Observed = absentText
	case d.rule == ruleItemAdded:
		// That it is there counts, not what is in it.
		entry.Observed = ruleItemAdded
	default:
		entry.Observed = h.place(placeOf(d.path, d.observed))
	}
	return entry
}
