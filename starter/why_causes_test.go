package starter

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/starter/internal/backend"
	"github.com/armature-io/armature/starter/internal/cli"
)

// manageDatabases manages n databases that wait for their cluster.
func manageDatabases(t *testing.T, f *fakeTemporal, n int) {
	t.Helper()
	for i := range n {
		f.manage(t, fmt.Sprintf("%s/databases/d%03d", cluster, i), waiting(t, resource.ReasonReconciliationBlocked, "the cluster adx is Updating", cluster))
	}
}

func TestWhyCauses(t *testing.T) {
	cases := map[string]struct {
		reason string
		args   []string
		manage func(t *testing.T, f *fakeTemporal)
		stderr string
	}{
		"stack": {reason: "the largest cause first; what has a cause of its own by reason", args: []string{"why"}, manage: func(t *testing.T, f *fakeTemporal) {
			manageDatabases(t, f, 41)
			f.manage(t, cluster, operating("PUT"))
			f.manage(t, vnet, paused(waiting(t, resource.ReasonWaitingForOwner, "rg1 is absent", group)))
			f.manage(t, vnet+"/subnets/a", waiting(t, resource.ReasonWaitingForOwner, "v1 does not exist", vnet))
			for i := range 3 {
				f.manage(t, fmt.Sprintf("%s%d", account, i), waiting(t, resource.ReasonThrottled, "429"))
			}
			f.manage(t, endpoint, waiting(t, resource.ReasonReferenceNotFound, "x does not exist", account+"x"))
			f.manage(t, group, readyStatus())
		}},
		"chains": {reason: "the root cause counts, not the next link; a cycle is one cause; two causes count twice", args: []string{"why"}, manage: func(t *testing.T, f *fakeTemporal) {
			f.manage(t, database, waiting(t, resource.ReasonWaitingForOwner, "adx does not exist", cluster))
			f.manage(t, cluster, waiting(t, resource.ReasonReferenceNotReady, "2 references are not ready", vnet, account))
			f.manage(t, vnet, operating("PUT"))
			f.manage(t, account, waiting(t, resource.ReasonReferenceNotReady, "pe1 does not exist", endpoint))
			f.manage(t, endpoint, waiting(t, resource.ReasonReferenceNotReady, "sa1 does not exist", account))
		}},
		"ready": {reason: "nothing is blocked", args: []string{"why", "-l", "stack=prod"}, manage: func(t *testing.T, f *fakeTemporal) {
			f.manage(t, cluster, readyStatus())
			f.manage(t, vnet, readyStatus())
		}},
		"nothing": {reason: "an empty selection is no success", args: []string{"why", "-l", "stack=prod"}, manage: func(*testing.T, *fakeTemporal) {}, stderr: "no managed resource has the labels stack=prod"},
		"deletion": {reason: "a dependent that is not being deleted blocks its owner, and itself", args: []string{"why"}, manage: func(t *testing.T, f *fakeTemporal) {
			f.manage(t, cluster, deleting(waiting(t, resource.ReasonWaitingForDependents, "it holds adx/telemetry", database)))
			f.manage(t, database, waiting(t, resource.ReasonWaitingForOwner, "adx is Deleting", cluster))
		}},
		"deletion of a group": {reason: "sixty dependents that are not being deleted are one cause", args: []string{"why"}, manage: func(t *testing.T, f *fakeTemporal) {
			var ids []string
			for i := range 60 {
				ids = append(ids, fmt.Sprintf("%s%d", account, i))
				f.manage(t, ids[i], readyStatus())
			}
			f.manage(t, group, deleting(waiting(t, resource.ReasonWaitingForDependents, "it holds 60", ids...)))
		}},
		"deletion cycle": {reason: "a resource that waits for a cycle has its cause", args: []string{"why"}, manage: func(t *testing.T, f *fakeTemporal) {
			f.manage(t, group, deleting(waiting(t, resource.ReasonWaitingForDependents, "it holds 2", vnet, account)))
			f.manage(t, account, deleting(waiting(t, resource.ReasonWaitingForDependents, "v1 needs it", vnet)))
			f.manage(t, vnet, deleting(waiting(t, resource.ReasonWaitingForDependents, "sa1 needs it", account)))
		}},
		"no worker": {reason: "lists are enough to name the root cause", args: []string{"why"}, stderr: "no worker responds on task queue armature", manage: func(t *testing.T, f *fakeTemporal) {
			manageDatabases(t, f, 3)
			f.manage(t, cluster, operating("PUT"))
			f.silent = true
		}},
		"stuck": {reason: "a failing workflow task is a cause of its own", args: []string{"why"}, stderr: "1 resource is stuck", manage: func(t *testing.T, f *fakeTemporal) {
			f.manage(t, cluster, readyStatus())
			f.change(t, cluster, func(r *backend.Record) { r.Stuck = "its workflow task fails (NonDeterministicError)" })
		}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld()
			tc.manage(t, w.temporal)
			if code := w.run(tc.args...); code != cli.ExitOK {
				t.Errorf("%s: exit code %d: %s", tc.reason, code, w.err)
			}
			golden(t, "why-many-"+strings.ReplaceAll(name, " ", "-")+".txt", w.out.String())
			if !strings.Contains(w.err.String(), tc.stderr) || tc.stderr == "" && w.err.Len() > 0 {
				t.Errorf("%s: stderr is %q, want %q", tc.reason, w.err, tc.stderr)
			}
		})
	}
}

