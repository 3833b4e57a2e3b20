package armsim_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/armature-io/armature/armsim"
)

const (
	managed = group + "/providers/Microsoft.ContainerService/managedClusters/aks1"
	address = group + "/providers/Microsoft.Network/publicIPAddresses/ip1"
)

// TestRefusedBodies puts bodies to a simulator that validates.
func TestRefusedBodies(t *testing.T) {
	tests := map[string]struct {
		id, version, body string
		code, message     string
		reason            string
	}{
		"envelope": {
			account, "", `{"location":"westus2","accountType":"x"}`, "InvalidRequestContent",
			"The request content was invalid and could not be deserialized: 'Could not find member 'accountType' on object of type 'ResourceDefinition'. Path 'accountType', line 1, position 36.'.",
			"ARM itself refuses it, for every type",
		},
		"unknown": {
			account, "", `{"location":"westus2","kind":"StorageV2","sku":{"name":"Standard_LRS"},"properties":{"minimumTlsVerison":"TLS1_2"}}`, "InvalidRequestContent",
			"The request content was invalid and could not be deserialized: 'Could not find member 'minimumTlsVerison' on object of type 'StorageAccountPropertiesCreateParametersOrStorageAccountProperties'. Path 'properties.minimumTlsVerison', line 1, position 105.'.",
			"the words are ARM's where the provider's are not known",
		},
		"second line": {
			account, "", "{\"location\":\"westus2\",\n\t\"kind\":\"StorageV2\",\n\t\"properties\":{\n\t\t\"a\": 1}, \"sku\":{\"name\":\"Standard_LRS\"}}", "InvalidRequestContent",
			"The request content was invalid and could not be deserialized: 'Could not find member 'a' on object of type 'StorageAccountPropertiesCreateParametersOrStorageAccountProperties'. Path 'properties.a', line 4, position 6.'.",
			"lines and columns are those of the body",
		},
		"unknown to Compute": {
			scaleSet, "?api-version=2019-03-01", `{"location":"westus2","properties":{"orchestrationMode":"Uniform"}}`, "BadRequest",
			"Could not find member 'orchestrationMode' on object of type 'VirtualMachineScaleSetProperties'. Path 'properties.orchestrationMode', line 1, position 56.",
			"the older version does not have it",
		},
		"unknown to Kubernetes": {
			managed, "", `{"location":"westus2","properties":{"addProfile":{}}}`, "",
			`UnmarshalEntity encountered error: json: unknown field "addProfile" Check that the field is in the right location, is spelled correctly, and is supported in the API version. Visit aka.ms/aks/apiversions for more API version information..`,
			"the provider has no ARM envelope",
		},
		"kind for Kubernetes": {
			managed, "", `{"location":"westus2","properties":{"enableRBAC":"true"}}`, "",
			`UnmarshalEntity encountered error: json: cannot unmarshal string into Go struct field ManagedClusterProperties.properties.enableRBAC of type bool.`,
			"Go's decoder refuses a text for a boolean",
		},
		"value for Network": {
			address, "", `{"location":"westus2","properties":{"ipAddress":"10.0.0.1","deleteOption":"Never","dnsSettings":"x"}}`, "InvalidRequestFormat", "Cannot parse the request.",
			"the cause is in the detail",
		},
		"list for an object": {
			account, "", `{"location":"westus2","kind":"StorageV2","sku":["Standard_LRS"]}`, "InvalidRequestContent",
			"The request content was invalid and could not be deserialized: 'Cannot deserialize the current JSON array (e.g. [1,2,3]) into type 'Sku' because the type requires a JSON object (e.g. {\"name\":\"value\"}) to deserialize correctly. Path 'sku', line 1, position 48.'.",
			"an object is published",
		},
		"text for a boolean": {
			account, "", `{"location":"westus2","kind":"StorageV2","sku":{"name":"Standard_LRS"},"properties":{"isHnsEnabled":"yes"}}`, "InvalidRequestContent",
			"The request content was invalid and could not be deserialized: 'Error converting value \"yes\" to type 'System.Boolean'. Path 'properties.isHnsEnabled', line 1, position 105.'.",
			"a boolean is published",
		},
		"value for Storage": {
			account, "", `{"location":"westus2","kind":"StorageV2","sku":{"name":"Standard_LRS"},"properties":{"networkAcls":{"defaultAction":"Block"}}}`, "InvalidValuesForRequestParameters",
			"Values for request parameters are invalid: networkAcls.defaultAction.", "the list is closed",
		},
		"missing": {
			account, "", `{"location":"westus2","kind":"StorageV2"}`, "InvalidRequestContent",
			"The request content was invalid and could not be deserialized: 'Required property 'sku' not found in JSON. Path '', line 1, position 41.'.", "a creation needs it",
		},
		"location first": {
			account, "", `{"kind":"StorageV2","sku":{"name":"Standard_LRS"}}`, "LocationRequired", "The location property is required for this definition.",
			"ARM checks it before the provider does",
		},
		"missing for Compute": {
			group + "/providers/Microsoft.Compute/disks/d", "", `{"location":"westus2","properties":{"creationData":{"storageAccountId":"x"}}}`, "InvalidParameter", "Required parameter 'createOption' is missing (null).",
			"the words are the provider's",
		},
		"group": {
			root + "/resourceGroups/rg2", "", `{"location":"westus2","properties":{"colour":"red"}}`, "InvalidRequestContent",
			"The request content was invalid and could not be deserialized: 'Could not find member 'colour' on object of type 'ResourceGroupProperties'. Path 'properties.colour', line 1, position 45.'.", "a group is a type too",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			h := newHarness(t, armsim.Options{Validate: true})
			h.makeGroup()
			if test.version == "" {
				test.version = version
			}
			got := h.do("PUT", test.id+test.version, test.body)
			h.want(got, 400, test.code)
			message, _ := got.at("error.message").(string)
			if message == "" {
				message, _ = got.at("message").(string)
			}
			if diff := cmp.Diff(test.message, message); diff != "" {
				t.Errorf("message (-want +got), since %s\n%s", test.reason, diff)
			}
			if read := h.do("GET", test.id+test.version, ""); read.status != 404 {
				t.Errorf("a refused PUT leaves %s", read.raw)
			}
		})
	}
}

