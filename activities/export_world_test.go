package activities

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/armature-io/armature/arm"
	"github.com/armature-io/armature/armsim"
	"github.com/armature-io/armature/resource"
)

const (
	exportTarget = "keyvault:https://kv.vault.example/secrets/app-key"
	accountText  = groupText + "/providers/Microsoft.Storage/storageAccounts/acc1"
)

// withVaults adds the simulator's key vaults to a world, and allows secrets that begin with
// app-.
func withVaults(t *testing.T) func(*setup) {
	t.Helper()
	var simulator http.Handler
	vault := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { simulator.ServeHTTP(w, r) }))
	t.Cleanup(vault.Close)
	inner, _ := vault.Client().Transport.(*http.Transport)
	transport := inner.Clone()
	transport.TLSClientConfig.ServerName = "example.com"
	transport.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		if strings.HasSuffix(address, ".vault.example:443") {
			address = vault.Listener.Addr().String()
		}
		return (&net.Dialer{}).DialContext(ctx, network, address)
	}
	pattern, err := resource.ParseVaultPattern("https://kv.vault.example/secrets/app-*")
	must(t, err)
	return func(s *setup) {
		s.sim.VaultSuffix = "vault.example"
		s.options.Exports, s.options.Rotation = map[string][]resource.VaultPattern{"default": {pattern}}, true
		s.handler = func(h http.Handler) http.Handler {
			simulator = h
			return h
		}
		s.client = func(o *arm.Options) {
			o.Transport, o.VaultSuffix, o.Credential = &http.Client{Transport: transport}, "vault.example", constantToken("own")
		}
	}
}

// exportWorld is a world with key vaults and a storage account, and an export of its first
// key.
func exportWorld(t *testing.T, change ...func(*setup)) (*world, ExportValuesInput) {
	t.Helper()
	w := newWorld(t, append([]func(*setup){withVaults(t)}, change...)...)
	w.put(groupText, `{"location":"westus2"}`)
	w.put(accountText, `{"location":"westus2","kind":"StorageV2","sku":{"name":"Standard_LRS"},"properties":{}}`)
	id, err := resource.ParseID(accountText)
	must(t, err)
	return w, ExportValuesInput{Due: []int{0}, Desired: resource.Desired{
		ID: id, APIVersion: "2023-01-01", Name: "acc1", Body: []byte(`{"location":"westus2"}`), Policy: resource.PolicyManage,
		Exports: []resource.Export{{To: exportTarget, From: resource.ExportSource{Action: "listKeys", Path: "keys[keyName=key1].value"}}},
	}, PassFacts: PassFacts{Generation: 1}}
}

// secret returns the versions of a secret of the vault kv.
func (w *world) secret(name string) armsim.VaultSecret {
	for _, secret := range w.sim.VaultSecrets() {
		if secret.Vault == "kv" && secret.Name == name {
			return secret
		}
	}
	return armsim.VaultSecret{}
}
