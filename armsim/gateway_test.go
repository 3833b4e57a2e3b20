package armsim_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/armsim"
)

// TestPolicies checks that a modify policy adds its tags at every write, and that the
// refusal of a deny policy names its assignment.
func TestPolicies(t *testing.T) {
	h := newHarness(t, armsim.Options{Policies: []armsim.Policy{{Name: "cost", Effect: "modify", Tags: map[string]string{"cost": "42"}}}})
	h.makeGroup()
	h.wantAt(h.do("GET", group+version, ""), "tags.cost", "42")
	h.want(h.do("PUT", plain+version, `{"location":"westus2","tags":{"cost":"1","own":"x"}}`), 201, "")
	h.wantAt(h.do("GET", plain+version, ""), "tags", "map[cost:42 own:x]")
	h.want(h.do("PUT", plain+"/kids/k"+version, `{}`), 201, "")
	h.wantAt(h.do("GET", plain+"/kids/k"+version, ""), "tags", nil)

	h.want(h.do("POST", "/_sim/policies", `{"name":"owner","effect":"deny","type":"*/things","tags":{"owner":""}}`), 200, "")
	denied := h.do("PUT", plain+version, `{"location":"westus2"}`)
	h.want(denied, 403, "RequestDisallowedByPolicy")
	info := denied.at("error.additionalInfo").([]any)[0].(map[string]any)
	if info["type"] != "PolicyViolation" || info["info"].(map[string]any)["policyAssignmentName"] != "owner" || !strings.Contains(denied.raw, `\"policyAssignment\"`) {
		t.Errorf("the assignment is not named: %s", denied.raw)
	}
	h.want(h.do("PUT", plain+version, `{"location":"westus2","tags":{"owner":"me"}}`), 200, "")
	h.want(h.do("DELETE", "/_sim/policies/owner", ""), 200, "")
	h.want(h.do("PUT", plain+version, `{"location":"westus2"}`), 200, "")
	if rest := h.do("GET", "/_sim/policies", ""); !strings.Contains(rest.raw, "cost") || strings.Contains(rest.raw, "owner") {
		t.Errorf("policies left: %s", rest.raw)
	}
	h.want(h.do("DELETE", "/_sim/policies", ""), 200, "")
	h.want(h.do("PUT", plain+"9"+version, located), 201, "")
	h.wantAt(h.do("GET", plain+"9"+version, ""), "tags", nil)
	for _, bad := range []string{`{"effect":"deny"}`, `{"name":"x","effect":"audit"}`} {
		if got := h.do("POST", "/_sim/policies", bad); got.status != 400 {
			t.Errorf("%s is accepted", bad)
		}
	}
}

func TestTypeLimits(t *testing.T) {
	h := newHarness(t, armsim.Options{})
	h.makeGroup()
	for _, limit := range []string{
		`{"type":"microsoft.example/ghosts","unknown":true,"apiVersions":["2020-01-01"]}`,
		`{"type":"microsoft.example/things","apiVersions":["2024-03-01"],"locations":["West US 2","East US"]}`,
	} {
		h.want(h.do("POST", "/_sim/types", limit), 200, "")
	}
	h.want(h.do("GET", group+"/providers/Microsoft.Example/ghosts/g"+version, ""), 404, "InvalidResourceType")
	h.want(h.do("PUT", plain+version, `{"location":"westus2"}`), 201, "")
	h.want(h.do("PUT", plain+"?api-version=2023-01-01", `{"location":"westus2"}`), 400, "NoRegisteredProviderFound")
	h.want(h.do("PUT", plain+"2"+version, `{"location":"northeurope"}`), 400, "LocationNotAvailableForResourceType")
	h.want(h.do("DELETE", "/_sim/types", ""), 200, "")
	h.want(h.do("PUT", plain+"2"+version, `{"location":"northeurope"}`), 201, "")
}

