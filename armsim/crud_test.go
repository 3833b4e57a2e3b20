package armsim_test

import (
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/armsim"
)

func TestResourceLifeCycle(t *testing.T) {
	h := newHarness(t, armsim.Options{})
	h.want(h.do("GET", group+version, ""), 404, "ResourceGroupNotFound")
	h.want(h.do("PUT", plain+version, `{"location":"westus2"}`), 404, "ResourceGroupNotFound")
	h.makeGroup()
	h.want(h.do("HEAD", group+version, ""), 204, "")
	h.want(h.do("GET", plain+version, ""), 404, "ResourceNotFound")
	h.want(h.do("DELETE", plain+version, ""), 204, "")

	made := h.do("PUT", plain+version, `{"location":"westus2","tags":{"a":"b"},"properties":{"size":1.50}}`)
	h.want(made, 201, "")
	h.wantAt(made, "properties.provisioningState", "Succeeded")
	got := h.do("GET", strings.ToUpper(plain)+version, "")
	h.want(got, 200, "")
	h.wantAt(got, "id", plain)
	h.wantAt(got, "name", "t1")
	h.wantAt(got, "type", "Microsoft.Example/things")
	if !strings.Contains(got.raw, "1.50") {
		t.Errorf("the number changed its form: %s", got.raw)
	}
	h.want(h.do("PUT", plain+version, `{"location":"West US 2","properties":{"other":true}}`), 200, "")
	replaced := h.do("GET", plain+version, "")
	h.wantAt(replaced, "tags", nil)
	h.wantAt(replaced, "properties.size", nil)
	h.want(h.do("PATCH", plain+version, `{"tags":{"x":"y"},"properties":{"size":2}}`), 200, "")
	h.wantAt(h.do("GET", plain+version, ""), "properties.other", true)
	h.want(h.do("PATCH", plain+version, `{"tags":{"z":"w"}}`), 200, "")
	patched := h.do("GET", plain+version, "")
	h.wantAt(patched, "tags.x", nil) // tags are replaced as a whole
	h.wantAt(patched, "tags.z", "w")

	h.want(h.do("DELETE", plain+version, ""), 200, "")
	h.want(h.do("GET", plain+version, ""), 404, "ResourceNotFound")
}

