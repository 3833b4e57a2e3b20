package main

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/extensions/extensiontest"
	"github.com/armature-io/armature/resource"
)

const group = "/subscriptions/00000000-0000-0000-0000-000000000001/resourceGroups/rg1/providers/"

// addressBook is a resolver with fixed answers.
type addressBook map[string][]string

func (b addressBook) LookupHost(_ context.Context, host string) ([]string, error) {
	if found, ok := b[host]; ok {
		return found, nil
	}
	if host == "broken.contoso.com" {
		return nil, errors.New("server misbehaving")
	}
	return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
}

func TestPropagation(t *testing.T) {
	cases := map[string]struct{ reason, name, want string }{
		"there":      {"each address is returned", "www.contoso.com", ""},
		"other":      {"a cache still has the old address", "old.contoso.com", "DNS returns 9.9.9.9 for old.contoso.com and not 1.2.3.4 yet"},
		"nowhere":    {"the zone is not delegated to", "new.contoso.com", "DNS does not have new.contoso.com yet"},
		"no answer":  {"a failed lookup proves nothing", "broken.contoso.com", "DNS gave no answer"},
		"a wildcard": {"no single name stands for it", "*.contoso.com", ""},
	}
	book := addressBook{"www.contoso.com": {"5.6.7.8", "1.2.3.4"}, "old.contoso.com": {"9.9.9.9"}}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			object := extensiontest.Object(t, group+"Microsoft.Network/dnsZones/contoso.com/A/www", `{}`,
				`{"properties":{"fqdn":"`+c.name+`","ARecords":[{"ipv4Address":"1.2.3.4"}]}}`)
			got := extensiontest.Call{Object: object}.PostCheck(t, Propagation{Resolver: book})
			if ready := got.Action == resource.ActionSuccess; ready != (c.want == "") || !strings.Contains(got.Message, c.want) {
				t.Errorf("%s: got %s %q", c.reason, got.Action, got.Message)
			}
		})
	}
}

// A real resolver looks up a name that every machine has.
func TestPropagationWithARealResolver(t *testing.T) {
	object := func(address string) *resource.Object {
		return extensiontest.Object(t, group+"Microsoft.Network/dnsZones/contoso.com/A/www", `{}`,
			`{"properties":{"fqdn":"localhost","ARecords":[{"ipv4Address":"`+address+`"}]}}`)
	}
	link := Propagation{Resolver: net.DefaultResolver}
	if got := (extensiontest.Call{Object: object("127.0.0.1")}).PostCheck(t, link); got.Action != resource.ActionSuccess {
		t.Errorf("got %s %q", got.Action, got.Message)
	}
	if got := (extensiontest.Call{Object: object("192.0.2.1")}).PostCheck(t, link); got.Action != resource.ActionFailure {
		t.Errorf("got %s %q", got.Action, got.Message)
	}
}

func TestComputeUsage(t *testing.T) {
	list := map[string][]string{
		"/subscriptions/00000000-0000-0000-0000-000000000001/providers/Microsoft.Compute/locations/westus2/usages": {
			`{"name":{"value":"availabilitySets"},"currentValue":9,"limit":10}`, `{"name":{"value":"cores"},"currentValue":16,"limit":20}`,
		},
	}
	cases := map[string]struct{ reason, cores, observed, want string }{
		"room":   {"four are left", "4", "", ""},
		"full":   {"eight are too many", "8", "", "Quota of cores in West US 2: 16 of 20 are used, 8 more are needed"},
		"exists": {"it has its cores already", "8", `{"properties":{"provisioningState":"Succeeded"}}`, ""},
		"none":   {"nothing is known of it", "", "", ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			object := extensiontest.Object(t, group+"Microsoft.Compute/virtualMachines/vm1", `{"location":"West US 2"}`, c.observed)
			object.Labels = map[string]string{"vmCores": c.cores}
			got := extensiontest.Call{Object: object, Client: &extensiontest.Client{Lists: list}}.PreCheck(t, ComputeUsage{})
			if blocked := got.Action == resource.ActionBlock; blocked != (c.want != "") || c.want != "" && got.Message != c.want {
				t.Errorf("%s: got %s %q", c.reason, got.Action, got.Message)
			}
		})
	}
}

func TestGate(t *testing.T) {
	approved := map[string]bool{}
	gate := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !approved[r.FormValue("action")] || !strings.HasSuffix(r.FormValue("id"), "/vm1") {
			http.Error(w, "ask the team on call", http.StatusForbidden)
		}
	}))
	defer gate.Close()
	link := Gate{URL: gate.URL, Client: &http.Client{Timeout: time.Second}}
	check := func(observed string) resource.Verdict {
		object := extensiontest.Object(t, group+"Microsoft.Compute/virtualMachines/vm1", `{"tags":{"a":"1"}}`, observed)
		return extensiontest.Call{Object: object}.PreCheck(t, link)
	}
	if got := check(""); got.Action != resource.ActionBlock || got.Reason != "ApprovalPending" || !strings.Contains(got.Message, "403 Forbidden ask the team on call") {
		t.Errorf("not approved: got %+v", got)
	}
	approved["create"] = true
	if got := check(""); got.Action != resource.ActionProceed || !got.Create {
		t.Errorf("approved: got %+v", got)
	}
	if got := check(`{}`); got.Action != resource.ActionBlock {
		t.Errorf("an update needs its own approval: got %+v", got)
	}
	if got := check(`{"tags":{"a":"1"}}`); got.Action != resource.ActionSkip {
		t.Errorf("without a PUT the gate is not asked: got %+v", got)
	}
	gate.Close()
	if got := check(""); got.Action != resource.ActionBlock || !strings.Contains(got.Message, "gave no answer") {
		t.Errorf("no answer: got %+v", got)
	}
}