// TestThrottleBudgets checks that each principal has a budget, that all principals share one 15
// times as large, and that a provider has limits of its own.
func TestThrottleBudgets(t *testing.T) {
	h := newHarness(t, armsim.Options{Throttle: armsim.Throttle{
		Reads: armsim.Bucket{Capacity: 2, RefillPerSecond: 1}, Global: 2,
		Providers: []armsim.ProviderLimit{{Namespace: "microsoft.example", Writes: armsim.Bucket{Capacity: 1}}},
	}})
	h.makeGroup()
	read := func(principal string) response {
		return h.do("GET", group+version, "", "Authorization", "Bearer "+h.token(principal))
	}
	for i, want := range []int{200, 200, 429} {
		if got := read("a"); got.status != want {
			t.Fatalf("read %d of the first principal is %d, want %d", i, got.status, want)
		}
	}
	second := read("b")
	h.want(second, 200, "")
	for name, want := range map[string]string{"Reads": "1", "Global-Reads": "1"} {
		if got := second.header.Get("X-Ms-Ratelimit-Remaining-Subscription-" + name); got != want {
			t.Errorf("remaining %s is %s, want %s", name, got, want)
		}
	}
	h.want(read("b"), 200, "")
	throttled := read("c")
	h.want(throttled, 429, "SubscriptionRequestsThrottled")
	if throttled.header.Get("Retry-After") == "" {
		t.Error("the 429 of the subscription's budget has no Retry-After")
	}
	h.pass(time.Minute)
	h.want(read("a"), 200, "")

	first := h.do("PUT", plain+version, located)
	h.want(first, 201, "")
	if got := first.header.Get("X-Ms-Ratelimit-Remaining-Resource"); got != "Microsoft.Example/writes;0" {
		t.Errorf("the provider's remaining budget is %q", got)
	}
	h.want(h.do("PUT", plain+version, located), 429, "ResourceRequestsThrottled")
	h.want(h.do("PUT", mi+version, located), 201, "")
	h.want(h.do("GET", plain+version, ""), 200, "")
}

// token requests a token, as a client would.
func (h *harness) token(client string) string {
	h.t.Helper()
	got := h.do("POST", "/"+tenant+"/oauth2/v2.0/token", "grant_type=client_credentials&client_secret=s&scope=x/.default&client_id="+client,
		"Content-Type", "application/x-www-form-urlencoded")
	h.want(got, 200, "")
	return got.at("access_token").(string)
}

func TestRequireRegistration(t *testing.T) {
	h := newHarness(t, armsim.Options{RequireRegistration: true})
	h.makeGroup()
	h.want(h.do("PUT", plain+version, located), 409, "MissingSubscriptionRegistration")
	h.want(h.do("PUT", group+lock+"l"+version, `{"properties":{"level":"CanNotDelete"}}`), 201, "")
	h.want(h.do("POST", root+"/providers/Microsoft.Example/register"+version, ""), 200, "")
	h.want(h.do("PUT", plain+version, located), 409, "MissingSubscriptionRegistration")
	h.pass(time.Minute)
	h.want(h.do("PUT", plain+version, located), 201, "")
	h.want(h.do("PUT", mi+version, located), 409, "MissingSubscriptionRegistration")
}

// TestTypesWithoutGet checks that a type without GET is visible by HEAD and in the list.
func TestTypesWithoutGet(t *testing.T) {
	h := newHarness(t, armsim.Options{})
	api := group + "/providers/Microsoft.ApiManagement/service/s/products/p/apis/a"
	if err := h.Put(api, map[string]any{}); err != nil {
		t.Fatal(err)
	}
	got := h.do("GET", api+version, "")
	if got.status != 405 || got.header.Get("Allow") == "" || !strings.Contains(got.raw, `"Message"`) {
		t.Errorf("GET returns %d %s", got.status, got.raw)
	}
	h.want(h.do("HEAD", api+version, ""), 204, "")
	if head := h.do("HEAD", api+"2"+version, ""); head.status != 404 {
		t.Errorf("HEAD of an absent resource returns %d", head.status)
	}
	list := h.do("GET", strings.TrimSuffix(api, "/a")+version, "")
	if items, _ := list.at("value").([]any); len(items) != 1 {
		t.Errorf("the list contains %s", list.raw)
	}
}

