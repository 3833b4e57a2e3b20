package armsim_test

import (
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/armsim"
)

// TestHiddenSecrets shows that GETs leave out the secrets of a container app, that an
// action lists them, and that a PUT without their values is refused.
func TestHiddenSecrets(t *testing.T) {
	t.Parallel()
	h := newHarness(t, armsim.Options{})
	h.makeGroup()
	const app = group + "/providers/Microsoft.App/containerApps/app1"
	body := func(secrets string) string {
		return `{"location":"westus2","properties":{"configuration":{"secrets":[` + secrets + `]}}}`
	}
	h.want(h.do("PUT", app+version, body(`{"name":"db","value":"hidden-value"},{"name":"kv","keyVaultUrl":"https://v/x","identity":"system"}`)), 201, "")
	for _, id := range []string{app, group + "/providers/Microsoft.App/containerApps"} {
		if got := h.do("GET", id+version, ""); !strings.Contains(got.raw, `"db"`) || strings.Contains(got.raw, "hidden-value") {
			t.Errorf("GET %s shows %s", id, got.raw)
		}
	}
	if got := h.do("POST", app+"/listSecrets"+version, ""); !strings.Contains(got.raw, `{"name":"db","value":"hidden-value"}`) {
		t.Errorf("listSecrets returns %s", got.raw)
	}
	h.want(h.do("PUT", app+version, body(`{"name":"db"},{"name":"kv","keyVaultUrl":"https://v/x","identity":"system"}`)), 400, "ContainerAppSecretInvalid")
	h.want(h.do("PATCH", app+version, `{"tags":{"a":"b"}}`), 200, "")
	if got := h.do("POST", app+"/listSecrets"+version, ""); !strings.Contains(got.raw, "hidden-value") {
		t.Errorf("a PATCH took the secret: %s", got.raw)
	}
	h.want(h.do("PUT", app+version, body("")), 200, "")
	if got := h.do("POST", app+"/listSecrets"+version, ""); strings.Contains(got.raw, "db") {
		t.Errorf("a PUT without it kept the secret: %s", got.raw)
	}
	found := false
	for _, secret := range h.Secrets() {
		found = found || secret == "hidden-value"
	}
	if !found {
		t.Error("the secret is not among those that the server received")
	}
}

// TestPlaceholders shows that some types return asterisks in place of a secret, and take
// what is sent for the secret.
func TestPlaceholders(t *testing.T) {
	t.Parallel()
	h := newHarness(t, armsim.Options{})
	h.makeGroup()
	const account = group + "/providers/Microsoft.NetApp/netAppAccounts/a1"
	h.want(h.do("PUT", account+version, `{"location":"westus2","properties":{"activeDirectories":[{"username":"u","password":"hidden-value"}]}}`), 201, "")
	got := h.do("GET", account+version, "")
	if !strings.Contains(got.raw, `"password":"****`) || strings.Contains(got.raw, "hidden-value") {
		t.Errorf("GET shows %s", got.raw)
	}
	h.want(h.do("POST", account+"/listSecrets"+version, ""), 404, "InvalidResourceType")
}

// TestWriteOnly shows that GETs leave out what is published as write-only.
func TestWriteOnly(t *testing.T) {
	t.Parallel()
	h := newHarness(t, armsim.Options{})
	h.makeGroup()
	const vault = group + "/providers/Microsoft.KeyVault/vaults/v1"
	h.want(h.do("PUT", vault+"?api-version=2023-07-01", `{"location":"westus2","properties":{"createMode":"default","tenantId":"`+tenant+`","sku":{"family":"A","name":"standard"},"accessPolicies":[]}}`), 200, "")
	got := h.do("GET", vault+"?api-version=2023-07-01", "")
	if got.at("properties.createMode") != nil || got.at("properties.sku.name") != "standard" {
		t.Errorf("GET shows %s", got.raw)
	}
}

// TestOmittedMembers shows that a PUT takes what it omits, but for what is needed at the
// creation only.
func TestOmittedMembers(t *testing.T) {
	t.Parallel()
	h := newHarness(t, armsim.Options{})
	h.makeGroup()
	const machine = group + "/providers/Microsoft.Compute/virtualMachines/m1"
	h.want(h.do("PUT", machine+version, `{"location":"westus2","properties":{"licenseType":"None","osProfile":{"computerName":"m"},"storageProfile":{"dataDisks":[{"lun":1,"createOption":"Empty"}]}}}`), 201, "")
	h.pass(time.Hour)
	h.want(h.do("PUT", machine+version, `{"location":"westus2","properties":{"storageProfile":{"dataDisks":[]}}}`), 200, "")
	h.pass(time.Hour)
	got := h.do("GET", machine+version, "")
	h.wantAt(got, "properties.osProfile.computerName", "m")
	if got.at("properties.licenseType") != nil || strings.Contains(got.raw, `"lun"`) {
		t.Errorf("the PUT kept %s", got.raw)
	}
}

// TestDatabaseSize shows that a tier refuses the default size of a larger one.
func TestDatabaseSize(t *testing.T) {
	t.Parallel()
	h := newHarness(t, armsim.Options{})
	h.makeGroup()
	const server = group + "/providers/Microsoft.Sql/servers/s1"
	h.want(h.do("PUT", server+version, `{"location":"westus2"}`), 201, "")
	h.want(h.do("PUT", server+"/databases/d1"+version, `{"location":"westus2","sku":{"name":"S0"}}`), 201, "")
	h.wantAt(h.do("GET", server+"/databases/d1"+version, ""), "properties.maxSizeBytes", 250.0*(1<<30))
	h.want(h.do("PUT", server+"/databases/d1"+version, `{"location":"westus2","sku":{"name":"Basic"},"properties":{"maxSizeBytes":268435456000}}`), 400, "InvalidMaxSizeTierCombination")
	h.want(h.do("PUT", server+"/databases/d1"+version, `{"location":"westus2","sku":{"name":"Basic"}}`), 200, "")
	h.wantAt(h.do("GET", server+"/databases/d1"+version, ""), "properties.maxSizeBytes", 2.0*(1<<30))
}

// TestRefusedETags shows a type that refuses the ETags that it shows.
func TestRefusedETags(t *testing.T) {
	t.Parallel()
	h := newHarness(t, armsim.Options{RefusedETags: []string{"Microsoft.Example/*"}})
	h.makeGroup()
	tag := h.do("PUT", plain+version, `{"location":"westus2"}`).header.Get("ETag")
	h.want(h.do("PUT", plain+version, `{"location":"westus2"}`, "If-Match", tag), 412, "PreconditionFailed")
	h.want(h.do("PUT", plain+version, `{"location":"westus2"}`), 200, "")
}
