package extensiontest

import (
	"testing"

	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/resource"
)

// Suite says what a checker promises.
type Suite struct {
	// Entry is the link with its type.
	Entry extensions.Entry
	// ID is a resource of the type, OwnerID its owner; "" is the parent of ID.
	ID, OwnerID string
	// Owner are the states of the owner that an owner checker looks at, Self
	// those of the resource for a pre-checker, Post those for a post-checker.
	// At least one of them has to be given.
	Owner, Self, Post []States
	// Desired and Around are JSON with which the resource and the owner are
	// filled beside the state, for checkers that look at more.
	Desired, Around string
	// Requests is how many requests to ARM one check makes.
	Requests int
	// IgnoresForce is set for a pre-checker that no person may pass; one that
	// only guards against an operation in flight asks extensions.Forced.
	IgnoresForce bool
}

// States are the words that one property may hold and what they mean.
type States struct {
	// Path of the property, for example properties.provisioningState.
	Path string
	// Block are the words that stop the pass (or leave the resource not Ready),
	// Pass those that let it go on.
	Block, Pass []string
	// Message of a block, with %q for the word; "" is not compared. Where
	// OfName is set, %q stands for the name of the owner first.
	Message string
	OfName  bool
	// Reason and Severity of a block; "" are those of BlockReconcile or
	// PostReconcileCheckResultFailure.
	Reason   resource.Reason
	Severity resource.Severity
	// Exact is set for words that are compared with their case.
	Exact bool
}

// point is one of the three checks.
type point struct {
	name string
	run  func(*extensions.Registry, *testing.T, extensions.Request) resource.Verdict
	// stop is the action of a refusal, go_ the one that lets the pass go on.
	stop, pass resource.Action
	reason     resource.Reason
	ofOwner    bool
}

func points() map[string]point {
	return map[string]point{
		"owner check": {
			run: func(r *extensions.Registry, t *testing.T, q extensions.Request) resource.Verdict {
				return r.CheckOwner(t.Context(), q)
			},
			stop: resource.ActionBlock, pass: resource.ActionProceed, reason: resource.ReasonReconciliationBlocked, ofOwner: true,
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

// Run tries the suite. It fails when the suite names no state, and when the link
// implements none of the points that it has states for.
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
		t.Error("the suite names no states, so it would try nothing")
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