// TestNetworkDetail reads the cause that the Network provider puts into a detail.
func TestNetworkDetail(t *testing.T) {
	h := newHarness(t, armsim.Options{Validate: true})
	h.makeGroup()
	got := h.do("PUT", vnet+version, `{"location":"westus2","properties":{"encryption":{"enabled":true,"enforcement":"x"},"enableDdosProtection":"no"}}`)
	h.want(got, 400, "InvalidRequestFormat")
	details, _ := got.at("error.details").([]any)
	want := []any{map[string]any{"code": "InvalidJson", "message": `Error converting value "no" to type 'System.Boolean'. Path 'properties.enableDdosProtection', line 1, position 111.`}}
	if diff := cmp.Diff(want, details); diff != "" {
		t.Errorf("details (-want +got)\n%s", diff)
	}
}

// TestAllFindings reads a detail for each fault of a body.
func TestAllFindings(t *testing.T) {
	h := newHarness(t, armsim.Options{Validate: true})
	h.makeGroup()
	got := h.do("PUT", account+version, `{"location":"westus2","kind":"StorageV2","properties":{"isHnsEnabled":"yes","colour":"red"}}`)
	h.want(got, 400, "MultipleErrorsOccurred")
	h.wantAt(got, "error.message", "3 errors occurred")
	details, _ := got.at("error.details").([]any)
	var targets []string
	for _, detail := range details {
		o, _ := detail.(map[string]any)
		if message, _ := o["message"].(string); o["code"] != "InvalidRequestContent" || message == "" {
			t.Errorf("detail without code or message: %v", o)
		}
		targets = append(targets, fmt.Sprint(o["target"]))
	}
	if diff := cmp.Diff([]string{"properties.isHnsEnabled", "properties.colour", "sku"}, targets); diff != "" {
		t.Errorf("targets (-want +got)\n%s", diff)
	}
	one := h.do("PUT", account+version, `{"location":"westus2","kind":"StorageV2","sku":{"name":"Standard_LRS"},"properties":{"colour":"red"}}`)
	h.want(one, 400, "InvalidRequestContent")
	h.wantAt(one, "error.target", "properties.colour")
}

