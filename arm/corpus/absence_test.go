package corpus

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/arm"
	"github.com/armature-io/armature/resource"
)

// place is a server that has everything but one resource: its owners are calm, its
// provider offers its type, and its list is empty or refused.
type place struct {
	id         resource.ID
	apiVersion string
	// status, body and header are the response to a read of the resource.
	status int
	body   string
	header map[string]string
	// list is the status of the list, items its contents.
	list  int
	items string
	// owner is the status of the owner's GET, state its provisioning state.
	owner int
	state string
	// anonymous responses have no x-ms-request-id.
	anonymous bool
	// types are those that the provider offers, versions in their api-versions.
	types, versions string
	provider        int
}

// newPlace returns a place in which only the resource is absent.
func newPlace(id resource.ID, apiVersion string) *place {
	_, kind, _ := strings.Cut(id.Type(), "/")
	return &place{id: id, apiVersion: apiVersion, status: 404, list: 200, owner: 200, provider: 200, types: kind, versions: apiVersion, state: "Succeeded"}
}

func (p *place) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path, id := strings.ToLower(r.URL.Path), strings.ToLower(p.id.String())
	w.Header().Set("Content-Type", "application/json")
	if !p.anonymous {
		w.Header().Set("X-Ms-Request-Id", "request-1")
	}
	send := func(status int, body string) {
		w.WriteHeader(status)
		_, _ = fmt.Fprint(w, body)
	}
	scope := strings.TrimSuffix(path, "/providers/"+strings.ToLower(p.id.Provider()))
	switch {
	case path == id:
		for name, value := range p.header {
			w.Header().Set(name, value)
		}
		send(p.status, p.body)
	case r.Method == http.MethodPost && strings.HasSuffix(path, "/checknameavailability"):
		send(http.StatusOK, `{"nameAvailable":false,"reason":"AlreadyExists"}`)
	case scope != path && (scope == "" || strings.Count(scope, "/") == 2 && strings.HasPrefix(scope, "/subscriptions/")):
		send(p.provider, fmt.Sprintf(`{"registrationState":"Registered","resourceTypes":[{"resourceType":%q,"apiVersions":[%q]}]}`, p.types, p.versions))
	case path == id[:strings.LastIndex(id, "/")]:
		if p.list != http.StatusOK {
			send(p.list, `{"Message":"The requested resource does not support http method 'GET'."}`)
			return
		}
		send(http.StatusOK, `{"value":[`+p.items+`]}`)
	case p.owner != http.StatusOK:
		send(p.owner, p.body)
	default:
		send(http.StatusOK, `{"properties":{"provisioningState":"`+p.state+`"}}`)
	}
}

// readsAbsent reads a resource through the real activity, which Temporal repeats, and
// reports whether it is believed to be absent.
func (w *world) readsAbsent(t *testing.T, p *place) (activities.GetResourceResult, bool) {
	t.Helper()
	w.play = p
	got, err := finish(w, w.acts.GetResource, activities.GetResourceInput{Target: resource.Target{ID: p.id, APIVersion: p.apiVersion}})
	must(t, err)
	return got, !got.Exists && !got.Verdict.Stops()
}

// TestCorpusAbsences replays every recorded response to a read or DELETE of an absent
// resource: with lists that work, and with lists that the provider does not have. The
// same response counts where it comes again.
func TestCorpusAbsences(t *testing.T) {
	lines := read[recordedError](t, "errors.jsonl.gz")
	var proven, all int
	for _, list := range []int{http.StatusOK, http.StatusMethodNotAllowed} {
		for _, line := range lines {
			if line.Observed != "absent" && line.Observed != "gone" {
				continue
			}
			w := newWorld(t)
			p := newPlace(idOf(t, line.Type), versionOf(line.APIVersion))
			p.status, p.body, p.list = line.Status, line.answer(), list
			all += line.Count
			if got, absent := w.readsAbsent(t, p); absent {
				proven += line.Count
			} else {
				t.Logf("list %d, %s %s %s: %s", list, line.Type, line.Code, line.BodyShape, got.Verdict.Message)
			}
		}
	}
	score("absent.proven", proven, all)
	if proven*100 < all*99 {
		t.Errorf("%d of %d recorded absences are proven, want 99 %%", proven, all)
	}
}

// misleading are bodies of a 404 that prove nothing by themselves.
func misleading() map[string]string {
	return map[string]string{
		"own code": `{"error":{"code":"EntityUnknown","message":"m"}}`, "numeric": `{"error":{"code":40404,"message":"m"}}`,
		"nested": `{"error":{"code":"UserError","details":[{"code":"EntityUnknown"}]}}`, "message": `{"Message":"m"}`,
		"problem": `{"type":"about:blank","title":"Not Found","status":404}`, "no body": ``, "page": `<html>404</html>`,
		"subscription": `{"error":{"code":"SubscriptionNotFound","message":"Subscription does not exist"}}`,
	}
}

