package writing

import (
	"context"
	"time"

	"github.com/armature-io/armature/resource"
)

// Attempt identifies an attempt of an activity to the server.
type Attempt struct {
	WorkflowID, RunID string
	// Resource is what the write is for: no other workflow than its own may write it.
	Resource resource.ID
	// TaskToken is nil for a local activity.
	TaskToken []byte
	// TaskStarted is when the workflow task began that runs a local activity, zero where no
	// task has to be current.
	TaskStarted time.Time
	// Progress is sent as the details of the heartbeat.
	Progress any
}

// Standing is what the server reports of an attempt and its workflow.
type Standing struct {
	// Over explains why the attempt may not write any more, "" while it may.
	Over string
	// Generation is the newest one that was applied while a write was in progress; 0
	// where none was.
	Generation int64
}

// Attempts confirms attempts with the server.
type Attempts interface {
	// Confirm sends a heartbeat and waits for the response: after it, the server starts
	// no other attempt for the heartbeat timeout.
	Confirm(ctx context.Context, attempt Attempt) (Standing, error)
}
