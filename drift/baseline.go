package drift

import (
	"maps"
	"slices"
	"strings"

	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/types"
)

// The bounds of a Baseline, which is part of the workflow's state.
const (
	// MaxBaselineBytes is an upper bound for the JSON of any Baseline.
	MaxBaselineBytes = 128 * 1024
	// MaxAccepted bounds the differences that are kept by path, and
	// maxDifferenceBytes their bytes; the others are kept as one hash.
	MaxAccepted        = 200
	maxDifferenceBytes = 40 * 1024
	// maxApplied and maxAdded bound the hashed paths of the last applied body and
	// of the elements that other writers had added to its lists.
	maxApplied = 6000
	maxAdded   = 1000
	// maxCorrections bounds the paths that are counted for Contested.
	maxCorrections = 50
)

// Baseline describes the last applied body and the differences that remained after
// its PUT: paths and hashes, no values. The zero value is the baseline of a
// resource that was never applied.
type Baseline struct {
	// APIVersion is the version of both bodies.
	APIVersion string `json:"apiVersion,omitempty"`
	// Body is the hash of the last applied body.
	Body string `json:"body,omitempty"`
	// Differences that remained, by path in resource.Path syntax.
	Differences map[string]Entry `json:"differences,omitempty"`
	// Rest is one hash over the differences beyond the bounds.
	Rest string `json:"rest,omitempty"`
	// Applied are the paths that the last applied body stated. If there are too
	// many, the deepest are missing.
	Applied PathSet `json:"applied,omitempty"`
	// Added are the elements that other writers had added to its lists. Crowded is
	// set when they exceed the bound; added elements are then not compared.
	Added   PathSet `json:"added,omitempty"`
	Crowded bool    `json:"crowded,omitempty"`
	// Sent is set if what is in Added was there after a PUT whose body did not contain it.
	Sent bool `json:"sent,omitempty"`
	// ServiceValues are hashes of the values that the service set by itself at the last
	// PUT, with their paths. Body leaves them to the service.
	ServiceValues PathSet `json:"serviceValues,omitempty"`
	// Answer is the hash of Options.Answer after the last PUT, and Others are the paths of lists,
	// of items of lists and of named members that desired did not state then: the bounds of
	// others.go apply.
	Answer string   `json:"answer,omitempty"`
	Others []string `json:"others,omitempty"`
	// Parts are the parts with which the resource was completed then (Options.Completed).
	Parts []string `json:"parts,omitempty"`
	// Newer are the values that only a newer api-version showed after the last PUT; nil if
	// it was not read.
	Newer *NewerValues `json:"newer,omitempty"`
	// Refused are values of other tools that Azure refused in a PUT; nil for none.
	Refused *Refused `json:"refused,omitempty"`
	// Immutable are the paths of values that Azure refused to change.
	Immutable []string `json:"immutable,omitempty"`
	// Mixture is the hash of a body whose list items Azure refused beside those of others.
	Mixture string `json:"mixture,omitempty"`
	// Owners are the owners of values of the manifest by path, Initial the keyed hashes of
	// these values as they were last sent or found.
	Owners  map[string]string `json:"owners,omitempty"`
	Initial map[string]string `json:"initial,omitempty"`
	// Corrections counts, by path, the PUTs that restored a value.
	Corrections map[string]Correction `json:"corrections,omitempty"`
}

// Entry holds the keyed hashes of both sides of one path. While neither changes,
// the difference is accepted as Azure's choice.
type Entry struct {
	Desired string `json:"desired,omitempty"`
	// Observed is "absent" if the GET has nothing, null, [] or {}, and empty if
	// the GET cannot show the value: a secret or a write-only property.
	Observed string `json:"observed,omitempty"`
	// Secret is the keyed hash of the values behind $secret references.
	Secret string `json:"secret,omitempty"`
	// NotTaken is set when the path was a reason for the PUT, or when the GET after it
	// shows that Azure did not take what it stated (isNotTaken).
	NotTaken bool `json:"notTaken,omitempty"`
}

// NewBaseline returns the baseline after a successful PUT (Options.Put), from the
// body that was sent and the GET that followed in a terminal state, or after a
// comparison that found the resource in sync.
func NewBaseline(desired, observed map[string]any, opts Options) Baseline {
	h := hasher{opts.Key}
	baseline := Baseline{APIVersion: opts.APIVersion, Body: h.cursor(root(desired))}
	if !opts.Put && opts.Baseline.APIVersion == baseline.APIVersion && opts.Baseline.Body == baseline.Body {
		// The baseline of the PUT stays.
		same := opts.Baseline.withSecrets(desired, opts)
		same.noteOwned(desired, observed, nil, opts)
		return same
	}
	reasons := make(map[string]resource.Difference, len(opts.Reasons))
	for _, reason := range opts.Reasons {
		reasons[reason.Path] = reason
	}
	w := &walker{subject: opts.subject(observed), desiredPaths: map[pathHash]int{}}
	var remaining []difference
	added, carried := map[pathHash]int{}, opts.Kept.decode()
	for _, d := range w.differences(desired, observed, opts.Ignore) {
		if opts.Put && carried.hasPart(d.path) && (d.rule != ruleItemAdded || opts.Hold) && !opts.Baseline.hasDifference(d, opts) {
			continue // the PUT did not state it
		}
		if _, reason := reasons[d.text]; d.rule == ruleItemAdded && !reason {
			added[hashPath(d.path)] = 0
			continue
		}
		remaining = append(remaining, d)
	}
	remaining = append(remaining, w.keptRemovals(observed, opts)...)
	baseline.Applied = newPathSet(w.desiredPaths, maxApplied)
	baseline.Added, baseline.Crowded = newPathSet(added, maxAdded), len(added) > maxAdded
	baseline.fill(remaining, reasons, observed, opts)
	baseline.Corrections = corrections(remaining, baseline.Body, opts)
	if before := opts.Baseline.Refused; before != nil && before.Body == baseline.Body {
		baseline.Refused = before
	}
	baseline.Immutable = slices.DeleteFunc(slices.Clone(opts.Baseline.Immutable), func(path string) bool {
		_, sent := reasons[path]
		_, remains := baseline.Differences[path]
		return opts.Put && sent && !remains // Azure changed it after all
	})
	if opts.Baseline.Mixture == baseline.Body {
		baseline.Mixture = baseline.Body
	}
	before := opts.Baseline
	baseline.ServiceValues, baseline.Parts, baseline.Answer, baseline.Others = before.ServiceValues, before.Parts, before.Answer, before.Others
	if opts.Sent {
		baseline.noteOthers(desired, observed, opts)
	}
	if !opts.Put {
		baseline.Newer = opts.Baseline.Newer
	}
	baseline.noteOwned(desired, observed, reasons, opts)
	known := opts.Baseline.Added.decode()
	baseline.Sent = opts.Sent || opts.Baseline.Sent && !slices.ContainsFunc(slices.Collect(maps.Keys(added)), func(h pathHash) bool { return !known.hasHash(h) })
	return baseline
}

