package armsim_test

import (
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/armsim"
)

const clusterBody = `{"location":"westus2","sku":{"name":"Standard_D13_v2","tier":"Standard","capacity":2},"properties":{"enablePurge":true}}`

func TestKustoStateMachine(t *testing.T) {
	h := newHarness(t, armsim.Options{})
	h.makeGroup()
	put := h.do("PUT", cluster+version, clusterBody)
	h.want(put, 201, "")
	h.wantAt(put, "properties.provisioningState", "Creating")
	h.wantAt(put, "properties.state", "Creating")
	op := h.do("GET", put.header.Get("Azure-AsyncOperation"), "")
	h.wantAt(op, "status", "Running")
	for _, method := range []string{"GET", "PUT", "DELETE"} {
		h.want(h.do(method, database+version, `{"location":"westus2","kind":"ReadWrite"}`), 409, "Conflict")
	}
	h.pass(11 * time.Minute)
	got := h.do("GET", cluster+version, "")
	h.wantAt(got, "properties.state", "Running")
	h.wantAt(got, "properties.provisioningState", "Succeeded")
	h.wantAt(got, "location", "West US 2")
	h.wantAt(got, "type", "Microsoft.Kusto/Clusters")
	h.wantAt(got, "properties.uri", "https://adx.westus2.kusto.windows.net")

	h.want(h.do("PUT", database+version, `{"location":"westus2","kind":"ReadWrite","name":"db1"}`), 201, "")
	h.pass(time.Minute)
	db := h.do("GET", database+version, "")
	h.wantAt(db, "name", "adx/db1")
	h.wantAt(db, "location", "West US 2")
	if id := db.at("id").(string); !strings.EqualFold(id, database) || !strings.HasSuffix(id, "/Clusters/adx/Databases/db1") {
		t.Errorf("database ID %s is not in the server's case", id)
	}

	update := h.do("PUT", cluster+version, clusterBody)
	h.want(update, 200, "")
	h.wantAt(update, "properties.provisioningState", "Accepted")
	h.wantAt(h.do("GET", cluster+version, ""), "properties.provisioningState", "Updating")
	h.want(h.do("GET", database+version, ""), 409, "Conflict")
	h.pass(4 * time.Minute)
	h.want(h.do("GET", database+version, ""), 200, "")

	stop := h.do("POST", cluster+"/stop"+version, "")
	h.want(stop, 202, "")
	h.wantAt(h.do("GET", cluster+version, ""), "properties.state", "Stopping")
	h.pass(4 * time.Minute)
	h.wantAt(h.do("GET", cluster+version, ""), "properties.state", "Stopped")
	h.want(h.do("GET", database+version, ""), 409, "Conflict")
	h.want(h.do("POST", cluster+"/start"+version, ""), 202, "")
	h.pass(4 * time.Minute)
	h.want(h.do("GET", database+version, ""), 200, "")
}

