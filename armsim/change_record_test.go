package armsim_test

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/armsim"
)

const subnet = vnet + "/subnets/a"

// tokenOf returns an unsigned token with claims.
func tokenOf(claims string) string {
	return "Bearer e30." + base64.RawURLEncoding.EncodeToString([]byte(claims)) + ".x"
}

// shortChange returns what most tests compare of a change.
func shortChange(c armsim.Change) string {
	return fmt.Sprintf("%s %s %s by %s", c.ChangeType, c.ID[strings.LastIndex(c.ID, "/")+1:], strings.Join(c.Paths, " "), c.ChangedBy)
}

// lastChanges returns the changes after the first n.
func (h *harness) lastChanges(n int) []string {
	var short []string
	for _, c := range h.Changes()[n:] {
		short = append(short, shortChange(c))
	}
	return short
}

// TestChanges makes one change and compares the record of it.
func TestChanges(t *testing.T) {
	app := []string{"Authorization", tokenOf(`{"appid":"` + clientID + `","oid":"o","idtyp":"app"}`)}
	user := []string{"Authorization", tokenOf(`{"appid":"` + clientID + `","upn":"alice@contoso.com","name":"Alice"}`), "User-Agent", "AZURECLI/2.61.0 (HOMEBREW)"}
	for name, test := range map[string]struct {
		change func(h *harness)
		want   []string
		reason string
	}{
		"creation": {func(h *harness) {
			h.want(h.do("PUT", plain+"2"+version, `{"location":"westus2","properties":{"a":1}}`, app...), 201, "")
		}, []string{"Create t12  by " + clientID}, "a creation has no paths"},
		"update": {func(h *harness) {
			h.want(h.do("PUT", plain+version, `{"location":"westus2","tags":{"x":"y"},"properties":{"size":"L","list":[{"n":1},{"n":3}]}}`, user...), 200, "")
		}, []string{"Update t1 properties.list[1].n properties.size tags.x by alice@contoso.com"}, "paths of scalar values, lists by index"},
		"removal": {func(h *harness) {
			h.want(h.do("PUT", plain+version, `{"location":"westus2","properties":{"list":[{"n":1}]}}`, user...), 200, "")
		}, []string{"Update t1 properties.list[1].n properties.size by alice@contoso.com"}, "removed values have their paths"},
		"nothing new": {func(h *harness) {
			h.want(h.do("PUT", plain+version, `{"location":"westus2","properties":{"size":"S","list":[{"n":1},{"n":2}]}}`, app...), 200, "")
		}, []string{"Update t1  by " + clientID}, "a write that changes nothing has no paths"},
		"deletion": {func(h *harness) {
			h.want(h.do("DELETE", plain+version, "", app...), 200, "")
		}, []string{"Delete t1  by " + clientID}, ""},
		"refused": {func(h *harness) {
			h.want(h.do("PUT", group+"x/providers/Microsoft.Example/things/t"+version, `{"location":"westus2"}`, app...), 404, "ResourceGroupNotFound")
		}, nil, "no accepted write"},
		"group": {func(h *harness) {
			h.want(h.do("PUT", group+version, `{"location":"westus2","tags":{"a":"b"}}`, app...), 200, "")
		}, []string{"Update rg1 tags.a by " + clientID}, ""},
		"without a token": {func(h *harness) {
			h.want(h.do("PATCH", plain+version, `{"tags":{"a":"b"}}`), 200, "")
		}, []string{"Update t1 tags.a by Unspecified"}, "the author is unknown"},
		"list of keys": {func(h *harness) {
			h.want(h.do("POST", plain+"/listKeys"+version, "", app...), 200, "")
		}, []string{"Action t1  by " + clientID}, "Event Grid raises it"},
		"out of band": {func(h *harness) {
			if err := h.As(armsim.Author{Name: "bob@contoso.com", Client: "Azure Portal"}).Patch(plain, map[string]any{"properties": map[string]any{"size": "XL"}}); err != nil {
				h.t.Fatal(err)
			}
		}, []string{"Update t1 properties.size by bob@contoso.com"}, "a control action with an author"},
		"out of band, unknown": {func(h *harness) { h.Delete(plain) }, []string{"Delete t1  by Unspecified"}, ""},
		"by Azure": {func(h *harness) {
			if err := h.As(armsim.Author{System: true}).Patch(plain, map[string]any{"properties": map[string]any{"size": "XL"}}); err != nil {
				h.t.Fatal(err)
			}
		}, []string{"Update t1 properties.size by System"}, ""},
		"control API": {func(h *harness) {
			h.want(h.do("PATCH", "/_sim/resources", `{"id":"`+plain+`","patch":{"tags":{"a":"b"}},"by":{"name":"carol@contoso.com","client":"Azure Portal"}}`), 200, "")
			h.want(h.do("DELETE", "/_sim/resources?by=carol@contoso.com&id="+plain, ""), 200, "")
		}, []string{"Update t1 tags.a by carol@contoso.com", "Delete t1  by carol@contoso.com"}, ""},
		"move": {func(h *harness) {
			if err := h.Move(plain, root+"/resourceGroups/rg2"); err != nil {
				h.t.Fatal(err)
			}
		}, []string{"Create rg2  by Unspecified", "Delete t1  by Unspecified", "Create t1  by Unspecified"}, "the old ID is deleted, the new one created"},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHarness(t, armsim.Options{})
			h.makeGroup()
			h.want(h.do("PUT", plain+version, `{"location":"westus2","properties":{"size":"S","list":[{"n":1},{"n":2}]}}`), 201, "")
			before := len(h.Changes())
			test.change(h)
			if got := h.lastChanges(before); !slices.Equal(got, test.want) {
				t.Errorf("%s: got %q, want %q", test.reason, got, test.want)
			}
		})
	}
}