// hasDifference reports whether Azure kept the same difference after the PUT before.
func (b Baseline) hasDifference(d difference, opts Options) bool {
	before, known := b.Differences[d.text]
	again := d.entry(opts)
	again.NotTaken = before.NotTaken
	return known && before == again
}

// fill keeps the first differences by path and the others as one hash.
func (b *Baseline) fill(found []difference, reasons map[string]resource.Difference, observed map[string]any, opts Options) {
	bytes := 0
	var rest []difference
	var shape *types.Shape
	sent := opts.Put && !opts.Adopted
	if sent {
		shape = types.Lookup(opts.Type, opts.APIVersion)
	}
	for _, d := range found {
		bytes += len(d.text) + 160 // the hashes and names of an Entry
		if len(b.Differences) == MaxAccepted || bytes > maxDifferenceBytes {
			rest = append(rest, d)
			continue
		}
		if b.Differences == nil {
			b.Differences = make(map[string]Entry)
		}
		entry := d.entry(opts)
		if _, reason := reasons[d.text]; reason && opts.Put {
			entry.NotTaken = !d.hidden
		} else {
			old := opts.Baseline.Differences[d.text]
			entry.NotTaken = old.NotTaken && old.Desired == entry.Desired ||
				sent && isNotTaken(shape, opts.Facts, d, observed)
		}
		b.Differences[d.text] = entry
	}
	b.Rest = restHash(rest, opts)
}

// keptRemovals returns the members that the PUT was meant to remove and that
// Azure kept unchanged. They count as stated, so that they are still compared.
func (w *walker) keptRemovals(observed map[string]any, opts Options) []difference {
	var removals []difference
	for _, reason := range opts.Reasons {
		path, err := resource.ParsePath(reason.Path)
		if reason.Rule != ruleRemoved || err != nil || !opts.Put {
			continue
		}
		value, present := path.Get(observed)
		d := difference{path: path, text: reason.Path, observed: value, present: present, rule: ruleRemoved}
		if present && d.show().Observed == reason.Observed {
			w.desiredPaths[hashPath(path)] = len(path)
			removals = append(removals, d)
		}
	}
	return removals
}

// WithoutEnded returns the baseline without the differences that ended: found is the last
// comparison with it, and shows the desired value at their paths. Azure has taken the value
// then, and another one is drift. A value that no GET shows stays.
func (b Baseline) WithoutEnded(found Result) Baseline {
	accepted := make(map[pathHash]bool, len(found.Accepted))
	for _, text := range found.Accepted {
		if path, err := resource.ParsePath(text); err == nil {
			accepted[hashPath(path)] = true
		}
	}
	kept := make(map[string]Entry, len(b.Differences))
	for text, entry := range b.Differences {
		path, err := resource.ParsePath(text)
		if entry.Observed == "" || err == nil && (accepted[hashPath(path)] || isIgnored(path, found.unverified)) {
			kept[text] = entry
		}
	}
	if len(kept) < len(b.Differences) {
		b.Differences = kept
	}
	return b
}

// withSecrets adds the hashes of secrets that could not be read before.
func (b Baseline) withSecrets(desired map[string]any, opts Options) Baseline {
	filled := make(map[string]Entry, len(b.Differences))
	for text, entry := range b.Differences {
		path, err := resource.ParsePath(text)
		if value, isStated := path.Get(desired); err == nil && isStated && entry.Secret == "" {
			entry.Secret = hasher{opts.Key}.secrets(value, opts)
		}
		filled[text] = entry
	}
	if len(filled) > 0 {
		b.Differences = filled
	}
	return b
}

// restHash returns one hash over differences, or "" if there are none.
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

// entry returns the entry of a difference in the baseline.
func (d difference) entry(opts Options) Entry {
	h := hasher{opts.Key}
	entry := Entry{Desired: h.cursor(cursorAt(d.path, d.desired)), Secret: h.secrets(d.desired, opts)}
	switch {
	case d.hidden:
	case !d.present || isEmpty(d.observed):
		entry.Observed = absentText
	case d.rule == ruleItemAdded:
		// The presence of the element counts, not its content.
		entry.Observed = ruleItemAdded
	default:
		entry.Observed = h.cursor(cursorAt(d.path, d.observed))
	}
	return entry
}
