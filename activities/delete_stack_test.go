package activities

import (
	"context"
	"testing"
	"time"

	"github.com/armature-io/armature/resource"
)

// TestWatchDeletions checks when a watch releases a lock, when it stops a stack, and what it
// leaves to time.
func TestWatchDeletions(t *testing.T) {
	t.Parallel()
	const lockText = thingText + "/providers/Microsoft.Authorization/locks/keep"
	locked := Managed{Deleting: true, Stopped: true, Reason: codeScopeLocked}
	refused := Managed{Deleting: true, Stopped: true, Reason: "RequestDisallowedByPolicy", Message: "no"}
	cases := map[string]struct {
		reason string
		thing  *Managed
		// lock is the state of the lock at the beginning; nil for a stack without one.
		lock *StackLock
		// age is how long ago the stack began.
		age      time.Duration
		refused  bool
		released int
		ended    bool
	}{
		"gone":            {reason: "nothing remains", ended: true},
		"refused":         {reason: "Azure refuses the DELETE", thing: &refused, refused: true},
		"not requested":   {reason: "the command may be on its way", thing: &Managed{}, age: time.Minute},
		"never requested": {reason: "the command has ended before its request, or the deletion was taken back", thing: &Managed{}, age: time.Hour, ended: true},
		"waits":           {reason: "a guard of Armature waits", thing: &Managed{Deleting: true, Reason: resource.ReasonWaitingForDependents}},
		"a lock of the stack": {
			reason: "the lock is all that holds the DELETE", thing: &locked, lock: &StackLock{}, released: 1,
		},
		"another lock": {reason: "no lock of the stack protects it", thing: &locked, refused: true},
		"a lock that is soon gone": {
			reason: "its deletion runs", thing: &locked, lock: &StackLock{Released: true},
		},
		"a lock that is gone": {
			reason: "Azure enforces it for a while: the DELETE is tried again", thing: &locked,
			lock: &StackLock{Released: true, GoneAt: time.Date(2026, 11, 20, 11, 59, 0, 0, time.UTC)}, released: 1,
		},
		"a lock that is long gone": {
			reason: "another lock refuses it", thing: &locked,
			lock: &StackLock{Released: true, GoneAt: time.Date(2026, 11, 20, 11, 0, 0, 0, time.UTC)}, refused: true,
		},
		"another refusal below a lock": {
			reason: "the lock is not removed in vain", thing: &refused, lock: &StackLock{}, refused: true,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			thing := id(t, thingText)
			stack := Stack{Resources: []resource.ID{thing}, By: "ana", Since: w.now().Add(-tc.age)}
			w.fleet.managed = map[string]Managed{id(t, lockText).Key(): {Deleting: true}}
			if tc.thing != nil {
				managed := *tc.thing
				managed.ID = thing
				w.fleet.managed[thing.Key()] = managed
			}
			if tc.lock != nil {
				lock := *tc.lock
				lock.Desired, lock.Protects = resource.Desired{ID: id(t, lockText)}, []resource.ID{thing}
				stack.Locks = []StackLock{lock}
			}
			// The first wait ends the watch.
			w.acts.options.Pause = func(context.Context, time.Duration) bool { return false }
			result, err := run(w, w.acts.WatchDeletions, stack)
			if err != nil {
				t.Fatal(err)
			}
			if got := !result.Refused.IsZero(); got != tc.refused {
				t.Errorf("%s: refused %t, want %t", tc.reason, got, tc.refused)
			}
			if got := len(w.fleet.released); got != tc.released {
				t.Errorf("%s: %d deletions requested again, want %d", tc.reason, got, tc.released)
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
		// for one that was deleted.
		stays                       bool
		lock                        *Managed
		applied, unneeded, takeBack int
		fails                       bool
	}{
		"all gone":               {reason: "the held lock is deleted", lock: &Managed{Deleting: true}, unneeded: 1},
		"stays with its lock":    {reason: "the deletion of the lock was taken back", stays: true, lock: &Managed{Ready: true}, takeBack: 1},
		"stays without its lock": {reason: "the lock is put back, whether or not the watch recorded its release", stays: true, takeBack: 1, applied: 1},
		"ends a moment later":    {reason: "the workflow of a deleted lock is ending", stays: true, lock: &Managed{Deleting: true, Gone: true}, takeBack: 1, applied: 1},
		"is being deleted":       {reason: "the lock is put back after its end: the activity is repeated", stays: true, lock: &Managed{Deleting: true}, takeBack: 1, fails: true},
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
