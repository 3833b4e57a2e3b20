package azure_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/armature-io/armature/extensions/extensiontest"
	"github.com/armature-io/armature/internal/extensionhost"
	"github.com/armature-io/armature/resource"
)

func TestKustoClusterPreCheck(t *testing.T) {
	const desired = `{"sku":{"name":"A"}}`
	const synced, differing = `"sku":{"name":"A"}`, `"sku":{"name":"B"}`
	cases := map[string]struct {
		reason   string
		observed string
		force    bool
		want     resource.Action
		message  string
	}{
		"absent":           {reason: "an absent cluster is created", want: resource.ActionProceed},
		"running, synced":  {reason: "Running is stable", observed: `{` + synced + `,"properties":{"provisioningState":"Running","state":"Running"}}`, want: resource.ActionSkip},
		"running, differs": {reason: "a running cluster accepts a PUT", observed: `{` + differing + `,"properties":{"provisioningState":"Running"}}`, want: resource.ActionProceed},
		"no state":         {reason: "absent means Succeeded", observed: `{` + synced + `}`, want: resource.ActionSkip},
		"null state":       {reason: "null means absent", observed: `{` + synced + `,"properties":{"provisioningState":null,"state":null}}`, want: resource.ActionSkip},
		"updating":         {reason: "an operation is not disturbed", observed: `{` + synced + `,"properties":{"provisioningState":"Updating"}}`, want: resource.ActionBlock, message: `Cluster is in provisioning state "Updating"`},
		"moving":           {reason: "nor is a move", observed: `{` + synced + `,"properties":{"provisioningState":"moving"}}`, want: resource.ActionBlock, message: `Cluster is in provisioning state "moving"`},
		"starting":         {reason: "nor a start", observed: `{` + synced + `,"properties":{"provisioningState":"Succeeded","state":"Starting"}}`, want: resource.ActionBlock, message: `Cluster is in state "Starting"`},
		"stopped, differs": {reason: "a stopped cluster accepts no PUT", observed: `{` + differing + `,"properties":{"state":"Stopped"}}`, want: resource.ActionBlock, message: `Cluster is in state "Stopped"`},
		"stopped, synced":  {reason: "a stopped cluster that needs no PUT is fine", observed: `{` + synced + `,"properties":{"state":"Stopped"}}`, want: resource.ActionSkip},
		"failed":           {reason: "only a PUT repairs a failed cluster", observed: `{` + synced + `,"properties":{"provisioningState":"Failed"}}`, want: resource.ActionProceed},
		"forced":           {reason: "a forced pass ignores the guard", observed: `{` + differing + `,"properties":{"provisioningState":"Updating"}}`, force: true, want: resource.ActionProceed},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			client := &extensiontest.Client{}
			obj := object(t, clusterID, desired, c.observed)
			verdict := builtIn(t).PreCheck(t.Context(), extensionhost.Request{Object: obj, Client: client, Force: c.force})
			if verdict.Action != c.want || !strings.HasPrefix(verdict.Message, c.message) {
				t.Errorf("%s: got %s %q, want %s %q", c.reason, verdict.Action, verdict.Message, c.want, c.message)
			}
			if len(client.Calls()) != 0 {
				t.Errorf("the check made the requests %v, want none", client.Calls())
			}
			if diff := cmp.Diff(object(t, clusterID, desired, c.observed).Observed, obj.Observed); diff != "" {
				t.Errorf("the check changed the resource: %s", diff)
			}
		})
	}
}

func TestChildren(t *testing.T) {
	r := builtIn(t)
	if diff := cmp.Diff([]string{"databases"}, r.Children("microsoft.kusto/CLUSTERS")); diff != "" {
		t.Error(diff)
	}
	if got := r.Children("Microsoft.Storage/storageAccounts"); len(got) != 0 {
		t.Errorf("got %v, want none", got)
	}
}
