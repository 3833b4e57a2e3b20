package drift_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/armature-io/armature/drift"
	"github.com/armature-io/armature/resource"
	"github.com/google/go-cmp/cmp"
)

const networkID = "/subscriptions/11111111-2222-3333-4444-555555555555/resourceGroups/rg/providers/Microsoft.Network/virtualNetworks/v"

func TestWritable(t *testing.T) {
	cases := map[string]struct {
		reason, id, observed, want string
		masked                     []string
	}{
		"Contract": {
			"what ARM sets on every resource", networkID,
			`{"id":"x","name":"v","type":"t","etag":"e","systemData":{"createdBy":"a"},"location":"westus2","properties":{"provisioningState":"Succeeded","a":1}}`,
			`{"location":"westus2","properties":{"a":1}}`, nil,
		},
		"Published": {
			"what the published description of the type calls read-only", networkID,
			`{"properties":{"resourceGuid":"g","addressSpace":{"addressPrefixes":["10.0.0.0/16"]}}}`, `{"properties":{"addressSpace":{"addressPrefixes":["10.0.0.0/16"]}}}`, nil,
		},
		"Part": {
			"a resource within the resource has an ID of its own, a reference to one keeps it", networkID,
			`{"properties":{"subnets":[{"id":"` + networkID + `/subnets/a","name":"a","type":"t","etag":"e","properties":{"provisioningState":"Succeeded","addressPrefix":"p",
				"natGateway":{"id":"` + networkID + `/nat/n"}}}]}}`,
			`{"properties":{"subnets":[{"name":"a","properties":{"addressPrefix":"p","natGateway":{"id":"` + networkID + `/nat/n"}}}]}}`, nil,
		},
		"Identity": {
			"who somebody is, is given by Azure", networkID,
			`{"identity":{"type":"UserAssigned","principalId":"p","tenantId":"t","userAssignedIdentities":{"/x":{"clientId":"c","principalId":"p"}}}}`,
			`{"identity":{"type":"UserAssigned","userAssignedIdentities":{"/x":{}}}}`, nil,
		},
		"Empty": {"what says nothing is not stated", networkID, `{"a":null,"b":[],"c":{},"d":{"e":null},"f":"","g":0,"h":false}`, `{"f":"","g":0,"h":false}`, nil},
		"Tags":  {"tags are free", networkID, `{"tags":{"etag":"mine","provisioningState":"too"}}`, `{"tags":{"etag":"mine","provisioningState":"too"}}`, nil},
		"Lists": {
			"a list keeps its elements", networkID, `{"a":[{"etag":"e"},{"b":1}],"c":[{"etag":"e"}],"d":[1,null]}`, `{"a":[{},{"b":1}],"d":[1,null]}`, nil,
		},
		"Secrets": {
			"a mask is no value: it is left out and named", networkID,
			`{"properties":{"k":"` + resource.MaskPrefix + `00","l":[{"name":"x","value":"` + resource.MaskPrefix + `00"}],"m":["a","` + resource.MaskPrefix + `00"]}}`,
			`{"properties":{"l":[{"name":"x"}]}}`, []string{"properties.k", "properties.l[0].value", "properties.m[1]"},
		},
		"Unknown": {
			"a type that nobody described has the contract alone", "/subscriptions/11111111-2222-3333-4444-555555555555/resourceGroups/rg/providers/Contoso.Things/things/t",
			`{"properties":{"uri":"https://x","provisioningState":"Succeeded"}}`, `{"properties":{"uri":"https://x"}}`, nil,
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			id, err := resource.ParseID(c.id)
			if err != nil {
				t.Fatal(err)
			}
			observed, want := decoded(t, c.observed), decoded(t, c.want)
			got, masked := drift.Writable(id, observed)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s (-want +got)\n%s", c.reason, diff)
			}
			if diff := cmp.Diff(c.masked, masked); diff != "" {
				t.Errorf("%s: masked (-want +got)\n%s", c.reason, diff)
			}
			if diff := cmp.Diff(decoded(t, c.observed), observed); diff != "" {
				t.Errorf("the observed body was changed:\n%s", diff)
			}
		})
	}
}

func decoded(t *testing.T, text string) map[string]any {
	t.Helper()
	body, err := resource.DecodeBody([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return body
}

// TestCorpusWritable holds on recorded answers that what is imported is in sync,
// and scores how much of what people sent is still stated: what is not was called
// read-only by mistake.
func TestCorpusWritable(t *testing.T) {
	inSync, all, kept, sent := 0, 0, 0, 0
	for _, pair := range corpusLines[recordedPair](t, "drift.jsonl.gz") {
		id, err := resource.ParseID(pair.ID)
		if err != nil {
			t.Fatal(err)
		}
		observed := decoded(t, string(pair.GetBody))
		body, _ := drift.Writable(id, observed)
		found := drift.Compare(body, observed, drift.Options{Type: id.Type(), ID: id, APIVersion: pair.APIVersion})
		if all++; found.InSync {
			inSync++
		} else {
			t.Errorf("%s: %+v", pair.ID, found.Differences)
		}
		k, s := statedOf(decoded(t, string(pair.PutBody)), observed, body)
		kept, sent = kept+k, sent+s
	}
	fmt.Printf("score import.insync %d/%d\nscore import.stated %d/%d\n", inSync, all, kept, sent)
	if float64(kept) < 0.98*float64(sent) {
		t.Errorf("only %d of %d members that were sent and shown are stated by an import", kept, sent)
	}
}

// statedOf counts the members of a PUT that the GET shows too, and those of them
// that an import states. Lists are not looked into.
func statedOf(put, get, imported any) (kept, sent int) {
	wanted, isMap := put.(map[string]any)
	shown, _ := get.(map[string]any)
	stated, _ := imported.(map[string]any)
	if !isMap {
		raw, err := json.Marshal(get)
		if put == nil || get == nil || err != nil || string(raw) == "[]" || string(raw) == "{}" {
			return 0, 0
		}
		if imported == nil {
			return 0, 1
		}
		return 1, 1
	}
	for name, value := range wanted {
		if name == "name" || name == "id" || name == "type" {
			continue
		}
		k, s := statedOf(value, shown[name], stated[name])
		kept, sent = kept+k, sent+s
	}
	return kept, sent
}
