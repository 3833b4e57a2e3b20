package starter

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/starter/internal/backend"
	"github.com/armature-io/armature/starter/internal/cli"
	"github.com/armature-io/armature/starter/internal/rollout"
	"github.com/armature-io/armature/workflows"
)

const (
	vnet     = group + "/providers/Microsoft.Network/virtualNetworks/v1"
	endpoint = group + "/providers/Microsoft.Network/privateEndpoints/pe1"
	account  = group + "/providers/Microsoft.Storage/storageAccounts/sa1"
)

// waiting returns the status of a resource blocked by others since two minutes.
func waiting(t *testing.T, reason resource.Reason, message string, on ...string) workflows.Status {
	t.Helper()
	s := readyStatus()
	s.Phase, s.NextTry = workflows.PhaseBlocked, noon().Add(20*time.Second)
	s.Condition = resource.Condition{
		Severity: resource.SeverityWarning, Reason: reason, Message: message, ObservedGeneration: 1, LastTransitionTime: noon().Add(-2 * time.Minute),
	}
	for _, id := range on {
		s.WaitingFor = append(s.WaitingFor, mustID(t, id))
	}
	s.WaitingSince = s.Condition.LastTransitionTime
	return s
}

// operating returns the status of an operation in progress since ten minutes.
func operating(method string) workflows.Status {
	s := readyStatus()
	s.Phase, s.Operation, s.OperationSince = workflows.PhaseOperating, method, noon().Add(-10*time.Minute)
	s.Condition = resource.Condition{Reason: resource.ReasonReconciling, Severity: resource.SeverityInfo, Message: "ARM accepted the PUT"}
	s.NextTry = time.Time{}
	return s
}

// deleting returns a status with a deletion in progress.
func deleting(s workflows.Status) workflows.Status {
	s.Deleting, s.Abortable, s.Phase = true, true, workflows.PhaseDeleting
	return s
}

func paused(s workflows.Status) workflows.Status {
	s.Paused, s.Phase = true, workflows.PhasePaused
	return s
}

// change changes the record of one workflow.
func (f *fakeTemporal) change(t *testing.T, id string, change func(r *backend.Record)) {
	t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	for i := range f.records {
		if f.records[i].ID.Equal(mustID(t, id)) {
			change(&f.records[i])
		}
	}
}

