package drift

import (
	"sort"
	"strings"
	"sync"

	"github.com/armature-io/armature/resource"
)

// applied are the paths of the last applied body and of what others had added to
// its lists.
type applied struct {
	paths, extra decodedSet
	crowded      bool
}

func (a *applied) states(path resource.Path) bool { return a.paths.has(path) }

func (a *applied) added(path resource.Path) bool { return a.extra.has(path) }

// recall is a Memory as one comparison uses it.
type recall struct {
	memory Memory
	opts   Options
	// known is nil where nothing is remembered.
	known *applied
	// entries by the hash of their path: its spelling does not count.
	entries map[pathHash]Entry
	// moved is set under another api-version than the memory's.
	moved bool
	// same reports whether the body is the last applied one. It hashes the body,
	// which most comparisons need not.
	same func() bool
}

func (m Memory) recall(desired map[string]any, opts Options) *recall {
	r := &recall{memory: m, opts: opts}
	if m.Body == "" {
		return r
	}
	h := hasher{opts.Key}
	r.moved = m.APIVersion != opts.APIVersion
	r.same = sync.OnceValue(func() bool { return m.Body == h.place(root(desired)) })
	// Another api-version may show other elements.
	r.known = &applied{paths: m.Applied.decoded(), extra: m.Added.decoded(), crowded: m.Crowded || r.moved || opts.Merge}
	r.entries = make(map[pathHash]Entry, len(m.Baseline))
	for text, entry := range m.Baseline {
		if path, err := resource.ParsePath(text); err == nil {
			r.entries[hashPath(path)] = entry
		}
	}
	return r
}

// unexplained are the differences that the memory does not explain; what it does
// goes into the result.
func (r *recall) unexplained(found []difference, result *Result) []difference {
	var left []difference
	for _, d := range found {
		if d.unseen && r.known == nil {
			continue
		}
		entry, remembered := r.entries[hashPath(d.path)]
		switch {
		case remembered && r.explains(entry, d):
			result.remember(d, entry)
			result.Rebaselined = result.Rebaselined || r.moved
		case r.moved && (r.same() || remembered && entry.Desired == d.entry(r.opts).Desired) && d.rule != ruleValue:
			result.Rebaselined = true
		default:
			left = append(left, r.named(d, entry, remembered))
		}
	}
	if r.memory.Rest != "" && len(left) > 0 && restHash(left, r.opts) == r.memory.Rest {
		for _, d := range left {
			result.remember(d, Entry{})
		}
		return nil
	}
	return withoutRepeats(left)
}

// withoutRepeats leaves out that a list changed where a difference in it says
// more. The differences are in the order of their paths.
func withoutRepeats(found []difference) []difference {
	var kept []difference
	for i, d := range found {
		if d.rule == ruleListChanged && i+1 < len(found) && strings.HasPrefix(found[i+1].text, d.text) {
			continue
		}
		kept = append(kept, d)
	}
	return kept
}

// explains reports whether a difference is as it was remembered.
func (r *recall) explains(entry Entry, d difference) bool {
	now := d.entry(r.opts)
	if now.Secret == "" || entry.Secret == "" {
		// Without a key, or while a secret cannot be read, rotation is not seen.
		now.Secret, entry.Secret = "", ""
	}
	return entry.Desired == now.Desired && entry.Secret == now.Secret && (entry.Observed == now.Observed || r.moved)
}

// named gives a place that no comparison can see the rule that made it a
// difference.
func (r *recall) named(d difference, entry Entry, remembered bool) difference {
	if !d.unseen {
		return d
	}
	now := d.entry(r.opts)
	switch {
	case remembered && entry.Desired == now.Desired:
		d.rule = ruleRotated
	case !remembered && r.known.states(d.path):
		// It was shown, and is not any more.
		d.rule = ruleAbsent
	}
	return d
}

// remember notes a difference that is explained. What cannot be seen is none.
func (result *Result) remember(d difference, entry Entry) {
	if d.unseen {
		return
	}
	result.Remembered = append(result.Remembered, d.text)
	if entry.NotTaken {
		result.NotTaken = append(result.NotTaken, d.text)
	}
}

// removedUnseen are the places that the last applied body stated, a GET does not
// show, and desired does not state any more. found are the differences so far.
func (r *recall) removedUnseen(desired map[string]any, found []difference) []difference {
	if r.known == nil || r.moved {
		return found
	}
	texts := make([]string, 0, len(r.memory.Baseline))
	for text, entry := range r.memory.Baseline {
		if entry.Observed == absentText || entry.Observed == "" {
			texts = append(texts, text)
		}
	}
	if len(texts) == 0 || r.same() {
		return found
	}
	sort.Strings(texts)
	seen := make(map[string]bool, len(found))
	for _, d := range found {
		seen[d.text] = true
	}
	ignored := parsePaths(r.opts.Ignore)
	for _, text := range texts {
		path, err := resource.ParsePath(text)
		if err != nil || seen[text] || isIgnored(path, ignored) {
			continue
		}
		if value, stated := path.Get(desired); !stated || statesNothing(value) {
			found = append(found, difference{path: path, text: text, rule: ruleRemoved})
		}
	}
	sort.SliceStable(found, func(i, j int) bool { return found[i].text < found[j].text })
	return found
}

// isIgnored reports whether a path lies at or below one that is not compared.
func isIgnored(path resource.Path, ignored []resource.Path) bool {
	for _, step := range path {
		rest, ends := advance(ignored, func(s resource.Step) bool {
			return s.Any && step.Name == "" || hashPath(resource.Path{s}) == hashPath(resource.Path{step})
		})
		if ends {
			return true
		}
		ignored = rest
	}
	return false
}
