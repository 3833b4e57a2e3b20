package service_test

import (
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/armature-io/armature/internal/payload"
	"github.com/armature-io/armature/service"
	"github.com/armature-io/armature/workflows"
	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/sdk/client"
)

// TestIdleWorkerRestoresFreezes checks that a worker that has nothing to do starts the
// workflow of freezes again, and logs it.
//
//guard:freeze
func TestIdleWorkerRestoresFreezes(t *testing.T) {
	t.Parallel()
	fake := &fakeTemporal{mayRegister: true}
	temporal := listenTemporal(t, fake, "127.0.0.1:0")
	r := startWith(t, settings(newEndpoint(t)), service.Options{Temporal: &client.Options{HostPort: temporal}, FreezeInterval: 20 * time.Millisecond})
	eventually(t, "the worker is ready", func() bool { status, _ := r.get(t, "/readyz"); return status == http.StatusOK })
	memo, err := payload.DataConverter().ToPayload([]workflows.Freeze{{Selector: "stack=prod"}})
	if err != nil {
		t.Fatal(err)
	}
	terminated := &workflowpb.WorkflowExecutionInfo{
		Status: enumspb.WORKFLOW_EXECUTION_STATUS_TERMINATED, Memo: &commonpb.Memo{Fields: map[string]*commonpb.Payload{workflows.MemoFrozen: memo}},
	}
	for restarts := range 2 {
		fake.mu.Lock()
		fake.freezes = terminated
		fake.mu.Unlock()
		eventually(t, "the workflow runs again", func() bool {
			fake.mu.Lock()
			defer fake.mu.Unlock()
			return len(fake.started) == restarts+1
		})
	}
	eventually(t, "the worker logs it", func() bool { return has(r.log.String(), "was started again") })
	fake.mu.Lock()
	defer fake.mu.Unlock()
	for _, started := range fake.started {
		var frozen []workflows.Freeze
		if err := payload.DataConverter().FromPayload(started.GetMemo().GetFields()[workflows.MemoFrozen], &frozen); err != nil || !slices.ContainsFunc(frozen, func(f workflows.Freeze) bool { return f.Selector == "stack=prod" }) {
			t.Errorf("started with %+v, %v", frozen, err)
		}
	}
}