func TestInlineSubnets(t *testing.T) {
	h := newHarness(t, armsim.Options{})
	h.makeGroup()
	put := h.do("PUT", vnet+version, `{"location":"westus2","properties":{"addressSpace":{"addressPrefixes":["10.0.0.0/16"]},"subnets":[{"name":"a","properties":{"addressPrefix":"10.0.0.0/24"}}]}}`)
	h.want(put, 201, "")
	if put.header.Get("Retry-After") != "3" {
		t.Errorf("Retry-After is %q, want 3 as recorded", put.header.Get("Retry-After"))
	}
	h.want(h.do("PUT", vnet+"/subnets/b"+version, `{"properties":{"addressPrefix":"10.0.1.0/24"}}`), 409, "AnotherOperationInProgress")
	h.pass(time.Minute)
	h.want(h.do("PUT", vnet+"/subnets/b"+version, `{"properties":{"addressPrefix":"10.0.1.0/24"}}`), 201, "")
	h.want(h.do("PUT", vnet+version, `{"location":"westus2"}`), 409, "AnotherOperationInProgress")
	h.pass(time.Minute)
	got := h.do("GET", vnet+version, "")
	subnets := got.at("properties.subnets").([]any)
	if len(subnets) != 2 {
		t.Fatalf("the vnet has %d subnets, want 2: %s", len(subnets), got.raw)
	}
	first := subnets[0].(map[string]any)
	if first["id"] != vnet+"/subnets/a" || first["etag"] == nil {
		t.Errorf("subnet lacks ID or ETag: %v", first)
	}
	h.want(h.do("GET", vnet+"/subnets/a"+version, ""), 200, "")
	h.want(h.do("PATCH", vnet+version, `{"tags":{"a":"b"}}`), 200, "")
	h.pass(time.Minute)
	h.want(h.do("GET", vnet+"/subnets/a"+version, ""), 200, "")
	h.want(h.do("PUT", vnet+version, `{"location":"westus2","properties":{"subnets":[{"name":"a","properties":{"addressPrefix":"10.0.0.0/24"}}]}}`), 200, "")
	h.pass(time.Minute)
	h.want(h.do("GET", vnet+"/subnets/b"+version, ""), 404, "ResourceNotFound")
}

func TestETags(t *testing.T) {
	h := newHarness(t, armsim.Options{})
	h.makeGroup()
	put := h.do("PUT", plain+version, `{"location":"westus2"}`)
	tag := put.header.Get("ETag")
	h.wantAt(put, "etag", tag)
	h.want(h.do("PUT", plain+version, `{"location":"westus2","tags":{"a":"b"}}`, "If-Match", tag), 200, "")
	h.want(h.do("PUT", plain+version, `{"location":"westus2"}`, "If-Match", tag), 412, "PreconditionFailed")
	tag = h.do("GET", plain+version, "").header.Get("ETag")
	if err := h.Patch(plain, map[string]any{"tags": map[string]any{"a": "c"}}); err != nil {
		t.Fatal(err)
	}
	h.want(h.do("DELETE", plain+version, "", "If-Match", tag), 412, "PreconditionFailed")
	h.want(h.do("DELETE", plain+version, "", "If-Match", "*"), 200, "")
}

func TestStorageAccount(t *testing.T) {
	h := newHarness(t, armsim.Options{})
	h.makeGroup()
	id := group + "/providers/Microsoft.Storage/storageAccounts/acc1"
	put := h.do("PUT", id+version, `{"location":"westus2","kind":"StorageV2","sku":{"name":"Standard_LRS"}}`)
	h.want(put, 202, "")
	if put.raw != "" || put.header.Get("Location") == "" || put.header.Get("Azure-AsyncOperation") != "" {
		t.Errorf("want 202 with Location only and no body: %v %s", put.header, put.raw)
	}
	h.pass(time.Minute)
	h.wantAt(h.do("GET", put.header.Get("Location"), ""), "properties.primaryEndpoints.blob", "https://acc1.blob.core.windows.net/")
	h.wantAt(h.do("GET", id+version, ""), "sku.tier", "Standard")
	h.want(h.do("PUT", id+"/blobServices/default/containers/c1"+version, `{}`), 201, "")
	keys := h.do("POST", id+"/listKeys"+version, "")
	h.want(keys, 200, "")
	h.want(h.do("DELETE", id+version, ""), 200, "")
}

