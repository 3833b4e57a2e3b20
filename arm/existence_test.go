package arm

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const linkID = clusterID + "/links/l1"

// An absence is proven, never guessed: by HEAD with an owner that is there, or by
// the owner's list.
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
		"Head204": {reason: "any 2xx does", replies: []reply{{405, nil, noGet}, {204, nil, ``}}, exists: true, requests: []string{get, head}},
		"NotListed": {
			reason: "HEAD and the list agree", replies: []reply{{405, nil, noGet}, {404, nil, ``}, without}, absent: true,
			requests: []string{get, head, list},
		},
		"ListedAfterAll": {
			reason: "the list knows better than a HEAD without a word", replies: []reply{{405, nil, noGet}, {404, nil, ``}, with}, exists: true,
			requests: []string{get, head, list},
		},
		"NoListButOwner": {
			reason: "no list, but the owner is there: the 404 is about the resource", replies: []reply{{405, nil, noGet}, {404, nil, ``}, {405, nil, noGet}, ok(`{}`)},
			absent: true, requests: []string{get, head, list, owner},
		},
		"NoListNoOwner": {
			reason: "nothing proves the absence", replies: []reply{{405, nil, noGet}, {404, nil, ``}, {405, nil, noGet}, {404, nil, unknown}},
			class: ClassVerySlow, requests: []string{get, head, list, owner},
		},
		"OwnerAbsent": {
			reason: "no owner, no resource", replies: []reply{{405, nil, noGet}, {404, nil, ``}, {404, nil, `{"error":{"code":"ResourceNotFound","message":"m"}}`}},
			absent: true, requests: []string{get, head, list},
		},
		"NoHead": {reason: "the list alone", replies: []reply{{405, nil, noGet}, {405, nil, ``}, without}, absent: true, requests: []string{get, head, list}},
		"NoHeadListed": {
			reason: "the list alone finds it", replies: []reply{{405, nil, noGet}, {405, nil, ``}, with}, exists: true, requests: []string{get, head, list},
		},
		"Nothing": {
			reason: "no GET, no HEAD, no list: that proves no absence", replies: []reply{{405, nil, noGet}, {405, nil, ``}, {405, nil, noGet}},
			class: ClassVerySlow, requests: []string{get, head, list},
		},
		"HeadFails": {reason: "an error proves nothing", replies: []reply{{405, nil, noGet}, {503, nil, ``}}, class: ClassSlow, requests: []string{get, head}},
		"HeadThrottled": {
			reason: "nor does a budget", replies: []reply{{405, nil, noGet}, {429, nil, ``}}, class: ClassThrottled, requests: []string{get, head},
		},
		"ListFails": {
			reason: "a list that fails is asked again", replies: []reply{{405, nil, noGet}, {404, nil, ``}, {500, nil, ``}}, class: ClassSlow, requests: []string{get, head, list},
		},
		"UnknownCode": {
			reason: "a 404 with a code of its own, and the list agrees", replies: []reply{{404, nil, unknown}, without}, absent: true, requests: []string{get, list},
		},
		"UnknownCodeListed": {
			reason: "the list has it: the code means something else", replies: []reply{{404, nil, unknown}, with}, class: ClassSlow, requests: []string{get, list},
		},
		"UnknownCodeNoList": {
			reason: "without a list an unknown code is no absence", replies: []reply{{404, nil, unknown}, {404, nil, unknown}}, class: ClassSlow, requests: []string{get, list},
		},
		"NoCode": {reason: "a bare 404 comes from something in between", replies: []reply{{404, nil, ``}}, class: ClassSlow, requests: []string{get}},
		"Subscription": {
			reason: "a code that the table knows needs no list", replies: []reply{{404, nil, `{"error":{"code":"SubscriptionNotFound","message":"m"}}`}},
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

// The list of a top-level resource is its group's, that of an extension resource
// its scope's.
func TestExistenceAsksTheRightList(t *testing.T) {
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
			t.Errorf("%s: asked %s, want %s", text, path, list)
		}
	}
}

// A HEAD with status 404 must not count as "exists": a missing resource of a type
// without GET would look present.
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
