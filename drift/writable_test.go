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
			"properties that ARM sets on every resource", networkID,
			`{"id":"x","name":"v","type":"t","etag":"e","systemData":{"createdBy":"a"},"location":"westus2","properties":{"provisioningState":"Succeeded","a":1}}`,
			`{"location":"westus2","properties":{"a":1}}`, nil,
		},
		"Published": {
			"properties that the type's published description marks as read-only", networkID,
			`{"properties":{"resourceGuid":"g","addressSpace":{"addressPrefixes":["10.0.0.0/16"]}}}`, `{"properties":{"addressSpace":{"addressPrefixes":["10.0.0.0/16"]}}}`, nil,
		},
		"Part": {
			"the ID of an inline resource is removed, the ID of a reference stays", networkID,
			`{"properties":{"subnets":[{"id":"` + networkID + `/subnets/a","name":"a","type":"t","etag":"e","properties":{"provisioningState":"Succeeded","addressPrefix":"p",
				"natGateway":{"id":"` + networkID + `/nat/n"}}}]}}`,
			`{"properties":{"subnets":[{"name":"a","properties":{"addressPrefix":"p","natGateway":{"id":"` + networkID + `/nat/n"}}}]}}`, nil,
		},
		"Identity": {
			"Azure sets the IDs of an identity", networkID,
			`{"identity":{"type":"UserAssigned","principalId":"p","tenantId":"t","userAssignedIdentities":{"/x":{"clientId":"c","principalId":"p"}}}}`,
			`{"identity":{"type":"UserAssigned","userAssignedIdentities":{"/x":{}}}}`, nil,
		},
		"Empty": {"empty values are not stated", networkID, `{"a":null,"b":[],"c":{},"d":{"e":null},"f":"","g":0,"h":false}`, `{"f":"","g":0,"h":false}`, nil},
		"Tags":  {"tags are free", networkID, `{"tags":{"etag":"mine","provisioningState":"too"}}`, `{"tags":{"etag":"mine","provisioningState":"too"}}`, nil},
		"Lists": {
			"a list keeps its elements", networkID, `{"a":[{"etag":"e"},{"b":1}],"c":[{"etag":"e"}],"d":[1,null]}`, `{"a":[{},{"b":1}],"d":[1,null]}`, nil,
		},
		"Secrets": {
			"a mask is not a value: it is removed and reported", networkID,
			`{"properties":{"k":"` + resource.MaskPrefix + `00","l":[{"name":"x","value":"` + resource.MaskPrefix + `00"}],"m":["a","` + resource.MaskPrefix + `00"]}}`,
			`{"properties":{"l":[{"name":"x"}]}}`, []string{"properties.k", "properties.l[0].value", "properties.m[1]"},
		},
		"Unknown": {
			"a type without a published description has only ARM's own properties", "/subscriptions/11111111-2222-3333-4444-555555555555/resourceGroups/rg/providers/Contoso.Things/things/t",
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

// TestCorpusWritable checks on recorded responses that an imported body is in sync,
// and scores how many of the members that were sent are still stated: the others are
// wrongly taken for read-only.
func TestCorpusWritable(t *testing.T) {
	inSync, all, kept, sent := 0, 0, 0, 0
	for _, pair := range corpusLines[recordedPair](t, "drift.jsonl.gz") {
		id, err := resource.ParseID(pair.ID)
		if err != nil {
			t.Fatal(err)
		}
		observed := decoded(t, string(pair.GetBody))
		body, _ := drift.Writable(id, observed)
		found := drift.Compare(body, observed, drift.Options{Type: id.Type(), Facts: factsOf(id.Type()), ID: id, APIVersion: pair.APIVersion})
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
		t.Errorf("an import states only %d of %d members that were sent and shown", kept, sent)
	}
}

// statedOf counts the members of a PUT that the GET shows too (sent), and the ones
// that an import states (kept). Lists count as one member.
func statedOf(put, get, imported any) (kept, sent int) {
	members, isMap := put.(map[string]any)
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
	for name, value := range members {
		if name == "name" || name == "id" || name == "type" {
			continue
		}
		k, s := statedOf(value, shown[name], stated[name])
		kept, sent = kept+k, sent+s
	}
	return kept, sent
}
