package armsim_test

import (
	"testing"
	"time"

	"github.com/armature-io/armature/armsim"
)

const (
	storageRP = group + "/providers/Microsoft.Storage/storageAccounts/"
	account   = storageRP + "account1"
)

func TestStorageCreation(t *testing.T) {
	h := newHarness(t, armsim.Options{})
	h.makeGroup()
	put := h.do("PUT", account+version, located)
	h.want(put, 202, "")
	if put.raw != "" || put.header.Get("Location") == "" || put.header.Get("Azure-AsyncOperation") != "" {
		t.Errorf("a create returns %q %v, want Location alone and no body", put.raw, put.header)
	}
	for _, state := range []string{"Creating", "ResolvingDNS", "Succeeded"} {
		h.wantAt(h.do("GET", account+version, ""), "properties.provisioningState", state)
		h.pass(10 * time.Second)
	}
	h.want(h.do("PUT", account+version, located), 200, "")
	h.wantAt(h.do("GET", account+version, ""), "properties.statusOfPrimary", "available")
}

func TestStorageName(t *testing.T) {
	const elsewhere = "/subscriptions/22222222-2222-3333-4444-555555555555/resourceGroups/rg1"
	for name, c := range map[string]struct {
		id, code string
		status   int
	}{
		"short":              {storageRP + "ab", "AccountNameInvalid", 400},
		"hyphen":             {storageRP + "my-account", "AccountNameInvalid", 400},
		"upper case":         {storageRP + "Account", "AccountNameInvalid", 400},
		"another group":      {root + "/resourceGroups/rg2/providers/Microsoft.Storage/storageAccounts/account1", "StorageAccountInAnotherResourceGroup", 409},
		"another one's name": {elsewhere + "/providers/Microsoft.Storage/storageAccounts/account1", "StorageAccountAlreadyTaken", 409},
		"free":               {storageRP + "account2", "", 202},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHarness(t, armsim.Options{})
			for _, id := range []string{account, root + "/resourceGroups/rg2", elsewhere} {
				if err := h.Put(id, map[string]any{"location": "westus2"}); err != nil {
					t.Fatal(err)
				}
			}
			h.want(h.do("PUT", c.id+version, located), c.status, c.code)
		})
	}
}

func TestStorageFailover(t *testing.T) {
	h := newHarness(t, armsim.Options{})
	h.makeGroup()
	h.do("PUT", account+version, `{"location":"westus2","sku":{"name":"Standard_LRS"}}`)
	h.pass(time.Hour)
	h.want(h.do("POST", account+"/failover"+version, ""), 409, "OperationNotAllowedOnAccountType")
	h.want(h.do("PUT", account+version, `{"location":"westus2","sku":{"name":"Standard_GRS"}}`), 200, "")
	h.wantAt(h.do("GET", account+version, ""), "properties.secondaryLocation", "westcentralus")
	h.want(h.do("POST", account+"/failover"+version, ""), 202, "")
	going := h.do("GET", account+version, "")
	h.wantAt(going, "properties.failoverInProgress", true)
	h.wantAt(going, "properties.statusOfPrimary", "unavailable")
	h.pass(time.Hour)
	after := h.do("GET", account+version, "")
	h.wantAt(after, "properties.primaryLocation", "westcentralus")
	h.wantAt(after, "properties.failoverInProgress", nil)
	h.wantAt(after, "sku.name", "Standard_LRS")
}

// TestStoppedServer checks that nothing below a stopped database server changes, and
// that a server is stopped or started only once.
func TestStoppedServer(t *testing.T) {
	h := newHarness(t, armsim.Options{})
	h.makeGroup()
	database := postgres + "/databases/d"
	h.do("PUT", postgres+version, located)
	h.pass(time.Hour)
	h.do("PUT", database+version, `{}`)
	h.pass(time.Hour)
	h.want(h.do("POST", postgres+"/start"+version, ""), 400, "ServerIsNotReady")
	h.want(h.do("POST", postgres+"/stop"+version, ""), 202, "")
	h.pass(time.Hour)
	for _, method := range []string{"PUT", "DELETE"} {
		h.want(h.do(method, database+version, `{}`), 400, "ServerStoppedError")
	}
	h.want(h.do("POST", postgres+"/restart"+version, ""), 400, "ServerIsNotReady")
	h.want(h.do("POST", postgres+"/start"+version, ""), 202, "")
	h.pass(time.Hour)
	h.want(h.do("PUT", database+version, `{}`), 202, "")
}

// TestManualApproval checks that a manual connection is approved after the configured
// time.
func TestManualApproval(t *testing.T) {
	h := newHarness(t, armsim.Options{ManualApproval: 10 * time.Minute})
	h.makeGroup()
	endpoint := networkRP + "privateEndpoints/m"
	h.want(h.do("PUT", endpoint+version, `{"location":"westus2","properties":{"manualPrivateLinkServiceConnections":[{"name":"c"}]}}`), 201, "")
	want := func(state string) {
		t.Helper()
		list := h.do("GET", endpoint+version, "").at("properties.manualPrivateLinkServiceConnections").([]any)
		connection := list[0].(map[string]any)["properties"].(map[string]any)["privateLinkServiceConnectionState"].(map[string]any)
		if connection["status"] != state {
			t.Errorf("the connection is %v, want %s", connection["status"], state)
		}
	}
	h.pass(9 * time.Minute)
	want("Pending")
	h.pass(time.Minute)
	want("Approved")
	h.want(h.do("PUT", "/_sim/options", `{"manualApprovalSeconds":0}`), 200, "")
	want("Pending")
}
