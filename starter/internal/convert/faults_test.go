package convert

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// write writes the files of a test, NAME: TEXT, and returns their folder.
func write(t *testing.T, files map[string]string) string {
	t.Helper()
	folder := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

// refusal returns the text of the faults of a conversion of one file, without its folder.
func refusal(t *testing.T, format Format, name, text string) string {
	t.Helper()
	folder := write(t, map[string]string{name: text})
	path := filepath.Join(folder, name)
	if format == AzAPI {
		path = folder
	}
	result, err := Convert(Options{From: format, Subscription: subscription}, path)
	if err == nil {
		return "converted:\n" + result.Stream()
	}
	if !isIssues(err) {
		t.Fatalf("the error has no places: %v", err)
	}
	return strings.ReplaceAll(err.Error(), folder+"/", "")
}

// snapshotOf returns a snapshot with one storage account; more are its members.
func snapshotOf(more string) string {
	return "{\"predictedResources\": [\n{\"id\": \"" + group + "/providers/Microsoft.Storage/storageAccounts/data1\",\n\"type\": \"Microsoft.Storage/storageAccounts\", \"name\": \"data1\", \"apiVersion\": \"2023-01-01\",\n" +
		"\"location\": \"westus2\", \"kind\": \"StorageV2\", \"sku\": {\"name\": \"Standard_LRS\"},\n" + more + "}]}"
}

// account returns a block of azapi with one storage account.
func account(more string) string {
	return "resource \"azapi_resource\" \"a\" {\n  type = \"Microsoft.Storage/storageAccounts@2023-01-01\"\n  parent_id = \"" + group + "\"\n  location = \"westus2\"\n" + more + "\n}\n"
}

// TestFaults converts what is hostile, broken or not convertible: each is a fault with its
// place, and none is a result, a crash or a wait.
func TestFaults(t *testing.T) {
	object := "apiVersion: storage.azure.com/v1api20230101\nkind: StorageAccount\nmetadata: {name: data1}\nspec:\n"
	cases := map[string]struct {
		reason       string
		format       Format
		name, text   string
		want, absent string
	}{
		"not JSON":             {"another file", BicepSnapshot, "s.json", "hello", "s.json:1: it is not JSON: ", ""},
		"cut off":              {"half a download", BicepSnapshot, "s.json", "{\"predictedResources\": [\n{", "s.json:2: the JSON ends too early", ""},
		"other JSON":           {"a template", BicepSnapshot, "s.json", `{"resources": []}`, "s.json:1: it has no list predictedResources", ""},
		"empty":                {"an empty list", BicepSnapshot, "s.json", `{"predictedResources": []}`, "no resource was found in ", ""},
		"duplicate names":      {"one of two values would be lost", BicepSnapshot, "s.json", "{\"predictedResources\": [],\n\"predictedResources\": []}", "s.json:2: the name \"predictedResources\" is there twice", ""},
		"deep":                 {"a recursion without bound", BicepSnapshot, "s.json", strings.Repeat(`{"a":`, 200000), "s.json:1: values are nested deeper than 100 levels", ""},
		"two documents":        {"a log of several", BicepSnapshot, "s.json", `{"predictedResources": []} {}`, "there is more than one JSON document", ""},
		"expression":           {"shown as it is", BicepSnapshot, "s.json", snapshotOf(`"properties": {"accessTier":` + "\n" + `"[if(equals(1, 2), 'Hot', 'Cool')]"}`), "s.json:6: properties.accessTier: the expression [if(equals(1, 2), 'Hot', 'Cool')] cannot be converted", ""},
		"location":             {"the advice names the flag", BicepSnapshot, "s.json", snapshotOf(`"tags": {"a": "[resourceGroup().location]"}`), "make the snapshot with --location", ""},
		"tenant":               {"the advice names the flag", BicepSnapshot, "s.json", snapshotOf(`"tags": {"a": "[tenant().tenantId]"}`), "make the snapshot with --tenant-id", ""},
		"no such resource":     {"a name outside of the snapshot", BicepSnapshot, "s.json", snapshotOf(`"tags": {"a": "[reference('other').x]"}`), "no resource of the snapshot has the name other", ""},
		"marker":               {"a value must not make a worker read a secret", BicepSnapshot, "s.json", snapshotOf(`"properties": {"dnsEndpointType": {"$secret": "env:AWS_SECRET"}}`), "s.json:5: properties.dnsEndpointType", ""},
		"twice":                {"two bodies of one resource", BicepSnapshot, "s.json", strings.Replace(snapshotOf(`"properties": {}`), "]}", ","+strings.TrimPrefix(strings.TrimSuffix(snapshotOf(`"properties": {}`), "]}"), "{\"predictedResources\": [")+"]}", 1), "is there twice, first at s.json:2", ""},
		"an ID of nothing":     {"an ID with a query", BicepSnapshot, "s.json", strings.Replace(snapshotOf(`"tags": {}`), "data1\"", "data1?x=1\"", 1), "s.json:2: parse resource ID", ""},
		"not a state":          {"other JSON", TerraformState, "t.tfstate", `{"a": 1}`, "t.tfstate:1: it is no state of Terraform", ""},
		"old state":            {"another form", TerraformState, "t.tfstate", `{"version": 3, "resources": []}`, "the state has version 3", ""},
		"all sensitive":        {"its parts are not known", TerraformState, "t.tfstate", stateWith(`{"type": "get_attr", "value": "body"}`), "the whole of body is sensitive", password},
		"not HCL":              {"another file", AzAPI, "main.tf", "hello {{{", "main.tf:1: it is not a configuration of Terraform", ""},
		"deep HCL":             {"the parser is recursive", AzAPI, "main.tf", "locals {\n a = " + strings.Repeat("[", 500000) + "\n}", "main.tf:2: expressions are nested deeper than 100 levels", ""},
		"long HCL":             {"the parser is recursive here too", AzAPI, "main.tf", "locals {\n a = " + strings.Repeat("!", 500000) + "true\n}", "main.tf:2: expressions are nested deeper than 100 levels", ""},
		"conditionals":         {"and here", AzAPI, "main.tf", "locals {\n a = " + strings.Repeat("true ? 1 : ", 50000) + "2\n}", "main.tf:2: expressions are nested deeper than 100 levels", ""},
		"unknown":              {"the expression is shown", AzAPI, "main.tf", account("  name = random_pet.x.id"), "main.tf:5: name: the expression random_pet.x.id cannot be converted", ""},
		"instances":            {"the state has them", AzAPI, "main.tf", account("  for_each = toset([\"a\"])\n  name = each.key"), "main.tf:1: azapi_resource.a uses count or for_each", ""},
		"block twice":          {"one would be lost", AzAPI, "main.tf", account("  name = \"a1\"") + account("  name = \"a2\""), "azapi_resource.a is there twice", ""},
		"memory":               {"a width would fill it", AzAPI, "main.tf", account("  name = format(\"%099999999d\", 1)"), "main.tf:5: name: the expression format(", ""},
		"no folder":            {"a typo", AzAPI, "none.txt", "", "the folder has no file *.tf", ""},
		"values in JSON":       {"another syntax", AzAPI, "prod.auto.tfvars.json", "{}", "prod.auto.tfvars.json: values in JSON are not read; write them as prod.auto.tfvars", ""},
		"JSON of Terraform":    {"another syntax", AzAPI, "main.tf.json", "{}", "main.tf.json: configurations in JSON are not read", ""},
		"not YAML":             {"another file", ASO, "c.yaml", "a: [b\nc: {", "c.yaml:", ""},
		"aliases":              {"a small file becomes a large one", ASO, "c.yaml", bomb(), "it contains more than 1000000 values", ""},
		"own alias":            {"it never ends", ASO, "c.yaml", "a: &a [*a]", "c.yaml:1:", ""},
		"duplicate YAML":       {"one would be lost", ASO, "c.yaml", object + "  location: a\n  location: b\n", "c.yaml:6: the name \"location\" is there twice", ""},
		"owner":                {"where it is, is not known", ASO, "c.yaml", object + "  location: westus2\n  owner: {name: g, kind: Vault, group: keyvault.azure.com}\n", "c.yaml:6: the owner g of StorageAccount data1 is not in the files", ""},
		"reference":            {"a resource of another file", ASO, "c.yaml", object + "  owner: {name: g}\n  networkAcls: {virtualNetworkRules: [{reference: {group: network.azure.com, kind: VirtualNetworksSubnet, name: s}}]}\n", "c.yaml:6: data1: properties.networkAcls", ""},
		"unknown kind":         {"a typo", ASO, "c.yaml", strings.Replace(object, "kind: StorageAccount", "kind: StorageAcount", 1) + "  owner: {name: g}\n", "c.yaml:1: the resource type of StorageAcount data1 is not known", ""},
		"a role's name":        {"ASO made it", ASO, "c.yaml", "apiVersion: authorization.azure.com/v1api20220401\nkind: RoleAssignment\nmetadata: {name: r}\nspec: {owner: {armId: " + group + "}}\n", "take the object from the cluster", ""},
		"secret as a tag":      {"tags are public", ASO, "c.yaml", object + "  owner: {name: g}\n  tags: {a: {name: s, key: k}}\n", "c.yaml:6:", ""},
		"credential as a tag":  {"everybody reads tags", AzAPI, "main.tf", account("  name = \"a1\"\n  tags = { c = \"AccountKey=" + password + "\" }"), "tags.c has the form of a credential, and everybody who may read the resource sees it", password},
		"no kubernetes object": {"a list of numbers", ASO, "c.yaml", "- 1\n- 2\n", "c.yaml:1: it is no object of Kubernetes", ""},
		"not a file of theirs": {"no objects of ASO", ASO, "c.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n", "no resource was found in ", ""},
		"unknown format":       {"the formats are listed", "pulumi", "x", "", "the format \"pulumi\" is not known; allowed are aso, azapi, bicep-snapshot, ids, terraform-state", ""},
		"names of a shell":     {"names that no ID can have", AzAPI, "main.tf", account("  name = \"a\\n$(x)?\""), "main.tf:1: parse resource ID", ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got := refusal(t, c.format, c.name, c.text)
			if !strings.Contains(got, c.want) || strings.HasPrefix(got, "converted") {
				t.Errorf("%s: got %.600q, want %q", c.reason, got, c.want)
			}
			if c.absent != "" && strings.Contains(got, c.absent) {
				t.Errorf("%s: the fault contains a secret: %q", c.reason, got)
			}
		})
	}
}

