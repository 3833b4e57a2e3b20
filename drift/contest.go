package drift

import (
	"sort"
	"time"

	"github.com/armature-io/armature/resource"
)

// ContestedAfter is how often a path is put back against the same foreign value
// before it is left to people.
const ContestedAfter = 3

// contestWindow is how long a fight is remembered after its last PUT: who
// changes a path less often than weekly is put back each time.
const contestWindow = 7 * 24 * time.Hour

// Fight counts the PUTs that put one path back.
type Fight struct {
	// Desired and Observed are hashes of the values as they were shown.
	Desired  string    `json:"desired"`
	Observed string    `json:"observed"`
	Count    int       `json:"count"`
	At       time.Time `json:"at"`
}

// fights are the counts after a PUT. It counts where the body is the one that
// was applied before (a new wish fights nobody) and where the PUT took hold.
func fights(kept []difference, body string, opts Options) map[string]Fight {
	before := opts.Memory.Fights
	if !opts.Put {
		return before
	}
	if opts.Memory.Body != body {
		return nil
	}
	stayed := make(map[string]bool, len(kept))
	for _, d := range kept {
		stayed[d.text] = true
	}
	after := make(map[string]Fight, len(before)+len(opts.Reasons))
	for path, fight := range before {
		if opts.Now.Sub(fight.At) <= contestWindow {
			after[path] = fight
		}
	}
	for _, reason := range opts.Reasons {
		if stayed[reason.Path] {
			continue
		}
		fight := opts.fight(reason)
		if last, known := after[reason.Path]; known && last.Desired == fight.Desired && last.Observed == fight.Observed {
			fight.Count = last.Count + 1
		}
		after[reason.Path] = fight
	}
	return latest(after)
}

func (o Options) fight(d resource.Difference) Fight {
	h := hasher{o.Key}
	return Fight{Desired: h.sum(d.Desired), Observed: h.sum(d.Observed), Count: 1, At: o.Now}
}

// latest keeps the maxFights latest ones; nil for none.
func latest(all map[string]Fight) map[string]Fight {
	if len(all) == 0 {
		return nil
	}
	if len(all) <= maxFights {
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
	for _, path := range paths[maxFights:] {
		delete(all, path)
	}
	return all
}

// contested reports whether a difference was put back often enough.
func (r *recall) contested(d resource.Difference) bool {
	last, known := r.memory.Fights[d.Path]
	if !known || last.Count < ContestedAfter || r.opts.Now.Sub(last.At) > contestWindow {
		return false
	}
	now := r.opts.fight(d)
	return last.Desired == now.Desired && last.Observed == now.Observed
}
