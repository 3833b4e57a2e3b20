package fleet

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/payload"
	"github.com/armature-io/armature/workflows"
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