func TestRefusals(t *testing.T) {
	tests := map[string]struct {
		method, url, body string
		headers           []string
		status            int
		code              string
		reason            string
	}{
		"no api-version":       {"GET", plain, "", nil, 400, "MissingApiVersionParameter", "ARM requires it on all requests"},
		"bad api-version":      {"GET", plain + "?api-version=latest", "", nil, 400, "InvalidApiVersionParameter", "a date is required"},
		"impossible date":      {"GET", plain + "?api-version=2024-13-40", "", nil, 400, "InvalidApiVersionParameter", "a real date is required"},
		"foreign subscription": {"GET", "/subscriptions/99999999-2222-3333-4444-555555555555/resourceGroups/rg1" + version, "", nil, 404, "SubscriptionNotFound", "only the configured ones exist"},
		"no GUID":              {"GET", "/subscriptions/abc/resourceGroups/rg1" + version, "", nil, 400, "InvalidSubscriptionId", "a subscription is a GUID"},
		"no JSON":              {"PUT", plain + version, "{", nil, 400, "InvalidRequestContent", "the body must parse"},
		"no JSON media type":   {"PUT", plain + version, "{}", []string{"Content-Type", "text/plain"}, 415, "UnsupportedMediaType", "ARM accepts JSON"},
		"unknown action":       {"POST", plain + "/explode" + version, "", nil, 404, "InvalidResourceType", "only known actions"},
		"unknown method":       {"OPTIONS", plain + version, "", nil, 405, "MethodNotAllowed", "ARM has five methods"},
		"no such path":         {"GET", "/nothing" + version, "", nil, 404, "InvalidResourceType", "the path addresses nothing"},
		"patch absent":         {"PATCH", plain + "9" + version, "{}", nil, 404, "ResourceNotFound", "PATCH creates nothing"},
		"properties no object": {"PUT", plain + version, `{"location":"westus2","properties":[]}`, nil, 400, "InvalidRequestContent", "properties is an object"},
		"no object":            {"PUT", plain + version, "[]", nil, 400, "InvalidRequestContent", "the body must be an object"},
		"no location":          {"PUT", plain + "2" + version, `{}`, nil, 400, "LocationRequired", "a tracked resource has a location"},
		"group, no location":   {"PUT", root + "/resourceGroups/rg2" + version, `{}`, nil, 400, "LocationRequired", "a group has a location"},
		"moved":                {"PUT", plain + version, `{"location":"eastus"}`, nil, 409, "InvalidResourceLocation", "location is immutable"},
		"moved group":          {"PUT", group + version, `{"location":"eastus"}`, nil, 409, "InvalidResourceGroupLocation", "location is immutable"},
		"no parent":            {"PUT", group + "/providers/Microsoft.Example/none/n/kids/k" + version, `{}`, nil, 404, "ParentResourceNotFound", "a child needs its parent"},
		"delete, no parent":    {"DELETE", group + "/providers/Microsoft.Example/none/n/kids/k" + version, "", nil, 404, "ParentResourceNotFound", "recorded for fleets/members"},
		"no scope":             {"PUT", plain + "x/providers/Microsoft.Example/locks/l" + version, `{}`, nil, 404, "ResourceNotFound", "an extension needs its scope"},
		"delete absent group":  {"DELETE", root + "/resourceGroups/rg9" + version, "", nil, 404, "ResourceGroupNotFound", "ARM returns 404 for groups only"},
		"foreign state":        {"PUT", plain + version, `{"location":"westus2","properties":{"provisioningState":"Failed"}}`, nil, 400, "BadRequest", "the state is the server's"},
		"own state":            {"PUT", plain + version, `{"location":"westus2","properties":{"provisioningState":"Succeeded"}}`, nil, 200, "", "an equal state is allowed"},
		"read-only fields":     {"PUT", plain + version, `{"location":"westus2","id":"/x","name":"y","type":"z","etag":"e"}`, nil, 200, "", "they are ignored"},
		"if-none-match":        {"PUT", plain + version, `{"location":"westus2"}`, []string{"If-None-Match", "*"}, 412, "PreconditionFailed", "it exists"},
		"if-match":             {"PUT", plain + version, `{"location":"westus2"}`, []string{"If-Match", `"old"`}, 412, "PreconditionFailed", "the ETag differs"},
		"if-match, absent":     {"PUT", plain + "3" + version, `{"location":"westus2"}`, []string{"If-Match", "*"}, 412, "PreconditionFailed", "there is nothing to match"},
		"dots":                 {"GET", group + "/providers/Microsoft.Example/things/%2e%2e" + version, "", nil, 404, "InvalidResourceType", "a dot segment is no name"},
		"bad group name":       {"PUT", root + "/resourceGroups/a%20b" + version, `{"location":"westus2"}`, nil, 400, "InvalidResourceGroup", "groups have a name rule"},
		"bad namespace":        {"GET", group + "/providers/nothing/things/t" + version, "", nil, 404, "InvalidResourceNamespace", "a namespace has a period"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			h := newHarness(t, armsim.Options{Subscriptions: []string{sub}})
			h.makeGroup()
			h.want(h.do("PUT", plain+version, `{"location":"westus2"}`), 201, "")
			got := h.do(test.method, test.url, test.body, test.headers...)
			if got.status != test.status || got.code() != test.code {
				t.Errorf("got %d %q, want %d %q since %s: %s", got.status, got.code(), test.status, test.code, test.reason, got.raw)
			}
		})
	}
}

func TestUnusualNames(t *testing.T) {
	h := newHarness(t, armsim.Options{})
	h.makeGroup()
	long := strings.Repeat("x", 300)
	for path, name := range map[string]string{
		"Name%20With%20Spaces": "Name With Spaces", "a%5Bb%5D%28c%29": "a[b](c)", "UPPER.case": "UPPER.case", long: long, "per%25cent": "per%cent",
	} {
		url := group + "/providers/Microsoft.Example/things/" + path
		h.want(h.do("PUT", url+version, `{"location":"westus2"}`), 201, "")
		got := h.do("GET", url+version, "")
		h.want(got, 200, "")
		h.wantAt(got, "name", name)
		h.wantAt(got, "id", group+"/providers/Microsoft.Example/things/"+name)
	}
}

