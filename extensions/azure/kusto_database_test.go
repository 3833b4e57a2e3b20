package azure_test

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/armature-io/armature/extensions/extensiontest"
	"github.com/armature-io/armature/internal/extensionhost"
	"github.com/armature-io/armature/resource"
)

func TestKustoDatabaseOwnerCheck(t *testing.T) {
	type test struct {
		reason  string
		owner   string // observed body of the cluster
		none    bool   // no owner at all
		ownerID string
		want    resource.Action
		message string
	}
	cases := map[string]test{
		"nil owner":     {reason: "a nil owner must not panic", none: true, want: resource.ActionProceed},
		"other type":    {reason: "only clusters have these states", ownerID: storageID, owner: `{"properties":{"state":"Stopped"}}`, want: resource.ActionProceed},
		"absent state":  {reason: "ARM defines an absent state as Succeeded", owner: `{"properties":{}}`, want: resource.ActionProceed},
		"no properties": {reason: "an empty body does not block", owner: `{}`, want: resource.ActionProceed},
		"null state":    {reason: "null is absent", owner: `{"properties":{"provisioningState":null,"state":null}}`, want: resource.ActionProceed},
		"odd state":     {reason: "a state that is not a string is ignored", owner: `{"properties":{"provisioningState":7,"state":[]}}`, want: resource.ActionProceed},
		"absent owner":  {reason: "without a cluster there is no database", owner: ``, want: resource.ActionBlock, message: `Owner "c1" (Microsoft.Kusto/clusters) does not exist in Azure`},
		"stopped": {
			reason: "the last operation succeeded, but the cluster is off",
			owner:  `{"properties":{"provisioningState":"Succeeded","state":"Stopped"}}`,
			want:   resource.ActionBlock, message: `Owning cluster is in state "Stopped"`,
		},
	}
	for _, word := range []string{"Creating", "Updating", "Deleting", "Moving", "Stopped", "Stopping", "Starting", "uPdAtInG"} {
		cases["provisioning state "+word] = test{
			reason: "the cluster refuses even a GET of its databases", owner: `{"properties":{"provisioningState":"` + word + `"}}`,
			want: resource.ActionBlock, message: `Owning cluster is in provisioning state "` + word + `"`,
		}
	}
	for _, word := range []string{"Stopped", "Stopping", "Starting", "STOPPED", "Updating"} {
		cases["state "+word] = test{
			reason: "a cluster that does not run has no databases", owner: `{"properties":{"state":"` + word + `"}}`,
			want: resource.ActionBlock, message: `Owning cluster is in state "` + word + `"`,
		}
	}
	for _, word := range []string{"Running", "Succeeded", "succeeded", "Failed", "Canceled", "SomethingNew"} {
		cases["passing "+word] = test{
			reason: "stable, broken and unknown states pass",
			owner:  `{"properties":{"provisioningState":"` + word + `","state":"` + word + `"}}`, want: resource.ActionProceed,
		}
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			client := &extensiontest.Client{}
			ownerID := clusterID
			if c.ownerID != "" {
				ownerID = c.ownerID
			}
			owner := object(t, ownerID, "", c.owner)
			if c.none {
				owner = nil
			}
			before := object(t, ownerID, "", c.owner)
			verdict := builtIn(t).CheckOwner(t.Context(), extensionhost.Request{
				Object: object(t, databaseID, `{}`, ""), Owner: owner, Client: client,
			})
			if verdict.Action != c.want || c.message != "" && verdict.Message != c.message {
				t.Errorf("%s: got %s %q, want %s %q", c.reason, verdict.Action, verdict.Message, c.want, c.message)
			}
			if c.want == resource.ActionBlock && (len(verdict.WaitingFor) != 1 || !verdict.WaitingFor[0].Equal(owner.ID)) {
				t.Errorf("%s: waits for %v, want the owner", c.reason, verdict.WaitingFor)
			}
			if len(client.Calls()) != 0 {
				t.Errorf("the check made the requests %v, want none", client.Calls())
			}
			if owner != nil && !cmp.Equal(before.Observed, owner.Observed) {
				t.Error("the check changed the owner")
			}
		})
	}
}

func TestKustoBlockVerdict(t *testing.T) {
	var out bytes.Buffer
	owner := object(t, clusterID, "", `{"properties":{"provisioningState":"Updating"}}`)
	owner.Freshness = "read 12s ago"
	verdict := builtIn(t).CheckOwner(t.Context(), extensionhost.Request{
		Object: object(t, databaseID, `{}`, ""), Owner: owner, Log: slog.New(slog.NewTextHandler(&out, nil)),
	})
	want := resource.Verdict{
		Action: resource.ActionBlock, Reason: resource.ReasonReconciliationBlocked, Severity: resource.SeverityWarning,
		Class: resource.RetrySlow, Message: `Owning cluster is in provisioning state "Updating"`, Freshness: "read 12s ago",
		WaitingFor: []resource.ID{owner.ID}, Origin: verdict.Origin,
	}
	if !strings.HasPrefix(verdict.Origin, "azure.") || !strings.HasSuffix(verdict.Origin, ".PreReconcileOwnerCheck") {
		t.Errorf("origin %q, want the type in package azure and the point", verdict.Origin)
	}
	if diff := cmp.Diff(want, verdict); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if !strings.Contains(out.String(), "level=INFO") || !strings.Contains(out.String(), "Owning cluster") {
		t.Errorf("a block is logged at info, got %q", out.String())
	}
}
