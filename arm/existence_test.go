package arm

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const linkID = clusterID + "/links/l1"

// TestExistence checks that absence needs proof: HEAD with an existing owner, or the
// owner's list.
func TestExistence(t *testing.T) {
	const noGet = `{"Message":"The requested resource does not support http method 'GET'."}`
	unknown := `{"error":{"code":"LinkGone","message":"m"}}`
	ok := func(body string) reply { return reply{200, nil, body} }
	get, head, list, owner := "GET "+linkID, "HEAD "+linkID, "GET "+clusterID+"/links", "GET "+clusterID
	with, without := ok(`{"value":[{"id":"`+linkID+`","name":"c1/L1","properties":{"a":1}}]}`), ok(`{"value":[{"id":"/x","name":"other"}]}`)
	cases := map[string]struct {
		reason   string
		replies  []reply
		exists   bool
		absent   bool
		class    Class // of any other error
		requests []string
	}{
		"Head":    {reason: "HEAD finds it", replies: []reply{{405, nil, noGet}, {200, nil, ``}}, exists: true, requests: []string{get, head}},
		"Head204": {reason: "any 2xx proves existence", replies: []reply{{405, nil, noGet}, {204, nil, ``}}, exists: true, requests: []string{get, head}},
		"NotListed": {
			reason: "HEAD and the list agree", replies: []reply{{405, nil, noGet}, {404, nil, ``}, without}, absent: true,
			requests: []string{get, head, list},
		},
		"ListedAfterAll": {
			reason: "the list precedes a HEAD without a code", replies: []reply{{405, nil, noGet}, {404, nil, ``}, with}, exists: true,
			requests: []string{get, head, list},
		},
		"NoListButOwner": {
			reason: "without a list and with an existing owner, the 404 is about the resource", replies: []reply{{405, nil, noGet}, {404, nil, ``}, {405, nil, noGet}, ok(`{}`)},
			absent: true, requests: []string{get, head, list, owner},
		},
		"NoListNoOwner": {
			reason: "nothing proves the absence", replies: []reply{{405, nil, noGet}, {404, nil, ``}, {405, nil, noGet}, {404, nil, unknown}},
			class: ClassVerySlow, requests: []string{get, head, list, owner},
		},
		"OwnerAbsent": {
			reason: "without an owner there is no resource", replies: []reply{{405, nil, noGet}, {404, nil, ``}, {404, nil, `{"error":{"code":"ResourceNotFound","message":"m"}}`}},
			absent: true, requests: []string{get, head, list},
		},
		"NoHead": {reason: "without HEAD the list decides", replies: []reply{{405, nil, noGet}, {405, nil, ``}, without}, absent: true, requests: []string{get, head, list}},
		"NoHeadListed": {
			reason: "without HEAD the list finds it", replies: []reply{{405, nil, noGet}, {405, nil, ``}, with}, exists: true, requests: []string{get, head, list},
		},
		"Nothing": {
			reason: "without GET, HEAD and list, absence is not proven", replies: []reply{{405, nil, noGet}, {405, nil, ``}, {405, nil, noGet}},
			class: ClassVerySlow, requests: []string{get, head, list},
		},
		"HeadFails": {reason: "an error proves nothing", replies: []reply{{405, nil, noGet}, {503, nil, ``}}, class: ClassSlow, requests: []string{get, head}},
		"HeadThrottled": {
			reason: "nor does throttling", replies: []reply{{405, nil, noGet}, {429, nil, ``}}, class: ClassThrottled, requests: []string{get, head},
		},
		"ListFails": {
			reason: "a failed list is retried", replies: []reply{{405, nil, noGet}, {404, nil, ``}, {500, nil, ``}}, class: ClassSlow, requests: []string{get, head, list},
		},
		"UnknownCode": {
			reason: "a 404 with an unknown code, and the list agrees", replies: []reply{{404, nil, unknown}, without}, absent: true, requests: []string{get, list},
		},
		"UnknownCodeListed": {
			reason: "the list contains it: the code has another meaning", replies: []reply{{404, nil, unknown}, with}, class: ClassSlow, requests: []string{get, list},
		},
		"UnknownCodeNoList": {
			reason: "without a list an unknown code does not prove absence", replies: []reply{{404, nil, unknown}, {404, nil, unknown}}, class: ClassSlow, requests: []string{get, list},
		},
		"NoCode": {reason: "a 404 without a code is from a proxy", replies: []reply{{404, nil, ``}}, class: ClassSlow, requests: []string{get}},
		"Subscription": {
			reason: "a code in the table needs no list", replies: []reply{{404, nil, `{"error":{"code":"SubscriptionNotFound","message":"m"}}`}},
			class: ClassVerySlow, requests: []string{get},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			server := newScript(t, tc.replies...)
			got, err := server.client(t, nil).Get(testContext(t), parseID(t, linkID), apiVersion)
			switch {
			case tc.exists:
				if err != nil || !got.ExistenceOnly || got.Status != http.StatusOK || len(got.Body) == 0 {
					t.Errorf("%s: got %+v, %v", tc.reason, got, err)
				}
			case tc.absent != IsAbsent(err) || !tc.absent && asError(t, err).Class != tc.class:
				t.Errorf("%s: got %v", tc.reason, err)
			}
			var requests []string
			for _, request := range server.requests() {
				path, _, _ := strings.Cut(request.uri, "?")
				requests = append(requests, request.method+" "+path)
			}
			if diff := cmp.Diff(tc.requests, requests); diff != "" {
				t.Errorf("%s: requests (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestExistenceListPath: a top-level resource is in the list of its group, an
// extension resource in the list of its scope.
func TestExistenceListPath(t *testing.T) {
	const group = "/subscriptions/11111111-1111-1111-1111-111111111111/resourceGroups/rg1"
	for text, list := range map[string]string{
		clusterID: group + "/providers/Microsoft.Kusto/clusters",
		clusterID + "/providers/Microsoft.Authorization/locks/l1":                               clusterID + "/providers/Microsoft.Authorization/locks",
		group + "/providers/Microsoft.Authorization/locks/l1":                                   group + "/providers/Microsoft.Authorization/locks",
		clusterID + "/databases/d1/principalAssignments/p1":                                     clusterID + "/databases/d1/principalAssignments",
		"/subscriptions/11111111-1111-1111-1111-111111111111/providers/Contoso.Things/roots/r1": "/subscriptions/11111111-1111-1111-1111-111111111111/providers/Contoso.Things/roots",
	} {
		server := newScript(t, reply{404, nil, `{"error":{"code":"ThingGone","message":"m"}}`}, reply{200, nil, `{"value":[]}`})
		_, err := server.client(t, nil).Get(testContext(t), parseID(t, text), apiVersion)
		seen := server.requests()
		if !IsAbsent(err) || len(seen) != 2 {
			t.Fatalf("%s: got %v after %+v", text, err, seen)
		}
		if path, _, _ := strings.Cut(seen[1].uri, "?"); path != list {
			t.Errorf("%s: got list %s, want %s", text, path, list)
		}
	}
}

// TestMissingResourceWithoutGetIsAbsent: a HEAD with status 404 must not count as
// "exists", or a missing resource of a type without GET would look present.
func TestMissingResourceWithoutGetIsAbsent(t *testing.T) {
	noGet := reply{405, nil, `{"Message":"The requested resource does not support http method 'GET'."}`}
	for name, tc := range map[string]struct {
		replies []reply
		exists  bool
	}{
		"Missing": {[]reply{noGet, {404, nil, ``}, {200, nil, `{"value":[]}`}}, false},
		"Present": {[]reply{noGet, {200, nil, ``}}, true},
		"NoList":  {[]reply{noGet, {404, nil, ``}, noGet, {200, nil, `{}`}}, false},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := newScript(t, tc.replies...).client(t, nil).Get(testContext(t), parseID(t, linkID), apiVersion)
			if exists := err == nil; exists != tc.exists || !exists && !IsAbsent(err) {
				t.Errorf("got %+v, %v", got, err)
			}
		})
	}
}