func TestDeleteRemovesChildren(t *testing.T) {
	h := newHarness(t, armsim.Options{})
	h.makeGroup()
	h.want(h.do("PUT", plain+version, `{"location":"westus2"}`), 201, "")
	below := []string{
		plain + "/kids/k1", plain + "/kids/k1/toys/t", plain + "/providers/Microsoft.Example/locks/l1",
	}
	for _, id := range below {
		h.want(h.do("PUT", id+version, `{}`), 201, "")
	}
	outside := []string{
		group + "/providers/Microsoft.Example/locks/l2", root + "/providers/Microsoft.Example/locks/l3",
		"/providers/Microsoft.Example/tenants/t1", "/providers/Microsoft.Management/managementGroups/mg1/providers/Microsoft.Example/locks/l4",
	}
	for _, id := range outside {
		h.want(h.do("PUT", id+version, `{"location":"westus2"}`), 201, "")
	}
	list := h.do("GET", plain+"/kids"+version, "")
	if items := list.at("value").([]any); len(items) != 1 {
		t.Errorf("list has %d items, want the one direct child: %s", len(items), list.raw)
	}
	flat := h.do("GET", group+"/resources"+version, "")
	if items := flat.at("value").([]any); len(items) != 2 {
		t.Errorf("group's list has %d items, want the two located top-level ones: %s", len(items), flat.raw)
	}
	h.want(h.do("DELETE", plain+version, ""), 200, "")
	h.want(h.do("GET", below[0]+version, ""), 404, "ParentResourceNotFound")
	h.want(h.do("PUT", plain+version, `{"location":"westus2"}`), 201, "")
	for _, id := range []string{below[0], below[2]} {
		h.want(h.do("GET", id+version, ""), 404, "ResourceNotFound")
	}
	for _, id := range outside {
		h.want(h.do("GET", id+version, ""), 200, "")
	}

	gone := h.do("DELETE", group+version, "")
	h.want(gone, 202, "")
	h.wantAt(h.do("GET", group+version, ""), "properties.provisioningState", "Deleting")
	h.want(h.do("PUT", plain+version, `{"location":"westus2"}`), 409, "ResourceGroupBeingDeleted")
	h.want(h.do("GET", gone.header.Get("Location"), ""), 202, "")
	h.pass(time.Minute)
	h.want(h.do("GET", gone.header.Get("Location"), ""), 200, "")
	h.want(h.do("GET", plain+version, ""), 404, "ResourceGroupNotFound")
	h.want(h.do("GET", outside[1]+version, ""), 200, "")
}

func TestListPages(t *testing.T) {
	h := newHarness(t, armsim.Options{PageSize: 2})
	h.makeGroup()
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		h.want(h.do("PUT", plain+name+version, `{"location":"westus2"}`), 201, "")
	}
	url, seen, pages := group+"/providers/Microsoft.Example/things"+version, 0, 0
	for url != "" {
		page := h.do("GET", url, "")
		h.want(page, 200, "")
		seen += len(page.at("value").([]any))
		pages++
		url, _ = page.at("nextLink").(string)
	}
	if seen != 5 || pages != 3 {
		t.Errorf("got %d items on %d pages, want 5 on 3", seen, pages)
	}
}

func TestSubscriptionLists(t *testing.T) {
	h := newHarness(t, armsim.Options{Subscriptions: []string{sub}})
	h.makeGroup()
	h.want(h.do("PUT", plain+version, `{"location":"westus2","properties":{"a":1}}`), 201, "")
	h.want(h.do("PUT", vnet+version, `{"location":"westus2"}`), 201, "")
	h.wantAt(h.do("GET", root+version, ""), "subscriptionId", sub)
	count := func(path string, want int) response {
		t.Helper()
		got := h.do("GET", path, "")
		h.want(got, 200, "")
		if items := got.at("value").([]any); len(items) != want {
			t.Errorf("%s lists %d items, want %d: %s", path, len(items), want, got.raw)
		}
		return got
	}
	count("/subscriptions"+version, 1)
	count(root+"/resourceGroups"+version, 1)
	count(root+"/providers/Microsoft.Example/things"+version, 1)
	count(root+"/providers/Microsoft.Example/others"+version, 0)
	if all := count(root+"/resources"+version, 2); strings.Contains(all.raw, "properties") {
		t.Errorf("the flat list contains properties: %s", all.raw)
	}
	count(root+"/resources"+version+"&$filter=resourceType%20eq%20'Microsoft.Example/things'", 1)

	for _, path := range []string{root + "/resourceGroups", root + "/resources"} {
		if raw := h.do("GET", path+version, "").raw; strings.Contains(raw, "createdTime") {
			t.Errorf("%s shows times of creation unasked: %s", path, raw)
		}
		if raw := h.do("GET", path+version+"&$expand=createdTime", "").raw; !strings.Contains(raw, `"createdTime":"20`) {
			t.Errorf("%s shows no times of creation: %s", path, raw)
		}
	}

	open := newHarness(t, armsim.Options{})
	if got := open.do("GET", "/subscriptions"+version, ""); len(got.at("value").([]any)) != 0 {
		t.Errorf("an empty simulator lists %s", got.raw)
	}
	open.makeGroup()
	if got := open.do("GET", "/subscriptions"+version, ""); len(got.at("value").([]any)) != 1 || !strings.Contains(got.raw, sub) {
		t.Errorf("without configured subscriptions the used ones are listed, got %s", got.raw)
	}
}
