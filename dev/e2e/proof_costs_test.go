package e2e

import (
	"slices"
	"testing"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"

	"github.com/armature-io/armature/dev/internal/harness"
	"github.com/armature-io/armature/dev/internal/histories"
	"github.com/armature-io/armature/internal/payload"
	"github.com/armature-io/armature/internal/testonly/issuer"
	"github.com/armature-io/armature/workflows"
)

// maxProofBytes is how many bytes signatures, tokens and encryption may add to the history of two
// applies of small bodies: each payload names its key and its place.
const maxProofBytes = 19_500

// TestProofCosts applies a resource and a change of it without and with proofs. Proofs cost no
// event and no action that Temporal Cloud bills, and bounded bytes.
func TestProofCosts(t *testing.T) {
	t.Parallel()
	key, public := newKey(t)
	people := issuer.Start(t)
	encryption := keyEnv("a", "a")
	base := applyTwice(t, nil, nil, nil)
	for name, with := range map[string]struct {
		keys        *payload.Converters
		worker, cli []string
	}{
		"signatures": {nil, []string{"ARMATURE_SIGNING_PUBLIC_KEYS=" + public}, []string{"ARMATURE_SIGNING_KEY=" + key}},
		"all": {
			bothKeys(t), append(slices.Clone(encryption), "ARMATURE_SIGNING_PUBLIC_KEYS="+public, "ARMATURE_CALLERS_ISSUERS="+people.URL+"=app"),
			append(slices.Clone(encryption), "ARMATURE_SIGNING_KEY="+key, "ARMATURE_TOKEN="+people.Token("app", "ann", nil)),
		},
	} {
		events := applyTwice(t, with.keys, with.worker, with.cli)
		added := histories.Bytes(events) - histories.Bytes(base)
		t.Logf("%s: %d events, %d actions, %d bytes more than %d", name, len(events), actions(events), added, histories.Bytes(base))
		if len(events) != len(base) || actions(events) != actions(base) || added > maxProofBytes {
			t.Errorf("%s: %d events, %d actions, %d bytes more; want %d, %d, at most %d", name, len(events), actions(events), added, len(base), actions(base), maxProofBytes)
		}
	}
}

// applyTwice returns the history of a resource that was applied and changed.
func applyTwice(t *testing.T, keys *payload.Converters, worker, cli []string) []*historypb.HistoryEvent {
	t.Helper()
	w := harness.New(t, binaries, harness.Options{Converters: keys})
	w.StartWorker(harness.WorkerOptions{Env: worker})
	w.Env = append(w.Env, cli...)
	s := scenarios{w}
	s.putGroup("proofs")
	r := thing{group: "proofs", name: "proven", interval: "24h"}
	for i, size := range []string{"small", "large"} {
		w.MustCLI("apply", "-f", w.Write("proven.yaml", r.manifest(size)))
		w.UntilStatus(60*time.Second, r.id(), "is in sync", func(status workflows.Status) bool {
			return status.Condition.ObservedGeneration == int64(i+1) && status.Phase == workflows.PhaseReady
		})
		w.UntilWoken(r.id())
	}
	return w.History(r.id()).GetEvents()
}

// actions counts what Temporal Cloud bills: the local activities of a workflow task are one.
func actions(events []*historypb.HistoryEvent) int {
	count, local := 0, map[int64]bool{}
	for _, event := range events {
		switch event.GetEventType() {
		case enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_STARTED, enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_UPDATE_ACCEPTED,
			enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED, enumspb.EVENT_TYPE_TIMER_STARTED, enumspb.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED,
			enumspb.EVENT_TYPE_UPSERT_WORKFLOW_SEARCH_ATTRIBUTES, enumspb.EVENT_TYPE_WORKFLOW_PROPERTIES_MODIFIED:
			count++
		case enumspb.EVENT_TYPE_MARKER_RECORDED:
			if task := event.GetMarkerRecordedEventAttributes().GetWorkflowTaskCompletedEventId(); !local[task] {
				local[task] = true
				count++
			}
		}
	}
	return count
}