// TestErrorCodeHeader checks that providers repeat the code in a header, and ARM does not.
func TestErrorCodeHeader(t *testing.T) {
	h := newHarness(t, armsim.Options{})
	h.makeGroup()
	if err := h.Put(aks, decode(t, `{"location":"westus2","properties":{"kubernetesVersion":"1.30.1"}}`)); err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		got    response
		header string
	}{
		"with envelope":    {h.do("GET", aks+"/agentPools/a"+version, ""), "NotFound"},
		"parent missing":   {h.do("GET", postgres+"/databases/d"+version, ""), ""}, // ARM itself refuses
		"without envelope": {h.do("PUT", aks+version, `{"location":"westus2","properties":{"kubernetesVersion":"1.29.1"}}`), "OperationNotAllowed"},
		"ARM":              {h.do("GET", vnet+version, ""), ""},
		"success":          {h.do("GET", aks+version, ""), ""},
	} {
		if header := test.got.header.Get("x-ms-error-code"); header != test.header {
			t.Errorf("%s: header %q, want %q: %s", name, header, test.header, test.got.raw)
		}
	}
}

// TestAcceptedBodies puts bodies that a simulator accepts although it validates.
func TestAcceptedBodies(t *testing.T) {
	for name, test := range map[string]struct{ id, body, reason string }{
		"complete":       {account, `{"location":"westus2","kind":"StorageV2","sku":{"name":"Standard_LRS"},"properties":{}}`, "nothing is missing"},
		"letter case":    {account, `{"Location":"westus2","location":"westus2","KIND":"StorageV2","sku":{"NAME":"Standard_LRS"},"properties":{"networkAcls":{"defaultAction":"deny"}}}`, "neither names nor values have a letter case"},
		"open list":      {account, `{"location":"westus2","kind":"StorageV3","sku":{"name":"Standrad_LRS"}}`, "other values of an open list are legal"},
		"read-only":      {account, `{"location":"westus2","kind":"StorageV2","sku":{"name":"Standard_LRS"},"properties":{"creationTime":5}}`, "read-only properties are ignored"},
		"envelope":       {account, `{"id":"x","name":"x","type":"x","etag":"x","systemData":{},"zones":["1"],"managedBy":"x","location":"westus2","kind":"StorageV2","sku":{"name":"Standard_LRS"}}`, "ARM knows them for every type"},
		"null":           {account, `{"location":"westus2","kind":"StorageV2","sku":{"name":"Standard_LRS"},"properties":{"isHnsEnabled":null}}`, "null is no value"},
		"number in text": {account, `{"location":"westus2","kind":"StorageV2","sku":{"name":"Standard_LRS"},"properties":{"keyPolicy":{"keyExpirationPeriodInDays":"5"}}}`, "Azure reads the number"},
		"not published":  {plain, `{"location":"westus2","colour":"red"}`, "nothing is known of the type"},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHarness(t, armsim.Options{Validate: true})
			h.makeGroup()
			if got := h.do("PUT", test.id+version, test.body); got.status >= 300 {
				t.Errorf("refused although %s: %s", test.reason, got.raw)
			}
		})
	}
}

// TestUpdatesNeedLess changes a resource by bodies that could not create it.
func TestUpdatesNeedLess(t *testing.T) {
	h := newHarness(t, armsim.Options{Validate: true})
	h.makeGroup()
	h.want(h.do("PUT", account+version, `{"location":"westus2","kind":"StorageV2","sku":{"name":"Standard_LRS"}}`), 202, "")
	h.pass(time.Hour)
	h.want(h.do("PUT", account+version, `{"location":"westus2"}`), 200, "")
	h.want(h.do("PATCH", account+version, `{"properties":{"accessTier":"Cool"}}`), 200, "")
	h.want(h.do("PATCH", account+version, `{"properties":{"acessTier":"Cool"}}`), 400, "InvalidRequestContent")
}

// TestRecordedBodiesAreNotChecked puts a recorded body that the published type lacks.
func TestRecordedBodiesAreNotChecked(t *testing.T) {
	h := newHarness(t, armsim.Options{Validate: true, Recordings: []armsim.Recording{{
		ID: account, PutBody: map[string]any{"colour": "red"}, GetBody: map[string]any{"colour": json.Number("5")},
	}}})
	h.makeGroup()
	if got := h.do("PUT", account+version, `{"location":"westus2","colour":"red"}`); got.status >= 300 {
		t.Fatal(got.raw)
	}
	h.pass(time.Hour)
	h.wantAt(h.do("GET", account+version, ""), "colour", 5)
}
