package drift

import (
	"sort"
	"strings"
	"sync"

	"github.com/armature-io/armature/internal/jsontree"
	"github.com/armature-io/armature/resource"
)

// appliedPaths are the paths of the last applied body and of the elements that
// other writers had added to its lists.
type appliedPaths struct {
	paths, extra decodedSet
	crowded      bool
}

func (a *appliedPaths) has(path resource.Path) bool { return a.paths.has(path) }

func (a *appliedPaths) hasAdded(path resource.Path) bool { return a.extra.has(path) }

// baselineView is a Baseline prepared for one comparison.
type baselineView struct {
	baseline Baseline
	opts     Options
	// applied is nil for a resource that was never applied.
	applied *appliedPaths
	// entries by the hash of their path, which ignores its spelling.
	entries map[pathHash]Entry
	// apiVersionChanged is set if the api-version is not the baseline's.
	apiVersionChanged bool
	// sameBody reports whether the body is the last applied one. It hashes the
	// body on the first call, which most comparisons do not need.
	sameBody func() bool
	// rekeyed is set if the baseline was recorded with Options.FormerKey.
	rekeyed bool
}

// view returns the baseline prepared for a comparison with desired.
func (b Baseline) view(desired map[string]any, opts Options) *baselineView {
	v := &baselineView{baseline: b, opts: opts}
	if b.Body == "" {
		return v
	}
	h := hasher{opts.Key}
	v.apiVersionChanged = b.APIVersion != opts.APIVersion
	body := root(desired)
	v.sameBody = sync.OnceValue(func() bool {
		same := b.Body == h.cursor(body)
		if !same && len(opts.FormerKey) > 0 && b.Body == (hasher{opts.FormerKey}).cursor(body) {
			same, v.rekeyed, v.opts.Key = true, true, opts.FormerKey
		}
		return same
	})
	// Another api-version may show other elements.
	v.applied = &appliedPaths{paths: b.Applied.decode(), extra: b.Added.decode(), crowded: b.Crowded || v.apiVersionChanged || opts.Merge}
	v.entries = make(map[pathHash]Entry, len(b.Differences))
	for text, entry := range b.Differences {
		if path, err := resource.ParsePath(text); err == nil {
			v.entries[hashPath(path)] = entry
		}
	}
	return v
}

// newDifferences returns the differences that the baseline does not explain, and
// adds those that it explains to the result.
func (v *baselineView) newDifferences(found []difference, result *Result) []difference {
	var remaining []difference
	if len(found) > 0 && len(v.opts.FormerKey) > 0 && v.applied != nil {
		v.sameBody() // it recognizes the key
	}
	for _, d := range found {
		if (d.hidden || d.uncertain) && v.applied == nil {
			continue
		}
		entry, known := v.entries[hashPath(d.path)]
		switch {
		case d.rule == hiddenUnverified && (known && entry.Desired == d.entry(v.opts).Desired || !known && v.sameBody()):
			// It was compared, or sent, before.
			result.unverified = append(result.unverified, d.path)
		case known && v.matches(entry, d):
			result.accept(d, entry)
			result.Rebaselined = result.Rebaselined || v.apiVersionChanged || v.rekeyed || v.ignoresMasks(d)
		case v.apiVersionChanged && (v.sameBody() || known && entry.Desired == d.entry(v.opts).Desired) && d.rule != ruleValue:
			result.Rebaselined = true
		case d.isSettled(known):
		case d.masked && !known && v.baseline.Rest == "" && v.sameBody():
			// The GET after the last PUT showed it; it was published as a secret since.
		default:
			remaining = append(remaining, v.withRule(d, entry, known))
		}
	}
	if v.baseline.Rest != "" && len(remaining) > 0 && restHash(remaining, v.opts) == v.baseline.Rest {
		for _, d := range remaining {
			result.accept(d, Entry{})
		}
		return nil
	}
	return withoutRepeats(remaining)
}

