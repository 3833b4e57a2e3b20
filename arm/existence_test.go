package arm

import (
	gocmp "cmp"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const (
	linkID       = clusterID + "/links/l1"
	groupID      = "/subscriptions/11111111-1111-1111-1111-111111111111/resourceGroups/rg1"
	kustoProvide = "/subscriptions/11111111-1111-1111-1111-111111111111/providers/Microsoft.Kusto"
)

// routes is a server with one response for each method and path; others are 403.
type routes struct {
	*httptest.Server
	answers map[string]reply
	mu      sync.Mutex
	seen    []string
}

func newRoutes(t *testing.T, answers map[string]reply) *routes {
	t.Helper()
	s := &routes{answers: answers}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

func (s *routes) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := r.Method + " " + r.URL.Path
	s.seen = append(s.seen, key)
	answer, ok := s.answers[key]
	if !ok {
		answer = reply{403, nil, `{"error":{"code":"AuthorizationFailed","message":"` + key + `"}}`}
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Ms-Request-Id", "request-1")
	for name, value := range answer.header {
		if value == "" {
			delete(w.Header(), http.CanonicalHeaderKey(name))
			continue
		}
		w.Header().Set(name, value)
	}
	w.WriteHeader(answer.status)
	_, _ = io.WriteString(w, answer.body)
}

const (
	accountID       = groupID + "/providers/Microsoft.Storage/storageAccounts/acc1"
	serviceID       = accountID + "/blobServices/default"
	storageProvider = "/subscriptions/11111111-1111-1111-1111-111111111111/providers/Microsoft.Storage"
)

// offersServices offers a type with the only name default.
var offersServices = reply{200, nil, `{"resourceTypes":[{"resourceType":"storageAccounts/blobServices","apiVersions":["2023-08-15"]}]}`}

// Responses of the tests of existence.
var (
	noGet    = reply{405, nil, `{"Message":"The requested resource does not support http method 'GET'."}`}
	ownCode  = reply{404, nil, `{"error":{"code":"LinkGone","message":"m"}}`}
	notThere = reply{404, nil, `{"error":{"code":"ResourceNotFound","message":"m"}}`}
	bare404  = reply{404, nil, ``}
	offered  = reply{200, nil, `{"registrationState":"Registered","resourceTypes":[{"resourceType":"clusters","apiVersions":["2023-08-15"]},{"resourceType":"clusters/links","apiVersions":["2023-08-15"]}]}`}
	ready    = reply{200, nil, `{"properties":{"provisioningState":"Succeeded","state":"Running"}}`}
	empty    = reply{200, nil, `{"value":[{"id":"/x","name":"other"}]}`}
)

func ok200(body string) reply { return reply{200, nil, body} }

// TestExistence checks that a read whose response leaves the existence open is decided by
// a witness: an owner that is readable and calm, a type that is offered, and its list.
//
//guard:absence-is-proven
func TestExistence(t *testing.T) {
	get, head, list, owner, provider := "GET "+linkID, "HEAD "+linkID, "GET "+clusterID+"/links", "GET "+clusterID, "GET "+kustoProvide
	with := ok200(`{"value":[{"id":"` + linkID + `","name":"c1/L1","properties":{"a":1}}]}`)
	proven := []string{get, owner, provider, list}
	cases := map[string]struct {
		reason   string
		id       string // linkID when empty
		answers  map[string]reply
		exists   bool
		absent   bool
		doubt    Doubt
		class    Class // of any other error
		requests []string
	}{
		"Head":    {reason: "HEAD finds it", answers: map[string]reply{get: noGet, head: {200, nil, ``}}, exists: true, requests: []string{get, head}},
		"Head204": {reason: "any 2xx proves existence", answers: map[string]reply{get: noGet, head: {204, nil, ``}}, exists: true, requests: []string{get, head}},
		"NotListed": {
			reason: "HEAD and the list agree", answers: map[string]reply{get: noGet, head: bare404, list: empty, owner: ready, provider: offered}, absent: true,
			requests: []string{get, head, list, owner, provider},
		},
		"ListedAfterAll": {
			reason: "the list precedes a HEAD without a code", answers: map[string]reply{get: noGet, head: bare404, list: with}, exists: true,
			requests: []string{get, head, list},
		},
		"NoListButOwner": {
			reason: "without a list the same response has to come again", answers: map[string]reply{get: noGet, head: bare404, list: noGet, owner: ready, provider: offered},
			doubt: DoubtRepeatable, class: ClassSlow, requests: []string{get, head, list, owner, provider},
		},
		"NoListNoOwner": {
			reason: "nothing proves the absence", answers: map[string]reply{get: noGet, head: bare404, list: noGet},
			doubt: DoubtOpen, class: ClassSlow, requests: []string{get, head, list, owner},
		},
		"OwnerAbsent": {
			reason: "without an owner there is no resource", answers: map[string]reply{get: noGet, head: bare404, list: notThere, owner: notThere},
			absent: true, requests: []string{get, head, list, owner},
		},
		"NoHead": {
			reason: "without HEAD the list decides", answers: map[string]reply{get: noGet, head: {405, nil, ``}, list: empty, owner: ready, provider: offered}, absent: true,
			requests: []string{get, head, list, owner, provider},
		},
		"NoHeadListed": {
			reason: "without HEAD the list finds it", answers: map[string]reply{get: noGet, head: {405, nil, ``}, list: with}, exists: true, requests: []string{get, head, list},
		},
		"Nothing": {
			reason: "without GET, HEAD and list, absence is not proven", answers: map[string]reply{get: noGet, head: {405, nil, ``}, list: noGet},
			doubt: DoubtOpen, class: ClassVerySlow, requests: []string{get, head, list},
		},
		"HeadFails":     {reason: "an error proves nothing", answers: map[string]reply{get: noGet, head: {503, nil, ``}}, class: ClassSlow, requests: []string{get, head}},
		"HeadThrottled": {reason: "nor does throttling", answers: map[string]reply{get: noGet, head: {429, nil, ``}}, class: ClassThrottled, requests: []string{get, head}},
		"ListFails": {
			reason: "a failed list is retried", answers: map[string]reply{get: noGet, head: bare404, list: {500, nil, ``}}, class: ClassSlow, requests: []string{get, head, list},
		},
		"UnknownCode": {reason: "a 404 with an unknown code, and the list agrees", answers: map[string]reply{get: ownCode, owner: ready, provider: offered, list: empty}, absent: true, requests: proven},
		"NoCode":      {reason: "a 404 without a code, and the list agrees", answers: map[string]reply{get: bare404, owner: ready, provider: offered, list: empty}, absent: true, requests: proven},
		"OwnSubscription": {
			reason:  "the code of ARM for another subscription, below an owner of this one",
			answers: map[string]reply{get: {404, nil, `{"error":{"code":"SubscriptionNotFound","message":"Subscription does not exist"}}`}, owner: ready, provider: offered, list: empty},
			absent:  true, requests: proven,
		},
		"SubscriptionNoList": {
			reason:  "without a list the code is about the subscription, for a provider that has none of its own",
			answers: map[string]reply{get: {404, nil, `{"error":{"code":"SubscriptionNotFound","message":"m"}}`}, owner: ready, provider: offered, list: noGet},
			doubt:   DoubtOpen, class: ClassVerySlow, requests: proven,
		},
		"UnknownCodeListed": {
			reason: "the list contains it: the code has another meaning", answers: map[string]reply{get: ownCode, owner: ready, provider: offered, list: with},
			doubt: DoubtOpen, class: ClassSlow, requests: proven,
		},
		"UnknownCodeNoList": {
			reason: "without a list an unknown code has to come again", answers: map[string]reply{get: ownCode, owner: ready, provider: offered, list: ownCode},
			doubt: DoubtRepeatable, class: ClassSlow, requests: proven,
		},
		"OtherItemsOfFixedNames": {
			reason: "the list of a type with fixed names shows another one: no proof", id: serviceID,
			answers: map[string]reply{"GET " + serviceID: ownCode, "GET " + accountID: ready, "GET " + storageProvider: offersServices, "GET " + accountID + "/blobServices": empty},
			doubt:   DoubtRepeatable, class: ClassSlow, requests: []string{"GET " + serviceID, "GET " + accountID, "GET " + storageProvider, "GET " + accountID + "/blobServices"},
		},
		"EmptyListOfFixedNames": {
			reason: "its empty list is one", id: serviceID,
			answers: map[string]reply{"GET " + serviceID: ownCode, "GET " + accountID: ready, "GET " + storageProvider: offersServices, "GET " + accountID + "/blobServices": ok200(`{"value":[]}`)},
			absent:  true, requests: []string{"GET " + serviceID, "GET " + accountID, "GET " + storageProvider, "GET " + accountID + "/blobServices"},
		},
		"ListRefused": {
			reason: "a list that the credential may not read is no missing list", answers: map[string]reply{get: ownCode, owner: ready, provider: offered},
			doubt: DoubtOpen, class: ClassSlow, requests: proven,
		},
		"Proxy": {
			reason:  "a proxy sends no x-ms-request-id: its 404 proves nothing, however often it comes",
			answers: map[string]reply{get: {404, map[string]string{"x-ms-request-id": ""}, `<html>`}, owner: ready, provider: offered, list: noGet},
			doubt:   DoubtOpen, class: ClassSlow, requests: proven,
		},
		"BusyOwner": {
			reason: "a busy owner may hide what it contains", answers: map[string]reply{get: ownCode, owner: ok200(`{"properties":{"provisioningState":"Updating"}}`)},
			doubt: DoubtBusy, class: ClassSlow, requests: []string{get, owner},
		},
		"StoppedOwner": {
			reason: "so may a stopped one", answers: map[string]reply{get: ownCode, owner: ok200(`{"properties":{"provisioningState":"Succeeded","state":"Stopped"}}`)},
			doubt: DoubtBusy, class: ClassSlow, requests: []string{get, owner},
		},
		"DisabledOwner": {
			reason: "a topic with SendDisabled stays so for ever", answers: map[string]reply{get: ownCode, owner: ok200(`{"properties":{"provisioningState":"Succeeded","status":"SendDisabled"}}`), provider: offered, list: empty},
			doubt: DoubtRepeatable, class: ClassSlow, requests: proven,
		},
		"NotOffered": {
			reason:  "a type that the provider does not have is no absent resource",
			answers: map[string]reply{get: ownCode, owner: ready, provider: ok200(`{"resourceTypes":[{"resourceType":"clusters","apiVersions":["2023-08-15"]}]}`), list: empty},
			doubt:   DoubtOpen, class: ClassSlow, requests: []string{get, owner, provider},
		},
		"VersionNotOffered": {
			reason:  "nor is an api-version that it does not have",
			answers: map[string]reply{get: ownCode, owner: ready, provider: ok200(`{"resourceTypes":[{"resourceType":"clusters/links","apiVersions":["2020-01-01"]}]}`), list: empty},
			doubt:   DoubtOpen, class: ClassSlow, requests: []string{get, owner, provider},
		},
		"ProviderFails": {
			reason: "the offer is asked again", answers: map[string]reply{get: ownCode, owner: ready, provider: {503, nil, ``}}, class: ClassSlow, requests: []string{get, owner, provider},
		},
		"Subscription": {
			reason:  "the subscription is wrong or hidden: its group is not readable either",
			answers: map[string]reply{get: {404, nil, `{"error":{"code":"SubscriptionNotFound","message":"m"}}`}, owner: {404, nil, `{"error":{"code":"SubscriptionNotFound","message":"m"}}`}, "GET " + groupID: {404, nil, `{"error":{"code":"SubscriptionNotFound","message":"m"}}`}},
			doubt:   DoubtOpen, class: ClassVerySlow, requests: []string{get, owner, "GET " + groupID},
		},
		"OwnerDoubtful": {
			reason:  "an owner with a 404 of its own is proven absent first",
			answers: map[string]reply{get: ownCode, owner: ownCode, "GET " + groupID: ready, provider: offered, "GET " + groupID + "/providers/Microsoft.Kusto/clusters": empty},
			absent:  true, requests: []string{get, owner, "GET " + groupID, provider, "GET " + groupID + "/providers/Microsoft.Kusto/clusters"},
		},
		"KnownMeaning": {
			reason: "a code of the table that means something else needs no witness", answers: map[string]reply{get: {404, nil, `{"error":{"code":"InvalidResourceType","message":"m"}}`}},
			class: ClassNone, requests: []string{get},
		},
		"Denied": {
			reason: "nor does a denial with status 404", answers: map[string]reply{get: {404, nil, `{"error":{"code":"CallerNotAuthorized","message":"m"}}`}},
			class: ClassSlow, requests: []string{get},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			server := newRoutes(t, tc.answers)
			got, err := clientFor(t, server.URL, nil).Get(testContext(t), parseID(t, gocmp.Or(tc.id, linkID)), apiVersion)
			switch {
			case tc.exists:
				if err != nil || !got.ExistenceOnly || got.Status != http.StatusOK || len(got.Body) == 0 {
					t.Errorf("%s: got %+v, %v", tc.reason, got, err)
				}
			case tc.absent != IsAbsent(err) || !tc.absent && asError(t, err).Class != tc.class || DoubtOf(err) != tc.doubt:
				t.Errorf("%s: got %v (class %s, doubt %q)", tc.reason, err, asError(t, err).Class, DoubtOf(err))
			}
			if diff := cmp.Diff(tc.requests, server.seen); diff != "" {
				t.Errorf("%s: requests (-want +got):\n%s", tc.reason, diff)
			}
			if name == "ProviderFails" && !strings.Contains(err.Error(), "proof of absence: GET /subscriptions/") {
				t.Errorf("%s: %q does not name the request", tc.reason, err)
			}
			if tc.doubt != "" && tc.id == "" && !strings.Contains(err.Error(), "c1/l1 (Microsoft.Kusto/clusters/links)") {
				t.Errorf("%s: %q does not name what may be missing", tc.reason, err)
			}
		})
	}
}

// TestExistenceListPath: a top-level resource is in the list of its group, an
// extension resource in the list of its scope.
func TestExistenceListPath(t *testing.T) {
	for text, list := range map[string]string{
		clusterID: groupID + "/providers/Microsoft.Kusto/clusters",
		clusterID + "/providers/Microsoft.Authorization/locks/l1":                               clusterID + "/providers/Microsoft.Authorization/locks",
		groupID + "/providers/Microsoft.Authorization/locks/l1":                                 groupID + "/providers/Microsoft.Authorization/locks",
		clusterID + "/databases/d1/principalAssignments/p1":                                     clusterID + "/databases/d1/principalAssignments",
		"/subscriptions/11111111-1111-1111-1111-111111111111/providers/Contoso.Things/roots/r1": "/subscriptions/11111111-1111-1111-1111-111111111111/providers/Contoso.Things/roots",
	} {
		id := parseID(t, text)
		_, kind, _ := strings.Cut(id.Type(), "/")
		server := newRoutes(t, map[string]reply{
			"GET " + text: ownCode, "GET " + list: empty, "GET " + id.Owner().String(): ready,
			"GET /subscriptions/" + id.Subscription() + "/providers/" + id.Provider(): ok200(`{"resourceTypes":[{"resourceType":"` + kind + `","apiVersions":["` + apiVersion + `"]}]}`),
		})
		if _, err := clientFor(t, server.URL, nil).Get(testContext(t), id, apiVersion); !IsAbsent(err) {
			t.Errorf("%s: got %v after %v", text, err, server.seen)
		}
	}
}

// TestSoftDeletedKeepsItsName: a soft-deleted resource is absent, and the error says that
// it keeps its name.
func TestSoftDeletedKeepsItsName(t *testing.T) {
	for name, body := range map[string]string{
		"Code":    `{"error":{"code":"ResourceSoftDeleted","message":"m"}}`,
		"Message": `{"error":{"code":"Gone","message":"The link l1 is in deleted state."}}`,
	} {
		t.Run(name, func(t *testing.T) {
			server := newRoutes(t, map[string]reply{
				"GET " + linkID: {404, nil, body}, "GET " + clusterID: ready, "GET " + kustoProvide: offered, "GET " + clusterID + "/links": empty,
			})
			_, err := clientFor(t, server.URL, nil).Get(testContext(t), parseID(t, linkID), apiVersion)
			if !IsAbsent(err) || !asError(t, err).NameHeld {
				t.Errorf("got %+v, want an absence whose name is held", asError(t, err))
			}
		})
	}
}

// TestRoots: what has no owner is proven absent by its code, by its name, or by nothing.
//
//guard:absence-is-proven
func TestRoots(t *testing.T) {
	const group, alias = "/providers/Microsoft.Management/managementGroups/mg1", "/providers/Microsoft.Subscription/aliases/a1"
	const named = "POST /providers/Microsoft.Management/checkNameAvailability"
	const scope = "/providers/Microsoft.Management/serviceGroups/s1"
	scopes := "GET /providers/Microsoft.Management/serviceGroups"
	denied := reply{403, nil, `{"error":{"code":"AuthorizationFailed","message":"m"}}`}
	listsScopes := ok200(`{"resourceTypes":[{"resourceType":"serviceGroups","apiVersions":["` + apiVersion + `"]}]}`)
	cases := map[string]struct {
		reason, id string
		answers    map[string]reply
		absent     bool
		doubt      Doubt
	}{
		"GroupAbsent":   {"403, and its name is free in the tenant", group, map[string]reply{"GET " + group: denied, named: ok200(`{"nameAvailable":true}`)}, true, ""},
		"GroupHidden":   {"403, and its name is taken", group, map[string]reply{"GET " + group: denied, named: ok200(`{"nameAvailable":false,"reason":"AlreadyExists"}`)}, false, DoubtOpen},
		"GroupNoAnswer": {"403, and the name cannot be asked", group, map[string]reply{"GET " + group: denied}, false, DoubtOpen},
		"Group404":      {"the same for a 404", group, map[string]reply{"GET " + group: ownCode, named: ok200(`{"nameAvailable":true}`)}, true, ""},
		"Alias":         {"its code is of the table", alias, map[string]reply{"GET " + alias: {404, nil, `{"error":{"code":"SubscriptionAliasNotFound","message":"m"}}`}}, true, ""},
		"AliasOther":    {"the list of aliases is filtered by rights", alias, map[string]reply{"GET " + alias: ownCode, "GET /providers/Microsoft.Subscription/aliases": empty}, false, DoubtOpen},
		"TenantList": {
			"a list of the tenant is no proof alone", scope, map[string]reply{"GET " + scope: ownCode, "GET /providers/Microsoft.Management": listsScopes, scopes: empty}, false, DoubtRepeatable,
		},
		"TenantNoList": {"without a list nothing is a witness", scope, map[string]reply{"GET " + scope: ownCode, "GET /providers/Microsoft.Management": listsScopes, scopes: noGet}, false, DoubtOpen},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			server := newRoutes(t, tc.answers)
			_, err := clientFor(t, server.URL, nil).Get(testContext(t), parseID(t, tc.id), apiVersion)
			if IsAbsent(err) != tc.absent || DoubtOf(err) != tc.doubt {
				t.Errorf("%s: got %v (doubt %q) after %v", tc.reason, err, DoubtOf(err), server.seen)
			}
		})
	}
}