func TestRoleAssignments(t *testing.T) {
	h := newHarness(t, armsim.Options{})
	h.makeGroup()
	name := "/providers/Microsoft.Authorization/roleAssignments/aaaaaaaa-0000-0000-0000-00000000000"
	body := `{"properties":{"roleDefinitionId":"` + root + `/providers/Microsoft.Authorization/roleDefinitions/r1","principalId":"p1"}}`
	put := h.do("PUT", group+name+"1"+version, body)
	h.want(put, 201, "")
	h.wantAt(put, "properties.scope", group)
	h.wantAt(put, "properties.provisioningState", nil)
	h.want(h.do("PUT", group+name+"1"+version, body), 201, "")
	h.want(h.do("PUT", group+name+"2"+version, body), 409, "RoleAssignmentExists")
	h.want(h.do("PUT", root+name+"2"+version, body), 201, "")
	h.want(h.do("PUT", group+name+"1"+version, strings.ReplaceAll(body, "p1", "p2")), 400, "RoleAssignmentUpdateNotPermitted")
	h.want(h.do("PUT", group+"/providers/Microsoft.Authorization/roleAssignments/x"+version, body), 400, "InvalidRoleAssignmentId")
	h.want(h.do("DELETE", group+name+"1"+version, ""), 200, "")
	h.want(h.do("DELETE", group+name+"1"+version, ""), 204, "")
}

func TestServerSecrets(t *testing.T) {
	h := newHarness(t, armsim.Options{Secrets: []armsim.SecretRule{{Type: "*/things", Properties: []string{"primaryKey"}}}})
	h.makeGroup()
	put := h.do("PUT", plain+version, `{"location":"westus2","properties":{"nested":[{"client_secret":"s1","keep":1}],"adminPassword":"s2"},"tags":{"password":"visible"}}`)
	got := h.do("GET", plain+version, "")
	if strings.Contains(got.raw, "s1") || strings.Contains(got.raw, `"s2"`) || !strings.Contains(got.raw, "visible") {
		t.Errorf("write-only fields were returned, or a tag was not: %s", got.raw)
	}
	value, _ := got.at("properties.primaryKey").(string)
	if value == "" || strings.Contains(put.raw, value) {
		t.Errorf("want a key in the GET only: %q in %s", value, put.raw)
	}
	if h.do("GET", plain+version, "").at("properties.primaryKey") != value {
		t.Error("the key changed between two GETs")
	}
	if known := strings.Join(h.Secrets(), " "); !strings.Contains(known, value) || !strings.Contains(known, "s1") {
		t.Errorf("known secrets %s lack one", known)
	}
}

func TestProviders(t *testing.T) {
	h := newHarness(t, armsim.Options{})
	h.makeGroup()
	url := root + "/providers/Microsoft.Example"
	h.wantAt(h.do("GET", url+version, ""), "registrationState", "Registered")
	h.SetProvider("Microsoft.Example", "NotRegistered")
	h.want(h.do("PUT", plain+version, `{"location":"westus2"}`), 409, "MissingSubscriptionRegistration")
	h.wantAt(h.do("POST", url+"/register"+version, ""), "registrationState", "Registering")
	h.pass(time.Minute)
	h.wantAt(h.do("GET", url+version, ""), "registrationState", "Registered")
	h.LimitType(armsim.TypeLimit{Type: "Microsoft.Example/things", APIVersions: []string{strings.TrimPrefix(version, "?api-version=")}})
	h.wantAt(h.do("GET", url+version, ""), "resourceTypes", "[map[apiVersions:[2024-03-01] locations:[] resourceType:things]]")
	h.want(h.do("PUT", plain+version, `{"location":"westus2"}`), 201, "")
}

func TestReadAfterWriteDelay(t *testing.T) {
	h := newHarness(t, armsim.Options{ReadAfterWrite: 5 * time.Second})
	h.want(h.do("PUT", group+version, `{"location":"westus2"}`), 201, "")
	h.want(h.do("GET", group+version, ""), 404, "ResourceGroupNotFound")
	h.pass(5 * time.Second)
	h.want(h.do("GET", group+version, ""), 200, "")
	h.want(h.do("PUT", group+version, `{"location":"westus2","tags":{"a":"b"}}`), 200, "")
	h.wantAt(h.do("GET", group+version, ""), "tags", nil)
	h.pass(5 * time.Second)
	h.wantAt(h.do("GET", group+version, ""), "tags.a", "b")
}