func TestWhy(t *testing.T) {
	const updating = "the cluster adx is Updating; a database can be changed when it is Running"
	busy := func(t *testing.T) workflows.Status {
		return waiting(t, resource.ReasonReconciliationBlocked, updating, cluster)
	}
	cases := map[string]struct {
		reason string
		manage func(t *testing.T, f *fakeTemporal)
		name   string
		code   int
	}{
		"ready": {reason: "nothing is blocked", name: cluster, manage: func(t *testing.T, f *fakeTemporal) {
			f.manage(t, cluster, readyStatus())
		}},
		"operating": {reason: "the chain ends at an operation, with its next poll", name: "telemetry", manage: func(t *testing.T, f *fakeTemporal) {
			f.manage(t, database, busy(t))
			f.manage(t, cluster, operating("PUT"))
			f.change(t, cluster, func(r *backend.Record) { r.NextAttempt = noon().Add(15 * time.Second) })
		}},
		"deep": {reason: "three links down to a group that was never applied", name: "telemetry", manage: func(t *testing.T, f *fakeTemporal) {
			f.manage(t, database, waiting(t, resource.ReasonWaitingForOwner, "owner adx does not exist", cluster))
			f.manage(t, cluster, waiting(t, resource.ReasonWaitingForOwner, "owner rg1 does not exist", group))
		}},
		"held by others": {reason: "the owner is Ready here; another tool changes it", name: "telemetry", manage: func(t *testing.T, f *fakeTemporal) {
			f.manage(t, database, busy(t))
			f.manage(t, cluster, readyStatus())
		}},
		"not managed": {reason: "a reference that is not managed is not ready", name: "sa1", manage: func(t *testing.T, f *fakeTemporal) {
			f.manage(t, account, waiting(t, resource.ReasonReferenceNotReady, "v1 is Updating", vnet))
		}},
		"branches": {reason: "several causes, and one reached twice", name: "sa1", manage: func(t *testing.T, f *fakeTemporal) {
			f.manage(t, account, waiting(t, resource.ReasonReferenceNotReady, "2 references are not ready", cluster, database, vnet))
			f.manage(t, database, busy(t))
			f.manage(t, cluster, operating("PUT"))
			f.manage(t, vnet, paused(waiting(t, resource.ReasonThrottled, "429")))
		}},
		"cycle": {reason: "two that wait for each other", name: "sa1", manage: func(t *testing.T, f *fakeTemporal) {
			f.manage(t, account, waiting(t, resource.ReasonReferenceNotReady, "v1 does not exist", vnet))
			f.manage(t, vnet, waiting(t, resource.ReasonReferenceNotReady, "sa1 does not exist", account))
		}},
		"self": {reason: "a resource that names itself", name: "sa1", manage: func(t *testing.T, f *fakeTemporal) {
			f.manage(t, account, waiting(t, resource.ReasonReferenceNotFound, "sa1 does not exist", account))
		}},
		"paused": {reason: "a pause comes before what it waits for", name: "telemetry", manage: func(t *testing.T, f *fakeTemporal) {
			f.manage(t, database, busy(t))
			f.manage(t, cluster, paused(waiting(t, resource.ReasonWaitingForOwner, "rg1 is absent", group)))
		}},
		"failed": {reason: "it is not retried by itself", name: "telemetry", manage: func(t *testing.T, f *fakeTemporal) {
			f.manage(t, database, busy(t))
			s := waiting(t, "SkuNotAvailable", "the SKU is not available in westus2")
			s.Phase, s.Condition.Severity, s.NextTry = workflows.PhaseFailed, resource.SeverityError, time.Time{}
			f.manage(t, cluster, s)
		}},
		"throttled": {reason: "the next try is what Azure asked for", name: "sa1", manage: func(t *testing.T, f *fakeTemporal) {
			s := waiting(t, resource.ReasonThrottled, "429 TooManyRequests: try again after 17s")
			s.NextTry = noon().Add(17 * time.Second)
			f.manage(t, account, s)
		}},
		"approval": {reason: "a connection that a user must approve", name: "pe1", manage: func(t *testing.T, f *fakeTemporal) {
			s := waiting(t, resource.ReasonPostReconciliationFailure, "the connection to sa1 is Pending: its owner must approve it")
			s.Phase, s.Overdue, s.NotReadySince = workflows.PhaseNotReady, true, noon().Add(-5*time.Hour)
			f.manage(t, endpoint, s)
		}},
		"sibling": {reason: "the sibling that has the turn", name: "v1/b", manage: func(t *testing.T, f *fakeTemporal) {
			f.manage(t, vnet+"/subnets/b", waiting(t, resource.ReasonWaitingForSibling, "one subnet at a time", vnet+"/subnets/a"))
			f.manage(t, vnet+"/subnets/a", operating("PUT"))
		}},
		"frozen": {reason: "nothing is written while frozen", name: "sa1", manage: func(t *testing.T, f *fakeTemporal) {
			f.manage(t, account, waiting(t, "Frozen", "writes are frozen by ana@laptop"))
			f.freezes = []workflows.Freeze{{Selector: "team=other"}, {Selector: "stack=prod"}}
		}},
		"frozen twice": {reason: "every freeze of the resource, each with its selector", name: "sa1", manage: func(t *testing.T, f *fakeTemporal) {
			f.manage(t, account, waiting(t, "Frozen", "writes are frozen by ana@laptop"))
			f.freezes = []workflows.Freeze{{}, {Selector: "stack=prod"}}
		}},
		"deletion": {reason: "an owner waits for a dependent that is not being deleted and waits for the owner", name: "adx", manage: func(t *testing.T, f *fakeTemporal) {
			f.manage(t, cluster, deleting(waiting(t, resource.ReasonWaitingForDependents, "it holds adx/telemetry", database)))
			f.manage(t, database, busy(t))
		}},
		"deletion of all": {reason: "the dependent is being deleted itself", name: "adx", manage: func(t *testing.T, f *fakeTemporal) {
			f.manage(t, cluster, deleting(waiting(t, resource.ReasonWaitingForDependents, "it holds adx/telemetry", database)))
			f.manage(t, database, deleting(operating("DELETE")))
		}},
		"deletion of a group": {reason: "dependents that are not being deleted are one cause, shown by the first", name: "rg1", manage: func(t *testing.T, f *fakeTemporal) {
			f.manage(t, group, deleting(waiting(t, resource.ReasonWaitingForDependents, "it holds 3", vnet, account, cluster)))
			f.manage(t, vnet, paused(readyStatus()))
			f.manage(t, account, readyStatus())
			f.manage(t, cluster, deleting(operating("DELETE")))
		}},
		"deletion goes on": {reason: "an unmanaged dependent does not block a deletion for long", name: "adx", manage: func(t *testing.T, f *fakeTemporal) {
			f.manage(t, cluster, deleting(waiting(t, resource.ReasonWaitingForDependents, "it holds adx/telemetry", database)))
			f.manage(t, database, readyStatus())
			f.change(t, database, func(r *backend.Record) { r.Running, r.Ended, r.EndedAt = false, "Terminated", noon().Add(-time.Hour) })
		}},
		"deletion cycle": {reason: "an apply would be refused", name: "sa1", manage: func(t *testing.T, f *fakeTemporal) {
			f.manage(t, account, deleting(waiting(t, resource.ReasonWaitingForDependents, "v1 needs it", vnet)))
			f.manage(t, vnet, deleting(waiting(t, resource.ReasonWaitingForDependents, "sa1 needs it", account)))
		}},
		"protected": {reason: "a protected resource blocks the deletion of its owner", name: "adx", manage: func(t *testing.T, f *fakeTemporal) {
			f.manage(t, cluster, deleting(waiting(t, resource.ReasonContainsProtected, "it would take adx/telemetry along", database)))
			f.manage(t, database, readyStatus())
		}},
		"owner deletes": {reason: "an owner that is being deleted", name: "telemetry", manage: func(t *testing.T, f *fakeTemporal) {
			f.manage(t, database, waiting(t, resource.ReasonWaitingForOwner, "adx is Deleting", cluster))
			f.manage(t, cluster, deleting(waiting(t, resource.ReasonWaitingForDependents, "it holds adx/telemetry", database)))
		}},
		"goes with its owner": {reason: "ARM deletes it only with its owner", name: "telemetry", manage: func(t *testing.T, f *fakeTemporal) {
			f.manage(t, database, deleting(waiting(t, resource.ReasonWaitingForOwnerDelete, "it cannot be deleted alone", cluster)))
			f.manage(t, cluster, deleting(operating("DELETE")))
		}},
		"terminated": {reason: "the workflow of the owner was terminated", name: "telemetry", manage: func(t *testing.T, f *fakeTemporal) {
			f.manage(t, database, busy(t))
			f.manage(t, cluster, readyStatus())
			f.change(t, cluster, func(r *backend.Record) { r.Running, r.Ended, r.EndedAt = false, "Terminated", noon().Add(-time.Hour) })
		}},
		"deleted": {reason: "the owner was deleted", name: "telemetry", manage: func(t *testing.T, f *fakeTemporal) {
			f.manage(t, database, waiting(t, resource.ReasonWaitingForOwner, "owner adx does not exist", cluster))
			f.manage(t, cluster, readyStatus())
			f.change(t, cluster, func(r *backend.Record) {
				r.Running, r.Ended, r.EndedAt = false, "Completed", noon().Add(-time.Hour)
				r.Final = &workflows.Status{ID: r.ID, Deleted: true, Phase: workflows.PhaseDeleting, Condition: resource.Condition{Reason: resource.ReasonDeleted}}
			})
		}},
		"no worker": {reason: "search attributes show the chain; the worker to start is named", name: "telemetry", manage: func(t *testing.T, f *fakeTemporal) {
			f.manage(t, database, busy(t))
			f.manage(t, cluster, waiting(t, resource.ReasonReferenceNotReady, "v1 is Updating", vnet))
			f.manage(t, vnet, operating("PUT"))
			f.silent = true
			f.change(t, vnet, func(r *backend.Record) { r.TaskQueue = "q7" })
		}},
		"no worker paused": {reason: "search attributes include a pause", name: "telemetry", manage: func(t *testing.T, f *fakeTemporal) {
			f.manage(t, database, busy(t))
			f.manage(t, cluster, paused(waiting(t, resource.ReasonWaitingForOwner, "rg1 is absent", group)))
			f.silent = true
		}},
		"stuck": {reason: "a worker that fails is no worker that is missing", name: "telemetry", manage: func(t *testing.T, f *fakeTemporal) {
			f.manage(t, database, busy(t))
			f.manage(t, cluster, operating("PUT"))
			f.change(t, cluster, func(r *backend.Record) {
				r.TaskQueue, r.Stuck = "armature", "its workflow task fails (NonDeterministicError, attempt 7)"
			})
		}},
		"never applied": {reason: "an unmanaged ID has a chain too", name: cluster, code: cli.ExitFailed, manage: func(*testing.T, *fakeTemporal) {}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld()
			tc.manage(t, w.temporal)
			if code := w.run("why", tc.name); code != tc.code {
				t.Errorf("%s: exit code %d, want %d: %s", tc.reason, code, tc.code, w.err)
			}
			golden(t, "why-"+strings.ReplaceAll(name, " ", "-")+".txt", w.out.String())
		})
	}
}