func TestNotModified(t *testing.T) {
	h := newHarness(t, armsim.Options{})
	h.makeGroup()
	tag := h.do("PUT", plain+version, located).header.Get("ETag")
	got := h.do("GET", plain+version, "", "If-None-Match", tag)
	if got.status != http.StatusNotModified || got.raw != "" {
		t.Errorf("a GET with the same ETag returns %d %s", got.status, got.raw)
	}
	h.want(h.do("PUT", plain+version, located, "If-None-Match", "*"), 412, "PreconditionFailed")
	h.want(h.do("PUT", plain+version, `{"location":"westus2","tags":{"a":"b"}}`), 200, "")
	h.want(h.do("GET", plain+version, "", "If-None-Match", tag), 200, "")
}

func TestMetadata(t *testing.T) {
	h := newHarness(t, armsim.Options{RequireAuth: true, TenantID: tenant, Audience: "https://management.example/"})
	got := h.do("GET", "http://example.com/metadata/endpoints?api-version=2022-09-01", "")
	h.want(got, 200, "")
	h.wantAt(got, "resourceManager", "http://example.com")
	h.wantAt(got, "authentication.loginEndpoint", "http://example.com")
	h.wantAt(got, "authentication.audiences", "[https://management.example/]")
	h.wantAt(got, "authentication.tenant", tenant)
	h.want(h.do("POST", "http://example.com/metadata/endpoints", ""), 405, "MethodNotAllowed")
}

// TestOperationDetails checks details of recorded operations besides their shape.
func TestOperationDetails(t *testing.T) {
	h := newHarness(t, armsim.Options{Operations: []armsim.OperationRule{{Type: "*/things", Spec: armsim.OperationSpec{
		Shape: armsim.ShapeBoth, Seconds: 60, RetryAfter: []float64{10, 20, 40}, StatusWords: []string{"Enqueued", "Creating nodes: 1/2"},
		PollStatus: 202, OperationAPIVersion: "2019-01-01", RetryAfterDate: true, FinalStatus: 201, EmptyFinal: true,
	}}}})
	h.makeGroup()
	put := h.do("PUT", plain+version, located)
	h.want(put, 201, "")
	async, location := put.header.Get("Azure-AsyncOperation"), put.header.Get("Location")
	if !strings.Contains(async, "api-version=2019-01-01") || !strings.Contains(location, "api-version=2019-01-01") {
		t.Errorf("the operation has the request's api-version: %s", async)
	}
	for i, want := range []string{"Enqueued", "Creating nodes: 1/2", "Creating nodes: 1/2"} {
		poll := h.do("GET", async, "")
		h.want(poll, 202, "")
		h.wantAt(poll, "status", want)
		at, err := http.ParseTime(poll.header.Get("Retry-After"))
		if wait := []float64{20, 40, 40}[i]; err != nil || at.Sub(h.clock.Now()).Seconds() != wait {
			t.Errorf("poll %d has Retry-After %q, want %g s from now", i, poll.header.Get("Retry-After"), wait)
		}
	}
	h.pass(time.Minute)
	h.wantAt(h.do("GET", async, ""), "status", "Succeeded")
	end := h.do("GET", location, "")
	if end.status != 201 || end.raw != "" {
		t.Errorf("Location ends with %d %q, want 201 without a body", end.status, end.raw)
	}
	h.AddOperationRule(armsim.OperationRule{On: "delete", Spec: armsim.OperationSpec{Shape: armsim.ShapeAsync, DeleteBody: true}})
	h.wantAt(h.do("DELETE", plain+version, ""), "id", plain)
}

