package drift

import (
	"sort"
	"time"

	"github.com/armature-io/armature/resource"
)

// ContestedAfter is the number of corrections of a path to the same value, whatever the foreign
// values were. The next difference there is reported instead of corrected.
const ContestedAfter = 3

// contestWindow is the time after which a correction expires: a path that changes less often
// than weekly is always corrected.
const contestWindow = 7 * 24 * time.Hour

// Correction counts the PUTs that restored the value of one path.
type Correction struct {
	// Desired is the hash of the restored value, as messages show it.
	Desired string    `json:"desired"`
	Count   int       `json:"count"`
	At      time.Time `json:"at"`
}

// corrections returns the counts after a PUT. A PUT of a changed body counts nothing and ends
// all counts; a value that the PUT could not restore (remaining) is not counted either.
func corrections(remaining []difference, body string, opts Options) map[string]Correction {
	before := opts.Baseline.Corrections
	if !opts.Put {
		return before
	}
	if opts.Baseline.Body != body {
		return nil
	}
	stayed := make(map[string]bool, len(remaining))
	for _, d := range remaining {
		stayed[d.text] = true
	}
	after := make(map[string]Correction, len(before)+len(opts.Reasons))
	for path, correction := range before {
		if opts.Now.Sub(correction.At) <= contestWindow {
			after[path] = correction
		}
	}
	for _, reason := range opts.Reasons {
		if stayed[reason.Path] {
			continue
		}
		correction := opts.correction(reason)
		if last, known := after[reason.Path]; known && last.Desired == correction.Desired {
			correction.Count = last.Count + 1
		}
		after[reason.Path] = correction
	}
	return latest(after)
}

func (o Options) correction(d resource.Difference) Correction {
	return Correction{Desired: hasher{o.Key}.sum(d.Desired), Count: 1, At: o.Now}
}

// latest returns the maxCorrections most recent corrections, nil if there are none.
func latest(all map[string]Correction) map[string]Correction {
	if len(all) == 0 {
		return nil
	}
	if len(all) <= maxCorrections {
		return all
	}
	paths := make([]string, 0, len(all))
	for path := range all {
		paths = append(paths, path)
	}
	sort.Slice(paths, func(i, j int) bool {
		a, b := all[paths[i]].At, all[paths[j]].At
		return a.After(b) || a.Equal(b) && paths[i] < paths[j]
	})
	for _, path := range paths[maxCorrections:] {
		delete(all, path)
	}
	return all
}

// isContested reports whether PUTs corrected a difference ContestedAfter times.
func (v *baselineView) isContested(d resource.Difference) bool {
	last, known := v.baseline.Corrections[d.Path]
	if !known || last.Count < ContestedAfter || v.opts.Now.Sub(last.At) > contestWindow {
		return false
	}
	return last.Desired == v.opts.correction(d).Desired
}
