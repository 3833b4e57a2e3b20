package activities

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/armature-io/armature/resource"
)

// TestWatchDeletions checks when a watch releases a lock, when it stops a stack, and what it
// leaves to time.
func TestWatchDeletions(t *testing.T) {
	t.Parallel()
	const lockText = thingText + "/providers/Microsoft.Authorization/locks/keep"
	locked := Managed{Deleting: true, Stopped: true, Reason: codeScopeLocked}
	refused := Managed{Deleting: true, Stopped: true, Reason: "RequestDisallowedByPolicy", Message: "no"}
	waiting, protects := Managed{Deleting: true, Reason: resource.ReasonWaitingForDependents}, Managed{Ready: true}
	cases := map[string]struct {
		reason string
		thing  *Managed
		// locked is set for a stack with a lock; lock is its state, nil for one that is gone.
		locked bool
		lock   *Managed
		// age is how long ago the stack began, looks how long the watch lasts.
		age, looks time.Duration
		refused    bool
		// requested are the deletions that were requested to continue.
		requested []string
		ended     bool
	}{
		"gone":            {reason: "nothing remains", ended: true},
		"refused":         {reason: "Azure refuses the DELETE", thing: &refused, refused: true},
		"not requested":   {reason: "the command may be on its way", thing: &Managed{}, age: time.Minute},
		"never requested": {reason: "the command has ended before its request, or the deletion was taken back", thing: &Managed{}, age: time.Hour, ended: true},
		"waits":           {reason: "a guard of Armature waits", thing: &waiting},
		"a lock of the stack": {
			reason: "the lock is all that holds the DELETE", thing: &locked, locked: true, lock: &waiting, requested: []string{"keep"},
		},
		"another lock":               {reason: "no lock of the stack protects it", thing: &locked, refused: true},
		"a lock that is soon gone":   {reason: "its deletion runs", thing: &locked, locked: true, lock: &Managed{Deleting: true}, looks: 15 * time.Second, requested: []string{"keep", "keep"}},
		"a lock without its request": {reason: "the command may be on its way", thing: &locked, locked: true, lock: &protects, age: time.Minute, requested: []string{"keep"}},
		"a lock that was taken back": {reason: "a user keeps the lock", thing: &locked, locked: true, lock: &protects, age: time.Hour, refused: true},
		"a lock that Azure keeps":    {reason: "the DELETE of the lock is refused", thing: &locked, locked: true, lock: &refused, refused: true},
		"a lock that was just gone":  {reason: "Azure enforces it for a while: the DELETE is tried again", thing: &locked, locked: true, requested: []string{"t1"}},
		"a lock that is gone for long": {
			reason: "another lock refuses it", thing: &locked, locked: true, looks: unlockGrace + time.Minute, refused: true, requested: slices.Repeat([]string{"t1"}, 18),
		},
		"another refusal below a lock": {reason: "the lock is not removed in vain", thing: &refused, locked: true, lock: &waiting, refused: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			thing, lock := id(t, thingText), id(t, lockText)
			stack := Stack{Resources: []resource.ID{thing}, By: "ana", Since: w.now().Add(-tc.age)}
			w.fleet.managed = map[string]Managed{}
			for of, state := range map[resource.ID]*Managed{thing: tc.thing, lock: tc.lock} {
				if state != nil {
					managed := *state
					managed.ID = of
					w.fleet.managed[of.Key()] = managed
				}
			}
			if tc.locked {
				stack.Locks = []StackLock{{Desired: resource.Desired{ID: lock}, Protects: []resource.ID{thing}}}
			}
			end := w.now().Add(tc.looks)
			w.acts.options.Pause = func(_ context.Context, length time.Duration) bool {
				w.advance(length)
				return w.now().Before(end)
			}
			result, err := run(w, w.acts.WatchDeletions, stack)
			if err != nil {
				t.Fatal(err)
			}
			if got := !result.Refused.IsZero(); got != tc.refused {
				t.Errorf("%s: refused %t, want %t", tc.reason, got, tc.refused)
			}
			var requested []string
			for _, id := range w.fleet.released {
				requested = append(requested, id.Name())
			}
			if diff := cmp.Diff(tc.requested, requested); diff != "" {
				t.Errorf("%s: requested to continue (-want +got):\n%s", tc.reason, diff)
			}
			if got := len(result.Stack.Resources) == 0; got != tc.ended {
				t.Errorf("%s: ended %t, want %t", tc.reason, got, tc.ended)
			}
		})
	}
}

// TestEndDeletions checks that no resource stays without its lock, and that an unneeded lock is
// deleted.
func TestEndDeletions(t *testing.T) {
	t.Parallel()
	const lockText = thingText + "/providers/Microsoft.Authorization/locks/keep"
	cases := map[string]struct {
		reason string
		// stays is set if the resource is still managed, lock is the state of the lock; nil
		// for one that was deleted; sent is set if the stack deletes it.
		stays                       bool
		lock                        *Managed
		sent                        bool
		applied, unneeded, takeBack int
		fails                       bool
	}{
		"all gone":               {reason: "the held lock is deleted", lock: &Managed{Deleting: true}, unneeded: 1},
		"stays with its lock":    {reason: "the deletion of the lock was taken back", stays: true, lock: &Managed{Ready: true}, takeBack: 1},
		"stays without its lock": {reason: "the lock is put back, whether or not the watch recorded its release", stays: true, takeBack: 1, applied: 1},
		"ends a moment later":    {reason: "the workflow of a deleted lock is ending", stays: true, lock: &Managed{Deleting: true, Gone: true}, takeBack: 1, applied: 1},
		"is being deleted":       {reason: "the lock is put back after its end: the activity is repeated", stays: true, lock: &Managed{Deleting: true}, sent: true, takeBack: 1, fails: true},
		"deleted by others":      {reason: "another request of a user deletes the lock", stays: true, lock: &Managed{Deleting: true}, takeBack: 1},
		"created again":          {reason: "another lock protects it", stays: true, lock: &Managed{Deleting: true, Reason: resource.ReasonCreatedAgain}, sent: true, takeBack: 1},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			thing := id(t, thingText)
			w.fleet.managed = map[string]Managed{}
			if tc.stays {
				w.fleet.managed[thing.Key()] = Managed{ID: thing, Deleting: true}
			}
			if tc.lock != nil {
				w.fleet.managed[id(t, lockText).Key()] = *tc.lock
			}
			if tc.sent {
				w.fleet.aborted.Sent = []resource.ID{id(t, lockText)}
			}
			stack := Stack{ID: "delete:1", Locks: []StackLock{{Desired: resource.Desired{ID: id(t, lockText)}, Protects: []resource.ID{thing}}}}
			if _, err := run(w, w.acts.EndDeletions, stack); (err != nil) != tc.fails {
				t.Fatalf("%s: %v", tc.reason, err)
			}
			back := 0
			for _, cascade := range w.fleet.taken {
				back += len(cascade.Resources)
				if cascade.Stack != stack.ID {
					t.Errorf("it takes back deletions of stack %q", cascade.Stack)
				}
			}
			if len(w.fleet.applied) != tc.applied || len(w.fleet.released) != tc.unneeded || back != tc.takeBack {
				t.Errorf("%s: %d applied, %d released, %d taken back, want %d, %d and %d", tc.reason,
					len(w.fleet.applied), len(w.fleet.released), back, tc.applied, tc.unneeded, tc.takeBack)
			}
		})
	}
}
