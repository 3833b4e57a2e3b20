package types

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func body(t *testing.T, text string) map[string]any {
	t.Helper()
	var object map[string]any
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	if err := decoder.Decode(&object); err != nil {
		t.Fatal(err)
	}
	return object
}

// account has what a storage account requires.
const account = `"location": "westus2", "kind": "StorageV2", "sku": {"name": "Standard_LRS"}`

func TestCheck(t *testing.T) {
	const storage, vnet = "Microsoft.Storage/storageAccounts@2023-01-01", "Microsoft.Network/virtualNetworks@2023-09-01"
	cases := map[string]struct {
		reason, shape, body string
		want                []string
	}{
		"clean":              {"a right body has no finding", storage, `{` + account + `}`, nil},
		"marker":             {"a reference stands for any value", storage, `{"location": {"$ref": "x"}, "kind": {"$secret": "y"}, "sku": {"name": {"$ref": "z"}}}`, nil},
		"null":               {"null means absent", storage, `{` + account + `, "properties": {"accessTier": null}}`, nil},
		"misspelt":           {"swapped letters", storage, `{` + account + `, "properties": {"minimumTlsVerison": "TLS1_2"}}`, []string{"fault unknown-property properties.minimumTlsVerison: unknown property (did you mean minimumTlsVersion?)"}},
		"one level down":     {"sku inside properties", storage, `{"location": "westus2", "kind": "StorageV2", "properties": {"sku": {"name": "Standard_LRS"}}}`, []string{"fault misplaced-property properties.sku: belongs beside properties, not inside it", "warning missing-property sku: is missing and required; write a mapping with name"}},
		"one level up":       {"a property beside properties", storage, `{` + account + `, "accessTier": "Hot"}`, []string{"fault misplaced-property accessTier: belongs inside properties, not beside it"}},
		"distant":            {"a name that resembles none", storage, `{` + account + `, "properties": {"refrigerator": 1}}`, []string{"warning unknown-property properties.refrigerator: unknown property"}},
		"envelope":           {"a child has no location", "Microsoft.Network/virtualNetworks/subnets@2023-09-01", `{"location": "westus2", "properties": {"addressPrefix": "10.0.0.0/24"}}`, []string{"warning unknown-property location: the type does not have this member; remove it"}},
		"text for a mapping": {"wrong kind", storage, `{` + account + `, "properties": "x"}`, []string{`fault wrong-kind properties: found the text "x", expected a mapping`}},
		"text for a boolean": {"wrong kind", storage, `{` + account + `, "properties": {"isHnsEnabled": "true"}}`, []string{`fault wrong-kind properties.isHnsEnabled: found the text "true", expected true or false; remove the quotes`}},
		"yes for a boolean":  {"YAML 1.1 has it as a boolean", storage, `{` + account + `, "properties": {"isHnsEnabled": "no"}}`, []string{`fault wrong-kind properties.isHnsEnabled: found the text "no", expected true or false; write false`}},
		"secret":             {"the value is not repeated", "Microsoft.Compute/virtualMachines@2023-03-01", `{"location": "westus2", "properties": {"osProfile": {"adminPassword": 4711, "windowsConfiguration": "AccountName=a;AccountKey=aHVudGVyMjI="}}}`, []string{"fault wrong-kind properties.osProfile.adminPassword: found a number, expected a text; put it in quotes", "fault wrong-kind properties.osProfile.windowsConfiguration: found a text, expected a mapping"}},
		"boolean for a text": {"wrong kind", storage, `{` + account + `, "properties": {"dnsEndpointType": true}}`, []string{"fault wrong-kind properties.dnsEndpointType: found true, expected a text; put it in quotes"}},
		"number for a text":  {"wrong kind", storage, `{` + account + `, "properties": {"dnsEndpointType": 1}}`, []string{"fault wrong-kind properties.dnsEndpointType: found the number 1, expected a text; put it in quotes"}},
		"number as text":     {"Azure takes it", vnet, `{"location": "westus2", "properties": {"flowTimeoutInMinutes": "10"}}`, []string{"warning number-as-text properties.flowTimeoutInMinutes: found a number written as text, expected a number; remove the quotes"}},
		"word for a number":  {"Azure does not take it", vnet, `{"location": "westus2", "properties": {"flowTimeoutInMinutes": "ten"}}`, []string{`fault wrong-kind properties.flowTimeoutInMinutes: found the text "ten", expected a number`}},
		"fraction":           {"the published integers include numbers with fractions", "Microsoft.ContainerInstance/containerGroups@2023-05-01", `{"properties": {"osType": "Linux", "containers": [{"name": "a", "properties": {"image": "i", "resources": {"requests": {"cpu": 0.5, "memoryInGB": 1.5}}}}]}}`, nil},
		"mapping for a list": {"wrong kind", vnet, `{"location": "westus2", "properties": {"subnets": {}}}`, []string{"fault wrong-kind properties.subnets: found a mapping, expected a list"}},
		"in a list":          {"the path has the index", vnet, `{"location": "westus2", "properties": {"subnets": [{"name": "a"}, {"name": "b", "properties": {"addresPrefix": "10.0.0.0/24"}}]}}`, []string{"fault unknown-property properties.subnets[1].properties.addresPrefix: unknown property (did you mean addressPrefix?)"}},
		"read-only":          {"Azure sets it", storage, `{` + account + `, "properties": {"provisioningState": "Succeeded"}}`, []string{"warning read-only-property properties.provisioningState: is set by Azure and cannot be stated; remove it"}},
		"letter case":        {"ARM ignores the case of names", storage, `{` + account + `, "properties": {"AccessTier": "Hot"}}`, []string{"warning letter-case properties.AccessTier: is published as accessTier"}},
		"case of a value":    {"some services are strict", storage, `{` + account + `, "properties": {"accessTier": "hot"}}`, []string{`warning letter-case properties.accessTier: "hot" is published as "Hot"`}},
		"closed list":        {"a value that is not allowed", storage, `{` + account + `, "properties": {"accessTier": "Warmish"}}`, []string{`warning value-not-allowed properties.accessTier: "Warmish" is not allowed; allowed: Hot, Cool, Premium`}},
		"open list, near":    {"a misspelt value of an open list", storage, `{"location": "westus2", "kind": "StorageV2", "sku": {"name": "Standrad_LRS"}}`, []string{`warning value-not-allowed sku.name: "Standrad_LRS" is not a published value (did you mean Standard_LRS?); other values are legal`}},
		"open list, new":     {"a value that is newer than the data", storage, `{"location": "westus2", "kind": "StorageV2", "sku": {"name": "Turbo_LRS"}}`, nil},
		"any map":            {"tags take any name", storage, `{` + account + `, "tags": {"kindd": "x"}}`, nil},
		"kind in a map":      {"tags are texts", storage, `{` + account + `, "tags": {"x": 1}}`, []string{"fault wrong-kind tags.x: found the number 1, expected a text; put it in quotes"}},
		"stated neighbour":   {"a name near one that is stated is no typo of it", storage, `{` + account + `, "properties": {"accessTier": "Hot", "accessTiers": "Hot"}}`, []string{"warning unknown-property properties.accessTiers: unknown property"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			typeName, version, _ := strings.Cut(tc.shape, "@")
			shape := Lookup(typeName, version)
			if shape == nil || !shape.Exact {
				t.Fatalf("%s is not published", tc.shape)
			}
			var got []string
			for _, f := range shape.Check(body(t, tc.body)) {
				got = append(got, describe(f))
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s (-want +got)\n%s", tc.reason, diff)
			}
		})
	}
}

