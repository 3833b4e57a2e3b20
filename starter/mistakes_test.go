package starter

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/armature-io/armature/starter/internal/cli"
)

// mistake is a manifest with one typical mistake.
type mistake struct {
	reason, text string
	// faults is the number of faults; a mistake without one is a warning.
	faults int
	// clean is set for what the published types cannot show.
	clean bool
}

// accountManifest returns a storage account; lines are more members of its body.
func accountManifest(lines string) string {
	return "type: Microsoft.Storage/storageAccounts@2023-01-01\nname: acc1\nowner: " + group + "\nbody:\n  location: westus2\n  kind: StorageV2\n  sku: {name: Standard_LRS}\n" + lines
}

// vnetManifest returns a virtual network with properties.
func vnetManifest(properties string) string {
	return "type: Microsoft.Network/virtualNetworks@2023-09-01\nname: net1\nowner: " + group + "\nbody:\n  location: westus2\n  properties:\n    addressSpace: {addressPrefixes: [10.0.0.0/16]}\n" + properties
}

// mistakes are what users of Azure's tools report that they wrote, and what a trial of
// this program with new users showed.
func mistakes() map[string]mistake {
	table := map[string]mistake{
		"property misspelt":          {reason: "letters are swapped", text: accountManifest("  properties: {minimumTlsVerison: TLS1_2}\n"), faults: 1},
		"property of another level":  {reason: "access tier is a property, not an envelope member", text: accountManifest("  accessTier: Hot\n"), faults: 1},
		"envelope member inside":     {reason: "sku belongs beside properties", text: strings.Replace(accountManifest("  properties:\n    sku: {name: Standard_LRS}\n"), "  sku: {name: Standard_LRS}\n", "", 1), faults: 1},
		"property one level too low": {reason: "the default action is no part of a rule", text: accountManifest("  properties:\n    networkAcls:\n      virtualNetworkRules: []\n      ipRules: [{value: 10.0.0.1, bypass: None}]\n      defaultAction: Deny\n")},
		"unknown property":           {reason: "it resembles none", text: accountManifest("  properties: {refrigerator: true}\n")},
		"text for a boolean":         {reason: "quotes make it a text", text: accountManifest("  properties: {allowBlobPublicAccess: \"false\"}\n"), faults: 1},
		"yes for a boolean":          {reason: "yes is a text, as in YAML 1.2", text: accountManifest("  properties: {allowBlobPublicAccess: no}\n"), faults: 1},
		"number for a text":          {reason: "a tag is a text", text: accountManifest("  tags: {build: 42}\n"), faults: 1},
		"number as text":             {reason: "Azure takes it", text: vnetManifest("    flowTimeoutInMinutes: '10'\n")},
		"word for a number":          {reason: "Azure does not take it", text: vnetManifest("    flowTimeoutInMinutes: ten\n"), faults: 1},
		"list for a mapping":         {reason: "tags are a mapping", text: accountManifest("  tags: [team, data]\n"), faults: 1},
		"text for a mapping":         {reason: "sku is a mapping", text: strings.Replace(accountManifest(""), "{name: Standard_LRS}", "Standard_LRS", 1), faults: 1},
		"mapping for a list":         {reason: "subnets are a list", text: vnetManifest("    subnets: {a: {properties: {addressPrefix: 10.0.0.0/24}}}\n"), faults: 1},
		"value misspelt":             {reason: "a closed list of values", text: accountManifest("  properties: {accessTier: Coool}\n")},
		"value not allowed":          {reason: "it resembles none of a closed list", text: accountManifest("  properties: {accessTier: Archive}\n")},
		"kind of an open list":       {reason: "another version of a known one", text: strings.Replace(accountManifest(""), "StorageV2", "StorageV3", 1)},
		"value of an open list":      {reason: "another value may be newer than the data, unless it is nearly a known one", text: strings.Replace(accountManifest(""), "Standard_LRS", "Standard_LSR", 1)},
		"case of a property":         {reason: "Azure ignores it", text: accountManifest("  properties: {minimumTLSVersion: TLS1_2}\n")},
		"case of a value":            {reason: "some providers are strict", text: accountManifest("  properties: {accessTier: hot}\n")},
		"required missing":           {reason: "what exists may have it already", text: strings.Replace(accountManifest(""), "  kind: StorageV2\n  sku: {name: Standard_LRS}\n", "", 1)},
		"read-only stated":           {reason: "copied from a GET", text: accountManifest("  properties: {provisioningState: Succeeded}\n")},
		"location on a child":        {reason: "a subnet is where its network is", text: "type: Microsoft.Network/virtualNetworks/subnets@2023-09-01\nname: s1\nowner: " + group + "/providers/Microsoft.Network/virtualNetworks/net1\nbody:\n  location: westus2\n  properties: {addressPrefix: 10.0.0.0/24}\n"},
		"out of bounds":              {reason: "a bound of the specification", text: "type: Microsoft.Storage/storageAccounts/blobServices@2023-01-01\nname: default\nowner: " + group + "/providers/Microsoft.Storage/storageAccounts/acc1\nbody: {properties: {deleteRetentionPolicy: {enabled: true, days: 400}}}\n"},
		"name too short":             {reason: "a length of the specification", text: strings.Replace(accountManifest(""), "acc1", "a1", 1)},
		"pattern":                    {reason: "letters that a name must not have", text: strings.Replace(accountManifest(""), "acc1", "My-Account", 1)},
		"type misspelt":              {reason: "the singular", text: strings.Replace(accountManifest(""), "storageAccounts@", "storageAccount@", 1), faults: 1},
		"provider misspelt":          {reason: "a letter is missing", text: strings.Replace(accountManifest(""), "Microsoft.Storage", "Microsoft.Storge", 1), faults: 1},
		"version that never existed": {reason: "a wrong month", text: strings.Replace(accountManifest(""), "2023-01-01", "2022-02-02", 1)},
		"impossible date":            {reason: "no calendar has it", text: strings.Replace(accountManifest(""), "2023-01-01", "2023-02-30", 1)},
		"owner of another type":      {reason: "a subnet is in a network", text: "type: Microsoft.Network/virtualNetworks/subnets@2023-09-01\nname: s1\nowner: " + group + "\nbody: {properties: {addressPrefix: 10.0.0.0/24}}\n", faults: 1},
		"owner of another scope":     {reason: "an account is in a group", text: strings.Replace(accountManifest(""), "/resourceGroups/rg1", "", 1)},
		"name of a singleton":        {reason: "the only blob service is default", text: "type: Microsoft.Storage/storageAccounts/blobServices@2023-01-01\nname: blobs\nowner: " + group + "/providers/Microsoft.Storage/storageAccounts/acc1\nbody: {properties: {isVersioningEnabled: true}}\n"},
		"type without PUT":           {reason: "Azure only shows it", text: "type: Microsoft.AlertsManagement/smartGroups@2019-05-05-preview\nname: a\nowner: /subscriptions/11111111-2222-3333-4444-555555555555\nbody: {}\n"},
		"marker misspelt":            {reason: "Azure would get it as it is", text: accountManifest("  properties: {accessTier: {$reff: acc2, path: properties.accessTier}}\n"), faults: 1},
		"reference for a mapping":    {reason: "a subnet in a body is {id: ...}", text: vnetManifest("    ddosProtectionPlan: {$ref: '" + group + "/providers/Microsoft.Network/ddosProtectionPlans/p@2023-09-01'}\n"), faults: 1},
		"unknown discriminator":      {reason: "the kind of a script selects its properties", text: "type: Microsoft.Resources/deploymentScripts@2020-10-01\nname: s\nowner: " + group + "\nbody:\n  location: westus2\n  kind: AzureCli2\n  properties: {azCliVersion: 2.40.0, retentionInterval: P1D}\n"},
		"template":                   {reason: "copied from an ARM template", text: "type: Microsoft.Storage/storageAccounts\napiVersion: 2023-01-01\nname: acc1\nlocation: westus2\nproperties: {}\n", faults: 6},
		"location misspelt":          {reason: "locations are no part of the published types; plan asks the subscription", text: strings.Replace(accountManifest(""), "westus2", "westeurop", 1), clean: true},
	}
	return table
}