// TestWhyOwned checks that the values of other owners are named, also if nothing blocks.
func TestWhyOwned(t *testing.T) {
	w := newWorld()
	status := readyStatus()
	status.Owned = []string{"sku.capacity belongs to autoscale setting a1"}
	w.temporal.manage(t, cluster, status)
	if code := w.run("why", cluster); code != cli.ExitOK {
		t.Fatalf("exit code %d: %s", code, w.err)
	}
	if !strings.Contains(w.out.String(), "\nkept: sku.capacity belongs to autoscale setting a1\n") {
		t.Errorf("the owner is missing:\n%s", w.out)
	}
}

// strandedVersions is a deployment whose only worker is of v2.
type strandedVersions struct{ rollout.Connection }

func (strandedVersions) Pollers(context.Context) ([]backend.Poller, error) {
	return []backend.Poller{
		{Deployment: "armature", BuildID: "v1", Last: noon().Add(-time.Hour)}, {Deployment: "armature", BuildID: "v2", Last: noon()},
	}, nil
}

func (strandedVersions) Deployment(context.Context, string) (backend.Deployment, error) {
	return backend.Deployment{Name: "armature", Current: "v2", Versions: []backend.DeploymentVersion{
		{BuildID: "v2", Status: backend.VersionCurrent}, {BuildID: "v1", Status: backend.VersionDraining},
	}}, nil
}

func (strandedVersions) CountVersion(_ context.Context, q backend.VersionQuery) (int, error) {
	if q.BuildID == "v1" && !q.Others {
		return 3, nil
	}
	return 0, nil
}

// TestWhyStranded verifies that why says the same as rollout status about a resource on a
// version without workers.
func TestWhyStranded(t *testing.T) {
	w := sampleWorld(t)
	w.temporal.silent = true
	for i := range w.temporal.records {
		w.temporal.records[i].BuildID, w.temporal.records[i].TaskQueue = "v1", "armature"
	}
	connect := w.connect
	w.connect = func(ctx context.Context, o backend.Options) (*connection, error) {
		c, err := connect(ctx, o)
		c.versions = strandedVersions{}
		return c, err
	}
	w.run("why", "adx")
	if out := w.out.String(); !strings.Contains(out, "3 resources are stranded on version v1") || !strings.Contains(out, "`armature rollout rescue v1`") {
		t.Errorf("why prints %s", out)
	}
}