func describe(f Finding) string {
	severity := "warning"
	if f.Fault {
		severity = "fault"
	}
	return fmt.Sprintf("%s %s %s", severity, f.Rule, f)
}

// TestCheckBounds checks shapes that no published type has in so few lines.
func TestCheckBounds(t *testing.T) {
	five, ten := int64(5), int64(10)
	text := &Node{Kind: Text, Bounds: &Bounds{Min: &five, Max: &ten, Pattern: "^[a-z]+$"}}
	shape := &Shape{Exact: true, Body: &Node{Kind: Object, Properties: []Property{
		{Name: "count", Type: &Node{Kind: Integer, Bounds: &Bounds{Min: &five, Max: &ten}}},
		{Name: "items", Type: &Node{Kind: List, Item: &Node{Kind: Any}, Bounds: &Bounds{Max: &five}}},
		{Name: "password", Type: text},
		{Name: "secret", Type: &Node{Kind: Union, Elements: []*Node{{Kind: Literal, Name: "a"}}}},
		{Name: "title", Type: text},
		{Name: "which", Type: &Node{Kind: Discriminated, Discriminator: "kind", Properties: []Property{{Name: "all", Type: &Node{Kind: Boolean}}}, Variants: []Variant{
			{Value: "Circle", Type: &Node{Kind: Object, Properties: []Property{{Name: "kind", Flags: Required, Type: &Node{Kind: Literal, Name: "Circle"}}, {Name: "radius", Flags: Required, Type: &Node{Kind: Integer}}}}},
			{Value: "Square", Type: &Node{Kind: Object, Properties: []Property{{Name: "kind", Flags: Required, Type: &Node{Kind: Literal, Name: "Square"}}, {Name: "side", Type: &Node{Kind: Integer}}}}},
		}}},
	}}}
	cases := map[string]struct {
		reason, body string
		want         []string
	}{
		"within":                {"bounds are inclusive", `{"count": 5, "title": "abcde", "items": [1, 2, 3, 4, 5]}`, nil},
		"below":                 {"the bound is named", `{"count": 4}`, []string{"warning out-of-bounds count: is 4, expected at least 5"}},
		"above":                 {"the bound is named", `{"count": 10.5}`, []string{"warning out-of-bounds count: is 10.5, expected at most 10"}},
		"short":                 {"the length counts characters", `{"title": "ä"}`, []string{"warning out-of-bounds title: the length is 1, expected at least 5", `warning pattern-mismatch title: "ä" does not match the pattern ^[a-z]+$`}},
		"many items":            {"a list has a length too", `{"items": [1, 2, 3, 4, 5, 6]}`, []string{"warning out-of-bounds items: the number of items is 6, expected at most 5"}},
		"secret":                {"a message never contains a secret", `{"password": "HUNTER2!", "secret": "hunter2"}`, []string{"warning pattern-mismatch password: the value does not match the pattern ^[a-z]+$", "warning value-not-allowed secret: the value is not allowed; allowed: a"}},
		"variant":               {"the discriminator selects the properties", `{"which": {"kind": "Circle", "radius": 1, "all": true}}`, nil},
		"other variant":         {"properties of another variant are unknown", `{"which": {"kind": "Square", "radius": 1}}`, []string{"warning unknown-property which.radius: unknown property"}},
		"required in variant":   {"required properties come from the variant too", `{"which": {"kind": "Circle"}}`, []string{"warning missing-property which.radius: is missing and required; write a number"}},
		"unknown discriminator": {"nothing else can be known", `{"which": {"kind": "Cirle", "radius": true}}`, []string{`warning unknown-discriminator which.kind: "Cirle" is not a published value (did you mean Circle?); published: Circle, Square`}},
		"no discriminator":      {"the values are listed", `{"which": {"radius": 1}}`, []string{"warning missing-property which.kind: is missing; it selects the form of which; allowed: Circle, Square"}},
		"marker discriminator":  {"the value is not known yet", `{"which": {"kind": {"$ref": "x"}, "radius": "y"}}`, nil},
		"kind of discriminator": {"a number selects nothing", `{"which": {"kind": 1}}`, []string{"fault wrong-kind which.kind: found the number 1, expected a text; put it in quotes"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, f := range shape.Check(body(t, tc.body)) {
				got = append(got, describe(f))
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s (-want +got)\n%s", tc.reason, diff)
			}
		})
	}
}

