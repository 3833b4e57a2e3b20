package drift_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/armature-io/armature/drift"
	"github.com/armature-io/armature/resource"
)

// TestCreated compares after a create: Azure accepted the PUT and shows less.
func TestCreated(t *testing.T) {
	const account, other = "Microsoft.Storage/storageAccounts", "Contoso.Things/things"
	cases := map[string]struct {
		reason, kind, desired, observed, want string
	}{
		"misspelt": {
			"the type does not have the property; the nearest one that Azure shows is named", account,
			`{"properties":{"minimumTlsVerison":"TLS1_2"}}`, `{"properties":{"minimumTlsVersion":"TLS1_0"}}`,
			"does not show properties.minimumTlsVerison (did you mean properties.minimumTlsVersion?)",
		},
		"misspelt false": {
			"a property that the type does not have is no omitted default", account,
			`{"properties":{"alowBlobPublicAccess":false}}`, `{"properties":{"allowBlobPublicAccess":true}}`,
			"does not show properties.alowBlobPublicAccess (did you mean properties.allowBlobPublicAccess?)",
		},
		"stated twice": {
			"a property that the manifest states is not the one that was meant", account,
			`{"properties":{"minimumTlsVerison":"TLS1_2","minimumTlsVersion":"TLS1_2"}}`, `{"properties":{"minimumTlsVersion":"TLS1_2"}}`,
			"does not show properties.minimumTlsVerison",
		},
		"one level down": {
			"sku belongs beside properties", account,
			`{"properties":{"sku":{"name":"Standard_LRS"}}}`, `{"sku":{"name":"Standard_GRS"},"properties":{}}`,
			"does not show properties.sku (did you mean sku?)",
		},
		"one level up": {
			"it belongs in properties", account,
			`{"accessTier":"Cool","properties":{"supportsHttpsTrafficOnly":true}}`, `{"properties":{"accessTier":"Hot","supportsHttpsTrafficOnly":true}}`,
			"does not show accessTier (did you mean properties.accessTier?)",
		},
		"feature not taken": {
			"no service omits true and lists with items as defaults", account,
			`{"zones":["1"],"properties":{"isHnsEnabled":true}}`, `{"properties":{}}`,
			"does not show properties.isHnsEnabled, zones",
		},
		"known value": {
			"a type may not return what it applies: its default, its SKU", account,
			`{"sku":{"name":"Standard_LRS"},"properties":{"accessTier":"Hot","isSftpEnabled":false}}`, `{"properties":{}}`, "",
		},
		"secret, write-only, unset": {
			"no GET shows them", "Microsoft.DBforPostgreSQL/servers",
			`{"properties":{"administratorLoginPassword":"x","createMode":"Default","none":null,"empty":{},"text":""}}`, `{"properties":{}}`, "",
		},
		"not published": {
			"nothing is known about the type", other,
			`{"location":"westus2","properties":{"sise":1}}`, `{"location":"westus2","properties":{"size":2}}`,
			"does not show properties.sise (did you mean properties.size?)",
		},
		"in a list": {
			"the members of items count too", "Microsoft.Network/virtualNetworks",
			`{"properties":{"subnets":[{"name":"a","properties":{"addressPrefx":"10.0.0.0/24"}}]}}`,
			`{"properties":{"subnets":[{"name":"a","properties":{"addressPrefix":"10.0.0.0/16"}}]}}`,
			"does not show properties.subnets[name=a].properties.addressPrefx (did you mean properties.subnets[name=a].properties.addressPrefix?)",
		},
		"item missing": {
			"a list that is shown shows each of its items", "Microsoft.Network/networkSecurityGroups",
			`{"properties":{"securityRules":[{"name":"a"},{"name":"b"}]}}`, `{"properties":{"securityRules":[{"name":"b"}]}}`,
			"does not show properties.securityRules[name=a]",
		},
		"all items missing": {
			"an empty list is shown too", "Microsoft.Network/networkSecurityGroups",
			`{"properties":{"securityRules":[{"name":"a"}]}}`, `{"properties":{"securityRules":[]}}`,
			"does not show properties.securityRules[0]",
		},
		"scalar missing": {
			"a shorter list lacks one of them", account,
			`{"zones":["1","2"]}`, `{"zones":["1"]}`, "kept its own value of zones",
		},
		"location": {
			"no service moves a resource", other,
			`{"location":"westus3"}`, `{"location":"eastus"}`, "kept its own value of location",
		},
		"spelling of a location": {
			"it is the same location", other, `{"location":"West US 2"}`, `{"location":"westus2"}`, "",
		},
		"enumeration": {
			"both are published values", account,
			`{"properties":{"minimumTlsVersion":"TLS1_2","accessTier":"hot"}}`, `{"properties":{"minimumTlsVersion":"TLS1_0","accessTier":"Hot"}}`,
			"kept its own value of properties.minimumTlsVersion",
		},
		"other text": {
			"a service may return another form of a text", account,
			`{"properties":{"customDomain":{"name":"a"}}}`, `{"properties":{"customDomain":{"name":"b"}}}`, "",
		},
		"below any": {
			"below a value of any kind every name is legal", "Microsoft.Logic/workflows",
			`{"properties":{"definition":{"contentVersion":"1","triggerss":{"a":"b"}}}}`, `{"properties":{"definition":{"contentVersion":"1"}}}`, "",
		},
		"many": {
			"the first three are named", other,
			`{"a1":1,"b1":1,"c1":1,"d1":1,"e1":1}`, `{}`, "does not show a1, b1, c1 and 2 more",
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			id, err := resource.ParseID("/subscriptions/s/resourceGroups/g/providers/" + c.kind + "/x")
			if err != nil {
				t.Fatal(err)
			}
			opts := drift.Options{ID: id, Type: c.kind, Facts: factsOf(c.kind), APIVersion: "2023-05-01", Key: []byte("k"), Put: true}
			desired, observed := body(t, []byte(c.desired)), body(t, []byte(c.observed))
			opts.Baseline = stored(t, drift.NewBaseline(desired, observed, opts))
			result := drift.Compare(desired, observed, opts)
			if diff := cmp.Diff(c.want, result.NotTakenText()); diff != "" || !result.InSync {
				t.Errorf("%s: in sync %v (-want +got)\n%s", c.reason, result.InSync, diff)
			}
			opts.Adopted, opts.Baseline = true, drift.Baseline{}
			opts.Baseline = drift.NewBaseline(desired, observed, opts)
			if adopted := drift.Compare(desired, observed, opts); len(adopted.NotTaken) > 0 {
				t.Errorf("nothing was sent, but Azure did not take %v", adopted.NotTaken)
			}
		})
	}
}

