package manifest

import (
	"fmt"
	"strings"

	"github.com/armature-io/armature/resource"
)

// readDependsOn sets Desired.DependsOn. It runs when every ID is known.
func (l *loader) readDependsOn(d *draft) {
	list := d.root.get("reconcile").get("dependsOn")
	if list == nil {
		return
	}
	if list.kind != kindList {
		l.at(d, list.position, "reconcile.dependsOn", "%s; write a list of names of manifests or resource IDs", list.found())
		return
	}
	lines := map[string]int{}
	for i, item := range list.items {
		path := fmt.Sprintf("reconcile.dependsOn[%d]", i)
		if item.kind != kindText || item.text == "" {
			l.at(d, item.position, path, "%s; write the name of a manifest or a resource ID", item.found())
			continue
		}
		reference, ok := l.resolve(d, item, path, "")
		if !ok {
			continue
		}
		if first := lines[reference.ID.Key()]; first > 0 {
			l.at(d, item.position, path, "%s is listed twice, first in line %d; remove one", item.text, first)
			continue
		}
		lines[reference.ID.Key()] = item.line
		d.desired.DependsOn = append(d.desired.DependsOn, reference)
	}
}

// checkNeeds refuses more needs than a deletion can look up.
func (l *loader) checkNeeds(d *draft) {
	if needs := len(d.desired.Needs()); needs > resource.MaxNeeds {
		l.at(d, d.root.position, "", "needs %d other resources (owner, $ref and dependsOn), at most %d are allowed: the others would not be protected from a delete; "+
			"write those that need no protection as plain resource IDs, or depend on an intermediate resource", needs, resource.MaxNeeds)
	}
}

// resolve returns the resource that a $ref or an item of dependsOn names, with the
// api-version to read it: its manifest's, else the stated one, else the container's
// constant, else "" for the newest one that the worker finds. what is the prefix of
// messages.
func (l *loader) resolve(d *draft, text *node, path, what string) (resource.Reference, bool) {
	if strings.HasPrefix(text.text, "/") {
		return l.resolveID(d, text, path, what)
	}
	named := l.named(text.text)
	switch {
	case len(named) == 0:
		return l.resolveElsewhere(d, text, path, what)
	case len(named) > 1:
		l.at(d, text.position, path, "%s%q %s; write group/name, owner/name or the resource ID", what, text.text, ambiguous(named))
		return resource.Reference{}, false
	}
	id := named[0].desired.ID
	if id.IsZero() || !l.checkNeed(d, id, text, path, what) {
		return resource.Reference{}, false
	}
	d.need(named[0], text.position, path)
	return resource.Reference{ID: id, APIVersion: named[0].version}, true
}

// resolveElsewhere resolves the name of a managed resource without a manifest here.
func (l *loader) resolveElsewhere(d *draft, text *node, path, what string) (resource.Reference, bool) {
	m, ok := l.elsewhere(use{draft: d, name: text.text, at: text.position, path: path, what: what})
	if !ok || !l.checkNeed(d, m.ID, text, path, what) {
		return resource.Reference{}, false
	}
	if manifest := l.byID[m.ID.Key()]; manifest != nil {
		d.need(manifest, text.position, path)
		return resource.Reference{ID: m.ID, APIVersion: manifest.version}, true
	}
	return resource.Reference{ID: m.ID, APIVersion: m.version()}, true
}

func (l *loader) resolveID(d *draft, text *node, path, what string) (resource.Reference, bool) {
	id, version, ok := l.parseStatedID(d, text.position, path, text.text)
	if !ok || !l.checkNeed(d, id, text, path, what) {
		return resource.Reference{}, false
	}
	if manifest := l.byID[id.Key()]; manifest != nil {
		d.need(manifest, text.position, path)
		return resource.Reference{ID: id, APIVersion: manifest.version}, true
	}
	if version == "" {
		version = resource.ContainerAPIVersion(id)
	}
	if version == "" && id.Subscription() == "" {
		l.at(d, text.position, path, "%s"+noVersion, what, id, id)
		return resource.Reference{}, false
	}
	return resource.Reference{ID: id, APIVersion: version}, true
}

// checkNeed refuses a dependency that can never come first: the resource itself and
// its children. ARM lets a body name both (a load balancer's rule names its own
// frontend); as plain text that is no dependency.
func (l *loader) checkNeed(d *draft, id resource.ID, text *node, path, what string) bool {
	own := d.desired.ID
	way := "remove it"
	if what != "" {
		way = "write the resource ID as plain text"
	}
	switch {
	case own.IsZero():
		return true
	case id.Equal(own):
		l.at(d, text.position, path, "%s%s is this resource itself and cannot be its own dependency; %s", what, text.text, way)
		return false
	case strings.HasPrefix(id.Key(), own.Key()+"/"):
		l.at(d, text.position, path, "%s%s is a child of %s and cannot come first; %s", what, text.text, own.Short(), way)
		return false
	}
	return true
}
