package activities

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/armature-io/armature/arm"
	"github.com/armature-io/armature/armsim"
	"github.com/armature-io/armature/drift"
	"github.com/armature-io/armature/resource"
)

const refusedAccount = groupText + "/providers/Microsoft.Storage/storageAccounts/acct"

// TestGuardRefusedValue lets ARM refuse a PUT with the name of a value that the manifest
// does not state. What the service had set by itself is left out in one more PUT; what
// another tool set holds the PUT. A later pass does not repeat the refused PUT.
//
//guard:refused-values
func TestGuardRefusedValue(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason, theirs string
		fault          armsim.Fault
		puts           int // PUTs that were sent in the first pass
		held, later    bool
	}{
		"of another tool": {
			reason: "leaving it out would remove it", theirs: `{"properties":{"minimumTlsVersion":"TLS1_2"}}`, puts: 1, held: true,
			fault: armsim.Fault{Status: 400, Code: "InvalidRequestPropertyValue", Message: "The value 'TLS1_2' is not allowed for property minimumTlsVersion."},
		},
		"of the service": {
			reason: "it is sent only because the object needs it", theirs: `{"properties":{"networkAcls":{"bypass":"None"}}}`, puts: 2,
			fault: armsim.Fault{Status: 400, Code: "InvalidValuesForRequestParameters", Message: "Values for request parameters are invalid: networkAcls.defaultAction.", Count: 1},
		},
		"of the service, for ever": {
			reason: "it is left out once", theirs: `{"properties":{"networkAcls":{"bypass":"None"}}}`, puts: 2, later: true,
			fault: armsim.Fault{Status: 400, Code: "InvalidValuesForRequestParameters", Message: "Values for request parameters are invalid: networkAcls.defaultAction."},
		},
		"of the manifest": {
			reason: "the manifest states it", theirs: `{"properties":{"minimumTlsVersion":"TLS1_2"}}`, puts: 1, later: true,
			fault: armsim.Fault{Status: 400, Code: "InvalidRequestPropertyValue", Message: "The value 'Hot' is not allowed for property accessTier."},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, func(s *setup) { s.sim.TimeScale = 1e6 })
			w.put(groupText, `{"location":"westus2"}`)
			p := &passRunner{world: w, spec: desired(t, refusedAccount, `{"location":"westus2","kind":"StorageV2","sku":{"name":"Standard_LRS"},"properties":{"accessTier":"Hot"}}`)}
			p.spec.APIVersion = "2023-01-01"
			if got := p.pass(); got.Stops() {
				t.Fatalf("creation: %s %s", got.Reason, got.Message)
			}
			p.patch(tc.theirs)
			p.patch(`{"properties":{"accessTier":"Cool"}}`)
			tc.fault.Method = http.MethodPut
			w.sim.AddFault(tc.fault)
			before := w.sent(http.MethodPut)
			got := p.pass()
			if n := w.sent(http.MethodPut) - before; n != tc.puts {
				t.Errorf("%s: %d PUTs, want %d: %s", tc.reason, n, tc.puts, got.Message)
			}
			if tc.held {
				want(t, got, resource.ActionBlock, resource.ReasonHeld, resource.RetryVerySlow, "properties.minimumTlsVersion", "put: replace", "is not allowed")
				before = w.sent(http.MethodPut)
				want(t, p.pass(), resource.ActionBlock, resource.ReasonHeld, resource.RetryVerySlow, "properties.minimumTlsVersion")
				if n := w.sent(http.MethodPut) - before; n != 0 {
					t.Errorf("%s: the next pass sent %d PUTs", tc.reason, n)
				}
				// Another body may make the value legal.
				p.spec.Body = []byte(strings.Replace(string(p.spec.Body), "Standard_LRS", "Standard_GRS", 1))
				p.pass()
				if n := w.sent(http.MethodPut) - before; n != 1 {
					t.Errorf("a changed manifest sent %d PUTs, want 1", n)
				}
				return
			}
			if got.Stops() != tc.later {
				t.Fatalf("%s: %s %s", tc.reason, got.Reason, got.Message)
			}
			before = w.sent(http.MethodPut)
			p.patch(`{"properties":{"accessTier":"Cool"}}`)
			p.pass()
			if n := w.sent(http.MethodPut) - before; n != 1 {
				t.Errorf("%s: the next correction sent %d PUTs, want 1", tc.reason, n)
			}
			if sent := jsonOf(w.lastPut()); tc.puts == 2 && !tc.later && strings.Contains(sent, "defaultAction") {
				t.Errorf("%s: the next correction sent it again: %s", tc.reason, sent)
			}
		})
	}
}

