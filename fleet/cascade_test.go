package fleet

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/internal/payload"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/workflows"
	"github.com/google/go-cmp/cmp"
	"go.temporal.io/api/serviceerror"
)

func TestDelete(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	f := s.dial()
	if err := f.Delete(t.Context(), parse(t, database(1)), activities.Cascade{Owner: parse(t, clusterText), By: "ada@host"}); err != nil {
		t.Errorf("deleting a resource without a workflow failed: %v", err)
	}
	s.add(run{id: database(1)})
	if err := f.Delete(t.Context(), parse(t, database(1)), activities.Cascade{Owner: parse(t, clusterText), By: "ada@host"}); err != nil {
		t.Fatal(err)
	}
	var sent workflows.DeleteInput
	sentUpdate := s.updates[len(s.updates)-1]
	if err := payload.DataConverter().FromPayload(sentUpdate.args[0], &sent); err != nil {
		t.Fatal(err)
	}
	if sentUpdate.name != workflows.DeleteUpdate || !sent.Cascade || sent.By != "ada@host" || sent.From.String() != clusterText || sent.Desired != nil {
		t.Errorf("update %s %+v, want a cascading deletion with its owner and its user", sentUpdate.name, sent)
	}
	s.updateErr = serviceerror.NewInvalidArgument("no worker")
	if err := f.Delete(t.Context(), parse(t, database(1)), activities.Cascade{Owner: parse(t, clusterText), By: "ada@host"}); err == nil || !strings.Contains(err.Error(), database(1)) {
		t.Errorf("got %v, want the error with the resource", err)
	}
}

// TestUndecided checks that each message of a worker to another resource is sent again, with
// the same ID, while a worker has not decided about it.
func TestUndecided(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	f := s.dial()
	s.add(run{id: database(1), needs: []string{clusterText}})
	id, cascade := parse(t, database(1)), activities.Cascade{Owner: parse(t, clusterText), By: "ada@host"}
	refuse := func(undecided int) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.updates, s.undecided = nil, undecided
	}
	messages := func() (ids []string, sent int) {
		s.mu.Lock()
		defer s.mu.Unlock()
		for _, update := range s.updates {
			if !slices.Contains(ids, update.messageID) {
				ids = append(ids, update.messageID)
			}
		}
		return ids, len(s.updates)
	}
	for name, send := range map[string]func() error{
		"deletion": func() error { return f.Delete(t.Context(), id, cascade) },
		"release":  func() error { return f.Release(t.Context(), id, "stack", "ada@host") },
		"approval": func() error {
			_, err := f.WakeFallen(t.Context(), activities.Change{ID: cascade.Owner}, []resource.ID{id})
			return err
		},
		"abort": func() error {
			_, err := f.Abort(t.Context(), cascade)
			return err
		},
		"apply": func() error { return f.Apply(t.Context(), resource.Desired{ID: id, Name: "d1"}, "ada@host") },
	} {
		refuse(2)
		if err := send(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if ids, sent := messages(); len(ids) != 1 || ids[0] == "" || sent != 3 {
			t.Errorf("%s: %d sendings of %v, want 3 of one message", name, sent, ids)
		}
	}
	refuse(1000)
	bounded, cancel := context.WithTimeout(t.Context(), 250*time.Millisecond)
	defer cancel()
	if err := f.Delete(bounded, id, cascade); refusalKind(err) != workflows.RefusedNotDecided {
		t.Errorf("the time of the caller ended, and the error is %v", err)
	}
}

