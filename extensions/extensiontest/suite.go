package extensiontest

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/internal/extensionhost"
	"github.com/armature-io/armature/resource"
)

// Suite is the expected behavior of a checker.
type Suite struct {
	// Entry is the link with its type.
	Entry extensions.Entry
	// ID is a resource of the type, OwnerID its owner; "" is the parent of ID.
	ID, OwnerID string
	// Owner are the states of the owner for an owner checker, Self are the states of
	// the resource for a pre-checker, Post for a post-checker. At least one is
	// required.
	Owner, Self, Post []States
	// Desired and Observed are JSON bodies for checkers that read more than the
	// state. For an owner checker, Observed is the owner's body; the state is added
	// to it.
	Desired, Observed string
	// Resources are what Resolve and Get return: bodies in JSON by resource ID, for
	// example of Recorded. Others do not exist. The check must read each of them and of Lists
	// in at least one case.
	Resources map[string]string
	// Managed are the Ready conditions of the owner and of Resources that Armature
	// manages, by resource ID. Labels are those of the resource.
	Managed map[string]resource.Managed
	Labels  map[string]string
	// Lists are the items of a collection by "ID/collection", which Find and the lists of a rule
	// return.
	Lists map[string][]string
	// Requests is the number of requests to ARM in the case with the most. Resolve is not
	// counted: a worker caches what it returns.
	Requests int
	// IgnoresForce is set for a pre-checker that also blocks a forced pass. One that
	// only guards against an operation in progress calls extensions.Forced.
	IgnoresForce bool
}

// States are the values of one property and their meaning.
type States struct {
	// Path of the property, for example properties.provisioningState.
	Path string
	// Of is the ID of the resource that has the property, one of Suite.Resources; "" is
	// the owner for an owner checker, and the resource itself for the others. A block
	// has to name it with WithWaitingFor.
	Of string
	// Block are the values that stop the pass or keep the resource not Ready; with
	// the values of Pass, it continues.
	Block, Pass []string
	// AbsentBlocks is set for a check that waits until the property is set: an absent
	// one blocks, and an unexpected one may. Pass needs a value then.
	AbsentBlocks bool
	// Message is the text of a block, with %q for the value; "" is not compared. If
	// NamesOwner is set, a %q for the name of the owner comes first.
	Message    string
	NamesOwner bool
	// Reason and Severity of a block; "" means the default of BlockReconcile
	// or PostReconcileCheckResultFailure.
	Reason   resource.Reason
	Severity resource.Severity
	// Exact is set for values that are compared with their case.
	Exact bool
}

// point is one of the three checks. name is for the names of the tests, method is
// that of the link.
type point struct {
	name, method string
	implemented  func(link any) bool
	run          func(context.Context, *extensionhost.Registry, extensionhost.Request) resource.Verdict
	// stop is the action of a block or failure, pass the one that continues.
	stop, pass resource.Action
	reason     resource.Reason
	readsOwner bool
}

var ownerPoint = point{
	name: "owner check", method: "PreReconcileOwnerCheck", implemented: is[extensions.PreReconciliationOwnerChecker],
	run: func(ctx context.Context, r *extensionhost.Registry, q extensionhost.Request) resource.Verdict {
		return r.CheckOwner(ctx, q)
	},
	stop: resource.ActionBlock, pass: resource.ActionProceed, reason: resource.ReasonReconciliationBlocked, readsOwner: true,
}

var prePoint = point{
	name: "pre-check", method: "PreReconcileCheck", implemented: is[extensions.PreReconciliationChecker],
	run: func(ctx context.Context, r *extensionhost.Registry, q extensionhost.Request) resource.Verdict {
		return r.PreCheck(ctx, q)
	},
	stop: resource.ActionBlock, pass: resource.ActionProceed, reason: resource.ReasonReconciliationBlocked,
}

var postPoint = point{
	name: "post-check", method: "PostReconcileCheck", implemented: is[extensions.PostReconciliationChecker],
	run: func(ctx context.Context, r *extensionhost.Registry, q extensionhost.Request) resource.Verdict {
		return r.PostCheck(ctx, q)
	},
	stop: resource.ActionFailure, pass: resource.ActionSuccess, reason: resource.ReasonPostReconciliationFailure,
}

func is[T any](link any) bool {
	_, ok := link.(T)
	return ok
}

// Run runs the suite. The test fails if the suite has no states, or has states for
// a point that neither the link nor Facts.Checks implements. A failure has the line of the call of Run;
// its message has the line of the link. Cases that fail in the same way are one failure. A type or a method that is probably misspelt fails
// it too, unless the entry has Evidence. After a call that takes too long the rest of
// the suite is not run.
func Run(t *testing.T, suite Suite) {
	t.Helper()
	registry, err := extensionhost.New(suite.Entry)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range registry.Warnings() {
		if strings.Contains(text, "did you mean") {
			t.Error(text)
		}
	}
	if id := ID(t, suite.ID); suite.Entry.Type != extensions.AllTypes && !strings.EqualFold(id.Type(), suite.Entry.Type) {
		t.Fatalf("the ID has the type %s, and the entry is for %s: the link would never be called", id.Type(), suite.Entry.Type)
	}
	tried, counted := false, newTally()
	for _, part := range []struct {
		point  point
		states []States
	}{{ownerPoint, suite.Owner}, {prePoint, suite.Self}, {postPoint, suite.Post}} {
		if len(part.states) == 0 {
			continue
		}
		tried = true
		if !part.point.implemented(suite.Entry.Link) && suite.Entry.Facts.Checks == nil {
			t.Errorf("%T has states for the %s and does not implement it", suite.Entry.Link, part.point.name)
			continue
		}
		t.Run(part.point.name, func(t *testing.T) {
			t.Helper()
			for _, states := range part.states {
				t.Run(states.Path, func(t *testing.T) {
					t.Helper()
					(&trial{suite: suite, point: part.point, states: states, tally: counted}).run(t)
				})
			}
		})
	}
	if !tried {
		t.Error("the suite has no states, so it would test nothing")
		return
	}
	counted.report(t, suite)
}

// keys returns the sorted keys of a map, so that every run has the same order.
func keys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