// withoutRepeats omits the difference of a whole list if a difference inside it is
// more specific. The differences are sorted by path.
func withoutRepeats(found []difference) []difference {
	var specific []difference
	for i, d := range found {
		if d.rule == ruleListChanged && i+1 < len(found) && strings.HasPrefix(found[i+1].text, d.text) {
			continue
		}
		specific = append(specific, d)
	}
	return specific
}

// matches reports whether a difference is unchanged since the baseline.
func (v *baselineView) matches(entry Entry, d difference) bool {
	now := d.entry(v.opts)
	if now.Secret == "" || entry.Secret == "" {
		// Without a key, or while a secret cannot be read, rotation is not detected.
		now.Secret, entry.Secret = "", ""
	}
	return entry.Desired == now.Desired && entry.Secret == now.Secret && (entry.Observed == now.Observed || v.apiVersionChanged || v.ignoresMasks(d))
}

// ignoresMasks reports whether the observed value of a difference contains masks of another
// key than those in the baseline, which are no change of Azure's.
func (v *baselineView) ignoresMasks(d difference) bool {
	return v.rekeyed && containsMask(d.observed)
}

// containsMask reports whether a value contains a mask.
func containsMask(value any) bool { return jsontree.Contains(value, resource.Masked) }

// withRule sets the rule of a difference at a hidden path: rotated or absent if the
// baseline shows which.
func (v *baselineView) withRule(d difference, entry Entry, known bool) difference {
	if !d.hidden || d.rule == hiddenOneShot || d.rule == hiddenUnverified {
		return d
	}
	now := d.entry(v.opts)
	switch {
	case known && entry.Desired == now.Desired:
		d.rule = ruleRotated
	case !known && v.applied.has(d.path):
		// An earlier GET returned it, this one does not.
		d.rule = ruleAbsent
	}
	return d
}

// accept adds a difference that the baseline explains; a hidden one is none.
func (result *Result) accept(d difference, entry Entry) {
	if d.hidden {
		return
	}
	result.Accepted = append(result.Accepted, d.text)
	if entry.NotTaken {
		result.NotTaken = append(result.NotTaken, NotTaken{Path: d.text, Absent: d.rule == ruleAbsent || d.rule == ruleItemMissing})
	}
}

// removedHidden adds to the differences the paths that the last applied body
// stated, a GET does not return, and desired no longer states.
func (v *baselineView) removedHidden(desired map[string]any, found []difference) []difference {
	if v.applied == nil || v.apiVersionChanged {
		return found
	}
	texts := make([]string, 0, len(v.baseline.Differences))
	for text, entry := range v.baseline.Differences {
		if entry.Observed == absentText || entry.Observed == "" {
			texts = append(texts, text)
		}
	}
	if len(texts) == 0 || v.sameBody() {
		return found
	}
	sort.Strings(texts)
	reported := make(map[string]bool, len(found))
	for _, d := range found {
		reported[d.text] = true
	}
	ignored, creation := resource.ParsePaths(v.opts.Ignore), v.opts.subject(nil)
	for _, text := range texts {
		path, err := resource.ParsePath(text)
		if err != nil || reported[text] || isIgnored(path, ignored) || isOneShot(cursor{path: path, subject: creation}) {
			continue
		}
		if value, isStated := path.Get(desired); !isStated || isUnset(value) {
			found = append(found, difference{path: path, text: text, rule: ruleRemoved})
		}
	}
	sort.SliceStable(found, func(i, j int) bool { return found[i].text < found[j].text })
	return found
}

// isIgnored reports whether a path is at or below one that is not compared.
func isIgnored(path resource.Path, ignored []resource.Path) bool {
	for _, step := range path {
		rest, ends := resource.Advance(ignored, func(s resource.Step) bool {
			return s.Any && step.Name == "" || hashPath(resource.Path{s}) == hashPath(resource.Path{step})
		})
		if ends {
			return true
		}
		ignored = rest
	}
	return false
}