func TestOtherVersionsMakeNoFaults(t *testing.T) {
	wrong := body(t, `{`+account+`, "properties": {"minimumTlsVerison": "TLS1_2", "isHnsEnabled": "true"}}`)
	findings := Lookup("Microsoft.Storage/storageAccounts", "2023-01-02").Check(wrong)
	if len(findings) != 2 || slices.ContainsFunc(findings, func(f Finding) bool { return f.Fault }) {
		t.Errorf("a shape of another version made %v, want two warnings", findings)
	}
}

func TestCheckIsBounded(t *testing.T) {
	loop := &Node{Kind: Object}
	loop.Properties = []Property{{Name: "a", Type: loop}}
	shape := &Shape{Exact: true, Body: loop}
	deep := map[string]any{}
	for range 1000 {
		deep = map[string]any{"a": deep}
	}
	findings := shape.Check(deep)
	if len(findings) != 1 || findings[0].Rule != TooDeep || !strings.Contains(findings[0].Message, "100 levels") {
		t.Errorf("depth 1,000: %v", findings)
	}
	wide := map[string]any{}
	for i := range 1000 {
		wide[fmt.Sprintf("unknown%d", i)] = true
	}
	if findings := shape.Check(wide); len(findings) != maxFindings {
		t.Errorf("%d findings, want %d", len(findings), maxFindings)
	}
	large := map[string]any{"a": strings.Repeat("x", 10<<20)}
	findings = shape.Check(large)
	if len(findings) != 1 || findings[0].Rule != WrongKind || len(findings[0].Message) > 1000 {
		t.Errorf("10 MB: %d findings", len(findings))
	}
}

// FuzzCheck checks bodies against published shapes: it must not panic, and each finding
// has a rule, a message and a path that the body or its shape has.
func FuzzCheck(f *testing.F) {
	names := Names(true)
	f.Add(uint16(7), `{"location": "westus2", "properties": {"a": [1, {"b": null}], "$ref": "x"}}`)
	f.Add(uint16(900), `{"sku": "Standard", "kind": 1, "properties": []}`)
	f.Add(uint16(1500), `{"properties": {"type": "X", "kind": {"$secret": "y"}, "subnets": [{"properties": {"id": ""}}]}}`)
	f.Fuzz(func(t *testing.T, which uint16, text string) {
		var object map[string]any
		if json.Unmarshal([]byte(text), &object) != nil {
			return
		}
		name := names[int(which)%len(names)]
		for _, finding := range Lookup(name, Newest(name)).Check(object) {
			if finding.Rule == "" || finding.Message == "" {
				t.Errorf("%s: empty finding %+v", name, finding)
			}
		}
	})
}
