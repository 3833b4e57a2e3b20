package convert

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestDetails converts one file each and looks for parts of the result.
func TestDetails(t *testing.T) {
	object := func(group, kind, name, spec string) string {
		return "apiVersion: " + group + "\nkind: " + kind + "\nmetadata: {name: " + name + "}\nspec:\n  owner: {name: shop-prod}\n" + spec + "\n---\n"
	}
	shown := `{"format_version": "1.0", "values": {"root_module": {"resources": [{"mode": "data", "type": "azapi_client_config"}], "child_modules": [{"resources": [
		{"mode": "managed", "address": "module.a[\"x\"].azapi_update_resource.a[0]", "type": "azapi_update_resource", "sensitive_values": {"body": {"properties": {"dnsEndpointType": true}}}, "values": {
		"resource_id": "` + group + `/providers/Microsoft.Storage/storageAccounts/data1", "type": "Microsoft.Storage/storageAccounts@2023-01-01",
		"body": {"kind": "StorageV2", "sku": {"name": "Standard_LRS"}, "properties": {"dnsEndpointType": "` + password + `"}}, "location": "westus2"}}]}]}}}`
	cases := map[string]struct {
		reason        string
		format        Format
		name, text    string
		wants, misses []string
	}{
		"update": {reason: "a part of a resource of others", format: TerraformState, name: "t.json", text: shown, wants: []string{
			"put: patch\n", "dnsEndpointType: {$secret: 'env:ARMATURE_SECRET_DATA1_DNS_ENDPOINT_TYPE'}", `terraform state rm 'module.a["x"].azapi_update_resource.a[0]'`,
		}, misses: []string{"adopt:"}},
		"sensitive path": {reason: "the state marks it", format: TerraformState, name: "t.json", text: stateWith(`{"type": "get_attr", "value": "body"}, {"type": "get_attr", "value": "properties"}, {"type": "index", "value": {"value": "dnsEndpointType", "type": "string"}}`),
			wants: []string{"dnsEndpointType: {$secret: 'env:ARMATURE_SECRET_DATA1_DNS_ENDPOINT_TYPE'}"}},
		"sensitive variable": {reason: "also in a text that contains it", format: AzAPI, name: "main.tf", text: "variable \"p\" {\n  sensitive = true\n  default = \"" + password + "\"\n}\n" + account("  name = \"data1\"\n  body = { kind = \"StorageV2\", sku = { name = \"Standard_LRS\" }, properties = { dnsEndpointType = \"a-${var.p}\" } }"),
			wants: []string{"dnsEndpointType: {$secret: "}},
		"protected settings": {reason: "all texts and numbers of an extension's protected settings are secrets", format: AzAPI, name: "main.tf", text: azapiOf("Microsoft.Compute/virtualMachines/extensions@2024-07-01", "Microsoft.Compute/virtualMachines/v", "{ settings = { timestamp = 123456789 }, protectedSettings = { commandToExecute = \""+password+"\", deep = { count = 5 } } }"),
			wants: []string{"commandToExecute: {$secret: ", "count: {$secret: ", "timestamp: 123456789"}},
		"forms of secrets": {reason: "a secret by its form, under any name", format: AzAPI, name: "main.tf", text: azapiOf("Microsoft.Compute/virtualMachines/extensions@2024-07-01", "Microsoft.Compute/virtualMachines/v", "{ settings = { a = \"eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJhIn0.c2ln\", b = \"https://hooks.chat.example/services/T1/B1/x8Kq2Lw9Zr4Tv6Yn1Bm3Hj5G\", c = \"AccountName=a;AccountKey="+password+"\", d = \"https://x.example/a.sh\" } }"),
			wants: []string{"a: {$secret: ", "b: {$secret: ", "c: {$secret: ", "d: https://x.example/a.sh"}},
		"write-only": {reason: "a random text that Azure never shows", format: AzAPI, name: "main.tf", text: azapiOf("Microsoft.Automation/automationAccounts/certificates@2023-11-01", "Microsoft.Automation/automationAccounts/a", `{ base64Value = "MIIJqQIBAzCCCW8GCSqGkJ3xQ9vT7mB2cZ8wLr5NyH0sGfD4uAeXqP6iVoK1" }`),
			wants: []string{"base64Value: {$secret: "}},
		"write-only name": {reason: "a name that Azure never shows is none", format: AzAPI, name: "main.tf", text: azapiOf("Microsoft.Automation/automationAccounts/certificates@2023-11-01", "Microsoft.Automation/automationAccounts/a", `{ base64Value = "the-file-of-2026" }`),
			wants: []string{"base64Value: the-file-of-2026"}},
		"public": {reason: "a fact of the type", format: AzAPI, name: "main.tf", text: azapiOf("Microsoft.Logic/integrationAccounts/assemblies@2019-05-01", "Microsoft.Logic/integrationAccounts/a", `{ assemblyName = "x", assemblyPublicKeyToken = "b77a5c561934e089" }`),
			wants: []string{"assemblyPublicKeyToken: b77a5c561934e089"}, misses: []string{"$secret"}},
		"unknown secret": {reason: "an expression in the place of a secret is not shown", format: AzAPI, name: "main.tf", text: account("  name = \"data1\"\n  body = { kind = \"StorageV2\", sku = { name = \"Standard_LRS\" }, properties = { x = { adminPassword = \"" + password + "${random_id.x.hex}\" } } }"),
			wants: []string{"adminPassword: {$secret: "}},
		"delete query": {reason: "one value each", format: AzAPI, name: "main.tf", text: account("  name = \"data1\"\n  delete_query_parameters = { force = [\"true\"] }\n  schema_validation_enabled = false\n  body = { kind = \"StorageV2\", sku = { name = \"Standard_LRS\" } }"),
			wants: []string{"  delete:\n    query:\n      force: \"true\"\n", "validation: warn\n"}},
		"observed": {reason: "outputs through locals and jsondecode, also of data sources", format: AzAPI, name: "main.tf", text: "locals {\n  tier = jsondecode(data.azapi_resource.o.output).properties.accessTier\n}\n" +
			"data \"azapi_resource\" \"o\" {\n  type = \"Microsoft.Storage/storageAccounts@2023-01-01\"\n  name = \"other\"\n  parent_id = \"" + group + "\"\n}\n" +
			account("  name = \"data1\"\n  body = { kind = \"StorageV2\", sku = { name = \"Standard_LRS\" }, properties = { accessTier = local.tier, dnsEndpointType = data.azapi_resource.o.identity[0].principal_id } }"),
			wants: []string{"accessTier: {$ref: " + group + "/providers/Microsoft.Storage/storageAccounts/other@2023-01-01, path: properties.accessTier}", "path: identity.principalId}"}},
		"group of azurerm": {reason: "its attributes are those of ARM", format: AzAPI, name: "main.tf", text: "resource \"azurerm_resource_group\" \"g\" {\n  name = \"shop-prod\"\n  location = \"westus2\"\n}\nresource \"azurerm_key_vault\" \"v\" {\n}\n" +
			strings.Replace(account("  name = \"data1\"\n  body = { kind = \"StorageV2\", sku = { name = \"Standard_LRS\" } }"), `"`+group+`"`, "azurerm_resource_group.g.id", 1),
			wants: []string{"type: Microsoft.Resources/resourceGroups@2024-03-01", "owner: shop-prod\n", "azurerm_key_vault.v is left out", "--from ids"}},
		"names of YAML": {reason: "names and values that YAML would change are quoted", format: BicepSnapshot, name: "s.json", text: snapshotOf(`"tags": {"on": "yes", "1e3": "0x1F", "a: b": "- c", "<<": "*x", "null": "~", "x\ny": "a\n---\ntype: b"}, "properties": {}`),
			wants: []string{"\"on\": \"yes\"", "\"0x1F\"", "'a: b': '- c'", "\"<<\": '*x'"}},
		"enumerated key": {reason: "a published value is no secret", format: BicepSnapshot, name: "s.json", text: snapshotOf(`"properties": {"encryption": {"keySource": "Microsoft.Storage", "services": {"blob": {"enabled": true, "keyType": "Account"}}}}`),
			wants: []string{"keySource: Microsoft.Storage", "keyType: Account"}, misses: []string{"$secret"}},
		"connection string": {reason: "a credential in any text", format: BicepSnapshot, name: "s.json", text: snapshotOf(`"properties": {"dnsEndpointType": "AccountName=a;AccountKey=` + password + `=="}`),
			wants: []string{"dnsEndpointType: {$secret: "}},
		"inline": {reason: "one owner for each item", format: BicepSnapshot, name: "s.json", text: `{"predictedResources": [
			{"id": "` + vnet + `", "type": "Microsoft.Network/virtualNetworks", "name": "v", "apiVersion": "2020-11-01", "location": "westus2", "properties": {"addressSpace": {"addressPrefixes": ["10.0.0.0/16"]}, "subnets": [{"name": "a", "properties": {"addressPrefix": "10.0.0.0/24"}}]}},
			{"id": "` + vnet + `/subnets/a", "type": "Microsoft.Network/virtualNetworks/subnets", "name": "v/a", "apiVersion": "2020-11-01", "properties": {"addressPrefix": "10.0.0.0/24"}}]}`,
			wants: []string{"s.json:2: warning: v/a in the body of v is left out"}, misses: []string{"subnets:"}},
		"circle": {reason: "an ID that would close a circle stays a text", format: BicepSnapshot, name: "s.json", text: `{"predictedResources": [
			{"id": "` + vnet + `", "type": "Microsoft.Network/virtualNetworks", "name": "v", "apiVersion": "2020-11-01", "location": "westus2", "tags": {"a": "` + vnet + `/subnets/a"}, "properties": {"addressSpace": {"addressPrefixes": ["10.0.0.0/16"]}, "ipAllocations": [{"id": "` + vnet + `/subnets/a"}]}},
			{"id": "` + vnet + `/subnets/a", "type": "Microsoft.Network/virtualNetworks/subnets", "name": "v/a", "apiVersion": "2020-11-01", "properties": {"addressPrefix": "10.0.0.0/24"}}]}`,
			wants: []string{"id: " + vnet + "/subnets/a"}, misses: []string{"$ref"}},
		"finding": {reason: "a warning at the place in the source", format: BicepSnapshot, name: "s.json", text: snapshotOf(`"properties": {` + "\n" + `"minimumTlsVerison": "TLS1_2"}`), wants: []string{"s.json:6: warning: body.properties.minimumTlsVerison", "minimumTlsVersion"}},
		"list of kubectl": {reason: "kubectl get -o yaml, with status", format: ASO, name: "c.yaml", text: "apiVersion: v1\nkind: List\nitems:\n- apiVersion: storage.azure.com/v1api20230101\n  kind: StorageAccount\n  metadata:\n    name: a\n    annotations: {serviceoperator.azure.com/reconcile-policy: skip}\n  spec: {azureName: data1, location: westus2, kind: StorageV2, sku: {name: Standard_LRS}, owner: {name: gone}}\n  status: {id: " + group + "/providers/Microsoft.Storage/storageAccounts/data1, accessTier: Hot}\n",
			wants: []string{"name: data1\n", "policy: observe\n", "owner: " + group + "\n"}, misses: []string{"accessTier"}},
		"kusto of ASO": {reason: "the form of a discriminator is no level", format: ASO, name: "c.yaml", text: object("kusto.azure.com/v1api20230815", "Cluster", "adx", "  location: westus2\n  sku: {name: Standard_D13_v2, tier: Standard, capacity: 2}") +
			strings.Replace(object("kusto.azure.com/v1api20230815", "Database", "telemetry", "  readWrite: {location: westus2, kind: ReadWrite, softDeletePeriod: P30D}"), "shop-prod", "adx", 1),
			wants: []string{"kind: ReadWrite", "softDeletePeriod: P30D", "owner: adx\n"}, misses: []string{"readWrite:", "warning"}},
		"machine of ASO": {reason: "not everything that ends like a reference is one", format: ASO, name: "c.yaml", text: object("compute.azure.com/v1api20220301", "VirtualMachine", "vm", "  location: westus2\n  hardwareProfile: {vmSize: Standard_A1_v2}\n  networkProfile: {networkInterfaces: [{reference: {armId: "+group+"/providers/Microsoft.Network/networkInterfaces/n}}]}\n  osProfile: {adminUsername: u, computerName: c, adminPassword: {key: p, name: s}}\n  storageProfile: {imageReference: {publisher: Canonical, offer: o, sku: s, version: latest}}"),
			wants: []string{"imageReference:\n        publisher: Canonical", "adminPassword: {$secret: ", "networkInterfaces:\n        - id: " + group}, misses: []string{"warning"}},
		"vault of ASO": {reason: "a spec may have the level properties", format: ASO, name: "c.yaml", text: object("managedidentity.azure.com/v1api20230131", "UserAssignedIdentity", "app", "  location: westus2\n  operatorSpec: {configMaps: {clientId: {name: m, key: c}, tenantId: {name: m, key: t}}, configMapExpressions: [{name: m, key: p, value: self.status.principalId}]}") +
			object("keyvault.azure.com/v1api20230701", "Vault", "shopkv", "  location: westus2\n  properties:\n    tenantIdFromConfig: {name: m, key: t}\n    sku: {family: A, name: standard}\n    accessPolicies: [{objectIdFromConfig: {name: m, key: p}, tenantIdFromConfig: {name: m, key: t}, permissions: {secrets: [get]}}]"),
			wants: []string{"tenantId: {$ref: app, path: properties.tenantId}", "objectId: {$ref: app, path: properties.principalId}"}},
		"references of ASO": {reason: "a name ends in ID or not", format: ASO, name: "c.yaml", text: object("containerservice.azure.com/v1api20231001", "ManagedCluster", "aks", "  location: westus2\n  dnsPrefix: a\n  identity: {type: SystemAssigned}\n  agentPoolProfiles:\n    - {name: system, mode: System, count: 1, vmSize: Standard_D4s_v5, vnetSubnetReference: {armId: "+vnet+"/subnets/a}}"),
			wants: []string{"vnetSubnetID: " + vnet + "/subnets/a", "agentPoolProfiles:\n      - name: system"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			folder := write(t, map[string]string{c.name: c.text})
			path := filepath.Join(folder, c.name)
			result, err := Convert(Options{From: c.format, Subscription: subscription, Adopt: "as-is"}, path)
			if err != nil {
				t.Fatalf("%s: %v", c.reason, err)
			}
			all := strings.ReplaceAll(result.Stream()+result.Notes.Error()+"\n"+strings.Join(result.Release, "\n"), folder+"/", "")
			for _, want := range c.wants {
				if !strings.Contains(all, want) {
					t.Errorf("%s: the result lacks %q:\n%s", c.reason, want, all)
				}
			}
			for _, unwanted := range append(c.misses, password) {
				if strings.Contains(all, unwanted) {
					t.Errorf("%s: the result contains %q:\n%s", c.reason, unwanted, all)
				}
			}
			load(t, result.Stream())
		})
	}
}

