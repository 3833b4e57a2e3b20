package activities

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/resource"
)

func TestTurns(t *testing.T) {
	t.Parallel()
	turn := Turn{Parent: id(t, clusterText), ID: id(t, databaseText), WorkflowID: id(t, databaseText).WorkflowID(), RunID: "run 1"}
	cases := map[string]struct {
		place  Position
		action resource.Action
		why    resource.Reason
		class  resource.RetryClass
		parts  []string
		not    string
	}{
		"Granted": {place: Position{Granted: true}, action: resource.ActionProceed},
		"Next": {
			place: Position{Holder: id(t, clusterText+"/databases/a"), Ahead: 1}, action: resource.ActionBlock, why: resource.ReasonWaitingForSibling, class: resource.RetrySlow,
			parts: []string{"Azure changes one thing at a time in c1: c1/a has the turn"}, not: "more come first",
		},
		"Queue": {
			place: Position{Holder: id(t, clusterText+"/databases/a"), Ahead: 4}, action: resource.ActionBlock, why: resource.ReasonWaitingForSibling, class: resource.RetrySlow,
			parts: []string{"c1/a has the turn, 3 more come first"},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.fleet.position = c.place
			got, err := run(w, w.acts.TakeTurn, TakeTurnInput{Turn: turn})
			must(t, err)
			want(t, got.Verdict, c.action, c.why, c.class, c.parts...)
			if c.not != "" && strings.Contains(got.Verdict.Message, c.not) {
				t.Errorf("%q contains %q", got.Verdict.Message, c.not)
			}
			if blocks := c.action == resource.ActionBlock; blocks != (got.Verdict.RetryAfter == queueInterval) {
				t.Errorf("the next request is in %s; a resource that is signaled needs few", got.Verdict.RetryAfter)
			}
			if blocks := c.action == resource.ActionBlock; blocks != (len(got.Verdict.WaitingFor) == 1) {
				t.Errorf("waits for %v", got.Verdict.WaitingFor)
			}
		})
	}
}

func TestTurnsErrorsAreRetried(t *testing.T) {
	t.Parallel()
	turn := Turn{Parent: id(t, clusterText), ID: id(t, databaseText), RunID: "run 1"}
	w := newWorld(t)
	w.fleet.err = errors.New("Temporal is away")
	_, take := run(w, w.acts.TakeTurn, TakeTurnInput{Turn: turn})
	_, check := run(w, w.acts.CheckTurn, CheckTurnInput{Turn: turn})
	for verb, err := range map[string]error{"take": take, "check": check} {
		if failure := applicationError(t, err); failure.Type() != errorTurn || !strings.Contains(failure.Message(), verb+" turn of c1/db1 in c1") || failure.NonRetryable() {
			t.Errorf("%s failed with %v, want it retried, with resource and parent", verb, failure)
		}
	}
}

// TestTurnQueueDoesNotAnswer checks that a queue that does not respond, and a Temporal that
// keeps failing, end in words: the members of a stuck queue do not hang with it.
func TestTurnQueueDoesNotAnswer(t *testing.T) {
	t.Parallel()
	in := TakeTurnInput{Turn: Turn{Parent: id(t, clusterText), ID: id(t, databaseText), RunID: "run 1"}}
	silent := newWorld(t, func(s *setup) { s.options.TurnTimeout = 50 * time.Millisecond })
	silent.fleet.silent = true
	got, err := run(silent, silent.acts.TakeTurn, in)
	must(t, err)
	want(t, got.Verdict, resource.ActionError, resource.ReasonCheckFailed, resource.RetrySlow,
		"the queue for changes in c1 does not answer", "nothing was sent", "siblings:"+in.Turn.Parent.WorkflowID())
	failing := newWorld(t)
	failing.fleet.err = errors.New("shard unavailable")
	got, failures := finish(failing, failing.acts.TakeTurn, in)
	want(t, got.Verdict, resource.ActionError, resource.ReasonCheckFailed, resource.RetrySlow, "shard unavailable")
	if len(failures) != maxTransientErrors-1 {
		t.Errorf("%d attempts before the verdict, want %d", len(failures), maxTransientErrors-1)
	}
}

func TestCheckTurn(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		managed *Managed
		held    bool
	}{
		"Running":   {&Managed{RunID: "run 1"}, true},
		"Ended":     {nil, false},
		"ColdStart": {&Managed{RunID: "run 2"}, false},
		// Its request was granted after it had given up: it does not know.
		"Sleeping": {&Managed{RunID: "run 1", Sleeping: true}, false},
	}
	for name, c := range cases {
		w := newWorld(t)
		if c.managed != nil {
			w.manages(databaseText, *c.managed)
		}
		got, err := run(w, w.acts.CheckTurn, CheckTurnInput{Turn: Turn{ID: id(t, databaseText), RunID: "run 1"}})
		if err != nil || got.Held != c.held {
			t.Errorf("%s: held %t, %v; want %t", name, got.Held, err, c.held)
		}
	}
}
