package armsim_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/armsim"
)

const deletedGroup = "/subscriptions/11111111-1111-1111-1111-111111111111/resourceGroups/rg1/providers/"

// A deleted resource of these types holds its name until it is recovered or purged, and
// a recovery brings back what was in it.
func TestSoftDelete(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason, id, child, code, recover string
		// deletedID is where the service shows the deleted resource.
		deletedID, purgeMethod string
	}{
		"vault":             {reason: "key-vault/general/key-vault-recovery", id: "Microsoft.KeyVault/vaults/kv1", child: "secrets/s", code: "ConflictError", recover: `{"createMode":"recover"}`, deletedID: "Microsoft.KeyVault/locations/westus2/deletedVaults/kv1/purge", purgeMethod: http.MethodPost},
		"Cognitive Service": {reason: "ai-services/recover-purge-resources", id: "Microsoft.CognitiveServices/accounts/a1", child: "deployments/d", code: "FlagMustBeSetForRestore", recover: `{"restore":true}`, deletedID: "Microsoft.CognitiveServices/locations/westus2/resourceGroups/rg1/deletedAccounts/a1", purgeMethod: http.MethodDelete},
		"API Management":    {reason: "api-management/soft-delete", id: "Microsoft.ApiManagement/service/s1", child: "apis/a", code: "ServiceAlreadyExistsInSoftDeletedState", recover: `{"restore":true}`, deletedID: "Microsoft.ApiManagement/locations/westus2/deletedservices/s1", purgeMethod: http.MethodDelete},
		"App Configuration": {reason: "azure-app-configuration/concept-soft-delete", id: "Microsoft.AppConfiguration/configurationStores/c1", child: "keyValues/k", code: "NameUnavailable", recover: `{"createMode":"Recover"}`, deletedID: "Microsoft.AppConfiguration/locations/westus2/deletedConfigurationStores/c1/purge", purgeMethod: http.MethodPost},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHarness(t, armsim.Options{})
			id := deletedGroup + c.id
			shown := "/subscriptions/11111111-1111-1111-1111-111111111111/providers/" + c.deletedID
			plain := `{"location":"westus2","properties":{}}`
			h.put(id, map[string]any{"location": "westus2"})
			h.put(id+"/"+c.child, map[string]any{})
			h.Delete(id)
			if got := h.do("PUT", id+version, plain); got.status != http.StatusConflict || got.code() != c.code {
				t.Errorf("%s: a PUT of the held name returns %d %s", c.reason, got.status, got.code())
			}
			if got := h.do("GET", strings.TrimSuffix(shown, "/purge")+version, ""); got.status != http.StatusOK {
				t.Errorf("the deleted resource is not shown: %d %s", got.status, got.code())
			}
			if got := h.do("PUT", id+version, `{"location":"westus2","properties":`+c.recover+`}`); got.status >= 300 {
				t.Fatalf("recover: %d %s", got.status, got.code())
			}
			h.pass(time.Hour)
			if got := h.do("GET", id+"/"+c.child+version, ""); got.status != http.StatusOK {
				t.Errorf("what was in it did not return: %d %s", got.status, got.code())
			}
			h.Delete(id)
			if got := h.do(c.purgeMethod, shown+version, ""); got.status != http.StatusAccepted {
				t.Fatalf("purge: %d %s", got.status, got.code())
			}
			if h.Recover(id) {
				t.Error("a resource that is being purged was recovered")
			}
			h.pass(time.Minute)
			if got := h.do("PUT", id+version, plain); got.status >= 300 {
				t.Errorf("after the purge the name is free: %d %s", got.status, got.code())
			}
		})
	}
}

// The name of a deleted storage account is free at once, and a new account of that name
// ends the recovery (learn.microsoft.com/azure/storage/common/storage-account-recover).
func TestStorageRecovery(t *testing.T) {
	t.Parallel()
	h := newHarness(t, armsim.Options{})
	id := deletedGroup + "Microsoft.Storage/storageAccounts" + "/acc1"
	h.put(id, map[string]any{"location": "westus2", "sku": map[string]any{"name": "Standard_LRS"}})
	h.put(id+"/blobServices/default/containers/c", map[string]any{})
	h.Delete(id)
	if !h.Recoverable(id) || !h.Recover(id) {
		t.Fatal("a deleted account cannot be recovered")
	}
	if got := h.do("GET", id+"/blobServices/default/containers/c"+version, ""); got.status != http.StatusOK {
		t.Errorf("its container did not return: %d", got.status)
	}
	h.Delete(id)
	if got := h.do("PUT", id+version, `{"location":"westus2","sku":{"name":"Standard_LRS"},"properties":{}}`); got.status >= 300 {
		t.Fatalf("a new account of that name: %d %s", got.status, got.code())
	}
	if h.Recoverable(id) {
		t.Error("the deleted account can be recovered although a new one has its name")
	}
}

// Azure deletes a deployment script by itself.
func TestDeploymentScriptExpires(t *testing.T) {
	t.Parallel()
	h := newHarness(t, armsim.Options{})
	id := deletedGroup + "Microsoft.Resources/deploymentScripts/s1"
	h.put(deletedGroup+"Contoso.Things/things/t", map[string]any{"location": "westus2"})
	if got := h.do("PUT", id+version, `{"location":"westus2","kind":"AzureCLI","properties":{"retentionInterval":"PT1H"}}`); got.status >= 300 {
		t.Fatalf("PUT: %d %s", got.status, got.code())
	}
	h.pass(30 * time.Minute)
	if got := h.do("GET", id+version, ""); got.status != http.StatusOK {
		t.Errorf("within its retention: %d", got.status)
	}
	h.pass(time.Hour)
	if got := h.do("GET", id+version, ""); got.status != http.StatusNotFound {
		t.Errorf("after its retention: %d", got.status)
	}
}

// put stores a resource out of band.
func (h *harness) put(id string, body map[string]any) {
	h.t.Helper()
	if err := h.Put(id, body); err != nil {
		h.t.Fatal(err)
	}
}