// TestNotTakenLasts follows a warning through later PUTs.
func TestNotTakenLasts(t *testing.T) {
	at := func(size int) map[string]any {
		return map[string]any{"properties": map[string]any{"sise": json.Number("1"), "count": json.Number(fmt.Sprint(size))}}
	}
	shown := func(size int) map[string]any {
		return map[string]any{"properties": map[string]any{"size": json.Number("3"), "count": json.Number(fmt.Sprint(size))}}
	}
	opts := drift.Options{Type: "Contoso.Things/things", Facts: factsOf("Contoso.Things/things"), APIVersion: "1", Key: []byte("k"), Put: true}
	opts.Baseline = drift.NewBaseline(at(1), shown(1), opts)
	opts.Reasons = drift.Compare(at(2), shown(1), opts).Differences
	opts.Baseline = drift.NewBaseline(at(2), shown(2), opts)
	if result := drift.Compare(at(2), shown(2), opts); !strings.Contains(result.NotTakenText(), "properties.sise") {
		t.Errorf("a PUT of another property ended the warning: %+v", result)
	}
	visible := shown(2)
	visible["properties"].(map[string]any)["sise"] = json.Number("1")
	if result := drift.Compare(at(2), visible, opts); !result.InSync || len(result.NotTaken) > 0 {
		t.Errorf("it is shown now: %+v", result)
	}
}