// TestWhyCausesCost verifies that a stack of a thousand costs one list and no query, and
// that at most fifty resources are read alone.
func TestWhyCausesCost(t *testing.T) {
	w := newWorld()
	manageDatabases(t, w.temporal, 1000)
	w.temporal.manage(t, cluster, operating("PUT"))
	if code := w.run("why", "-o", "json"); code != cli.ExitOK {
		t.Fatalf("exit code %d: %s", code, w.err)
	}
	if lists, queries, reads := len(w.temporal.queries), w.temporal.asked, w.temporal.read; lists != 1 || queries > 0 || reads > backend.MaxAsked {
		t.Errorf("%d lists, %d queries and %d reads, want 1, none and at most %d", lists, queries, reads, backend.MaxAsked)
	}
	var out struct {
		Causes []struct {
			Count     int
			Cause     struct{ Name string }
			Waiting   bool
			Resources []resource.ID
		}
		Ready, Total int
	}
	if err := json.Unmarshal(w.out.Bytes(), &out); err != nil {
		t.Fatal(err)
	}
	if len(out.Causes) != 1 || out.Causes[0].Count != 1000 || len(out.Causes[0].Resources) != 1000 || out.Causes[0].Cause.Name != "adx" || !out.Causes[0].Waiting || out.Total != 1001 {
		t.Errorf("a thousand databases wait for adx, got:\n%.600s", w.out)
	}
}

// TestWhySelectorFindsCauseOutside verifies that a cause outside the selection is found,
// with one more list.
func TestWhySelectorFindsCauseOutside(t *testing.T) {
	w := newWorld()
	w.temporal.manage(t, database, waiting(t, resource.ReasonReconciliationBlocked, "the cluster adx is Updating", cluster))
	w.temporal.manage(t, cluster, operating("PUT"))
	w.temporal.selected = []string{database}
	if code := w.run("why", "-l", "stack=prod"); code != cli.ExitOK {
		t.Fatalf("exit code %d: %s", code, w.err)
	}
	if !strings.Contains(w.out.String(), "1 resource waits for kusto cluster adx: Operating since") || len(w.temporal.queries) != 2 {
		t.Errorf("%d lists:\n%s", len(w.temporal.queries), w.out)
	}
}

// TestWhyBounds verifies that a chain is one screen however wide and deep it is.
func TestWhyBounds(t *testing.T) {
	w := newWorld()
	var ids []string
	for i := range 40 {
		id := fmt.Sprintf("%s%d", account, i)
		ids = append(ids, id)
		w.temporal.manage(t, id, operating("PUT"))
	}
	w.temporal.manage(t, vnet, waiting(t, resource.ReasonReferenceNotReady, "40 references are not ready", ids...))
	if code := w.run("why", "v1"); code != cli.ExitOK {
		t.Fatalf("exit code %d: %s", code, w.err)
	}
	if w.temporal.asked > 48 || !strings.Contains(w.out.String(), "└ waits for 36 more") {
		t.Errorf("%d queries:\n%s", w.temporal.asked, w.out)
	}

	w = newWorld()
	for i := range 30 {
		w.temporal.manage(t, fmt.Sprintf("%s%d", account, i), waiting(t, resource.ReasonReferenceNotReady, "not ready", fmt.Sprintf("%s%d", account, i+1)))
	}
	if code := w.run("why", "sa10"); code != cli.ExitOK {
		t.Fatalf("exit code %d: %s", code, w.err)
	}
	if lines := strings.Count(w.out.String(), "\n"); lines > 12+2 || !strings.Contains(w.out.String(), "shown by `armature why sa112`") {
		t.Errorf("%d lines:\n%s", lines, w.out)
	}
}

func TestWhyJSON(t *testing.T) {
	w := newWorld()
	w.temporal.manage(t, database, waiting(t, resource.ReasonReconciliationBlocked, "the cluster adx is Updating", cluster))
	w.temporal.manage(t, cluster, operating("PUT"))
	if code := w.run("why", "telemetry", "-o", "json"); code != cli.ExitOK {
		t.Fatalf("exit code %d: %s", code, w.err)
	}
	golden(t, "why.json", w.out.String())
}

// TestWhyPermanentError verifies that no retry is promised for an error of Azure's that
// only a new manifest mends.
func TestWhyPermanentError(t *testing.T) {
	w := newWorld()
	w.temporal.manage(t, cluster, waiting(t, "InvalidApiVersionParameter", "the api-version 2023-02-30 is invalid"))
	w.run("why", "adx")
	if !strings.Contains(w.out.String(), "if the message names a mistake, correct the manifest and apply") || strings.Contains(w.out.String(), "retries automatically") {
		t.Errorf("the advice is\n%s", w.out)
	}
}
