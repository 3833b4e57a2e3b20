package wait

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/starter/internal/backend"
	"github.com/armature-io/armature/starter/internal/cli"
	"github.com/armature-io/armature/workflows"
)

const clusterID = "/subscriptions/11111111-2222-3333-4444-555555555555/resourceGroups/rg1/providers/Microsoft.Kusto/clusters/adx"

// server is a Temporal server with one workflow: what a list, a description and the
// workflow itself show of it.
type server struct {
	mu                  sync.Mutex
	listed, described   *backend.Record
	status              workflows.Status
	listErr             error
	lists, reads, asked int
	queries             []string
}

func (s *server) List(_ context.Context, query string) ([]backend.Record, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lists++
	s.queries = append(s.queries, query)
	if s.listErr != nil || s.listed == nil {
		return nil, s.listErr
	}
	return []backend.Record{*s.listed}, nil
}

func (s *server) Record(context.Context, string) (backend.Record, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reads++
	if s.described == nil {
		return backend.Record{}, backend.ErrNotManaged
	}
	return *s.described, nil
}

func (s *server) Status(context.Context, string) (workflows.Status, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked++
	return s.status, nil
}

// row returns a record of a run that writes summaries.
func row(t *testing.T, phase workflows.Phase, observed, generation int64) *backend.Record {
	t.Helper()
	id, err := resource.ParseID(clusterID)
	if err != nil {
		t.Fatal(err)
	}
	r := backend.RecordOf(id)
	r.Phase, r.Since = phase, time.Unix(1, 0)
	r.Summary = &workflows.Summary{Phase: phase, Generation: generation, Condition: resource.Condition{Ready: phase == workflows.PhaseReady, ObservedGeneration: observed}}
	return &r
}

// TestRound checks what one round concludes from a list that may be behind.
func TestRound(t *testing.T) {
	id := backend.RecordOf(row(t, workflows.PhaseReady, 1, 1).ID)
	young := row(t, workflows.PhasePending, 0, 0)
	young.Summary, young.Since = nil, time.Time{}
	busy := row(t, workflows.PhaseReady, 1, 1)
	busy.Busy = true
	final := workflows.Status{ID: id.ID, Deleted: true}
	gone := backend.Record{WorkflowID: id.WorkflowID, ID: id.ID, Ended: "Completed", Final: &final}
	status := func(observed, generation int64) workflows.Status {
		return workflows.Status{ID: id.ID, Phase: workflows.PhaseReady, Generation: generation, Condition: resource.Condition{Ready: true, ObservedGeneration: observed}}
	}
	cases := map[string]struct {
		reason string
		server *server
		goal   Goal
		min    int64
		done   bool
		// reads and asked are the requests for the one resource.
		reads, asked int
		blocker      string
	}{
		"ready": {
			reason: "one description confirms the list", server: &server{listed: row(t, workflows.PhaseReady, 1, 1), described: row(t, workflows.PhaseReady, 1, 1)},
			goal: Ready, done: true, reads: 1,
		},
		"ready of an older generation": {
			reason: "the list is from before the apply", server: &server{listed: row(t, workflows.PhaseReady, 1, 1), described: row(t, workflows.PhaseReady, 1, 1)},
			goal: Ready, min: 2,
		},
		"an older run": {
			reason: "the run that ended before the apply is still listed", server: &server{listed: row(t, workflows.PhaseReady, 5, 5), described: row(t, workflows.PhasePending, 0, 1)},
			goal: Ready, min: 1, reads: 1,
		},
		"a spec that no summary shows yet": {
			reason: "a step runs, so the summary may be from before it", server: &server{listed: row(t, workflows.PhaseReady, 1, 1), described: busy, status: status(1, 2)},
			goal: Ready, reads: 2, asked: 1,
		},
		"a routine pass": {
			reason: "the resource is Ready while it is looked at", server: &server{listed: row(t, workflows.PhaseReady, 1, 1), described: busy, status: status(1, 1)},
			goal: Ready, done: true, reads: 2, asked: 1,
		},
		"the first pass": {
			reason: "the run is new and has written nothing yet", server: &server{listed: young, described: young}, goal: Ready,
		},
		"not listed yet": {
			reason: "the list is behind", server: &server{described: row(t, workflows.PhaseReady, 1, 1)}, goal: Ready, done: true, reads: 1,
		},
		"not managed":  {reason: "there is no workflow", server: &server{}, goal: Ready, reads: 1, blocker: "it is not managed"},
		"deleted":      {reason: "the run ended", server: &server{described: &gone}, goal: Deleted, done: true, reads: 1},
		"still listed": {reason: "the deletion continues", server: &server{listed: row(t, workflows.PhaseDeleting, 1, 1)}, goal: Deleted},
		"failed": {
			reason: "the message of a blocker is the workflow's own", server: &server{
				listed: row(t, workflows.PhaseFailed, 1, 1), described: row(t, workflows.PhaseFailed, 1, 1),
				status: workflows.Status{ID: id.ID, Phase: workflows.PhaseFailed, Generation: 1, Condition: resource.Condition{ObservedGeneration: 1}},
			},
			goal: Ready, reads: 2, asked: 1, blocker: "`armature reconcile`",
		},
		"a list that is refused": {
			reason: "the resource is read alone", server: &server{listErr: errors.New("the query is too long"), described: row(t, workflows.PhaseReady, 1, 1), status: status(1, 1)},
			goal: Ready, done: true, reads: 1, asked: 1,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			f := Follow(tc.server, []Resource{{Record: id, MinGeneration: tc.min}}, tc.goal, time.Now)
			if err := f.Round(t.Context()); err != nil {
				t.Fatal(err)
			}
			got := f.Outcomes[0]
			if got.Done != tc.done || !strings.Contains(got.Blocker, tc.blocker) || (tc.blocker == "") != (got.Blocker == "") {
				t.Errorf("%s: done %t, blocker %q; want %t, %q", tc.reason, got.Done, got.Blocker, tc.done, tc.blocker)
			}
			if tc.server.reads != tc.reads || tc.server.asked != tc.asked || tc.server.lists != 1 {
				t.Errorf("%s: %d lists, %d reads, %d queries; want 1, %d, %d", tc.reason, tc.server.lists, tc.server.reads, tc.server.asked, tc.reads, tc.asked)
			}
		})
	}
}

