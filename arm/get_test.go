package arm

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/google/go-cmp/cmp"
)

func TestGet(t *testing.T) {
	cases := map[string]struct {
		reason string
		reply  reply
		want   Response
		err    *Error
	}{
		"Found": {
			reason: "a 200 with one object is the resource",
			reply:  reply{200, map[string]string{"ETag": `W/"1"`}, ` {"name":"c1"} `},
			want:   Response{Status: 200, Body: []byte(`{"name":"c1"}`), ETag: `W/"1"`, RequestID: "request-1"},
		},
		"EtagOfTheBody": {
			reason: "many providers send the ETag in the body only",
			reply:  reply{200, nil, `{"etag":"\"7\""}`},
			want:   Response{Status: 200, Body: []byte(`{"etag":"\"7\""}`), ETag: `"7"`, RequestID: "request-1"},
		},
		"Absent": {
			reason: "a 404 with a code that proves it",
			reply:  reply{404, nil, `{"error":{"code":"ResourceNotFound","message":"gone"}}`},
			err:    &Error{Status: 404, Code: "ResourceNotFound", Message: "gone", RequestID: "request-1", Class: ClassAbsent},
		},
		"HTML200": {
			reason: "a page with status 200 (a captive proxy) is not a resource",
			reply:  reply{200, map[string]string{"Content-Type": "text/html"}, `<html>sign in</html>`},
			err:    &Error{Status: 200, Code: CodeInvalidAnswer, Message: "unusable response: it is not one JSON object", RequestID: "request-1", Class: ClassSlow},
		},
		"Array200": {
			reason: "a resource is an object",
			reply:  reply{200, nil, `[1]`},
			err:    &Error{Status: 200, Code: CodeInvalidAnswer, Message: "unusable response: it is not one JSON object", RequestID: "request-1", Class: ClassSlow},
		},
		"Empty204": {
			reason: "an empty response to a read means neither absent nor found",
			reply:  reply{204, nil, ``},
			err:    &Error{Status: 204, Code: CodeInvalidAnswer, Message: "unusable response: it is not one JSON object", RequestID: "request-1", Class: ClassSlow},
		},
		"Throttled": {
			reason: "Retry-After is returned to the caller; the client does not wait",
			reply:  reply{429, map[string]string{"Retry-After": "17"}, `{"error":{"code":"SubscriptionRequestsThrottled","message":"slow down"}}`},
			err:    &Error{Status: 429, Code: "SubscriptionRequestsThrottled", Message: "slow down", RequestID: "request-1", RetryAfter: 17 * time.Second, Class: ClassThrottled},
		},
		"ProviderNotRegistered": {
			reason: "an activity registers providers; azcore's policy would wait for minutes",
			reply:  reply{409, nil, `{"error":{"code":"MissingSubscriptionRegistration","message":"no"}}`},
			err:    &Error{Status: 409, Code: "MissingSubscriptionRegistration", Message: "no", RequestID: "request-1", Class: ClassSlow},
		},
		"RedirectElsewhere": {
			reason: "a redirect to another host would carry the token there",
			reply:  reply{307, map[string]string{"Location": "https://evil.example/steal"}, ``},
			err:    &Error{Status: 307, Message: "the response has no body", RequestID: "request-1", Class: ClassSlow},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			server := newScript(t, tc.reply)
			got, err := server.client(t, func(o *Options) { o.Credential = fixedToken{} }).Get(testContext(t), parseID(t, clusterID), apiVersion)
			if tc.err != nil {
				if diff := cmp.Diff(tc.err, asError(t, err)); diff != "" {
					t.Errorf("%s: error (-want +got):\n%s", tc.reason, diff)
				}
				if !strings.Contains(err.Error(), clusterID) || !strings.Contains(err.Error(), "request-1") {
					t.Errorf("error %q does not contain both the ID and the request ID", err)
				}
			} else if err != nil {
				t.Fatalf("%s: %v", tc.reason, err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
			if n := len(server.requests()); n != 1 {
				t.Errorf("%s: %d requests were sent, want one: the client does not retry", tc.reason, n)
			}
		})
	}
}

func TestTooLargeResponse(t *testing.T) {
	huge := `{"a":"` + strings.Repeat("x", maxResponseBytes) + `"}`
	fits := `{"a":"` + strings.Repeat("x", maxResponseBytes-8) + `"}`
	server := newScript(t, reply{200, nil, huge}, reply{200, nil, fits}, reply{201, nil, huge})
	client, id := server.client(t, nil), parseID(t, clusterID)

	_, err := client.Get(testContext(t), id, apiVersion)
	if got := asError(t, err); got.Code != CodeInvalidAnswer || got.RequestID != "request-1" {
		t.Errorf("got %+v, want %s with the request ID", got, CodeInvalidAnswer)
	}
	if got, err := client.Get(testContext(t), id, apiVersion); err != nil || len(got.Body) != maxResponseBytes {
		t.Errorf("got %d bytes, %v; a response of exactly the maximum size is valid", len(got.Body), err)
	}
	op, err := client.Put(testContext(t), id, apiVersion, []byte(`{}`), PutOptions{})
	if err != nil || op.Outcome != OutcomeUnreadable || op.Status != 201 {
		t.Errorf("got %+v, %v; an accepted PUT stays accepted, an error would repeat it", op.Outcome, err)
	}
}

func TestPathsOfUnusualIDs(t *testing.T) {
	const group = "/subscriptions/11111111-1111-1111-1111-111111111111/resourceGroups/"
	cases := map[string]string{
		"Spaces":        group + "my group (1)/providers/Microsoft.Network/virtualNetworks/a b",
		"Brackets":      group + "RG[1]/providers/Microsoft.Network/virtualNetworks/{x}",
		"Unicode":       group + "größe/providers/Microsoft.Network/virtualNetworks/日本",
		"Reserved":      group + "rg/providers/Microsoft.Network/dnsZones/a;b,c=d@e:f+g&h$i!j*k'l",
		"ThreeHundred":  group + "rg/providers/Microsoft.Network/virtualNetworks/" + strings.Repeat("n", 300),
		"Extension":     clusterID + "/providers/Microsoft.Authorization/roleAssignments/22222222-2222-2222-2222-222222222222",
		"ResourceGroup": group + "rg1",
	}
	for name, text := range cases {
		t.Run(name, func(t *testing.T) {
			server := newScript(t, reply{200, nil, `{}`})
			if _, err := server.client(t, nil).Get(testContext(t), parseID(t, text), apiVersion); err != nil {
				t.Fatal(err)
			}
			raw := server.requests()[0].uri
			if odd := regexp.MustCompile(`[^A-Za-z0-9/%._~$&+=:@?-]`).FindString(raw); odd != "" {
				t.Errorf("%q was sent unescaped", odd)
			}
			seen, err := url.ParseRequestURI(raw)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(text, seen.Path); diff != "" {
				t.Errorf("the server received another path (-want +got):\n%s", diff)
			}
			if got := seen.Query(); len(got) != 1 || got.Get("api-version") != apiVersion {
				t.Errorf("got query %v, want api-version alone", got)
			}
		})
	}
}

func TestInvalidAddressIsNotSent(t *testing.T) {
	server := newScript(t)
	client := server.client(t, nil)
	if _, err := client.Get(testContext(t), parseID(t, clusterID), "2023?x=1"); err == nil {
		t.Error("an api-version with a query was sent")
	}
	if _, err := client.List(testContext(t), parseID(t, clusterID), "../databases", apiVersion, 10); err == nil {
		t.Error("a collection with a dot segment was sent")
	}
	var none = parseID(t, clusterID).Owner().Owner().Owner()
	if _, err := client.Delete(testContext(t), none, apiVersion, DeleteOptions{}); err == nil {
		t.Error("a DELETE of no ID was sent")
	}
	if seen := server.requests(); len(seen) != 0 {
		t.Errorf("%d requests were sent", len(seen))
	}
}

func TestHeadersAndObserver(t *testing.T) {
	server := newScript(t, reply{200, nil, `{}`}, reply{412, nil, `{"error":{"code":"PreconditionFailed","message":"old"}}`})
	var observed []Request
	now := time.Unix(0, 0)
	client := server.client(t, func(o *Options) {
		o.Observer = func(r Request) { observed = append(observed, r) }
		o.Clock = func() time.Time { now = now.Add(time.Second); return now }
		o.Version, o.ApplicationID = "v1.2.3", "team-a"
	})
	ctx := WithCorrelationID(testContext(t), "33333333-3333-3333-3333-333333333333")
	id := parseID(t, clusterID)
	if _, err := client.Get(ctx, id, apiVersion); err != nil {
		t.Fatal(err)
	}
	_, err := client.Put(ctx, id, apiVersion, []byte(`{"location":"westus2"}`), PutOptions{IfMatch: `"1"`})
	if got := asError(t, err); got.Class != ClassConflict {
		t.Errorf("got class %s of a 412, want %s", got.Class, ClassConflict)
	}
	get, put := server.requests()[0], server.requests()[1]
	for name, want := range map[string]string{"X-Ms-Correlation-Request-Id": "33333333-3333-3333-3333-333333333333", "Accept": "application/json", "Authorization": ""} {
		if got := get.header.Get(name); got != want {
			t.Errorf("got header %s %q, want %q", name, got, want)
		}
	}
	if a, b := get.header.Get("X-Ms-Client-Request-Id"), put.header.Get("X-Ms-Client-Request-Id"); a == "" || a == b {
		t.Errorf("got client request IDs %q and %q, want one for each request", a, b)
	}
	if agent := get.header.Get("User-Agent"); !strings.HasPrefix(agent, "team-a azsdk-go-armature/v1.2.3") {
		t.Errorf("got User-Agent %q", agent)
	}
	if put.header.Get("If-Match") != `"1"` || put.header.Get("Content-Type") != "application/json" || put.body != `{"location":"westus2"}` {
		t.Errorf("got PUT %+v", put)
	}
	want := []Request{
		{Call: CallGet, Method: "GET", Type: "Microsoft.Kusto/clusters", Status: 200, Duration: time.Second},
		{Call: CallPut, Method: "PUT", Type: "Microsoft.Kusto/clusters", Status: 412, Duration: time.Second},
	}
	if diff := cmp.Diff(want, observed); diff != "" {
		t.Errorf("observed (-want +got):\n%s", diff)
	}
}

func TestRedirectedPutIsNotAccepted(t *testing.T) {
	for _, status := range []int{301, 303, 307, 308} {
		server := newScript(t, reply{status, map[string]string{"Location": "{host}/elsewhere"}, ``}, reply{200, nil, `{}`})
		_, err := server.client(t, nil).Put(testContext(t), parseID(t, clusterID), apiVersion, []byte(`{}`), PutOptions{})
		if got := asError(t, err); got.Status != status || len(server.requests()) != 1 {
			t.Errorf("got status %d after %d requests, want the %d itself", got.Status, len(server.requests()), status)
		}
	}
}

func TestTransportErrorHasNoURL(t *testing.T) {
	server := newScript(t)
	client := server.client(t, nil)
	server.Close()
	_, err := client.Get(testContext(t), parseID(t, clusterID), apiVersion)
	var answer *Error
	if err == nil || errors.As(err, &answer) {
		t.Fatalf("got %v, want a transport error", err)
	}
	if strings.Contains(err.Error(), "api-version") || !strings.Contains(err.Error(), clusterID) {
		t.Errorf("error %q must contain the ID and no query", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := client.Get(ctx, parseID(t, clusterID), apiVersion); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want the context's error", err)
	}
}

// refusal is a Throttle without budget.
type refusal struct{ seen []string }

func (r *refusal) Do(request *policy.Request) (*http.Response, error) {
	r.seen = append(r.seen, request.Raw().Method)
	return nil, &Error{Status: 429, Code: "BudgetUsedUp", RetryAfter: time.Second, Class: ClassThrottled}
}

func TestThrottleIsCalled(t *testing.T) {
	server, throttle := newScript(t), &refusal{}
	client := server.client(t, func(o *Options) { o.Throttle = throttle })
	_, getErr := client.Get(testContext(t), parseID(t, clusterID), apiVersion)
	_, pollErr := client.Poll(testContext(t), `{"via":"location","poller":"{\"type\":\"RawMessage\",\"token\":{\"type\":\"loc\",\"pollURL\":\"`+server.URL+`\"}}"}`)
	for _, err := range []error{getErr, pollErr} {
		if got := asError(t, err); got.Class != ClassThrottled || got.RetryAfter != time.Second {
			t.Errorf("got %+v, want the unchanged refusal", got)
		}
	}
	if len(throttle.seen) != 2 || len(server.requests()) != 0 {
		t.Errorf("the throttle saw %q, the server %d requests", throttle.seen, len(server.requests()))
	}
}

func TestList(t *testing.T) {
	page := func(items, next string) reply {
		return reply{200, nil, `{"value":[` + items + `],"nextLink":"` + next + `"}`}
	}
	cases := map[string]struct {
		reason  string
		replies []reply
		max     int
		want    []string
		err     string
		sent    int
	}{
		"Pages": {
			reason:  "nextLink is followed, absolute or relative, with its signed query",
			replies: []reply{page(`{"n":1}`, "{host}/next?%24skiptoken=a%2Bb"), page(``, "/relative?x=1"), page(`{"n":2}`, "")},
			max:     10, want: []string{`{"n":1}`, `{"n":2}`}, sent: 3,
		},
		"Bounded": {
			reason:  "no page is read beyond max",
			replies: []reply{page(`{"n":1},{"n":2}`, "{host}/next")},
			max:     1, want: []string{`{"n":1}`}, sent: 1,
		},
		"ForeignHost": {
			reason:  "a nextLink to another host gets no token, and its query is not in the error",
			replies: []reply{page(`{"n":1}`, "https://evil.example/?sig=secret")},
			max:     10, err: "not on the endpoint's host", sent: 1,
		},
		"NoList": {
			reason:  "a list without value must not look like an empty one",
			replies: []reply{{200, nil, `{"other":[]}`}},
			max:     10, err: "it is not a list", sent: 1,
		},
		"Fault": {
			reason:  "a truncated list is an error",
			replies: []reply{page(`{"n":1}`, "{host}/next"), {403, nil, `{"error":{"code":"AuthorizationFailed","message":"no"}}`}},
			max:     10, err: "AuthorizationFailed", sent: 2,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			server := newScript(t, tc.replies...)
			items, err := server.client(t, nil).List(testContext(t), parseID(t, clusterID), "databases", apiVersion, tc.max)
			if tc.err != "" {
				if err == nil || !strings.Contains(err.Error(), tc.err) || strings.Contains(err.Error(), "secret") {
					t.Errorf("%s: got error %v, want %q", tc.reason, err, tc.err)
				}
			} else if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, item := range items {
				got = append(got, string(item))
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
			if n := len(server.requests()); n != tc.sent {
				t.Errorf("%s: %d requests, want %d", tc.reason, n, tc.sent)
			}
			if got := server.requests()[0]; got.method != http.MethodGet || !strings.HasPrefix(got.uri, clusterID+"/databases?") {
				t.Errorf("got first request %s %s", got.method, got.uri)
			}
		})
	}
}

func TestRetryAfter(t *testing.T) {
	now := clock(func() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) })
	cases := map[string]struct {
		header map[string]string
		want   time.Duration
	}{
		"None":         {nil, 0},
		"Seconds":      {map[string]string{"Retry-After": "20"}, 20 * time.Second},
		"Date":         {map[string]string{"Retry-After": "Fri, 02 Jan 2026 03:04:35 GMT"}, 30 * time.Second},
		"DateGoneBy":   {map[string]string{"Retry-After": "Fri, 02 Jan 2026 03:04:00 GMT"}, 0},
		"Milliseconds": {map[string]string{"Retry-After-Ms": "250", "Retry-After": "1"}, 250 * time.Millisecond},
		"Microsoft":    {map[string]string{"X-Ms-Retry-After-Ms": "1500"}, 1500 * time.Millisecond},
		"Nonsense":     {map[string]string{"Retry-After": "soon"}, 0},
		"Negative":     {map[string]string{"Retry-After": "-5"}, 0},
		"Endless":      {map[string]string{"Retry-After": "9223372036854775807"}, maxRetryAfter},
		"FarDate":      {map[string]string{"Retry-After": "Fri, 02 Jan 2099 03:04:00 GMT"}, maxRetryAfter},
	}
	for name, tc := range cases {
		header := http.Header{}
		for key, value := range tc.header {
			header.Set(key, value)
		}
		if got := now.retryAfter(header); got != tc.want {
			t.Errorf("%s: got %s, want %s", name, got, tc.want)
		}
	}
}
