package drift

import (
	"slices"
	"strings"
	"time"

	"github.com/armature-io/armature/internal/jsontree"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/types"
)

// Options of Compare and NewBaseline; the zero value works.
type Options struct {
	// Type and ID identify the resource.
	Type string
	ID   resource.ID
	// APIVersion is the version of both bodies.
	APIVersion string
	// Facts are those of the type.
	Facts Facts
	// Ignore are paths that are not compared, in resource.Path syntax.
	Ignore []string
	// Initial are paths whose values are sent by a creation and when desired changes them,
	// Enforce paths that no other owner has, Owners the owners of paths that another resource
	// names. All three have an effect after WithOwned.
	Initial, Enforce []string
	Owners           map[string]string
	// Completed are the paths of the parts (Part) with which observed was completed. Others
	// are unverified.
	Completed []string
	// Owned are the values of other owners that differ, from WithOwned.
	Owned     []Owned
	ownerBody map[string]any
	// hidden are the values of other owners that no read shows, so that a PUT cannot carry them.
	hidden []resource.Path
	// Hold is set for a correction: settings of other tools and users that it would take away stay,
	// and wait for a user (Result.Held). keepItems is set if their items stay in lists whose items
	// have a key.
	Hold, holds, keepItems bool
	// ChildLists are lists in the body whose items are resources: a PUT keeps them.
	ChildLists []string
	// Merge is set when a PUT merges desired into observed: elements that other
	// writers add to a list then remain.
	Merge bool
	// KeepOthers is set when a PUT keeps the values that other tools set.
	KeepOthers bool
	// StatedOnly is set when what desired no longer states is left as it is, except
	// for tags where desired states any.
	StatedOnly bool
	// Sent is set when NewBaseline follows a PUT whose body Body made; Kept are the
	// paths that it kept for other tools.
	Sent bool
	Kept PathSet
	// Baseline of the last PUT.
	Baseline Baseline
	// Answer is the JSON of observed, nil if it is unknown. While it is the answer after the last
	// PUT, nothing has changed.
	Answer []byte
	// Key keys the hashes of the baseline. Without a key, literal secrets are not
	// part of it.
	Key []byte
	// FormerKey is another key with which Baseline may have been recorded: what it
	// accepts stays accepted. nil is none.
	FormerKey []byte
	// Secrets are keyed hashes of the values behind $secret references, as far as
	// they could be read; the baseline stores keyed hashes of them. Without a
	// secret key leave it nil: rotation is then not detected.
	Secrets map[string]string
	// Put is set when NewBaseline follows a PUT; Reasons are the differences that
	// caused it. Adopted is set when no PUT was sent and the differences are to stay.
	Put     bool
	Adopted bool
	Reasons []resource.Difference
	// Now is the time of the PUT, by which repeated corrections are counted.
	Now time.Time
}

func (o Options) subject(observed map[string]any) *subject {
	_, named := observed["id"]
	s := &subject{
		resourceType: o.Type, apiVersion: o.APIVersion, id: o.ID, key: o.Key, read: named,
		properties: o.Facts.Properties, parts: newParts(o.Facts.Parts, o.Completed), marks: types.MarksOf(o.Type), oneShot: types.OneShotOf(o.Type, o.APIVersion),
	}
	if o.KeepOthers || o.Merge {
		s.sharing = o.Facts.sharingOf(observed)
	}
	return s
}

// sender is the subject of a PUT: it knows the lists of others in every mode. body is the
// resource with its tags.
func (o Options) sender(body map[string]any) *subject {
	s := o.subject(body)
	s.sharing = o.Facts.sharingOf(body)
	return s
}

// Result is the result of Compare.
type Result struct {
	// Differences are sorted by path, at most resource.MaxDifferences, with values
	// masked and cut.
	Differences []resource.Difference
	// More counts the differences beyond the bound.
	More int
	// InSync is set when there is no difference, not even a contested one.
	InSync bool
	// Accepted are the paths that differ as they did after the last successful PUT.
	Accepted []string
	// NotTaken are the paths of Accepted that a PUT was to change or to create and that
	// Azure did not apply.
	NotTaken []NotTaken
	// Contested are differences that were corrected ContestedAfter times against the
	// same foreign value: another PUT would be reverted again.
	Contested []resource.Difference
	// Children are list elements that appeared after the last PUT and are resources
	// themselves. They are no differences, since another manifest may own them.
	Children []string
	// Rebaselined is set when only the api-version, the key or the form of masks changed
	// since the last PUT and the differences that it shows were accepted; the caller
	// stores a new baseline.
	Rebaselined bool
	// Owned are the values of other owners that differ: no PUT changes them.
	Owned []Owned
	// Unverified are the paths of stated values that no request showed, at most
	// resource.MaxDifferences, and MoreUnverified counts the others. Secrets are not among
	// them, and nothing that only a creation uses.
	Unverified     []string
	MoreUnverified int
	unverified     []resource.Path
	// Drops are what other writers set and a PUT would remove, if there is a difference.
	Drops Drops
	// Held are what a correction does not take away, and values whose owner let go of them:
	// both wait for a user. Waiting are their differences. carried are the parts of the body
	// that a correction sends as Azure shows them.
	Held    Drops
	Waiting []resource.Difference
	carried []string
	// mixed are the lists of scalars that a correction sends with the items of others.
	mixed []Leaf
	// HoldsItems is set if a correction sends items of others beside desired ones.
	HoldsItems bool
}

// Compare returns where observed differs from desired. It modifies neither.
func Compare(desired, observed map[string]any, opts Options) Result {
	var result Result
	for _, owned := range opts.Owned {
		if !owned.Held {
			result.Owned = append(result.Owned, owned)
			continue
		}
		result.Held.add(owned.String())
		result.Waiting = append(result.Waiting, resource.Difference{Path: owned.Path, Desired: owned.Desired, Observed: owned.Observed, Rule: ruleValue})
	}
	view := opts.Baseline.view(desired, opts)
	w := &walker{subject: opts.subject(observed), applied: view.applied}
	found := view.removedHidden(desired, w.differences(desired, observed, opts.Ignore))
	unshown := unverifiable(found)
	result.Unverified = unshown[:min(len(unshown), resource.MaxDifferences)]
	result.MoreUnverified = len(unshown) - len(result.Unverified)
	if opts.StatedOnly {
		_, _, tags := jsontree.Member(desired, "tags") // they are written as a whole
		found = slices.DeleteFunc(found, func(d difference) bool {
			return d.rule == ruleRemoved && (!tags || len(d.path) == 0 || !strings.EqualFold(d.path[0].Name, "tags"))
		})
	}
	for _, d := range result.hold(view.newDifferences(found, &result), desired, observed, opts) {
		shown := d.show()
		switch {
		case view.isContested(shown):
			result.Contested = append(result.Contested, shown)
		case len(result.Differences) == resource.MaxDifferences:
			result.More++
		default:
			result.Differences = append(result.Differences, shown)
		}
	}
	for i, n := range result.NotTaken {
		if path, err := resource.ParsePath(n.Path); err == nil && n.Absent {
			result.NotTaken[i].Nearest = nearestShown(path, desired, observed)
		}
	}
	result.Children = w.children[:min(len(w.children), resource.MaxDifferences)]
	result.InSync = len(result.Differences)+len(result.Contested) == 0
	if len(result.Differences) > 0 && !opts.Hold {
		result.Drops = DropsOf(desired, observed, opts)
	}
	return result
}