// TestMisleadingAbsences: no 404 of something else counts as the absence of a resource,
// however often it comes: 0 wrong proofs.
//
//guard:absence-is-proven
func TestMisleadingAbsences(t *testing.T) {
	const (
		cluster = "/subscriptions/11111111-1111-1111-1111-111111111111/resourceGroups/rg1/providers/Microsoft.Kusto/clusters/c1"
		bus     = "/subscriptions/11111111-1111-1111-1111-111111111111/resourceGroups/rg1/providers/Microsoft.ServiceBus/namespaces/n1/topics/t1/subscriptions/s1"
		version = "2023-08-15"
	)
	noList := func(p *place) { p.list = http.StatusMethodNotAllowed }
	circumstances := map[string]func(*place){
		"wrong subscription or tenant: the owner has the same 404": func(p *place) { p.owner = http.StatusNotFound },
		"hidden by rights: the owner is 403":                       func(p *place) { p.owner = http.StatusForbidden; p.list = http.StatusForbidden },
		"hidden by rights: the list is 403":                        func(p *place) { p.list = http.StatusForbidden },
		"the list contains it":                                     func(p *place) { p.items = fmt.Sprintf(`{"id":%q}`, p.id) },
		"wrong provider: it offers other types":                    func(p *place) { p.types = "others"; p.apiVersion = "2000-01-01"; noList(p) },
		"wrong api-version":                                        func(p *place) { p.versions = "2000-01-01"; noList(p) },
		"the provider cannot be read, nothing published":           func(p *place) { p.provider = http.StatusForbidden; p.apiVersion = "2000-01-01" },
		"gateway: no x-ms-request-id, no list":                     func(p *place) { p.anonymous = true; noList(p) },
		"a busy owner":                                             func(p *place) { p.state = "Updating" },
		"a stopped owner":                                          func(p *place) { p.state = "Stopped" },
	}
	wrong, all := 0, 0
	check := func(name string, p *place) {
		all++
		if got, absent := newWorld(t).readsAbsent(t, p); absent {
			wrong++
			t.Errorf("%s: believed to be absent: %s", name, got.Verdict.Message)
		}
	}
	for circumstance, change := range circumstances {
		for form, body := range misleading() {
			for _, text := range []string{cluster, bus} {
				p := newPlace(id(t, text), version)
				p.body = body
				change(p)
				check(circumstance+", "+form, p)
			}
		}
	}
	for code, status := range map[string]int{
		"InvalidResourceType": 404, "InvalidResourceNamespace": 404, "NoRegisteredProviderFound": 404, "AuthorizationFailed": 404, "MissingSubscriptionRegistration": 404,
		"InvalidAuthenticationTokenTenant": 404, "AnotherOperationInProgress": 404, "TooManyRequests": 404, "SubscriptionNotFound": 404, "AccountIsBusy": 404,
		"ResourceNotFound": 400, "NotFound": 403,
	} {
		p := newPlace(id(t, cluster), version)
		p.status, p.body = status, fmt.Sprintf(`{"error":{"code":%q,"message":"m"}}`, code)
		if code == "InvalidResourceNamespace" || code == "SubscriptionNotFound" {
			p.owner, p.provider, p.list = 404, 404, 404
		}
		check(fmt.Sprintf("%d %s", status, code), p)
	}
	for _, text := range []string{"/providers/Microsoft.Subscription/aliases/a1", "/providers/Microsoft.Management/managementGroups/m1"} {
		for form, body := range misleading() {
			p := newPlace(id(t, text), "2021-10-01")
			p.body = body
			check("root "+text+", "+form, p)
		}
	}
	fmt.Printf("score absent.misled %d/%d\n", wrong, all)
	if all < 40 {
		t.Errorf("%d cases, want at least 40", all)
	}
}

// TestSoftDeletedSaysSo: a soft-deleted resource is absent, and the verdict says that its
// name is held.
func TestSoftDeletedSaysSo(t *testing.T) {
	p := newPlace(id(t, "/subscriptions/11111111-1111-1111-1111-111111111111/resourceGroups/rg1/providers/Microsoft.Kusto/clusters/c1"), "2023-08-15")
	p.body = `{"error":{"code":"ClusterSoftDeleted","message":"The cluster is soft-deleted."}}`
	got, absent := newWorld(t).readsAbsent(t, p)
	if !absent || !strings.Contains(got.Verdict.Message, "keeps the name") {
		t.Errorf("got %t, %q", absent, got.Verdict.Message)
	}
}

// TestSameAnswerAgain: without a list, a 404 counts as an absence after the same one for a
// minute, and another one starts the wait again.
func TestSameAnswerAgain(t *testing.T) {
	w := newWorld(t)
	p := newPlace(id(t, "/subscriptions/11111111-1111-1111-1111-111111111111/resourceGroups/rg1/providers/Microsoft.Kusto/clusters/c1"), "2023-08-15")
	p.list, p.body = http.StatusNotFound, `{"error":{"code":"EntityUnknown","message":"m"}}`
	started := w.now()
	if got, absent := w.readsAbsent(t, p); !absent || w.now().Sub(started) < time.Minute {
		t.Errorf("absent %t after %s: %s", absent, w.now().Sub(started), got.Verdict.Message)
	}
	if _, err := w.client.Get(t.Context(), p.id, p.apiVersion); arm.DoubtOf(err) != arm.DoubtRepeatable {
		t.Errorf("got %v, want a doubt", err)
	}
}

func id(t *testing.T, text string) resource.ID {
	t.Helper()
	parsed, err := resource.ParseID(text)
	must(t, err)
	return parsed
}
