package drift

import (
	"time"

	"github.com/armature-io/armature/resource"
)

// Options of Compare and Remember; the zero value works.
type Options struct {
	// Type and ID are those of the resource.
	Type string
	ID   resource.ID
	// APIVersion is the one that both bodies belong to.
	APIVersion string
	// Ignore are paths that are not compared, in resource.Path syntax.
	Ignore []string
	// Merge says that a PUT lays desired over observed: elements that others add
	// to a list are then welcome.
	Merge bool
	// Memory of earlier PUTs.
	Memory Memory
	// Key makes the hashes of Memory keyed ones. Without one nothing about
	// literal secrets is remembered.
	Key []byte
	// Secrets stand for the values behind $secret references, as far as they could
	// be read: keyed hashes of them, of which Memory keeps keyed hashes. Leave it
	// nil without a key that is secret, then no rotation is detected.
	Secrets map[string]string
	// Put says that Remember looks back on a PUT, Reasons are the differences
	// for which it was made.
	Put     bool
	Reasons []resource.Difference
	// Now is the time of the PUT; differences that are put back again and again
	// are counted by it.
	Now time.Time
}

func (o Options) subject(observed map[string]any) *subject {
	_, named := observed["id"]
	return &subject{id: o.ID, key: o.Key, read: named, typeRows: typeRowsOf(o.Type), writeOnly: writeOnlyOf(o.Type)}
}

// Result is the answer of Compare.
type Result struct {
	// Differences in the order of their paths, at most
	// resource.MaxDifferences, values masked and cut.
	Differences []resource.Difference
	// More counts the differences beyond the bound.
	More int
	// InSync means that there is no difference, not even a contested one.
	InSync bool
	// Remembered are the paths that differ as they did after the last good PUT.
	Remembered []string
	// NotTaken are those of Remembered that were the reason for a PUT: a change
	// that Azure did not take.
	NotTaken []string
	// Contested are differences that were put back ContestedAfter times against
	// the same foreign value: another PUT would be undone like the others.
	Contested []resource.Difference
	// Children are list elements that came after the last PUT and are resources
	// of their own: no differences, since another manifest may own them.
	Children []string
	// Rebaselined is set when only the api-version changed since the last PUT
	// and what the new one shows otherwise was taken as it is; Remember it.
	Rebaselined bool
	// Drops names what others set and a PUT would take away: members of the
	// envelope, keys of free maps, list items. Not tags, which are kept.
	Drops []string
}

// Compare reports where observed is not as desired. It changes neither.
func Compare(desired, observed map[string]any, opts Options) Result {
	var result Result
	recall := opts.Memory.recall(desired, opts)
	w := &walker{of: opts.subject(observed), known: recall.known}
	found := recall.removedUnseen(desired, w.differences(desired, observed, opts.Ignore))
	for _, d := range recall.unexplained(found, &result) {
		shown := d.show()
		switch {
		case recall.contested(shown):
			result.Contested = append(result.Contested, shown)
		case len(result.Differences) == resource.MaxDifferences:
			result.More++
		default:
			result.Differences = append(result.Differences, shown)
		}
	}
	result.Children = w.children[:min(len(w.children), resource.MaxDifferences)]
	result.InSync = len(result.Differences)+len(result.Contested) == 0
	if len(result.Differences) > 0 {
		result.Drops = drops(desired, observed, opts)
	}
	return result
}
