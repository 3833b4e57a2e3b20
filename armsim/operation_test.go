package armsim_test

import (
	"testing"
	"time"

	"github.com/armature-io/armature/armsim"
)

func TestShapes(t *testing.T) {
	tests := map[string]struct {
		spec            armsim.OperationSpec
		status          int
		async, location bool
		state           string
		reason          string
	}{
		"sync":     {armsim.OperationSpec{Shape: armsim.ShapeSync}, 201, false, false, "Succeeded", "complete with the response"},
		"async":    {armsim.OperationSpec{Shape: armsim.ShapeAsync, Polls: 2}, 201, true, false, "Creating", "the commonest shape"},
		"location": {armsim.OperationSpec{Shape: armsim.ShapeLocation, Polls: 2}, 202, false, true, "Creating", "the legacy shape is 202"},
		"both":     {armsim.OperationSpec{Shape: armsim.ShapeBoth, Polls: 2, Status: 202}, 202, true, true, "Creating", "the shape of compute and network"},
		"state":    {armsim.OperationSpec{Shape: armsim.ShapeState, Polls: 2}, 201, false, false, "Creating", "no header at all"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			h := newHarness(t, armsim.Options{Operations: []armsim.OperationRule{{Type: "Microsoft.Example/things", On: "create", Spec: test.spec}}})
			h.makeGroup()
			put := h.do("PUT", plain+version, `{"location":"westus2"}`)
			h.want(put, test.status, "")
			h.wantAt(put, "properties.provisioningState", test.state)
			async, location := put.header.Get("Azure-AsyncOperation"), put.header.Get("Location")
			if (async != "") != test.async || (location != "") != test.location {
				t.Fatalf("headers %q and %q are wrong: %s", async, location, test.reason)
			}
			if test.spec.Shape == armsim.ShapeSync {
				return
			}
			h.want(h.do("PUT", plain+version, `{"location":"westus2"}`), 409, "AnotherOperationInProgress")
			url := async
			if url == "" {
				url = location
			}
			for range 2 {
				switch {
				case async != "":
					h.wantAt(h.do("GET", url, ""), "status", "InProgress")
				case location != "":
					h.want(h.do("GET", url, ""), 202, "")
				default:
					h.wantAt(h.do("GET", plain+version, ""), "properties.provisioningState", "Creating")
				}
			}
			switch {
			case async != "":
				h.wantAt(h.do("GET", url, ""), "status", "Succeeded")
			case location != "":
				h.wantAt(h.do("GET", url, ""), "id", plain)
			}
			h.wantAt(h.do("GET", plain+version, ""), "properties.provisioningState", "Succeeded")
		})
	}
}

func TestOperationOutcomes(t *testing.T) {
	h := newHarness(t, armsim.Options{})
	h.makeGroup()
	h.AddOperationRule(armsim.OperationRule{Type: "Microsoft.Example/*", On: "put", Count: 1, Spec: armsim.OperationSpec{
		Shape: armsim.ShapeAsync, Polls: 1, Outcome: "Failed", ErrorCode: "AllocationFailed", ErrorMessage: "no room",
	}})
	put := h.do("PUT", plain+version, `{"location":"westus2"}`)
	url := put.header.Get("Azure-AsyncOperation")
	h.wantAt(h.do("GET", url, ""), "status", "InProgress")
	end := h.do("GET", url, "")
	h.want(end, 200, "AllocationFailed")
	h.wantAt(end, "status", "Failed")
	h.wantAt(h.do("GET", plain+version, ""), "properties.provisioningState", "Failed")
	h.want(h.do("PUT", plain+version, `{"location":"westus2"}`), 200, "") // the rule is used up
	h.wantAt(h.do("GET", plain+version, ""), "properties.provisioningState", "Succeeded")

	h.AddOperationRule(armsim.OperationRule{Type: "Microsoft.Example/*", On: "update", Spec: armsim.OperationSpec{
		Shape: armsim.ShapeLocation, Outcome: "Canceled", ErrorCode: "Canceled", ErrorStatus: 409, RelativeLocation: true, Polls: 1,
	}})
	put = h.do("PUT", plain+version, `{"location":"westus2"}`)
	url = put.header.Get("Location")
	if url == "" || url[0] != '/' {
		t.Fatalf("Location %q is not relative", url)
	}
	h.want(h.do("GET", url, ""), 202, "")
	h.want(h.do("GET", url, ""), 409, "Canceled")
	h.wantAt(h.do("GET", plain+version, ""), "properties.provisioningState", "Canceled")
}