// TestRoundsBecomeRare checks the time between rounds: of few resources a second, of many
// two, and longer while Temporal limits the requests or answers late.
func TestRoundsBecomeRare(t *testing.T) {
	limited := cli.Unreachable("limited")
	for name, tc := range map[string]struct {
		reason string
		count  int
		err    error
		took   time.Duration
		rounds int
	}{
		"few":     {reason: "a user looks at it", count: 1, rounds: 13},
		"many":    {reason: "a list of all has a price", count: 30, rounds: 7},
		"late":    {reason: "a list that takes a second is repeated after five", count: 1, took: time.Second, rounds: 3},
		"limited": {reason: "a refused list is repeated after 2, 4, 8 seconds", count: 1, err: limited, rounds: 3},
	} {
		t.Run(name, func(t *testing.T) {
			clock := time.Unix(0, 0)
			s := &server{listed: row(t, workflows.PhaseBlocked, 1, 1), described: row(t, workflows.PhaseBlocked, 1, 1), listErr: tc.err}
			reader := lateServer{s, func() { clock = clock.Add(tc.took) }}
			list := make([]Resource, tc.count)
			for i := range list {
				list[i].Record = backend.RecordOf(s.listed.ID)
			}
			f := Follow(reader, list, Ready, func() time.Time { return clock })
			for until := clock.Add(12500 * time.Millisecond); clock.Before(until); clock = clock.Add(PollInterval) {
				if err := f.Round(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			if f.rounds != tc.rounds {
				t.Errorf("%s: %d rounds, want %d", tc.reason, f.rounds, tc.rounds)
			}
		})
	}
}

// lateServer is a server whose lists take time.
type lateServer struct {
	*server
	wait func()
}

func (s lateServer) List(ctx context.Context, query string) ([]backend.Record, error) {
	s.wait()
	return s.server.List(ctx, query)
}
