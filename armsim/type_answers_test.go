package armsim_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/armsim"
)

// TestAbsentShapes checks that an absent resource is 404 in every shape, that only ARM's
// own shape has a code that proves it, and that a rule takes GET, HEAD and list away.
func TestAbsentShapes(t *testing.T) {
	h := newHarness(t, armsim.Options{})
	h.makeGroup()
	for _, shape := range armsim.AbsentShapes() {
		h.AnswerType(armsim.AnswerRule{Type: "Microsoft.Example/things", Absent: shape})
		got := h.do("GET", plain+version, "")
		if got.status != http.StatusNotFound {
			t.Errorf("%s: got %d", shape, got.status)
		}
		if proves := strings.Contains(got.raw, "ResourceNotFound"); proves != (shape == armsim.AbsentResource) {
			t.Errorf("%s: got %s", shape, got.raw)
		}
	}
	h.want(h.do("PUT", plain+version, `{"location":"westus2"}`), 201, "")
	h.AnswerType(armsim.AnswerRule{Type: "Microsoft.Example/things", NoGet: true, NoHead: true, ListStatus: 405})
	collection := plain[:strings.LastIndex(plain, "/")]
	for request, want := range map[[2]string]int{{"GET", plain}: 405, {"HEAD", plain}: 405, {"GET", collection}: 405} {
		if got := h.do(request[0], request[1]+version, ""); got.status != want {
			t.Errorf("%v: got %d, want %d", request, got.status, want)
		}
	}
}

// TestSettingsAreReadByAction checks that settings with secrets have no GET, HEAD or
// place in a list, exist with their site, and are returned by their action.
func TestSettingsAreReadByAction(t *testing.T) {
	const site = group + "/providers/Microsoft.Web/sites/s1"
	const static = group + "/providers/Microsoft.Web/staticSites/w1"
	const web = "?api-version=2024-04-01"
	h := newHarness(t, armsim.Options{})
	h.makeGroup()
	h.want(h.do("PUT", site+web, `{"location":"westus2"}`), 201, "")
	h.want(h.do("PUT", static+web, `{"location":"westus2"}`), 201, "")
	cases := map[string]struct{ put, read string }{
		"Site":   {site + "/config/appsettings", site + "/config/appsettings/list"},
		"Static": {static + "/config/appsettings", static + "/listAppSettings"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			before := h.do("POST", tc.read+web, "")
			h.want(before, 200, "")
			h.wantAt(before, "properties", map[string]any{})
			put := h.do("PUT", tc.put+web, `{"properties":{"A":"1"}}`)
			if put.status >= 300 {
				t.Fatalf("got %d: %s", put.status, put.raw)
			}
			h.wantAt(h.do("POST", tc.read+web, ""), "properties.A", "1")
			for _, method := range []string{"GET", "HEAD", "DELETE"} {
				if got := h.do(method, tc.put+web, ""); got.status != http.StatusMethodNotAllowed {
					t.Errorf("%s: got %d: %s", method, got.status, got.raw)
				}
			}
			if got := h.do("GET", tc.put[:strings.LastIndex(tc.put, "/")]+web, ""); strings.Contains(got.raw, "appsettings") {
				t.Errorf("the list shows them: %s", got.raw)
			}
		})
	}
	h.want(h.do("PUT", site+"/config/web"+web, `{"properties":{"use32BitWorkerProcess":false}}`), 201, "")
	h.want(h.do("GET", site+"/config/web"+web, ""), 200, "")
}

// TestSiteConfig checks that the configuration of a site is one whole that several requests
// show in parts: its GET hides nearly all of it, config/web has no settings, and a PUT that
// states a list replaces it.
func TestSiteConfig(t *testing.T) {
	const site, web = group + "/providers/Microsoft.Web/sites/s1", "?api-version=2023-12-01"
	h := newHarness(t, armsim.Options{})
	h.makeGroup()
	put := func(path, body string) {
		t.Helper()
		if got := h.do("PUT", path+web, body); got.status >= 300 {
			t.Fatalf("got %d: %s", got.status, got.raw)
		}
	}
	config := func(members string) { put(site, `{"location":"westus2","properties":{"siteConfig":`+members+`}}`) }
	config(`{"alwaysOn":true,"minTlsVersion":"1.2","appSettings":[{"name":"A","value":"1"}]}`)
	got := h.do("GET", site+web, "")
	h.wantAt(got, "properties.siteConfig.alwaysOn", true)
	h.wantAt(got, "properties.siteConfig.minTlsVersion", nil)
	h.wantAt(got, "properties.siteConfig.appSettings", nil)
	got = h.do("GET", site+"/config/web"+web, "")
	h.wantAt(got, "properties.minTlsVersion", "1.2")
	h.wantAt(got, "properties.appSettings", nil)
	if !strings.Contains(got.raw, "Allow all") {
		t.Errorf("config/web has no implied restriction: %s", got.raw)
	}
	put(site+"/config/appsettings", `{"properties":{"A":"1","B":"2"}}`)
	config(`{"minTlsVersion":null,"connectionStrings":[{"name":"C","connectionString":"x","type":"SQLAzure"}]}`)
	h.wantAt(h.do("POST", site+"/config/appsettings/list"+web, ""), "properties", map[string]any{"A": "1", "B": "2"})
	h.wantAt(h.do("POST", site+"/config/connectionstrings/list"+web, ""), "properties.C", map[string]any{"type": "SQLAzure", "value": "x"})
	h.wantAt(h.do("GET", site+"/config/web"+web, ""), "properties.minTlsVersion", "1.2")
	config(`{"appSettings":[{"name":"A","value":"1"}]}`)
	h.wantAt(h.do("POST", site+"/config/appsettings/list"+web, ""), "properties", map[string]any{"A": "1"})
}

