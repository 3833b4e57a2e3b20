package worlds

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"time"

	"go.temporal.io/api/serviceerror"

	"github.com/armature-io/armature/workflows"
)

// kinds returns the kinds of steps by name. A step on a manifest that the world lacks does
// nothing, so that a script without one of its steps is a script too.
func kinds() map[string]func(*world, step) {
	return map[string]func(*world, step){
		"add": add, "set": set, "unset": unset, "remove": remove, "foreign": foreign, "settle": settle, "vanish": vanish,
		"freeze": freeze, "unfreeze": unfreeze, "kill": kill, "rotate": rotate,
	}
}

// add applies an example with its owners and references.
func add(w *world, s step) {
	for _, name := range w.examples.withNeeds(s.name) {
		if w.manifests[name] != nil || w.examples.documents[name] == nil {
			continue
		}
		added := w.examples.documents[name].clone()
		setAt(added, "labels.world", w.label)
		w.manifests[name] = added
		delete(w.removed, name)
	}
	w.apply()
}

// set applies a manifest with another value. The value is the manifest's from then on, also if
// it was initial and another client has set one.
func set(w *world, s step) {
	if w.manifests[s.name] == nil {
		return
	}
	setAt(w.manifests[s.name], s.path, s.value)
	w.foreign = slices.DeleteFunc(w.foreign, func(f foreignValue) bool { return f.name == s.name && "body."+f.path == s.path })
	w.apply()
}

// unset applies a manifest without a value.
func unset(w *world, s step) { set(w, step{name: s.name, path: s.path}) }

// remove deletes a resource with all that need it.
func remove(w *world, s step) {
	var names []string
	for _, name := range w.examples.withDependents(s.name) {
		if w.manifests[name] == nil {
			continue
		}
		names = append(names, name)
		delete(w.manifests, name)
		w.removed[name] = true
	}
	if len(names) > 0 {
		w.try(append([]string{"delete", "--with-data"}, w.idsOf(names)...)...)
	}
}

// foreign sets a value as another client. A value of the manifest is corrected, unless it belongs
// to others: these set none while a freeze holds back the manifest's own.
func foreign(w *world, s step) {
	if !w.atRest(s.name) {
		return
	}
	if _, set := valueAt(w.manifests[s.name], "body."+s.path); w.frozen && set && w.belongsToOthers(s) {
		return
	}
	w.patch(w.ids[s.name], s)
	if w.belongsToOthers(s) {
		w.foreign = append(w.foreign, foreignValue{s, w.creations(w.ids[s.name])})
	}
}

// vanish deletes a resource as another client. The user approves to create it again.
func vanish(w *world, s step) {
	if !w.atRest(s.name) {
		return
	}
	w.Sim.Call(http.MethodDelete, "/resources?id="+w.ids[s.name], nil, nil)
	w.vanished = append(w.vanished, s.name)
	w.recreate()
}

// recreate approves to create again what vanished, once nothing is frozen.
func (w *world) recreate() {
	if w.frozen {
		return
	}
	for _, name := range w.vanished {
		if w.manifests[name] != nil {
			w.repeat("reconcile", "--recreate", "--yes", w.ids[name])
		}
	}
	w.vanished = nil
}

// atRest waits until no write of a resource is in flight. It reports whether the resource is in
// Azure.
func (w *world) atRest(name string) bool {
	w.settled(name)
	found := w.stored(w.ids[name])
	return w.manifests[name] != nil && len(found) == 1 && !found[0].Busy
}

// belongsToOthers reports whether a value that another client sets stays.
func (w *world) belongsToOthers(s step) bool {
	d := w.manifests[s.name]
	if _, set := valueAt(d, "body."+s.path); !set {
		return true
	}
	if scaled, _ := valueAt(d, "body."+autoscaler); scaled == true && s.path == autoscaled {
		return true
	}
	for _, field := range []string{"reconcile.ignore", "reconcile.initial"} {
		paths, _ := valueAt(d, field)
		if list, _ := paths.([]any); slices.Contains(list, any(s.path)) {
			return true
		}
	}
	return false
}

// settled waits until the last manifest of a resource is in Azure, or held back by the freeze, and
// no pass runs: a write in flight would overwrite the next change of another client, and a change
// between a PUT and the read after it counts as Azure's own choice.
func (w *world) settled(name string) {
	if w.manifests[name] == nil {
		return
	}
	id := w.ids[name]
	w.Until(hangs, id+" is Ready", func() (bool, string) {
		status, err := w.Status(id)
		_, absent := errors.AsType[*serviceerror.NotFound](err)
		ends := absent || status.Deleting || status.Deleted
		current := status.Condition.ObservedGeneration == status.Generation && !status.InPass
		done := current && (w.frozen || status.Phase == workflows.PhaseReady)
		return done || w.frozen && ends, fmt.Sprintf("%s, %s: %s (%v)", status.Phase, status.Condition.Reason, status.Condition.Message, err)
	})
}

// settle waits until all resources are settled.
func settle(w *world, _ step) {
	for _, name := range slices.Sorted(maps.Keys(w.manifests)) {
		w.settled(name)
	}
}

// freeze lets nothing be written from its confirmation on.
func freeze(w *world, _ step) {
	if w.frozen {
		return
	}
	w.repeat("freeze", "-l", "world="+w.label)
	w.frozen = true
	w.written = len(w.writes())
}

// unfreeze ends the freeze.
func unfreeze(w *world, _ step) {
	if !w.frozen {
		return
	}
	for _, write := range w.writes()[w.written:] {
		w.T.Errorf("%s %s at %s was sent during the freeze", write.Method, write.ID, write.Time.Format(time.TimeOnly))
	}
	w.repeat("unfreeze", "-l", "world="+w.label)
	w.frozen = false
	w.recreate()
}

// kill replaces the worker, which has no time to end anything.
func kill(w *world, _ step) {
	w.worker.Kill()
	w.startWorker()
}

// rotate gives the worker another password.
func rotate(w *world, _ step) {
	w.rotations++
	kill(w, step{})
}