// sent returns the number of requests with a method, accepted or not.
func (w *world) sent(method string) int {
	n := 0
	for _, r := range w.sim.Requests() {
		if r.Method == method {
			n++
		}
	}
	return n
}

//guard:refused-values
func TestNamedLeaves(t *testing.T) {
	t.Parallel()
	payload := map[string]any{
		"sku": map[string]any{"name": "Basic"},
		"properties": map[string]any{
			"maxSizeBytes": "268435456000", "stated": map[string]any{"name": "n"},
			"networkAcls": map[string]any{"defaultAction": "Deny", "ipRules": []any{map[string]any{"value": "1.2.3.4"}}},
			"other":       map[string]any{"defaultAction": "Allow"}, "license": "x",
		},
	}
	desired := map[string]any{"sku": map[string]any{"name": "Basic"}, "properties": map[string]any{"stated": map[string]any{"name": "n"}}}
	leaves, stated := drift.Leaves(payload, desired, drift.Options{Key: []byte("key")})
	cases := map[string]struct {
		reason string
		err    arm.Error
		want   []string
	}{
		"target":          {"a target is a path", arm.Error{Target: "properties.maxSizeBytes"}, []string{"properties.maxSizeBytes"}},
		"pointer":         {"a JSON pointer is a path", arm.Error{Target: "/properties/networkAcls/defaultAction"}, []string{"properties.networkAcls.defaultAction"}},
		"short target":    {"the end of a path", arm.Error{Target: "networkAcls.defaultAction"}, []string{"properties.networkAcls.defaultAction"}},
		"detail":          {"details count", arm.Error{Details: []arm.Detail{{Target: "license"}}}, []string{"properties.license"}},
		"below a list":    {"a list is one value", arm.Error{Target: "properties.networkAcls.ipRules[0].value"}, []string{"properties.networkAcls.ipRules"}},
		"camel case":      {"no ordinary word", arm.Error{Message: "MaxSizeBytes is too large."}, []string{"properties.maxSizeBytes"}},
		"quoted":          {"a word in quotation marks", arm.Error{Message: "The property 'license' is not allowed."}, []string{"properties.license"}},
		"value":           {"the value in quotation marks", arm.Error{Message: "The edition 'Basic' does not support the size '268435456000'."}, []string{"properties.maxSizeBytes"}},
		"path in prose":   {"with an index", arm.Error{Message: "Invalid value at properties.networkAcls.ipRules[0]: no."}, []string{"properties.networkAcls.ipRules"}},
		"ordinary word":   {"license may mean anything", arm.Error{Message: "Your license has expired."}, nil},
		"ambiguous":       {"two values have the name", arm.Error{Message: "defaultAction is invalid"}, nil},
		"also stated":     {"the manifest states such a name", arm.Error{Target: "name"}, nil},
		"of the manifest": {"the manifest states it", arm.Error{Target: "sku.name"}, nil},
		"an ID":           {"an ID names no property", arm.Error{Message: "The resource '/subscriptions/s/resourceGroups/license/providers/P/t/maxSizeBytesX' failed."}, nil},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, leaf := range namedLeaves(&tc.err, leaves, stated) {
				got = append(got, leaf.Path.String())
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s (-want +got)\n%s", tc.reason, diff)
			}
		})
	}
}

// TestGuardRefusedSize moves a database to a larger tier, with the size that only that tier
// has: the correction of the tier is refused with the size, which the manifest does not
// state.
//
//guard:refused-values
func TestGuardRefusedSize(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(s *setup) { s.sim.TimeScale = 1e6 })
	const server = groupText + "/providers/Microsoft.Sql/servers/sql"
	w.put(server, `{"location":"westus2"}`)
	p := &passRunner{world: w, spec: desired(t, server+"/databases/db", `{"location":"westus2","sku":{"name":"Basic"}}`)}
	p.spec.APIVersion = "2021-11-01"
	if got := p.pass(); got.Stops() {
		t.Fatalf("creation: %s %s", got.Reason, got.Message)
	}
	p.patch(`{"sku":{"name":"S0"},"properties":{"maxSizeBytes":268435456000}}`)
	for range 2 {
		want(t, p.pass(), resource.ActionBlock, resource.ReasonHeld, resource.RetryVerySlow, "properties.maxSizeBytes")
	}
	if n := w.sent(http.MethodPut); n != 2 {
		t.Errorf("%d PUTs, want the creation and one that is refused", n)
	}
	p.spec.Body = []byte(`{"location":"westus2","sku":{"name":"Basic"},"properties":{"maxSizeBytes":2147483648}}`)
	if got := p.pass(); got.Stops() {
		t.Errorf("with the size in the manifest: %s %s", got.Reason, got.Message)
	}
}
