package workflows

import (
	"github.com/armature-io/armature/internal/text"
	"github.com/armature-io/armature/resource"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"
)

// MaxSummaryBytes bounds the static summary: the server rejects a start
// with a summary of more than 400 bytes.
const MaxSummaryBytes = 200

// StartOptions returns the options that start the workflow of a resource. There is
// no timeout: the workflow lives as long as the resource is managed.
func StartOptions(desired resource.Desired, taskQueue string) client.StartWorkflowOptions {
	return client.StartWorkflowOptions{
		ID:                       desired.ID.WorkflowID(),
		TaskQueue:                taskQueue,
		WorkflowIDConflictPolicy: enumspb.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING,
		Memo:                     Memo(desired),
		TypedSearchAttributes:    IdentityAttributes(desired),
		StaticSummary:            text.CutBytes(desired.ID.Type()+" "+desired.ID.Short(), MaxSummaryBytes),
		StaticDetails:            staticDetails(desired),
	}
}

func staticDetails(desired resource.Desired) string {
	details := "- **ID** `" + desired.ID.String() + "`\n- **api-version** `" + desired.APIVersion + "`\n"
	if !desired.Owner.IsZero() {
		details += "- **owner** `" + desired.Owner.String() + "`\n"
	}
	return details
}
