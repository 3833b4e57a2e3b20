package convert

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/armature-io/armature/manifest"
)

const (
	vault = group + "/providers/Microsoft.KeyVault/vaults/kv"
	vnet  = group + "/providers/Microsoft.Network/virtualNetworks/v"
)

// find writes a text into a file and returns the IDs in it.
func find(t *testing.T, text string) (ids []string, notes string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "ids.txt")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	found, err := FindIDs(Options{From: IDs}, file)
	if err != nil {
		return nil, err.Error()
	}
	for _, id := range found.IDs {
		ids = append(ids, id.String())
	}
	return ids, found.Notes.Error()
}

func TestFindIDs(t *testing.T) {
	cases := map[string]struct {
		reason, text string
		want         []string
		note         string
	}{
		"text":          {reason: "IDs between other words", text: "see " + vault + ", (" + vnet + ")\n'" + vnet + "/subnets/a'.", want: []string{vault, vnet, vnet + "/subnets/a"}},
		"end":           {reason: "a dot ends a sentence", text: "It is " + vault + ".", want: []string{vault}},
		"case":          {reason: "IDs have no case, and the types are spelled as published", text: strings.ToUpper(vault) + "\n" + vault, want: []string{"/subscriptions/" + subscription + "/resourceGroups/SHOP-PROD/providers/Microsoft.KeyVault/vaults/KV"}},
		"group":         {reason: "a resource group is a resource", text: "/subscriptions/" + subscription + " " + group, want: []string{group}},
		"list of az":    {reason: "a list has its resources alone", text: `[{"id": "` + vault + `", "properties": {"subnet": "` + vnet + `"}}]`, want: []string{vault}},
		"answer of ARM": {reason: "the list is below value", text: `{"value": [{"id": "` + vault + `"}, {"id": "` + vnet + `"}], "nextLink": "x"}`, want: []string{vault, vnet}},
		"stack":         {reason: "the list is below resources", text: `{"actionOnUnmanage": {}, "id": "` + vnet + `", "resources": [{"id": "` + vault + `", "status": "managed"}]}`, want: []string{vault}},
		"azurerm state": {reason: "managed resources and no others", want: []string{vault}, note: "random_id.x is left out: its ID is not one of ARM", text: `{"version": 4, "terraform_version": "1.9.0", "resources": [
			{"mode": "data", "type": "azurerm_virtual_network", "name": "v", "instances": [{"attributes": {"id": "` + vnet + `"}}]},
			{"mode": "managed", "type": "azurerm_key_vault", "name": "v", "instances": [{"attributes": {"id": "` + vault + `", "subnet_id": "` + vnet + `"}}]},
			{"mode": "managed", "type": "random_id", "name": "x", "instances": [{"attributes": {"id": "abc"}}]}]}`},
		"shown state": {reason: "modules too", want: []string{vault}, text: `{"format_version": "1.0", "values": {"root_module": {"child_modules": [{"resources": [{"mode": "managed", "address": "module.a.azurerm_key_vault.v", "values": {"id": "` + vault + `"}}]}]}}}`},
		"pulumi": {reason: "custom resources", want: []string{vault}, text: `{"version": 3, "deployment": {"resources": [
			{"urn": "urn:pulumi:dev::p::pulumi:pulumi:Stack::p-dev", "custom": false, "type": "pulumi:pulumi:Stack"},
			{"urn": "urn:pulumi:dev::p::pulumi:providers:azure-native::default", "custom": true, "id": "x", "type": "pulumi:providers:azure-native"},
			{"urn": "urn:pulumi:dev::p::azure-native:keyvault:Vault::kv", "custom": true, "id": "` + vault + `", "type": "azure-native:keyvault:Vault", "inputs": {"subnet": "` + vnet + `"}}]}}`},
		"blanks in JSON": {reason: "a whole string is an ID", text: `{"alert": "` + group + `/providers/Microsoft.Insights/actionGroups/on call (eu)"}`, want: []string{group + "/providers/Microsoft.Insights/actionGroups/on call (eu)"}},
		"extension":      {reason: "a lock on a vault", text: vault + "/providers/Microsoft.Authorization/locks/l", want: []string{vault + "/providers/Microsoft.Authorization/locks/l"}},
		"part":           {reason: "no resource of its own", text: vault + "\n" + group + "/providers/Microsoft.Network/applicationGateways/g/frontendPorts/p", want: []string{vault}, note: "frontendPorts/p is left out: its type is not published"},
		"deployment":     {reason: "nothing to manage", text: vault + "\n" + group + "/providers/Microsoft.Resources/deployments/d", want: []string{vault}, note: "deployments/d is left out: a deployment is no resource to manage"},
		"none":           {reason: "a fault with the advice", text: "hello /subscriptions/x/resourceGroups/y", note: "no resource ID was found"},
		"not a GUID":     {reason: "a template", text: vault + "\n/subscriptions/00000000-0000-0000-0000-00000000/resourceGroups/g", want: []string{vault}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got, notes := find(t, c.text)
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.reason, diff)
			}
			if !strings.Contains(notes, c.note) {
				t.Errorf("%s: notes %q, want %q", c.reason, notes, c.note)
			}
		})
	}
}

// TestFindIDsInAnyText puts IDs into texts, doubled and in other cases: each is found once,
// and nothing else is.
func TestFindIDsInAnyText(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	around := []string{" ", "\n", "\"", "'", "<", "(", "[", "\t", "id=", "x:"}
	for range 200 {
		want := map[string]bool{}
		var text strings.Builder
		for i := range 1 + random.IntN(8) {
			id := fmt.Sprintf("%s/providers/Microsoft.KeyVault/vaults/kv%d", group, i)
			want[strings.ToLower(id)] = true
			for range 1 + random.IntN(3) {
				spelling := id
				if random.IntN(2) == 0 {
					spelling = strings.ToUpper(id)
				}
				text.WriteString(around[random.IntN(len(around))] + spelling + []string{" ", "\n", "\"", "'", ">", ")", ",", ";"}[random.IntN(8)])
			}
		}
		got, notes := find(t, text.String())
		if len(got) != len(want) {
			t.Fatalf("%d IDs, want %d of %q: %v %s", len(got), len(want), text.String(), got, notes)
		}
		for _, id := range got {
			if !want[strings.ToLower(id)] {
				t.Fatalf("%s is not in %q", id, text.String())
			}
		}
	}
}

// TestFindIDsOfTheEstate finds the resources of a list of the Azure CLI.
func TestFindIDsOfTheEstate(t *testing.T) {
	found, err := FindIDs(Options{From: IDs}, filepath.Join(estate, "resources.json"))
	if err != nil || len(found.IDs) != 14 {
		t.Errorf("%d IDs: %v", len(found.IDs), err)
	}
	if _, err := FindIDs(Options{From: IDs}, filepath.Join(estate, "none")); !isIssues(err) {
		t.Errorf("a file that is absent: %v", err)
	}
}

func isIssues(err error) bool {
	_, ok := errors.AsType[manifest.Issues](err)
	return ok
}