// TestETagForms writes with the ETag of each form: a change makes it stale if the form has
// one, and only the exact text is accepted.
func TestETagForms(t *testing.T) {
	for form, test := range map[armsim.ETagForm]struct {
		pattern string
		stale   int
	}{
		"":                  {`^W/"[^"]+"$`, http.StatusPreconditionFailed},
		armsim.ETagQuoted:   {`^W/"[^"]+"$`, http.StatusPreconditionFailed},
		armsim.ETagUnquoted: {`^[^"/]+$`, http.StatusPreconditionFailed},
		armsim.ETagNone:     {`^$`, http.StatusPreconditionFailed},
		armsim.ETagConstant: {`^W/"0"$`, http.StatusOK},
	} {
		t.Run(string(form), func(t *testing.T) {
			h := newHarness(t, armsim.Options{Answers: []armsim.AnswerRule{{Type: "Microsoft.Example/*", ETag: form}}})
			h.makeGroup()
			put := h.do("PUT", plain+version, `{"location":"westus2"}`)
			first := put.header.Get("ETag")
			if !regexp.MustCompile(test.pattern).MatchString(first) {
				t.Errorf("ETag %q, want %s", first, test.pattern)
			}
			if shown, _ := put.at("etag").(string); shown != first {
				t.Errorf("the body has %q, the header %q", shown, first)
			}
			if form == armsim.ETagNone {
				first = `"any"`
			} else {
				h.want(h.do("PUT", plain+version, `{"location":"westus2","tags":{"a":"1"}}`, "If-Match", first), 200, "")
			}
			if got := h.do("PUT", plain+version, `{"location":"westus2","tags":{"a":"2"}}`, "If-Match", first); got.status != test.stale {
				t.Errorf("If-Match with the ETag of before: %d, want %d", got.status, test.stale)
			}
		})
	}
	h := newHarness(t, armsim.Options{Answers: []armsim.AnswerRule{{Type: "Microsoft.Example/*", ETag: armsim.ETagUnquoted}}})
	h.makeGroup()
	etag := h.do("PUT", plain+version, `{"location":"westus2"}`).header.Get("ETag")
	h.want(h.do("PUT", plain+version, `{"location":"westus2"}`, "If-Match", `"`+etag+`"`), 412, "PreconditionFailed")
}

// TestOtherProviders plays the forms of two frameworks: headers of operations by verb, a body
// that a failed operation keeps, IDs in lower case, 201 for updates, and a target.
func TestOtherProviders(t *testing.T) {
	h := newHarness(t, armsim.Options{
		Answers: []armsim.AnswerRule{{Type: "Microsoft.Example/*", Absent: armsim.AbsentOwnCode, LowerCase: true}},
		Operations: []armsim.OperationRule{
			{On: "put", Spec: armsim.OperationSpec{Shape: armsim.ShapeAsync, Status: http.StatusCreated}},
			{On: "patch", Spec: armsim.OperationSpec{Shape: armsim.ShapeBoth, Status: http.StatusAccepted}},
			{On: "delete", Spec: armsim.OperationSpec{Shape: armsim.ShapeBoth}},
		},
	})
	h.makeGroup()
	headers := func(got response, status int, async, location bool) {
		t.Helper()
		h.want(got, status, "")
		if (got.header.Get("Azure-AsyncOperation") != "") != async || (got.header.Get("Location") != "") != location {
			t.Errorf("headers %v, want Azure-AsyncOperation %t and Location %t", got.header, async, location)
		}
		for _, name := range []string{"Azure-AsyncOperation", "Location"} {
			if address, _, _ := strings.Cut(got.header.Get(name), "?"); address != strings.ToLower(address) {
				t.Errorf("%s is %s, want it in lower case", name, address)
			}
		}
		h.pass(time.Minute)
	}
	absent := h.do("GET", plain+version, "")
	h.want(absent, 404, "EntityUnknown")
	h.wantAt(absent, "error.target", plain)
	if code := absent.header.Get("x-ms-error-code"); code != "EntityUnknown" {
		t.Errorf("x-ms-error-code is %q", code)
	}
	headers(h.do("PUT", plain+version, `{"location":"westus2","properties":{"size":"small"}}`), 201, true, false)
	headers(h.do("PUT", plain+version, `{"location":"westus2","properties":{"size":"large"}}`), 201, true, false)
	headers(h.do("PATCH", plain+version, `{"tags":{"a":"1"}}`), 202, true, true)
	got := h.do("GET", plain+version, "")
	h.wantAt(got, "id", strings.ToLower(plain))
	h.wantAt(got, "type", "microsoft.example/things")
	h.wantAt(got, "name", "t1")

	h.AddOperationRule(armsim.OperationRule{On: "put", Count: 1, Spec: armsim.OperationSpec{
		Shape: armsim.ShapeAsync, Outcome: "Failed", ErrorCode: "InflightChecksFailed",
	}})
	headers(h.do("PUT", plain+version, `{"location":"westus2","properties":{"size":"huge"}}`), 200, true, false)
	got = h.do("GET", plain+version, "")
	h.wantAt(got, "properties.size", "huge")
	h.wantAt(got, "properties.provisioningState", "Failed")
	headers(h.do("DELETE", plain+version, ""), 202, true, true)
	h.want(h.do("GET", plain+version, ""), 404, "EntityUnknown")
}