func TestHiddenUntilDone(t *testing.T) {
	h := newHarness(t, armsim.Options{TimeScale: 10})
	h.makeGroup()
	id := group + "/providers/Microsoft.DBforPostgreSQL/flexibleServers/pg1"
	put := h.do("PUT", id+version, `{"location":"westus2","properties":{"administratorLoginPassword":"planted-pw"}}`)
	h.want(put, 202, "")
	if put.header.Get("Retry-After") != "6" {
		t.Errorf("Retry-After is %q, want 60 simulated seconds at ten in one", put.header.Get("Retry-After"))
	}
	h.want(h.do("GET", id+version, ""), 404, "ResourceNotFound")
	h.pass(24 * time.Second)
	got := h.do("GET", id+version, "")
	h.want(got, 200, "")
	h.wantAt(got, "properties.administratorLoginPassword", nil)
	if secrets := h.Secrets(); len(secrets) != 1 || secrets[0] != "planted-pw" {
		t.Errorf("known secrets are %v, want the planted one", secrets)
	}
}

func TestRetryAfterChanges(t *testing.T) {
	h := newHarness(t, armsim.Options{})
	h.makeGroup()
	h.AddOperationRule(armsim.OperationRule{Type: "*/things", Spec: armsim.OperationSpec{
		Shape: armsim.ShapeAsync, Polls: 4, RetryAfter: []float64{0, 10, 20, 40},
	}})
	put := h.do("PUT", plain+version, `{"location":"westus2"}`)
	got := []string{put.header.Get("Retry-After")}
	for range 4 {
		got = append(got, h.do("GET", put.header.Get("Azure-AsyncOperation"), "").header.Get("Retry-After"))
	}
	want := []string{"", "10", "20", "40", "40"}
	for i := range want {
		if got[i] != want[i] {
			t.Fatalf("Retry-After went %v, want %v", got, want)
		}
	}
}

func TestHoldAndSetState(t *testing.T) {
	h := newHarness(t, armsim.Options{})
	h.makeGroup()
	h.Hold(armsim.Hold{ID: "*/adx"})
	h.want(h.do("PUT", cluster+version, `{"location":"westus2","sku":{"name":"Dev"}}`), 201, "")
	h.pass(time.Hour)
	h.wantAt(h.do("GET", cluster+version, ""), "properties.provisioningState", "Creating")
	h.ReleaseHolds()
	h.wantAt(h.do("GET", cluster+version, ""), "properties.state", "Running")
	if err := h.SetState(cluster, "Updating", nil); err != nil {
		t.Fatal(err)
	}
	h.pass(time.Hour)
	h.want(h.do("PUT", cluster+version, `{"location":"westus2","sku":{"name":"Dev"}}`), 409, "Conflict")
	h.want(h.do("GET", database+version, ""), 409, "Conflict")
	h.want(h.do("DELETE", cluster+version, ""), 409, "Conflict")
	if err := h.SetState(cluster, "Succeeded", nil); err != nil {
		t.Fatal(err)
	}
	h.want(h.do("PUT", cluster+version, `{"location":"westus2","sku":{"name":"Dev"}}`), 200, "")
}

func TestSecondDelete(t *testing.T) {
	h := newHarness(t, armsim.Options{})
	h.makeGroup()
	h.want(h.do("PUT", vnet+version, `{"location":"westus2"}`), 201, "")
	h.want(h.do("DELETE", vnet+version, ""), 409, "AnotherOperationInProgress")
	h.pass(time.Minute)
	first := h.do("DELETE", vnet+version, "")
	h.want(first, 202, "")
	second := h.do("DELETE", vnet+version, "")
	h.want(second, 202, "")
	if first.header.Get("Location") != second.header.Get("Location") {
		t.Error("the second DELETE started another operation")
	}
	h.pass(time.Minute)
	h.wantAt(h.do("GET", first.header.Get("Azure-AsyncOperation"), ""), "status", "Succeeded")
	h.want(h.do("GET", vnet+version, ""), 404, "ResourceNotFound")
}