// TestMistakes verifies what typical mistakes lead to: the text, the place and the exit
// codes of validate, plan and apply. The golden file is for review.
func TestMistakes(t *testing.T) {
	var all strings.Builder
	for _, name := range slices.Sorted(maps.Keys(mistakes())) {
		tc := mistakes()[name]
		t.Run(name, func(t *testing.T) {
			dir := manifests(t, map[string]string{"m.yaml": tc.text})
			command := func(wantCode int, args ...string) (string, string) {
				t.Helper()
				w := sampleWorld(t)
				if code := w.run(args...); code != wantCode {
					t.Errorf("%s: %v: exit code %d, want %d\n%s", tc.reason, args, code, wantCode, w.err)
				}
				if n := len(w.temporal.sent) + len(w.temporal.started) + len(w.temporal.runs); n > 0 && tc.faults > 0 {
					t.Errorf("%s: %v: %d messages were sent", tc.reason, args, n)
				}
				return strings.ReplaceAll(w.out.String(), dir+"/", ""), strings.ReplaceAll(w.err.String(), dir+"/", "")
			}
			codes := map[string]int{"validate": cli.ExitOK, "strict": cli.ExitFailed}
			if tc.faults > 0 {
				codes = map[string]int{"validate": cli.ExitBadInput, "strict": cli.ExitBadInput, "plan": cli.ExitFailed, "apply": cli.ExitBadInput}
			}
			if tc.clean {
				codes["strict"] = cli.ExitOK
			}
			out, errText := command(codes["validate"], "validate", "-f", dir)
			command(codes["strict"], "validate", "--strict", "-f", dir)
			if got := strings.Count(out, "\n") - 1; (got == 0) != tc.clean {
				t.Errorf("%s: %d issues:\n%s", tc.reason, got, out)
			}
			if !strings.Contains(out, cli.Count(tc.faults, "fault")+",") {
				t.Errorf("%s: want %d faults:\n%s", tc.reason, tc.faults, out)
			}
			fmt.Fprintf(&all, "== %s: %s\n%s$ armature validate -f m.yaml\n%s%s", name, tc.reason, indented(tc.text), out, errText)
			if tc.faults > 0 {
				_, planned := command(codes["plan"], "plan", "-f", dir)
				_, applied := command(codes["apply"], "apply", "-f", dir)
				if planned != applied {
					t.Errorf("%s: plan and apply differ:\n%s\n%s", tc.reason, planned, applied)
				}
				fmt.Fprintf(&all, "$ armature plan -f m.yaml\n%s", planned)
			}
			all.WriteString("\n")
		})
	}
	golden(t, "mistakes.txt", all.String())
}

func indented(text string) string {
	return "  " + strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n  ") + "\n"
}