func TestAbort(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	f := s.dial()
	inCluster := []string{clusterText}
	s.add(
		run{id: database(1), needs: inCluster}, run{id: database(2), needs: inCluster}, run{id: database(3), needs: inCluster},
		run{id: database(4), needs: inCluster}, run{id: database(5), needs: inCluster},
		run{id: groupText + "/providers/Contoso.Things/things/t1", needs: inCluster},
	)
	workflowID := func(n int) string { return parse(t, database(n)).WorkflowID() }
	s.refusals = map[string]string{
		workflowID(2): workflows.RefusedNotDeleted, workflowID(3): workflows.RefusedDeleting, workflowID(4): workflows.RefusedNotManaged,
	}
	delete(s.running, workflowID(5)) // it ended after the list
	cascade := activities.Cascade{Owner: parse(t, clusterText), By: "ada@host"}
	aborted, err := f.Abort(t.Context(), cascade)
	if err != nil || aborted.Count != 1 || len(aborted.Sent) != 1 || aborted.Sent[0].String() != database(3) {
		t.Errorf("got %+v, %v; want one deletion taken back, and database 3 as sent", aborted, err)
	}
	var asked []string
	for _, got := range s.updates {
		var sent workflows.AbortInput
		if err := payload.DataConverter().FromPayload(got.args[0], &sent); err != nil {
			t.Fatal(err)
		}
		if got.name != workflows.AbortUpdate || sent.By != "ada@host" || sent.From.String() != clusterText {
			t.Errorf("update %s %+v, want the abort of what the cluster requested", got.name, sent)
		}
		asked = append(asked, got.workflowID)
	}
	slices.Sort(asked)
	if want := []string{workflowID(1), workflowID(2), workflowID(3), workflowID(4), workflowID(5)}; !slices.Equal(asked, want) {
		t.Errorf("asked %v, want %v: only what is in the cluster, and all of it", asked, want)
	}
	s.refusals[workflowID(2)] = "Unknown"
	if _, err := f.Abort(t.Context(), cascade); err == nil || !strings.Contains(err.Error(), database(2)) {
		t.Errorf("got %v, want an error that names what may still be deleted", err)
	}
	s.listErr = serviceerror.NewInvalidArgument("no list")
	if _, err := f.Abort(context.Background(), cascade); err == nil {
		t.Error("an abort without a list of the dependents succeeds")
	}
}

// TestAbortAsksAgain checks that a workflow whose DELETE runs is asked until that has ended,
// within the time of the caller, and the others once.
func TestAbortAsksAgain(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason  string
		runs    int
		refusal string
		within  time.Duration
		want    activities.Aborted
		asked   int
	}{
		"sent nothing": {reason: "a freeze ended the try", runs: 2, want: activities.Aborted{Count: 2}, asked: 3},
		"accepted": {
			reason: "the resource is going", runs: 2, refusal: workflows.RefusedDeleting,
			want: activities.Aborted{Count: 1, Sent: []resource.ID{parse(t, database(1))}}, asked: 3,
		},
		"ended":     {reason: "the resource is gone", runs: 1, refusal: workflows.RefusedNotManaged, want: activities.Aborted{Count: 1}, asked: 2},
		"runs on":   {reason: "the time of the caller ends", runs: 1000, within: abortTimeout + askAgainAfter/2, want: activities.Aborted{Count: 1, Running: []resource.ID{parse(t, database(1))}}, asked: 1},
		"no DELETE": {reason: "nothing to wait for", want: activities.Aborted{Count: 2}, asked: 1},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newServer(t)
			s.add(run{id: database(1), needs: []string{clusterText}}, run{id: database(2), needs: []string{clusterText}})
			workflowID := parse(t, database(1)).WorkflowID()
			s.deletes, s.refusals = map[string]int{workflowID: c.runs}, map[string]string{workflowID: c.refusal}
			ctx := t.Context()
			if c.within > 0 {
				bounded, cancel := context.WithTimeout(ctx, c.within)
				defer cancel()
				ctx = bounded
			}
			got, err := s.dial().Abort(ctx, activities.Cascade{Owner: parse(t, clusterText), By: "ada@host"})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("%s: result (-want +got):\n%s", c.reason, diff)
			}
			asked := map[string]int{}
			for _, update := range s.updates {
				asked[update.workflowID]++
			}
			if want := map[string]int{workflowID: c.asked, parse(t, database(2)).WorkflowID(): 1}; !maps.Equal(asked, want) {
				t.Errorf("%s: asked %v, want %v", c.reason, asked, want)
			}
		})
	}
}
