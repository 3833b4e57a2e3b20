package workflows_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.temporal.io/sdk/temporal"

	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/workflows"
)

// TestStartOptions checks what lists show of a workflow before its first task.
func TestStartOptions(t *testing.T) {
	t.Parallel()
	labeled := desired()
	labeled.Labels = map[string]string{"stack": "prod"}
	key := temporal.NewSearchAttributeKeyKeyword
	list := temporal.NewSearchAttributeKeyKeywordList
	const subscription = "11111111-2222-3333-4444-555555555555"
	for name, c := range map[string]struct {
		reason  string
		spec    resource.Desired
		want    []temporal.SearchAttributeUpdate
		details string
	}{
		"in a group": {
			reason: "owner, labels and place are known", spec: labeled,
			want: []temporal.SearchAttributeUpdate{
				key("ArmType").ValueSet("Microsoft.Kusto/clusters"), key("ArmName").ValueSet("c1"), key("ReconcilePhase").ValueSet("Pending"),
				key("ArmSubscription").ValueSet(subscription), key("ArmResourceGroup").ValueSet("rg1"), key("ArmOwner").ValueSet(labeled.Owner.WorkflowID()),
				list("ReconcileNeeds").ValueSet([]string{workflows.WaitingKey(labeled.Owner)}), list("ReconcileLabels").ValueSet([]string{"stack=prod"}),
			},
			details: "- **ID** `" + labeled.ID.String() + "`\n- **api-version** `2023-08-15`\n- **owner** `" + group + "`\n",
		},
		"of the tenant": {
			reason: "what it does not have is absent", spec: resource.Desired{ID: mustID("/providers/Microsoft.Management/managementGroups/M1"), APIVersion: "2021-04-01"},
			want: []temporal.SearchAttributeUpdate{
				key("ArmType").ValueSet("Microsoft.Management/managementGroups"), key("ArmName").ValueSet("m1"), key("ReconcilePhase").ValueSet("Pending"),
			},
			details: "- **ID** `/providers/Microsoft.Management/managementGroups/M1`\n- **api-version** `2021-04-01`\n",
		},
	} {
		got := workflows.StartOptions(c.spec, "q")
		if diff := cmp.Diff(temporal.NewSearchAttributes(c.want...).GetUntypedValues(), got.TypedSearchAttributes.GetUntypedValues()); diff != "" {
			t.Errorf("%s: %s (-want +got):\n%s", name, c.reason, diff)
		}
		if got.StaticDetails != c.details {
			t.Errorf("%s: details\n%s", name, got.StaticDetails)
		}
	}
}
