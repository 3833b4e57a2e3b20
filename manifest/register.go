package manifest

import (
	"slices"

	"github.com/armature-io/armature/resource"
)

// register indexes the manifests by ID, refuses two with the same ID, and links
// each to its owner. It runs when every ID is known.
func (l *loader) register() {
	for _, d := range l.drafts {
		if d.desired.ID.IsZero() {
			continue
		}
		key := d.desired.ID.Key()
		if first := l.byID[key]; first != nil {
			l.at(d, d.position("name"), "name", "the manifest in %s has the same resource ID: %s; keep one of the two", first.source(), d.desired.ID)
			continue
		}
		l.byID[key] = d
	}
	for _, d := range l.drafts {
		if d.desired.ID.IsZero() {
			continue
		}
		d.desired.Name, d.desired.APIVersion = d.name, d.version
		d.desired.Owner = d.desired.ID.Owner()
		l.linkOwner(d)
	}
}

// noVersion is the issue of a resource outside all subscriptions: no provider list
// there provides an api-version.
const noVersion = "the api-version of %s is unknown; write %s@<api-version>"

// linkOwner sets the api-version to read the owner: its manifest's, else the stated
// one, else the container's constant, else the child's own for the ARM parent of a
// nested type (same provider), else the newest one that the worker finds.
func (l *loader) linkOwner(d *draft) {
	owner := d.desired.Owner
	if owner.IsZero() {
		return
	}
	if manifest := l.byID[owner.Key()]; manifest != nil {
		d.need(manifest, d.position("owner"), "owner")
		d.desired.OwnerAPIVersion = manifest.version
		return
	}
	version := d.ownerVersion
	if version == "" {
		version = resource.ContainerAPIVersion(owner)
	}
	if version == "" && d.desired.ID.IsChild() {
		version = d.version
	}
	if version == "" && owner.Subscription() == "" {
		l.at(d, d.position("owner"), "owner", noVersion, owner, owner)
	}
	d.desired.OwnerAPIVersion = version
}

// need adds another manifest that comes first, once.
func (d *draft) need(other *draft, at position, path string) {
	if !slices.ContainsFunc(d.needs, func(n need) bool { return n.draft == other }) {
		d.needs = append(d.needs, need{draft: other, at: at, path: path})
	}
}

// sorted returns the drafts in dependency order: each right after its needs, else
// in the order of reading. A cycle is an issue of the draft that closes it.
func (l *loader) sorted() []*draft {
	const visiting, done = 1, 2
	state := make(map[*draft]int, len(l.drafts))
	var ordered, path []*draft
	var visit func(d *draft)
	visit = func(d *draft) {
		state[d] = visiting
		path = append(path, d)
		for _, next := range d.needs {
			switch state[next.draft] {
			case done:
			case visiting:
				cycle := append(slices.Clone(path[slices.Index(path, next.draft):]), next.draft)
				l.at(d, next.at, next.path, "owners, references and dependsOn form a cycle: %s; remove one of these", chain(cycle))
			default:
				visit(next.draft)
			}
		}
		path = path[:len(path)-1]
		state[d] = done
		ordered = append(ordered, d)
	}
	for _, d := range l.drafts {
		if state[d] == 0 {
			visit(d)
		}
	}
	return ordered
}