// TestLaggingOperation checks that a lagging GET shows the state of an operation after its
// end, with the ETag of that state.
func TestLaggingOperation(t *testing.T) {
	h := newHarness(t, armsim.Options{ReadAfterWrite: 10 * time.Second})
	h.want(h.do("PUT", group+version, `{"location":"westus2"}`), 201, "")
	h.want(h.do("PUT", vnet+version, `{"location":"westus2","properties":{"addressSpace":{"addressPrefixes":["10.0.0.0/16"]}}}`), 201, "")
	h.pass(time.Hour)
	before := h.do("GET", vnet+version, "")
	h.wantAt(before, "properties.provisioningState", "Updating")
	h.pass(10 * time.Second)
	after := h.do("GET", vnet+version, "")
	h.wantAt(after, "properties.provisioningState", "Succeeded")
	if before.header.Get("ETag") == after.header.Get("ETag") || before.header.Get("ETag") == "" {
		t.Errorf("ETag %q before and %q after the end of the operation", before.header.Get("ETag"), after.header.Get("ETag"))
	}
}

// TestReplicas checks that reads of replicas are not monotonic, and that each has the ETag of
// its state.
func TestReplicas(t *testing.T) {
	h := newHarness(t, armsim.Options{ReadAfterWrite: 10 * time.Second, Replicas: 2})
	h.want(h.do("PUT", group+version, `{"location":"westus2"}`), 201, "")
	for range 2 {
		h.want(h.do("GET", group+version, ""), 200, "")
		h.want(h.do("GET", group+version, ""), 404, "ResourceGroupNotFound")
	}
	h.pass(10 * time.Second)
	route := networkRP + "routeTables/r"
	h.want(h.do("PUT", route+version, `{"location":"westus2"}`), 201, "")
	h.pass(time.Hour)
	h.pass(time.Hour)
	old := h.do("GET", route+version, "").header.Get("ETag")
	h.want(h.do("PUT", route+version, `{"location":"westus2","tags":{"a":"b"}}`), 200, "")
	first, second := h.do("GET", route+version, ""), h.do("GET", route+version, "")
	h.wantAt(first, "tags.a", "b")
	h.wantAt(second, "tags", nil)
	if old == "" || first.header.Get("ETag") == old || second.header.Get("ETag") == first.header.Get("ETag") {
		t.Errorf("ETags: %q before, then %q and %q", old, first.header.Get("ETag"), second.header.Get("ETag"))
	}
}

// TestAbsent checks that ARM's front door reports absent tracked resources, and the
// provider absent children, in its own form.
func TestAbsent(t *testing.T) {
	h := newHarness(t, armsim.Options{})
	for _, id := range []string{aks, vnet, networkRP + "routeTables/r", postgres} {
		if err := h.Put(id, map[string]any{"location": "westus2"}); err != nil {
			t.Fatal(err)
		}
	}
	for id, code := range map[string]string{
		aks + "2": "ResourceNotFound", aks + "/agentPools/p": "NotFound", vnet + "/subnets/s": "ResourceNotFound",
		vnet + "/virtualNetworkPeerings/p": "NotFound", networkRP + "routeTables/r/routes/x": "NotFound",
		postgres + "/databases/d": "ResourceNotFound", vnet + "2/subnets/s": "ParentResourceNotFound",
		group + "/providers/Microsoft.Authorization/roleAssignments/aaaaaaaa-0000-0000-0000-000000000001": "RoleAssignmentNotFound",
	} {
		h.want(h.do("GET", id+version, ""), 404, code)
		h.want(h.do("PATCH", id+version, `{}`), 404, code)
	}
	pool := h.do("GET", aks+"/agentPools/p"+version, "")
	if !strings.Contains(pool.raw, `"details":[{"code":"Unspecified"`) || !strings.Contains(pool.raw, "resourceName: aks1") {
		t.Errorf("the pool's absence is not as recorded: %s", pool.raw)
	}
}
