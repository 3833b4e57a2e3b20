package main

import (
	"slices"
	"strings"

	"github.com/armature-io/armature/workflows"
)

// stack is what the search attributes tell of many resources: who waits for
// whom. It needs no worker and no query.
type stack struct {
	// known are managed resources by the key with which others wait for them.
	known map[string]record
}

// cause is a root as a stack knows it: the key of a resource, or a ring.
type cause struct {
	key  string
	ring []string
	// deleting: the ring is one of deletions. alike counts what holds the same
	// deletion up beside the key, because nobody deletes it either.
	deleting bool
	alike    int
}

func (c cause) id() string { return c.key + strings.Join(c.ring, "\n") }

// clear reports whether nothing is in the way of a resource.
func (r record) clear() bool { return r.Phase == workflows.PhaseReady && r.Stuck == "" }

// held reports whether what a resource waits for is the reason that it stands
// still; a pause and an operation come before that.
func (r record) held() bool {
	switch r.Phase {
	case workflows.PhaseReady, workflows.PhasePaused, workflows.PhaseOperating:
		return false
	}
	return r.Stuck == "" && len(r.WaitingFor) > 0
}

// causes are the roots of one resource, each once.
func (s stack) causes(start string) []cause {
	w := &rootWalk{stack: s, seen: map[string]bool{}, at: map[string]int{}}
	w.visit(start)
	return w.found
}

// rootWalk is the way from one resource to its roots: path is what was passed,
// at the position of each in it.
type rootWalk struct {
	stack
	found []cause
	seen  map[string]bool
	path  []string
	at    map[string]int
}

func (w *rootWalk) add(c cause) {
	if !slices.ContainsFunc(w.found, func(other cause) bool { return other.id() == c.id() }) {
		w.found = append(w.found, c)
	}
}

func (w *rootWalk) visit(key string) {
	r, managed := w.known[key]
	if !managed || !r.held() {
		w.add(cause{key: key})
		return
	}
	w.seen[key] = true
	w.at[key] = len(w.path)
	w.path = append(w.path, key)
	undeleted := slices.DeleteFunc(slices.Clone(r.WaitingFor), func(next string) bool { return !w.undeleted(r, next) })
	if len(undeleted) > 0 {
		w.add(cause{key: undeleted[0], alike: len(undeleted) - 1})
	}
	for _, next := range r.WaitingFor {
		at, passed := w.at[next]
		switch {
		case slices.Contains(undeleted, next):
		case passed:
			w.add(cause{ring: w.ring(w.path[at:]), deleting: r.Phase == workflows.PhaseDeleting})
		case !w.seen[next]:
			w.visit(next)
		}
	}
	w.path = w.path[:len(w.path)-1]
	delete(w.at, key)
}

// undeleted reports whether a deletion waits for a resource that nobody deletes.
func (s stack) undeleted(r record, dependent string) bool {
	other, managed := s.known[dependent]
	return holdsDeletion(r.Reason) && managed && other.Phase != workflows.PhaseDeleting
}

// ring is the names of a ring, from the smallest on, so that all who are in it
// have one cause.
func (s stack) ring(keys []string) []string {
	list := make([]string, len(keys))
	first := 0
	for i, key := range keys {
		list[i] = s.known[key].called()
		if list[i] < list[first] {
			first = i
		}
	}
	return append(slices.Clone(list[first:]), list[:first]...)
}

// causeGroup is what has one cause.
type causeGroup struct {
	cause cause
	// alone: the members are themselves roots, of one phase and reason.
	alone   bool
	members []record
}

// groups are the causes of what is not clear among records, the largest first,
// and how many records have more than one.
func (s stack) groups(records []record) (list []*causeGroup, several int) {
	found := map[string]*causeGroup{}
	join := func(id string, g causeGroup, r record) {
		if found[id] == nil {
			found[id] = &g
			list = append(list, &g)
		}
		found[id].members = append(found[id].members, r)
	}
	var alone []record
	for _, r := range records {
		if r.clear() {
			continue
		}
		self := selfKey(r)
		causes := s.causes(self)
		if len(causes) > 1 {
			several++
		}
		for _, c := range causes {
			if c.key == self && self != "" {
				alone = append(alone, r)
				continue
			}
			join(c.id(), causeGroup{cause: c}, r)
		}
	}
	for _, r := range alone {
		if found[cause{key: selfKey(r)}.id()] == nil {
			join("alone "+string(r.Phase)+" "+string(r.Reason)+" "+r.Stuck, causeGroup{cause: cause{key: selfKey(r)}, alone: true}, r)
		}
	}
	slices.SortStableFunc(list, func(a, b *causeGroup) int { return len(b.members) - len(a.members) })
	return list, several
}

// selfKey is the key with which others wait for a resource. One whose memo names
// no ID has its workflow ID: nobody waits for it.
func selfKey(r record) string {
	if r.ID.IsZero() {
		return r.WorkflowID
	}
	return workflows.WaitingKey(r.ID)
}
