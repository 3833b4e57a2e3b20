package azure_test

import (
	"context"
	"testing"

	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/extensions/extensiontest"
	"github.com/armature-io/armature/internal/extensionhost"
	"github.com/armature-io/armature/resource"
)

// wrongSignature has the name of a point and not its parameters, as a check has
// that was written for another version of a type.
type wrongSignature struct{}

func (wrongSignature) PreReconcileOwnerCheck(context.Context, *resource.Object) error { return nil }

// Hazard 6: a check that is tied to a type of one api-version dies silently with
// the next one, and a check of a field that is absent panics. Checks here are
// found by ARM type and read paths.
func TestHazard06ChecksSurviveAnotherAPIVersion(t *testing.T) {
	const provider = groupID + "/providers/"
	for id, owner := range map[string]string{
		// States that the innermost check lets pass: only the type's own refuses.
		databaseID: `{"properties":{"provisioningState":"Succeeded","state":"Stopped"}}`,
		provider + "Microsoft.ContainerService/managedClusters/c/agentPools/p":       `{"properties":{"provisioningState":"UpgradingNodeImageVersion"}}`,
		provider + "Microsoft.DBforPostgreSQL/flexibleServers/s/databases/d":         `{"properties":{"state":"Stopped"}}`,
		provider + "Microsoft.DBforPostgreSQL/flexibleServers/s/firewallRules/r":     `{"properties":{"state":"Stopped"}}`,
		provider + "Microsoft.DocumentDB/cassandraClusters/c/dataCenters/d":          `{"properties":{"provisioningState":"Failed"}}`,
		provider + "microsoft.documentdb/CASSANDRACLUSTERS/c/datacenters/other-case": `{"properties":{"provisioningState":"Failed"}}`,
	} {
		for _, version := range []string{"2020-01-01", "2099-12-31-preview"} {
			check := func(observed string) resource.Verdict {
				req := extensionhost.Request{Object: object(t, id, `{}`, `{}`), Client: &extensiontest.Client{}}
				req.Object.APIVersion = version
				req.Owner = object(t, req.Object.ID.Owner().String(), ``, observed)
				req.Owner.APIVersion = version
				return builtIn(t).CheckOwner(t.Context(), req)
			}
			if got := check(owner); got.Action != resource.ActionBlock {
				t.Errorf("%s at %s: an owner that changes gives %s %s, want a Block", req(id), version, got.Action, got.Message)
			}
			for _, observed := range []string{`{}`, `{"properties":null}`, `{"properties":{"provisioningState":null,"state":7}}`} {
				if got := check(observed); got.Reason == resource.ReasonCheckFailed {
					t.Errorf("%s at %s: an owner that shows %s gives %s", req(id), version, observed, got.Message)
				}
			}
		}
	}
	if _, err := extensionhost.New(extensions.Entry{Type: "Contoso.Things/things", Link: wrongSignature{}}); err == nil {
		t.Error("a link that will never be called is taken")
	}
}

// req is the end of an ID, for messages.
func req(id string) string { return id[len(groupID):] }
