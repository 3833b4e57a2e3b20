package convert

import (
	"strings"
	"testing"

	"github.com/armature-io/armature/resource"
)

// TestExpressions resolves expressions of ARM templates in a snapshot that has one vault.
func TestExpressions(t *testing.T) {
	from, err := resource.ParseID(group + "/providers/Microsoft.Storage/storageAccounts/data1")
	if err != nil {
		t.Fatal(err)
	}
	id, err := resource.ParseID(vault)
	if err != nil {
		t.Fatal(err)
	}
	c := &conversion{byKey: map[string]*Resource{}}
	c.add(&Resource{id: id, label: "kv"})
	const role = "/subscriptions/" + subscription + "/providers/Microsoft.Authorization/roleDefinitions/r"
	cases := map[string]struct {
		text, want, fault string
	}{
		"text":              {text: "plain", want: "plain"},
		"escaped":           {text: "[[not an expression]", want: "[not an expression]"},
		"brackets in text":  {text: "[a] and b", want: "[a] and b"},
		"string":            {text: "['it''s']", want: "it's"},
		"ID":                {text: "[resourceId('Microsoft.KeyVault/vaults', 'kv')]", want: "ref " + vault},
		"ID of a group":     {text: "[resourceId('other', 'Microsoft.KeyVault/vaults', 'kv')]", want: "/subscriptions/" + subscription + "/resourceGroups/other/providers/Microsoft.KeyVault/vaults/kv"},
		"nested ID":         {text: "[resourceId('Microsoft.Network/virtualNetworks/subnets', 'v', 's')]", want: vnet + "/subnets/s"},
		"too few names":     {text: "[resourceId('Microsoft.Network/virtualNetworks/subnets', 'v')]", fault: "not one name for each part"},
		"of a subscription": {text: "[subscriptionResourceId('Microsoft.Authorization/roleDefinitions', 'r')]", want: role},
		"of a tenant":       {text: "[tenantResourceId('Microsoft.Management/managementGroups', 'm')]", want: "/providers/Microsoft.Management/managementGroups/m"},
		"of an extension":   {text: "[extensionResourceId(resourceId('Microsoft.KeyVault/vaults', 'kv'), 'Microsoft.Authorization/locks', 'l')]", want: vault + "/providers/Microsoft.Authorization/locks/l"},
		"observed":          {text: "[reference('kv').vaultUri]", want: "ref " + vault + " properties.vaultUri"},
		"observed by ID":    {text: "[reference(resourceId('Microsoft.KeyVault/vaults', 'kv'), '2023-07-01').networkAcls.ipRules[0].value]", want: "ref " + vault + " properties.networkAcls.ipRules[0].value 2023-07-01"},
		"full":              {text: "[reference('" + vnet + "', '2023-07-01', 'full').identity.principalId]", want: "ref " + vnet + " identity.principalId 2023-07-01"},
		"quoted member":     {text: "[reference('kv', '2023-07-01').a['b.c']]", want: "ref " + vault + " properties.a['b.c'] 2023-07-01"},
		"whole":             {text: "[reference('kv')]", fault: "it names no property"},
		"concat":            {text: "[concat('a', 'b')]", want: "ab"},
		"format":            {text: "[format('{0}', resourceId('Microsoft.KeyVault/vaults', 'kv'))]", want: "ref " + vault},
		"format of two":     {text: "[format('{0}-{1}', 'a', resourceGroup().name)]", want: "a-shop-prod"},
		"format with width": {text: "[format('{0:D3}', 'a')]", fault: "its text is not simple"},
		"format observed":   {text: "[format('{0}x', reference('kv').vaultUri)]", fault: "it computes with an observed value"},
		"subscription":      {text: "[subscription().subscriptionId]", want: subscription},
		"group":             {text: "[resourceGroup().id]", want: group},
		"parameter":         {text: "[parameters('x')]", fault: ".bicepparam"},
		"keys":              {text: "[listKeys('kv', '2023-07-01').keys[0].value]", fault: "keyvault:"},
		"unknown":           {text: "[uniqueString('a')]", fault: "only a deployment can evaluate it"},
		"broken":            {text: "[concat('a']", fault: "it is not understood"},
		"deep":              {text: "[" + strings.Repeat("f(", 5000) + strings.Repeat(")", 5000) + "]", fault: "it is not understood"},
		"long":              {text: "['" + strings.Repeat("a", maxExpression) + "']", fault: "it is not understood"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			v, err := c.resolve(tc.text, from)
			if err != nil {
				if tc.fault == "" || !strings.Contains(err.Error(), tc.fault) {
					t.Fatalf("%s: %v, want %q %q", tc.text, err, tc.want, tc.fault)
				}
				return
			}
			got := v.text
			if v.kind == reference {
				got = strings.TrimSpace("ref " + v.id.String() + " " + v.path + " " + v.version)
			}
			if got != tc.want || tc.fault != "" {
				t.Errorf("%s: %q, want %q %s", tc.text, got, tc.want, tc.fault)
			}
		})
	}
}