func TestUnusualOperationURLs(t *testing.T) {
	h := newHarness(t, armsim.Options{})
	h.makeGroup()
	h.AddOperationRule(armsim.OperationRule{Type: "*/things", Spec: armsim.OperationSpec{
		Shape: armsim.ShapeBoth, Polls: 2, UnderResource: true, URLPadding: 4000,
	}})
	put := h.do("PUT", plain+version, `{"location":"westus2"}`)
	async, location := put.header.Get("Azure-AsyncOperation"), put.header.Get("Location")
	if len(async) < 4000 {
		t.Errorf("the operation URL has %d bytes, want more than 4000", len(async))
	}
	h.wantAt(h.do("GET", async, ""), "status", "InProgress")
	h.want(h.do("GET", location, ""), 202, "")
	h.wantAt(h.do("GET", async, ""), "status", "Succeeded")
	h.wantAt(h.do("GET", location, ""), "id", plain)
	h.want(h.do("GET", plain+version+"&asyncId=unknown", ""), 200, "")
	h.want(h.do("GET", root+"/providers/Microsoft.Example/locations/x/operations/unknown"+version, ""), 404, "OperationNotFound")

	h.AddOperationRule(armsim.OperationRule{Type: "*/things", Spec: armsim.OperationSpec{Shape: armsim.ShapeSelf}})
	spaced := group + "/providers/Microsoft.Example/things/a%20b"
	self := h.do("PUT", spaced+version, `{"location":"westus2"}`)
	h.want(self, 201, "")
	h.wantAt(h.do("GET", self.header.Get("Location"), ""), "name", "a b")
}

// TestTypesNamedOperations checks resource types named "operations" (API Management
// has such), which are not long-running operations.
func TestTypesNamedOperations(t *testing.T) {
	h := newHarness(t, armsim.Options{})
	h.makeGroup()
	h.want(h.do("PUT", plain+version, `{"location":"westus2"}`), 201, "")
	h.want(h.do("PUT", plain+"/operations/get"+version, `{}`), 201, "")
	h.wantAt(h.do("GET", plain+"/operations/get"+version, ""), "name", "get")
}

func TestFailedHiddenCreation(t *testing.T) {
	h := newHarness(t, armsim.Options{})
	h.makeGroup()
	h.AddOperationRule(armsim.OperationRule{Type: "*/things", Spec: armsim.OperationSpec{
		Shape: armsim.ShapeAsync, Seconds: 5, HiddenUntilDone: true, Outcome: "Failed",
	}})
	h.want(h.do("PUT", plain+version, `{"location":"westus2"}`), 201, "")
	h.want(h.do("PUT", plain+version, `{"location":"westus2"}`), 409, "AnotherOperationInProgress")
	h.pass(5 * time.Second)
	h.want(h.do("GET", plain+version, ""), 404, "ResourceNotFound")
	h.want(h.do("DELETE", plain+version, ""), 204, "")
}

func TestNoCreationDuringDeletion(t *testing.T) {
	h := newHarness(t, armsim.Options{})
	h.makeGroup()
	h.AddOperationRule(armsim.OperationRule{Type: "*/things", On: "delete", Spec: armsim.OperationSpec{Shape: armsim.ShapeLocation, Seconds: 5}})
	h.want(h.do("PUT", plain+version, `{"location":"westus2"}`), 201, "")
	h.want(h.do("DELETE", plain+version, ""), 202, "")
	h.want(h.do("PUT", plain+"/kids/k"+version, `{}`), 409, "AnotherOperationInProgress")
	h.pass(5 * time.Second)
	h.want(h.do("PUT", plain+"/kids/k"+version, `{}`), 404, "ParentResourceNotFound")
}
