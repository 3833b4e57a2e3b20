package manifest

import (
	"errors"
	"strings"
	"testing"

	"github.com/armature-io/armature/types"
	"github.com/google/go-cmp/cmp"
)

// validAccount is a valid storage account up to its properties.
const validAccount = "type: Microsoft.Storage/storageAccounts@2023-01-01\nname: acc\nowner: " + group + "\nbody:\n  location: westus2\n  kind: StorageV2\n  sku: {name: Standard_LRS}\n"

// validate returns the issues of one file, without its folder.
func validate(t *testing.T, options Options, name, text string) []string {
	t.Helper()
	dir := write(t, map[string]string{name: text})
	var lines []string
	for _, issue := range Validate(options, dir).Issues {
		lines = append(lines, strings.ReplaceAll(issue.String(), dir+"/", ""))
	}
	return lines
}

// vaultFacts are the facts of a worker with an extension for key vaults.
func vaultFacts(resourceType string) Facts {
	if strings.EqualFold(resourceType, "Microsoft.KeyVault/vaults") {
		return Facts{Values: map[string][]string{"properties.createMode": {"createOrRecover", "purgeThenCreate"}}}
	}
	return Facts{}
}

type validateCase struct {
	reason string
	file   string
	text   string
	want   []string
}

func runValidate(t *testing.T, cases map[string]validateCase) {
	t.Helper()
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			file := tc.file
			if file == "" {
				file = "m.yaml"
			}
			if diff := cmp.Diff(tc.want, validate(t, Options{Facts: vaultFacts}, file, tc.text)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestValidatePositions(t *testing.T) {
	runValidate(t, map[string]validateCase{
		"Clean": {reason: "a right manifest has no issue", text: validAccount},
		"Name": {
			reason: "a misspelt property is marked at its name",
			text:   validAccount + "  properties:\n    accessTier: Hot\n    minimumTlsVerison: TLS1_2\n",
			want:   []string{"m.yaml:10:5: body.properties.minimumTlsVerison: unknown property (did you mean minimumTlsVersion?)"},
		},
		"Value": {
			reason: "a wrong value is marked at the value",
			text:   validAccount + "  properties:\n    isHnsEnabled:   \"yes\"\n",
			want:   []string{`m.yaml:9:21: body.properties.isHnsEnabled: found the text "yes", expected true or false; write true`},
		},
		"Flow": {
			reason: "columns count inside a line",
			text:   validAccount + "  properties: {accessTier: Hot, isHnsEnabled: 1}\n",
			want:   []string{"m.yaml:8:47: body.properties.isHnsEnabled: found the number 1, expected true or false"},
		},
		"Missing": {
			reason: "a missing property is marked at the name of the object that lacks it",
			text:   validAccount + "  properties:\n    networkAcls:\n      bypass: None\n",
			want:   []string{"m.yaml:9:5: warning: body.properties.networkAcls.defaultAction: is missing and required; allowed: Allow, Deny"},
		},
		"MissingAtTop": {
			reason: "the body itself lacks a member",
			text:   strings.Replace(validAccount, "  kind: StorageV2\n", "", 1),
			want:   []string{"m.yaml:4:1: warning: body.kind: is missing and required; for example Storage, StorageV2, BlobStorage, FileStorage, BlockBlobStorage"},
		},
		"ListItem": {
			reason: "items are named as everywhere in messages, and an item lacks what it requires",
			text: "type: Microsoft.Network/virtualNetworks@2023-09-01\nname: v\nowner: " + group + "\nbody:\n  location: westus2\n  properties:\n    subnets:\n" +
				"      - name: a\n        properties: {addresPrefix: 10.0.0.0/24}\n      - properties: {serviceEndpoints: {}}\n",
			want: []string{
				"m.yaml:9:22: body.properties.subnets[name=a].properties.addresPrefix: unknown property (did you mean addressPrefix?)",
				"m.yaml:10:40: body.properties.subnets[1].properties.serviceEndpoints: found a mapping, expected a list",
			},
		},
		"Anchor": {
			reason: "a value behind an alias is marked where it is written",
			text:   "type: Microsoft.Storage/storageAccounts@2023-01-01\nname: acc\nowner: " + group + "\nbody:\n  location: westus2\n  kind: StorageV2\n  sku: {name: Standard_LRS}\n  tags: &x {isHnsEnabled: 'true'}\n  properties: {<<: *x}\n",
			want:   []string{`m.yaml:8:27: body.properties.isHnsEnabled: found the text "true", expected true or false; remove the quotes`},
		},
		"JSON": {
			reason: "JSON has lines and columns too; columns count characters, not bytes",
			file:   "m.json",
			text: "[{\"type\": \"Microsoft.Storage/storageAccounts@2023-01-01\", \"name\": \"acc\", \"owner\": \"" + group + "\",\n" +
				"\"body\": {\"location\": \"westus2\", \"kind\": \"StorageV2\", \"sku\": {\"name\": \"Standard_LRS\"},\n" +
				"  \"tags\": {\"ä\": \"öü\"}, \"properties\" : { \"isHnsEnabled\" : \"true\",\n\t\"minimumTlsVerison\": \"TLS1_2\"}}}]",
			want: []string{
				`m.json:3:58: body.properties.isHnsEnabled: found the text "true", expected true or false; remove the quotes`,
				"m.json:4:2: body.properties.minimumTlsVerison: unknown property (did you mean minimumTlsVersion?)",
			},
		},
		"Control": {
			reason: "a name with control characters is quoted",
			text:   validAccount + "  properties: {\"a\\e[2Jb\\u202e\": 1}\n",
			want:   []string{"m.yaml:8:16: warning: \"body.properties['a\\x1b[2Jb\\u202e']\": unknown property; `armature explain Microsoft.Storage/storageAccounts@2023-01-01.properties` lists the known ones"},
		},
	})
}

func TestValidateTypes(t *testing.T) {
	in := func(text string) string { return strings.Replace(text, "OWNER", group, 1) }
	const rest = "name: a\nowner: OWNER\nbody: {}\n"
	runValidate(t, map[string]validateCase{
		"Misspelt":  {reason: "the nearest type is named", text: in("type: Microsoft.Storage/storageAccount@2023-01-01\n" + rest), want: []string{"m.yaml:1:7: type: Microsoft.Storage/storageAccount is not a published type (did you mean Microsoft.Storage/storageAccounts?); the body was not checked"}},
		"Provider":  {reason: "so is the nearest provider", text: in("type: Microsoft.Storag/storageAccounts@2023-01-01\n" + rest), want: []string{"m.yaml:1:7: type: Microsoft.Storag/storageAccounts is not a published type (did you mean Microsoft.Storage/storageAccounts?); the body was not checked"}},
		"NoneAlike": {reason: "the types of a provider can be listed", text: in("type: Microsoft.Compute/vm@2024-07-01\n" + rest), want: []string{"m.yaml:1:7: warning: type: Microsoft.Compute/vm is not a published type; the body was not checked; `armature types Microsoft.Compute` lists those of the provider"}},
		"Private":   {reason: "a private type is one warning", text: in("type: Microsoft.Example/things@2024-01-01\nname: A_B\nowner: OWNER\nbody: {properties: {anything: [1]}}\n"), want: []string{"m.yaml:1:7: warning: type: Microsoft.Example/things is not a published type; the body was not checked; check the spelling, unless the type is private"}},
		"Case":      {reason: "another spelling of the type", text: strings.Replace(validAccount, "storageAccounts", "storageaccounts", 1), want: []string{"m.yaml:1:7: warning: type: Microsoft.Storage/storageaccounts is published as Microsoft.Storage/storageAccounts"}},
		"OldCase":   {reason: "the spelling of another version is as good", text: in("type: Microsoft.Cache/Redis@2024-11-01\nname: a\nowner: OWNER\nbody: {location: westus2, properties: {sku: {name: Basic, family: C, capacity: 0}}}\n")},
		"Version":   {reason: "the nearest and the newest version, and what the body was checked against", text: strings.Replace(validAccount, "2023-01-01", "2023-02-01", 1), want: []string{"m.yaml:1:7: warning: type: Microsoft.Storage/storageAccounts is not published in api-version 2023-02-01; the nearest one is 2023-01-01, the newest stable one " + types.Newest("Microsoft.Storage/storageAccounts") + "; the body was checked against 2023-01-01"}},
		"TooNew":    {reason: "a version after the newest", text: in("type: Microsoft.DataLakeStore/accounts@2030-01-01\nname: aaa\nowner: OWNER\nbody: {location: westus2}\n"), want: []string{"m.yaml:1:7: warning: type: Microsoft.DataLakeStore/accounts is not published in api-version 2030-01-01; the nearest and newest stable one is 2016-11-01; the body was checked against 2016-11-01"}},
		"NotExact":  {reason: "findings of another version are no faults", text: strings.Replace(validAccount, "2023-01-01", "2023-02-01", 1) + "  properties: {isHnsEnabled: 1}\n", want: []string{"m.yaml:1:7: warning: type: Microsoft.Storage/storageAccounts is not published in api-version 2023-02-01; the nearest one is 2023-01-01, the newest stable one " + types.Newest("Microsoft.Storage/storageAccounts") + "; the body was checked against 2023-01-01", "m.yaml:8:30: warning: body.properties.isHnsEnabled: found the number 1, expected true or false"}},
		"ReadOnly":  {reason: "a type without a PUT", text: in("type: Microsoft.AlertsManagement/smartGroups@2019-05-05-preview\nname: a\nowner: /subscriptions/11111111-2222-3333-4444-555555555555\nbody: {}\n"), want: []string{"m.yaml:1:7: warning: type: Microsoft.AlertsManagement/smartGroups cannot be written in any published api-version; to report its differences only, write reconcile: {policy: observe}"}},
		"Observed":  {reason: "observing needs no PUT", text: in("type: Microsoft.AlertsManagement/smartGroups@2019-05-05-preview\nname: a\nowner: /subscriptions/11111111-2222-3333-4444-555555555555\nbody: {}\nreconcile: {policy: observe}\n")},
		"Later":     {reason: "a type that later versions can write", text: in("type: Microsoft.AzureLargeInstance/azureLargeInstances@2023-07-20-preview\nname: a\nowner: OWNER\nbody: {}\n"), want: []string{"m.yaml:1:7: warning: type: Microsoft.AzureLargeInstance/azureLargeInstances cannot be written in api-version 2023-07-20-preview, but in " + types.Newest("Microsoft.AzureLargeInstance/azureLargeInstances")}},
		"BadBody":   {reason: "a wrong kind of body is an issue of the manifest alone", text: in("type: Microsoft.Storage/storageAccounts@2023-01-01\nname: acc\nowner: OWNER\nbody: [1]\n"), want: []string{"m.yaml:4:7: body: found a list; a body is a mapping, write it like body: {location: westus2}"}},
		"WithIssue": {reason: "an issue of the manifest hides no finding of the types", text: validAccount + "  properties: {isHnsEnabled: 1, accessTier: {$ref: nowhere}}\n", want: []string{"m.yaml:8:30: body.properties.isHnsEnabled: found the number 1, expected true or false", `m.yaml:8:52: body.properties.accessTier: $ref: no manifest is named "nowhere"; write a manifest's name or a resource ID`}},
	})
}

func TestValidateScopes(t *testing.T) {
	const subscription = "/subscriptions/11111111-2222-3333-4444-555555555555"
	at := func(typ, name, owner string) string {
		return "type: " + typ + "\nname: " + name + "\nowner: " + owner + "\nbody: {}\nreconcile: {adopt: only, put: merge}\n"
	}
	const account = "Microsoft.Storage/storageAccounts is created in a resource group; its owner is "
	runValidate(t, map[string]validateCase{
		"Subscription":    {reason: "a group is needed", text: at("Microsoft.Storage/storageAccounts@2023-01-01", "acc", subscription), want: []string{"m.yaml:3:8: warning: owner: " + account + "a subscription; name a resource group as owner"}},
		"ManagementGroup": {reason: "a group is needed", text: at("Microsoft.Storage/storageAccounts@2023-01-01", "acc", "/providers/Microsoft.Management/managementGroups/m"), want: []string{"m.yaml:3:8: warning: owner: " + account + "a management group; name a resource group as owner"}},
		"Tenant":          {reason: "a group is needed", text: at("Microsoft.Storage/storageAccounts@2023-01-01", "acc", "/"), want: []string{"m.yaml:3:8: warning: owner: " + account + "the tenant; name a resource group as owner"}},
		"Resource":        {reason: "it is no extension type", text: at("Microsoft.Storage/storageAccounts@2023-01-01", "acc", vnetID+"@2023-09-01"), want: []string{"m.yaml:3:8: warning: owner: " + account + "a resource of type Microsoft.Network/virtualNetworks; name a resource group as owner"}},
		"Group":           {reason: "a type of the tenant in a group", text: at("Microsoft.Subscription/aliases@2021-10-01", "a", group), want: []string{"m.yaml:3:8: warning: owner: Microsoft.Subscription/aliases is created in the tenant (/); its owner is a resource group; name the tenant (/) as owner"}},
		"Child":           {reason: "a child has the scope of its parent", text: at("Microsoft.Network/virtualNetworks/subnets@2023-09-01", "s", vnetID)},
		"TenantChild":     {reason: "a child of a management group has the scope of that", text: at("Microsoft.Management/managementGroups/subscriptions@2023-04-01", "11111111-2222-3333-4444-555555555555", "/providers/Microsoft.Management/managementGroups/m")},
		"Extension":       {reason: "an extension on a resource", text: at("Microsoft.Authorization/roleAssignments@2022-04-01", "r", vnetID+"@2023-09-01")},
		"ExtensionOnAll":  {reason: "an extension on a subscription", text: at("Microsoft.Authorization/locks@2020-05-01", "l", subscription)},
		"OnlyExtension":   {reason: "the scope of an extension may be a group", text: at("Microsoft.Chaos/targets@2025-01-01", "Microsoft-StorageAccount", group)},
		"GroupItself":     {reason: "a group is in a subscription", text: at("Microsoft.Resources/resourceGroups@2024-03-01", "g", subscription)},
	})
}

func TestValidateNames(t *testing.T) {
	named := func(name string) string { return strings.Replace(validAccount, "name: acc", "name: "+name, 1) }
	service := "type: Microsoft.Storage/storageAccounts/blobServices@2023-01-01\nname: NAME\nowner: " + group + "/providers/Microsoft.Storage/storageAccounts/acc\nbody: {}\n"
	runValidate(t, map[string]validateCase{
		"Pattern": {reason: "the published pattern", text: named("My-Account"), want: []string{`m.yaml:2:7: warning: name: "My-Account" does not match the pattern ^[a-z0-9]+$`}},
		"Length":  {reason: "the published length", text: named("ac"), want: []string{"m.yaml:2:7: warning: name: the length is 2, expected at least 3"}},
		"Fixed":   {reason: "a type with one name", text: strings.Replace(service, "NAME", "defalt", 1), want: []string{`m.yaml:2:7: warning: name: "defalt" is not allowed; a resource of type Microsoft.Storage/storageAccounts/blobServices is named default`}},
		"Case":    {reason: "names ignore case", text: strings.Replace(service, "NAME", "Default", 1)},
		"Chain":   {reason: "the last part of a name is the resource's own", text: service[:strings.Index(service, "name")] + "name: acc/default\nbody: {}\n---\n" + validAccount},
		"Form":    {reason: "the name selects the form of the body", text: "type: Microsoft.Web/sites/config@2023-01-01\nname: web\nowner: " + group + "/providers/Microsoft.Web/sites/s\nbody: {properties: {use32BitWorkerProcess: 'yes'}}\n", want: []string{`m.yaml:4:44: body.properties.use32BitWorkerProcess: found the text "yes", expected true or false; write true`}},
	})
}

func TestValidateMarkers(t *testing.T) {
	runValidate(t, map[string]validateCase{
		"Any":      {reason: "an observed value may be anything", text: validAccount + "  properties: {isHnsEnabled: {$ref: '" + vnetID + "@2023-09-01', path: properties.resourceGuid}}\n"},
		"Texts":    {reason: "a secret and a resource ID are texts", text: validAccount + "  properties: {accessTier: {$secret: env:A}, azureFilesIdentityBasedAuthentication: {directoryServiceOptions: {$ref: '" + vnetID + "@2023-09-01'}}}\n"},
		"NoText":   {reason: "they are not what is no text", text: validAccount + "  properties: {isHnsEnabled: {$secret: env:A}, networkAcls: {$ref: '" + vnetID + "@2023-09-01'}}\n", want: []string{"m.yaml:8:30: body.properties.isHnsEnabled: found a text, expected true or false; $secret is a text", "m.yaml:8:61: body.properties.networkAcls: found a text, expected a mapping with defaultAction; $ref without path is a resource ID: add path, or write {id: {$ref: ...}}"}},
		"Later":    {reason: "a marker of a later version stands for anything", text: validAccount + "  properties: {isHnsEnabled: {$vault: x}}\n"},
		"Path":     {reason: "a path beside a misspelt marker", text: validAccount + "  properties: {accessTier: {$reff: x, path: a.b}}\n", want: []string{"m.yaml:8:29: body.properties.accessTier: $reff is not a marker (did you mean $ref?)"}},
		"Misspelt": {reason: "a marker with a typo would be sent to Azure", text: validAccount + "  properties: {accessTier: {$refs: x}, dnsEndpointType: {$Secret: env:A}}\n", want: []string{"m.yaml:8:29: body.properties.accessTier: $refs is not a marker (did you mean $ref?)", "m.yaml:8:58: body.properties.dnsEndpointType: $Secret is not a marker (did you mean $secret?)", "m.yaml:8:67: body.properties.dnsEndpointType.$Secret: is a literal secret; write {$secret: env:NAME} or {$secret: file:NAME}, or {$plain: VALUE} if it is none"}},
		"Values":   {reason: "words of Armature's own extensions", text: "type: Microsoft.KeyVault/vaults@2023-07-01\nname: vault1\nowner: " + group + "\nbody: {location: westus2, properties: {tenantId: 11111111-2222-3333-4444-555555555555, sku: {family: A, name: standard}, createMode: purgeThenCreate}}\n"},
	})
}

func TestValidateModes(t *testing.T) {
	const unknown, number = "body.properties.refrigerator: unknown property; `armature explain Microsoft.Storage/storageAccounts@2023-01-01.properties` lists the known ones", "body.properties.isHnsEnabled: found the number 1, expected true or false"
	text := func(mode string) string {
		return validAccount + "  properties:\n    isHnsEnabled: 1\n    refrigerator: 1\nreconcile: {validation: " + mode + "}\n"
	}
	cases := map[string]struct {
		reason, mode string
		override     Validation
		want         []string
	}{
		"default":          {reason: "faults and warnings", mode: "default", want: []string{"m.yaml:9:19: " + number, "m.yaml:10:5: warning: " + unknown}},
		"strict":           {reason: "all are faults", mode: "strict", want: []string{"m.yaml:9:19: " + number, "m.yaml:10:5: " + unknown}},
		"warn":             {reason: "all are warnings", mode: "warn", want: []string{"m.yaml:9:19: warning: " + number, "m.yaml:10:5: warning: " + unknown}},
		"off":              {reason: "nothing is checked", mode: "off"},
		"flag over":        {reason: "the flag overrides the manifest", mode: "off", override: ValidationStrict, want: []string{"m.yaml:9:19: " + number, "m.yaml:10:5: " + unknown}},
		"flag off":         {reason: "the flag overrides the manifest", mode: "strict", override: ValidationOff},
		"flag for default": {reason: "default is a choice too", mode: "off", override: ValidationDefault, want: []string{"m.yaml:9:19: " + number, "m.yaml:10:5: warning: " + unknown}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, validate(t, Options{Validation: tc.override}, "m.yaml", text(tc.mode))); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestLoadValidates checks that only Options.Validate checks types, that warnings refuse
// nothing, and that one fault does.
func TestLoadValidates(t *testing.T) {
	cases := map[string]struct {
		reason, properties string
		validate           bool
		faults, warnings   int
	}{
		"off":      {reason: "a load for a deletion", properties: "{isHnsEnabled: 1}"},
		"warnings": {reason: "warnings are in the set", properties: "{refrigerator: 1}", validate: true, warnings: 1},
		"faults":   {reason: "a fault refuses", properties: "{isHnsEnabled: 1, refrigerator: 1}", validate: true, faults: 1, warnings: 1},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			set, err := Load(Options{Validate: tc.validate, Stdin: strings.NewReader(validAccount + "  properties: " + tc.properties + "\n")}, "-")
			issues := set.Warnings
			if err != nil {
				issues, _ = errors.AsType[Issues](err)
			}
			if faults, warnings := len(issues.Of(SeverityFault)), len(issues.Of(SeverityWarning)); faults != tc.faults || warnings != tc.warnings {
				t.Errorf("%s: %d faults and %d warnings, want %d and %d: %v", tc.reason, faults, warnings, tc.faults, tc.warnings, issues)
			}
			if (len(set.Resources) == 1) != (tc.faults == 0) {
				t.Errorf("%s: %d resources", tc.reason, len(set.Resources))
			}
		})
	}
}

// TestValidatePartial checks which manifests may lack what the type requires.
func TestValidatePartial(t *testing.T) {
	text := func(reconcile string) string {
		return strings.Replace(validAccount, "  kind: StorageV2\n", "", 1) + "reconcile: {" + reconcile + "}\n"
	}
	missing := []string{"m.yaml:4:1: warning: body.kind: is missing and required; for example Storage, StorageV2, BlobStorage, FileStorage, BlockBlobStorage"}
	runValidate(t, map[string]validateCase{
		"Observe":      {reason: "nothing is written", text: text("policy: observe")},
		"MergeOnly":    {reason: "what exists has the property", text: text("adopt: only, put: merge")},
		"MergeCreates": {reason: "a merge may create", text: text("put: merge"), want: missing},
		"OnlyReplaces": {reason: "a PUT without it would be sent", text: text("adopt: only"), want: missing},
		"Manage":       {reason: "the default creates", text: text("policy: manage"), want: missing},
	})
}

// TestValidateConsequences checks that what is misspelt or misplaced is not also missing.
func TestValidateConsequences(t *testing.T) {
	const network = "type: Microsoft.Network/routeTables/routes@2023-09-01\nname: r\nowner: " + group + "/providers/Microsoft.Network/routeTables/t\nbody:\n"
	runValidate(t, map[string]validateCase{
		"Misspelt": {reason: "the misspelt property is the required one", text: network + "  properties: {nextHopTyp: Internet}\n", want: []string{"m.yaml:5:16: body.properties.nextHopTyp: unknown property (did you mean nextHopType?)"}},
		"Down":     {reason: "it is one level down", text: strings.Replace(validAccount, "  sku: {name: Standard_LRS}", "  properties: {sku: {name: Standard_LRS}}", 1), want: []string{"m.yaml:7:16: body.properties.sku: belongs beside properties, not inside it"}},
		"Up":       {reason: "it is one level up", text: network + "  nextHopType: Internet\n  properties: {}\n", want: []string{"m.yaml:5:3: body.nextHopType: belongs inside properties, not beside it"}},
		"Version":  {reason: "copied from a template", text: validAccount + "  apiVersion: 2023-01-01\n", want: []string{"m.yaml:8:3: warning: body.apiVersion: is set by Azure and cannot be stated; remove it; the api-version is the part of type after the @"}},
		"Other":    {reason: "another required one is missing still", text: strings.Replace(validAccount, "  kind: StorageV2\n  sku: {name: Standard_LRS}", "  properties: {sku: {name: Standard_LRS}}", 1), want: []string{"m.yaml:4:1: warning: body.kind: is missing and required; for example Storage, StorageV2, BlobStorage, FileStorage, BlockBlobStorage", "m.yaml:6:16: body.properties.sku: belongs beside properties, not inside it"}},
		"List":     {reason: "the known properties of an item", text: validAccount + "  properties: {networkAcls: {defaultAction: Deny, ipRules: [{value: 10.0.0.1, bypass: None}]}}\n", want: []string{"m.yaml:8:79: warning: body.properties.networkAcls.ipRules[0].bypass: unknown property; `armature explain 'Microsoft.Storage/storageAccounts@2023-01-01.properties.networkAcls.ipRules[]'` lists the known ones"}},
	})
}