// TestChangeOrigin checks what a change says of its request.
func TestChangeOrigin(t *testing.T) {
	h := newHarness(t, armsim.Options{})
	h.want(h.do("PUT", group+version, `{"location":"westus2"}`, "Authorization", tokenOf(`{"upn":"alice@contoso.com"}`),
		"User-Agent", "AZURECLI/2.61.0", "x-ms-correlation-request-id", "correlated"), 201, "")
	got := h.Changes()[0]
	want := armsim.Change{
		Seq: 1, Time: h.clock.Now(), ID: group, Type: "Microsoft.Resources/resourceGroups", ChangeType: "Create", Status: "Succeeded",
		CorrelationID: "correlated", ChangedBy: "alice@contoso.com", ChangedByType: "User", ClientType: "Azure CLI",
		Operation: "Microsoft.Resources/subscriptions/resourceGroups/write",
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if err := h.As(armsim.Author{System: true}).Put(plain, map[string]any{"location": "westus2"}); err != nil {
		t.Fatal(err)
	}
	got = h.Changes()[1]
	if got.ChangedByType != "System" || got.Operation != "Unspecified" || got.CorrelationID != "00000000-0000-0000-0000-000000000000" {
		t.Errorf("a change by Azure is %+v", got)
	}
}

// TestChangesOfOperations checks that an asynchronous write is recorded when it ends, with
// the time of its end, and that the request which started it is its author.
func TestChangesOfOperations(t *testing.T) {
	h := newHarness(t, armsim.Options{})
	h.makeGroup()
	author := []string{"Authorization", tokenOf(`{"upn":"alice@contoso.com"}`)}
	started := h.clock.Now()
	h.want(h.do("PUT", vnet+"?api-version=2024-05-01", `{"location":"westus2","properties":{"subnets":[{"name":"a","properties":{"addressPrefix":"10.0.0.0/24"}}]}}`, author...), 201, "")
	if got := h.lastChanges(1); got != nil {
		t.Errorf("recorded before the end: %q", got)
	}
	h.pass(time.Minute)
	got := h.lastChanges(1)
	if want := []string{"Create vnet1  by alice@contoso.com"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if at := h.Changes()[1].Time; !at.Equal(started.Add(3 * time.Second)) {
		t.Errorf("recorded at %s, want 3 s after %s", at, started)
	}
	h.want(h.do("PUT", subnet+"?api-version=2024-05-01", `{"properties":{"addressPrefix":"10.0.1.0/24"}}`, author...), 200, "")
	h.pass(time.Minute)
	if got, want := h.lastChanges(2), []string{"Update a properties.addressPrefix by alice@contoso.com"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	h.AddOperationRule(armsim.OperationRule{On: "delete", Spec: armsim.OperationSpec{Outcome: "Failed"}})
	h.want(h.do("DELETE", vnet+"?api-version=2024-05-01", "", author...), 202, "")
	h.pass(time.Minute)
	if last := h.Changes()[3]; last.Status != "Failed" || last.ChangeType != "Delete" {
		t.Errorf("a failed deletion is %+v", last)
	}
}

// TestChangesOfHeldOperation checks that an operation which was held ends when it is
// released, not when it was due.
func TestChangesOfHeldOperation(t *testing.T) {
	h := newHarness(t, armsim.Options{})
	h.makeGroup()
	h.Hold(armsim.Hold{})
	h.want(h.do("PUT", vnet+"?api-version=2024-05-01", `{"location":"westus2"}`), 201, "")
	h.pass(time.Hour)
	if got := h.lastChanges(1); got != nil {
		t.Fatalf("recorded while held: %q", got)
	}
	released := h.clock.Now()
	h.ReleaseHolds()
	if got := h.Changes()[1].Time; got.Before(released) {
		t.Errorf("recorded at %s, before the release at %s", got, released)
	}
}

// TestChangesOfGroupDeletion checks that the resources of a deleted group are recorded
// before the group, with its author.
func TestChangesOfGroupDeletion(t *testing.T) {
	h := newHarness(t, armsim.Options{})
	h.makeGroup()
	h.want(h.do("PUT", plain+version, `{"location":"westus2"}`), 201, "")
	h.want(h.do("DELETE", group+version, "", "Authorization", tokenOf(`{"upn":"alice@contoso.com"}`)), 202, "")
	h.pass(time.Minute)
	if got, want := h.lastChanges(2), []string{"Delete t1  by alice@contoso.com", "Delete rg1  by alice@contoso.com"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestChangesOfOthers checks that the effects of a change on other resources are changes
// by Azure itself.
func TestChangesOfOthers(t *testing.T) {
	h := newHarness(t, armsim.Options{})
	h.makeGroup()
	for _, name := range []string{"n1", "n2"} {
		h.want(h.do("PUT", group+"/providers/Microsoft.Network/virtualNetworks/"+name+"?api-version=2024-05-01", `{"location":"westus2"}`), 201, "")
	}
	h.pass(time.Minute)
	peer := func(from, to string) {
		h.want(h.do("PUT", group+"/providers/Microsoft.Network/virtualNetworks/"+from+"/virtualNetworkPeerings/to-"+to+"?api-version=2024-05-01",
			`{"properties":{"remoteVirtualNetwork":{"id":"`+group+`/providers/Microsoft.Network/virtualNetworks/`+to+`"}}}`, "Authorization", tokenOf(`{"upn":"alice@contoso.com"}`)), 201, "")
		h.pass(time.Minute)
	}
	peer("n1", "n2")
	peer("n2", "n1")
	if got, want := h.lastChanges(4), []string{"Create to-n1  by alice@contoso.com", "Update to-n2 properties.peeringState by System"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