// bomb returns a YAML document whose aliases expand to 10^8 values.
func bomb() string {
	text := "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
	for i := 1; i < 8; i++ {
		alias := "*a" + string(rune('0'+i-1))
		text += "a" + string(rune('0'+i)) + ": &a" + string(rune('0'+i)) + " [" + strings.TrimSuffix(strings.Repeat(alias+", ", 10), ", ") + "]\n"
	}
	return text
}

// stateWith returns a state with a password at body.properties.x and a sensitive path.
func stateWith(path string) string {
	return `{"version": 4, "terraform_version": "1.9.0", "resources": [{"mode": "managed", "type": "azapi_resource", "name": "a", "instances": [{"attributes": {
		"id": "` + group + `/providers/Microsoft.Storage/storageAccounts/data1", "type": "Microsoft.Storage/storageAccounts@2023-01-01", "name": "data1", "location": "westus2",
		"body": {"value": {"kind": "StorageV2", "sku": {"name": "Standard_LRS"}, "properties": {"dnsEndpointType": "` + password + `"}}, "type": ["object", {}]}},
		"sensitive_attributes": [[` + path + `]]}]}]}`
}

// TestSpecialFiles reads what is not a file: nothing waits, and each is a fault.
func TestSpecialFiles(t *testing.T) {
	folder := t.TempDir()
	fifo := filepath.Join(folder, "fifo.json")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	huge := filepath.Join(folder, "huge.json")
	if err := os.Truncate(create(t, huge), maxFileBytes+1); err != nil {
		t.Fatal(err)
	}
	outside := filepath.Join(t.TempDir(), "secret.yaml")
	create(t, outside)
	links := t.TempDir()
	if err := os.Symlink(outside, filepath.Join(links, "a.yaml")); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		reason string
		format Format
		path   string
		want   string
	}{
		"FIFO":     {"nothing writes to it", BicepSnapshot, fifo, "it is not a regular file"},
		"huge":     {"it would fill the memory", BicepSnapshot, huge, "the file is larger than 64 MiB"},
		"device":   {"it never ends", TerraformState, "/dev/zero", "it is not a regular file"},
		"folder":   {"one file is one snapshot", BicepSnapshot, folder, "is a folder"},
		"absent":   {"a typo", ASO, filepath.Join(folder, "none"), "no such file"},
		"no stdin": {"nothing is piped", BicepSnapshot, "-", "stdin is not available"},
		"link":     {"the author of a folder does not choose other files", ASO, links, "is a link out of the folder"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := Convert(Options{From: c.format}, c.path); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: %v, want %q", c.reason, err, c.want)
			}
			if c.format == BicepSnapshot {
				if _, err := FindIDs(Options{From: IDs}, c.path); err == nil || !strings.Contains(err.Error(), c.want) {
					t.Errorf("%s: IDs: %v, want %q", c.reason, err, c.want)
				}
			}
		})
	}
}

func create(t *testing.T, path string) string {
	t.Helper()
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