// scoreCreated treats the recorded pairs as creations: those in sync must be quiet, and
// a misspelt property that Azure then does not show must be named. It misspells every
// fourth property, which takes seconds.
func scoreCreated(t *testing.T, pairs []recordedPair) []*score {
	quiet, misspelt := &score{name: "created.quiet"}, &score{name: "created.misspelt"}
	applicable := 0
	for _, p := range pairs {
		opts := afterPut(comparison(p.ID, p.Type, p.APIVersion))
		desired, observed := body(t, p.PutBody), body(t, p.GetBody)
		created := func(desired map[string]any) drift.Result {
			opts := opts
			opts.Baseline = drift.NewBaseline(desired, observed, opts)
			return drift.Compare(desired, observed, opts)
		}
		if p.Expected == "insync" {
			result := created(desired)
			quiet.count(len(result.NotTaken) == 0, "%s: %s", p.ID, result.NotTakenText())
		}
		for _, s := range sites(nil, desired, observed) {
			name := lastNameOf(s.path)
			last := s.path[len(s.path)-1]
			if !s.shown || last.Name == "" || len(name) < 4 || !isStated(s.values[0]) || underUserKeyedMap(s.path) ||
				resource.SecretName(name) || s.invisible("", "desired") != "" {
				continue
			}
			wrong := name[:len(name)-2] + name[len(name)-1:] + name[len(name)-2:len(name)-1]
			if wrong == name || resource.SecretName(wrong) {
				continue
			}
			if applicable++; applicable%4 != 1 {
				continue
			}
			parent := s.at[0][:len(s.at[0])-1]
			changed := edited(desired, s.at[0], func(any) (any, bool) { return nil, false })
			changed = edited(changed, parent.With(resource.Step{Name: wrong}), func(any) (any, bool) { return s.values[0], true })
			text := created(changed).NotTakenText()
			misspelt.count(strings.Contains(text, wrong), "%s %s: %q", p.Type, s.path, text)
		}
	}
	logMissed(t, quiet, misspelt)
	return []*score{quiet, misspelt}
}

// TestIsCreation: what Azure overrides in a creation tells it from one of another tool.
//
//guard:lost-answers-of-creations
func TestIsCreation(t *testing.T) {
	const text = `{"location":"westus2","tags":{"team":"a"},"properties":{"minimumTlsVersion":"TLS1_2","supportsHttpsTrafficOnly":true,"primaryLocation":"eastus","networkAcls":{"defaultAction":"Deny","ipRules":[{"value":"192.0.2.1"}]}}}`
	desired := body(t, []byte(text))
	opts := drift.Options{Type: "Microsoft.Storage/storageAccounts", APIVersion: "2023-01-01", Key: []byte("key"), KeepOthers: true}
	for name, c := range map[string]struct {
		reason, from, to string
		want             bool
	}{
		"same":        {"nothing differs", "", "", true},
		"read-only":   {"the service sets it", `"primaryLocation":"eastus"`, `"primaryLocation":"westus2"`, true},
		"enumeration": {"another member", `"defaultAction":"Deny"`, `"defaultAction":"Allow"`, true},
		"location":    {"another location", `"location":"westus2"`, `"location":"global"`, true},
		"tag":         {"no service changes tags", `"team":"a"`, `"team":"b"`, false},
		"boolean":     {"another tool may have set it", `"supportsHttpsTrafficOnly":true`, `"supportsHttpsTrafficOnly":false`, false},
		"absent":      {"another tool may not have stated it", `"supportsHttpsTrafficOnly":true,`, ``, false},
		"item":        {"another tool may not have stated it", `{"value":"192.0.2.1"}`, ``, false},
	} {
		t.Run(name, func(t *testing.T) {
			observed := body(t, []byte(strings.Replace(text, c.from, c.to, 1)))
			found := drift.Compare(desired, observed, opts)
			if got := drift.IsCreation(desired, observed, found, opts); got != c.want || name != "same" && len(found.Differences) == 0 {
				t.Errorf("%s: %t, %v", c.reason, got, found.Differences)
			}
		})
	}
}