func TestDocumentStates(t *testing.T) {
	h := newHarness(t, armsim.Options{})
	h.makeGroup()
	cassandra := group + "/providers/Microsoft.DocumentDB/cassandraClusters/c"
	for _, id := range []string{group + "/providers/Microsoft.DocumentDB/databaseAccounts/a", cassandra, cassandra + "/dataCenters/d",
		group + "/providers/Microsoft.RedHatOpenShift/hcpOpenShiftClusters/h"} {
		if put := h.do("PUT", id+version, located); put.header.Get("Azure-AsyncOperation") == "" {
			t.Errorf("%s is not a long-running operation: %d", id, put.status)
		}
		h.wantAt(h.do("GET", id+version, ""), "properties.provisioningState", "Creating")
		h.pass(time.Hour)
		h.wantAt(h.do("GET", id+version, ""), "properties.provisioningState", "Succeeded")
	}
	gone := h.do("DELETE", cassandra+version, "")
	h.want(gone, 202, "")
	h.wantAt(h.do("GET", cassandra+version, ""), "properties.provisioningState", "Deleting")
	if fmt.Sprint(h.Counters().SiblingRefusals) != "map[]" {
		t.Error("a refusal was counted")
	}
}

// TestReferences checks that the Network provider requires referenced resources to
// exist and to be in Succeeded.
func TestReferences(t *testing.T) {
	h := newHarness(t, armsim.Options{})
	h.makeGroup()
	subnet, endpoint := vnet+"/subnets/a", networkRP+"privateEndpoints/p"
	body := fmt.Sprintf(`{"location":"westus2","properties":{"subnet":{"id":%q}}}`, subnet)
	h.want(h.do("PUT", endpoint+version, body), 400, "InvalidResourceReference")
	h.want(h.do("PUT", vnet+version, located), 201, "")
	h.pass(time.Minute)
	h.want(h.do("PUT", subnet+version, `{}`), 201, "")
	busy := h.do("PUT", endpoint+version, body)
	h.want(busy, 429, "RetryableError")
	if !strings.Contains(busy.raw, `"ReferencedResourceNotProvisioned"`) || !strings.Contains(busy.raw, "PutSubnetOperation") || busy.header.Get("Retry-After") != "" {
		t.Errorf("the response is not as recorded: %s %v", busy.raw, busy.header)
	}
	h.pass(time.Minute)
	h.want(h.do("PUT", endpoint+version, body), 201, "")
}

// TestProviderOffers checks what a provider lists: published types with their versions
// and regions, stored types of other providers, and limits.
func TestProviderOffers(t *testing.T) {
	h := newHarness(t, armsim.Options{})
	h.makeGroup()
	h.want(h.do("PUT", plain+version, `{"location":"westus2"}`), 201, "")
	h.want(h.do("POST", "/_sim/types", `{"type":"microsoft.kusto/clusters","apiVersions":["2023-08-15"],"locations":["West US 2"]}`), 200, "")
	h.want(h.do("POST", "/_sim/types", `{"type":"microsoft.kusto/clusters/databases","unknown":true}`), 200, "")
	type offer struct {
		ResourceType           string
		APIVersions, Locations []string
	}
	offers := func(namespace string) map[string]offer {
		var body struct{ ResourceTypes []offer }
		if err := json.Unmarshal([]byte(h.do("GET", root+"/providers/"+namespace+version, "").raw), &body); err != nil {
			t.Fatal(err)
		}
		listed := map[string]offer{}
		for _, o := range body.ResourceTypes {
			listed[o.ResourceType] = o
		}
		return listed
	}
	storage := offers("microsoft.storage")
	account := storage["storageAccounts"]
	if len(account.APIVersions) < 20 || !slices.Contains(account.Locations, "West US 2") || !slices.IsSortedFunc(account.APIVersions, func(a, b string) int { return strings.Compare(b, a) }) {
		t.Errorf("a published type: %+v", account)
	}
	if service, listed := storage["storageAccounts/blobServices"]; !listed || len(service.Locations) > 0 {
		t.Errorf("a type without a location: %+v", service)
	}
	if things := offers("Microsoft.Example")["things"]; len(things.APIVersions) == 0 || len(things.Locations) > 0 {
		t.Errorf("a stored type that is not published: %+v", things)
	}
	kusto := offers("Microsoft.Kusto")
	if _, listed := kusto["clusters/databases"]; listed || !slices.Equal(kusto["clusters"].Locations, []string{"West US 2"}) || !slices.Equal(kusto["clusters"].APIVersions, []string{"2023-08-15"}) {
		t.Errorf("limited types: %+v", kusto["clusters"])
	}
}
