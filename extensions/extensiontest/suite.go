package extensiontest

import (
	"testing"

	"github.com/armature-io/armature/extensions"
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
	// Requests is the largest number of requests to ARM in one check.
	Requests int
	// IgnoresForce is set for a pre-checker that also blocks a forced pass. One that
	// only guards against an operation in progress calls extensions.Forced.
	IgnoresForce bool
}

// States are the values of one property and their meaning.
type States struct {
	// Path of the property, for example properties.provisioningState.
	Path string
	// Block are the values that stop the pass or keep the resource not Ready; with
	// the values of Pass, it continues.
	Block, Pass []string
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

// point is one of the three checks.
type point struct {
	name string
	run  func(*extensions.Registry, *testing.T, extensions.Request) resource.Verdict
	// stop is the action of a block or failure, pass the one that continues.
	stop, pass resource.Action
	reason     resource.Reason
	readsOwner bool
}

func points() map[string]point {
	return map[string]point{
		"owner check": {
			run: func(r *extensions.Registry, t *testing.T, q extensions.Request) resource.Verdict {
				return r.CheckOwner(t.Context(), q)
			},
			stop: resource.ActionBlock, pass: resource.ActionProceed, reason: resource.ReasonReconciliationBlocked, readsOwner: true,
		},
		"pre-check": {
			run: func(r *extensions.Registry, t *testing.T, q extensions.Request) resource.Verdict {
				return r.PreCheck(t.Context(), q)
			},
			stop: resource.ActionBlock, pass: resource.ActionProceed, reason: resource.ReasonReconciliationBlocked,
		},
		"post-check": {
			run: func(r *extensions.Registry, t *testing.T, q extensions.Request) resource.Verdict {
				return r.PostCheck(t.Context(), q)
			},
			stop: resource.ActionFailure, pass: resource.ActionSuccess, reason: resource.ReasonPostReconciliationFailure,
		},
	}
}

// Run runs the suite. The test fails if the suite has no states, or has states for
// a point that the link does not implement.
func Run(t *testing.T, suite Suite) {
	t.Helper()
	tried := false
	for name, states := range map[string][]States{"owner check": suite.Owner, "pre-check": suite.Self, "post-check": suite.Post} {
		if len(states) == 0 {
			continue
		}
		tried = true
		if !implements(suite.Entry.Link, name) {
			t.Errorf("%T has states for the %s and does not implement it", suite.Entry.Link, name)
			continue
		}
		p := points()[name]
		p.name = name
		t.Run(name, func(t *testing.T) {
			for _, s := range states {
				t.Run(s.Path, func(t *testing.T) { (&trial{suite: suite, point: p, states: s}).run(t) })
			}
		})
	}
	if !tried {
		t.Error("the suite has no states, so it would test nothing")
	}
}

func implements(link any, pointName string) bool {
	var ok bool
	switch pointName {
	case "owner check":
		_, ok = link.(extensions.PreReconciliationOwnerChecker)
	case "pre-check":
		_, ok = link.(extensions.PreReconciliationChecker)
	case "post-check":
		_, ok = link.(extensions.PostReconciliationChecker)
	}
	return ok
}