// TestValuesOfVariables checks which files of values count: those that Terraform loads by
// itself, and *.auto.tfvars before terraform.tfvars.
func TestValuesOfVariables(t *testing.T) {
	folder := write(t, map[string]string{
		"main.tf":              "variable \"name\" {}\nvariable \"sku\" { default = \"Standard_ZRS\" }\n" + account("  name = var.name\n  body = { kind = \"StorageV2\", sku = { name = var.sku } }"),
		"a.auto.tfvars":        "sku = \"Standard_GRS\"\n",
		"b.auto.tfvars":        "sku = \"Premium_LRS\"\n",
		"terraform.tfvars":     "name = \"data1\"\nsku = \"Standard_LRS\"\n",
		"dev.terraform.tfvars": "name = \"other\"\n",
		"prod.tfvars":          "name = \"other\"\n",
		"prod.tfvars.json":     "{}",
	})
	result, err := Convert(Options{From: AzAPI, Subscription: subscription}, folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"name: data1\n", "name: Premium_LRS"} {
		if got := result.Stream(); !strings.Contains(got, want) {
			t.Errorf("want %q in\n%s", want, got)
		}
	}
}

// azapiOf returns a block of azapi with one resource below a parent of a provider.
func azapiOf(typ, parent, properties string) string {
	return "resource \"azapi_resource\" \"a\" {\n  type = \"" + typ + "\"\n  name = \"x\"\n  parent_id = \"" + group + "/providers/" + parent + "\"\n  body = { properties = " + properties + " }\n}\n"
}
