package arm

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// outline is the part of an operation that callers use.
type outline struct {
	Done    bool
	Token   bool
	Outcome string
	State   string
	Wait    time.Duration
	Code    string
}

func outlineOf(op Operation) outline {
	o := outline{op.Done, op.Token != "", op.Outcome, op.State, op.RetryAfter, ""}
	if op.Err != nil {
		o.Code = op.Err.Code
	}
	return o
}

func TestPutResponses(t *testing.T) {
	const async = "{host}/subscriptions/s/providers/P/locations/l/operationStatuses/1?api-version=1&t=1&s=signed"
	creating := `{"properties":{"provisioningState":"Creating"}}`
	cases := map[string]struct {
		reason string
		reply  reply
		want   outline
	}{
		"SyncSucceeded": {
			reason: "200 or 201 with Succeeded and no header is done",
			reply:  reply{201, nil, `{"properties":{"provisioningState":"succeeded"}}`},
			want:   outline{Done: true, Outcome: OutcomeSucceeded, State: "succeeded"},
		},
		"SyncNoState": {
			reason: "an absent state means Succeeded, also for 201, where azcore would poll",
			reply:  reply{201, nil, `{"name":"c1"}`},
			want:   outline{Done: true, Outcome: OutcomeSucceeded},
		},
		"SyncEmpty": {
			reason: "some providers return 200 without a body",
			reply:  reply{200, nil, ``},
			want:   outline{Done: true, Outcome: OutcomeSucceeded},
		},
		"SyncFailed": {
			reason: "without a header the state in the response is the outcome",
			reply:  reply{200, nil, `{"properties":{"provisioningState":"Failed"}}`},
			want:   outline{Done: true, Outcome: OutcomeFailed, State: "Failed"},
		},
		"StateAlone": {
			reason: "no header and a state in progress: the resource itself is polled",
			reply:  reply{201, nil, creating},
			want:   outline{Token: true, State: "Creating", Wait: 15 * time.Second},
		},
		"RestingWord": {
			reason: "a state outside the closed table may be a stable state",
			reply:  reply{200, nil, `{"properties":{"provisioningState":"Ready"}}`},
			want:   outline{Done: true, Outcome: OutcomeSucceeded, State: "Ready"},
		},
		"AsyncOperation": {
			reason: "the header has the URL to poll, Retry-After the time",
			reply:  reply{201, map[string]string{"Azure-AsyncOperation": async, "Retry-After": "7"}, creating},
			want:   outline{Token: true, State: "Creating", Wait: 7 * time.Second},
		},
		"AsyncOperationAlreadySucceeded": {
			reason: "200 with a terminal state is the end despite a header",
			reply:  reply{200, map[string]string{"Azure-AsyncOperation": async}, `{"properties":{"provisioningState":"Succeeded"}}`},
			want:   outline{Done: true, Outcome: OutcomeSucceeded, State: "Succeeded"},
		},
		"AsyncOperationEchoesFailed": {
			reason: "next to a header, Failed is the state before this operation: poll",
			reply:  reply{200, map[string]string{"Azure-AsyncOperation": async}, `{"properties":{"provisioningState":"Failed"}}`},
			want:   outline{Token: true, State: "Failed", Wait: 15 * time.Second},
		},
		"AcceptedEchoesSucceeded": {
			reason: "202 always means in progress",
			reply:  reply{202, map[string]string{"Azure-AsyncOperation": async}, `{"properties":{"provisioningState":"Succeeded"}}`},
			want:   outline{Token: true, State: "Succeeded", Wait: 15 * time.Second},
		},
		"Location": {
			reason: "ARM's default wait for Location is a minute",
			reply:  reply{202, map[string]string{"Location": async}, ``},
			want:   outline{Token: true, Wait: time.Minute},
		},
		"LocationOfItself": {
			reason: "201 with the resource as Location means created",
			reply:  reply{201, map[string]string{"Location": "{host}" + strings.ToUpper(clusterID) + "?api-version=1"}, `{"name":"c1"}`},
			want:   outline{Done: true, Outcome: OutcomeSucceeded},
		},
		"AcceptedWithoutHeader": {
			reason: "202 and no header: poll the resource",
			reply:  reply{202, nil, ``},
			want:   outline{Token: true, Wait: 15 * time.Second},
		},
		"RelativeLocation": {
			reason: "azcore returns no poller; the PUT is still accepted",
			reply:  reply{202, map[string]string{"Location": "/subscriptions/s/operations/1"}, ``},
			want:   outline{Outcome: OutcomeUnreadable, Wait: 15 * time.Second},
		},
		"MalformedAsyncOperation": {
			reason: "accepted, but it cannot be polled: read the resource",
			reply:  reply{201, map[string]string{"Azure-AsyncOperation": "%zz:", "Retry-After": "3"}, creating},
			want:   outline{Outcome: OutcomeUnreadable, State: "Creating", Wait: 3 * time.Second},
		},
		"ForeignOperation": {
			reason: "an operation URL of another host is not polled",
			reply:  reply{201, map[string]string{"Azure-AsyncOperation": "https://evil.example/operations/1"}, creating},
			want:   outline{Outcome: OutcomeUnreadable, State: "Creating", Wait: 15 * time.Second},
		},
		"UnreadableBody": {
			reason: "an accepted PUT with an HTML body must not become an error and be repeated",
			reply:  reply{202, map[string]string{"Azure-AsyncOperation": async}, `<html>`},
			want:   outline{Token: true, Wait: 15 * time.Second},
		},
		"OtherPollingHeaders": {
			reason: "headers of azcore's fakes and of data planes are not ARM's",
			reply:  reply{201, map[string]string{"Fake-Poller-Status": "InProgress", "Operation-Location": "https://evil.example"}, `{}`},
			want:   outline{Done: true, Outcome: OutcomeSucceeded},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			server := newScript(t, tc.reply)
			op, err := server.client(t, nil).Put(testContext(t), parseID(t, clusterID), apiVersion, []byte(`{}`), PutOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, outlineOf(op)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
			if op.Outcome == OutcomeFailed && op.Err == nil {
				t.Error("a failed operation must have a reason")
			}
			if n := len(server.requests()); n != 1 {
				t.Errorf("%d requests, want the PUT alone", n)
			}
		})
	}
}

func TestDeleteResponses(t *testing.T) {
	cases := map[string]struct {
		reason string
		reply  reply
		want   outline
		status int
		err    Class
	}{
		"Existed":          {"200: it is gone", reply{200, nil, ``}, outline{Done: true, Outcome: OutcomeSucceeded}, 200, ""},
		"ExistedEcho":      {"the body of a 200 shows what was there", reply{200, nil, `{"properties":{"provisioningState":"Succeeded"}}`}, outline{Done: true, Outcome: OutcomeSucceeded, State: "Succeeded"}, 200, ""},
		"ExistedElsewhere": {"200 is the end, with a Location too: it is HTTP's, not ARM's", reply{200, map[string]string{"Location": "{host}/op/1"}, ``}, outline{Done: true, Outcome: OutcomeSucceeded}, 200, ""},
		"StillDeleting":    {"a body in state Deleting is not deleted", reply{200, nil, `{"properties":{"provisioningState":"Deleting"}}`}, outline{Outcome: OutcomeUnreadable, State: "Deleting", Wait: 15 * time.Second}, 200, ""},
		"ExistedAsFailed":  {"what was there had failed, not the delete", reply{200, nil, `{"properties":{"provisioningState":"Failed"}}`}, outline{Done: true, Outcome: OutcomeSucceeded, State: "Failed"}, 200, ""},
		"WasGone":          {"204: there was none", reply{204, nil, ``}, outline{Done: true, Outcome: OutcomeSucceeded}, 204, ""},
		"Absent":           {"404 with a proving code is a finished delete", reply{404, nil, `{"error":{"code":"ResourceGroupNotFound","message":"no"}}`}, outline{Done: true, Outcome: OutcomeSucceeded}, 404, ""},
		"WrongSubscription": {"404 of a subscription is no finished delete", reply{404, nil, `{"error":{"code":"SubscriptionNotFound","message":"no"}}`},
			outline{}, 0, ClassVerySlow},
		"Plain404": {"404 without a code is no finished delete", reply{404, nil, ``}, outline{}, 0, ClassSlow},
		"Busy": {"409 is a conflict", reply{409, nil, `{"error":{"code":"AnotherOperationInProgress","message":"use uri: https://h/op?t=1&s=signed."}}`},
			outline{}, 0, ClassConflict},
		"Location": {"202 is polled", reply{202, map[string]string{"Location": "{host}/op/1", "Retry-After": "15"}, ``}, outline{Token: true, Wait: 15 * time.Second}, 202, ""},
		"EchoesSucceeded": {"the body next to 202 shows the resource before it goes", reply{202, map[string]string{"Azure-AsyncOperation": "{host}/op/1"}, `{"properties":{"provisioningState":"Succeeded"}}`},
			outline{Token: true, State: "Succeeded", Wait: 15 * time.Second}, 202, ""},
		"NothingToPoll": {"202 without a header: read until absent", reply{202, nil, ``}, outline{Outcome: OutcomeUnreadable, Wait: 15 * time.Second}, 202, ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			server := newScript(t, tc.reply)
			op, err := server.client(t, nil).Delete(testContext(t), parseID(t, clusterID), apiVersion, DeleteOptions{})
			if tc.err != "" {
				if got := asError(t, err); got.Class != tc.err || strings.Contains(err.Error(), "signed") {
					t.Errorf("%s: got %s %q", tc.reason, got.Class, err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, outlineOf(op)); diff != "" || op.Status != tc.status {
				t.Errorf("%s, status %d (-want +got):\n%s", tc.reason, op.Status, diff)
			}
		})
	}
}

// step1 is the first response of each protocol.
func step1(t *testing.T, via string) reply {
	t.Helper()
	switch via {
	case pollAsyncURL:
		return reply{201, map[string]string{"Azure-AsyncOperation": "{host}/op/1?s=signed", "Location": "{host}/other"}, ``}
	case pollLocation:
		return reply{202, map[string]string{"Location": "{host}/op/1?s=signed"}, ``}
	}
	return reply{201, nil, `{"properties":{"provisioningState":"Creating"}}`}
}

func TestPoll(t *testing.T) {
	const op = "/op/1?s=signed"
	self := clusterID + "?api-version=" + apiVersion
	cases := map[string]struct {
		reason string
		via    string
		reply  reply
		want   Poll
		uri    string
		err    *Error
	}{
		"AsyncGoesOn": {
			reason: "any state but the three terminal ones means in progress",
			via:    pollAsyncURL, uri: op,
			reply: reply{200, map[string]string{"Retry-After": "20"}, `{"status":"CreatingAgentPools: 0/1 nodes completed"}`},
			want:  Poll{State: "CreatingAgentPools: 0/1 nodes completed", RetryAfter: 20 * time.Second, RequestID: "request-1", Token: "set"},
		},
		"AsyncSucceeded": {
			reason: "the outcome is read from the poll's response, ignoring case",
			via:    pollAsyncURL, uri: op,
			reply: reply{200, map[string]string{"Retry-After": "20"}, `{"status":"succeeded","properties":{"provisioningState":"Creating"}}`},
			want:  Poll{Done: true, Outcome: OutcomeSucceeded, State: "succeeded", RequestID: "request-1"},
		},
		"AsyncFailed": {
			reason: "the error is beside the status; NotFound there does not mean that the resource is absent",
			via:    pollAsyncURL, uri: op,
			reply: reply{200, nil, `{"status":"Failed","error":{"code":"NotFound","message":"no such key"}}`},
			want: Poll{Done: true, Outcome: OutcomeFailed, State: "Failed", RequestID: "request-1",
				Err: &Error{Status: 200, Code: "NotFound", Message: "no such key", RequestID: "request-1", Class: ClassSlow}},
		},
		"AsyncCanceled": {
			reason: "an operation without a reason for its failure reports that",
			via:    pollAsyncURL, uri: op,
			reply: reply{200, nil, `{"status":"Cancelled"}`},
			want: Poll{Done: true, Outcome: OutcomeCanceled, State: "Cancelled", RequestID: "request-1",
				Err: &Error{Status: 200, Message: "ARM gave no reason", RequestID: "request-1", Class: ClassSlow}},
		},
		"AsyncAcceptedEmpty": {
			reason: "202 without a body means in progress",
			via:    pollAsyncURL, uri: op,
			reply: reply{202, nil, ``},
			want:  Poll{RetryAfter: 15 * time.Second, RequestID: "request-1", Token: "set"},
		},
		"AsyncNoStatus": {
			reason: "a response without status proves nothing: read the resource",
			via:    pollAsyncURL, uri: op,
			reply: reply{200, nil, `{"name":"x"}`},
			want:  Poll{Outcome: OutcomeUnreadable, RetryAfter: 15 * time.Second, RequestID: "request-1"},
		},
		"AsyncPage": {
			reason: "so does a page with status 200",
			via:    pollAsyncURL, uri: op,
			reply: reply{200, nil, `<html>`},
			want:  Poll{Outcome: OutcomeUnreadable, RetryAfter: 15 * time.Second, RequestID: "request-1"},
		},
		"AsyncTooLarge": {
			reason: "so does a response over the maximum size",
			via:    pollAsyncURL, uri: op,
			reply: reply{200, nil, `{"status":"Succeeded","x":"` + strings.Repeat("x", maxResponseBytes) + `"}`},
			want:  Poll{Outcome: OutcomeUnreadable, RetryAfter: 15 * time.Second, RequestID: "request-1"},
		},
		"Async403": {
			reason: "the operation is outside the resource's scope: its 4xx is not about the resource",
			via:    pollAsyncURL, uri: op,
			reply: reply{403, nil, `{"error":{"code":"AuthorizationFailed","message":"no"}}`},
			want: Poll{Outcome: OutcomeUnreadable, RetryAfter: 15 * time.Second, RequestID: "request-1",
				Err: &Error{Status: 403, Code: "AuthorizationFailed", Message: "no", RequestID: "request-1", Class: ClassSlow, Denial: true}},
		},
		"Async404": {
			reason: "an unknown operation does not mean an absent resource",
			via:    pollAsyncURL, uri: op,
			reply: reply{404, nil, `{"error":{"code":"ResourceNotFound","message":"no"}}`},
			err:   &Error{Status: 404, Code: "ResourceNotFound", Message: "no", RequestID: "request-1", Class: ClassSlow},
		},
		"Async401": {
			reason: "a token that expired during the operation",
			via:    pollAsyncURL, uri: op,
			reply: reply{401, nil, `{"error":{"code":"ExpiredAuthenticationToken","message":"no"}}`},
			err:   &Error{Status: 401, Code: "ExpiredAuthenticationToken", Message: "no", RequestID: "request-1", Class: ClassSlow, Denial: true},
		},
		"Async500Page": {
			reason: "the status could not be read; the operation continues",
			via:    pollAsyncURL, uri: op,
			reply: reply{500, map[string]string{"Content-Type": "text/html; charset=x"}, `<html>`},
			err:   &Error{Status: 500, Message: "the response is text/html, not JSON", RequestID: "request-1", Class: ClassSlow},
		},
		"Async429": {
			reason: "throttled: poll again after Retry-After",
			via:    pollAsyncURL, uri: op,
			reply: reply{429, map[string]string{"Retry-After": "33"}, ``},
			err:   &Error{Status: 429, Message: "the response has no body", RequestID: "request-1", RetryAfter: 33 * time.Second, Class: ClassThrottled},
		},
		"LocationGoesOn": {
			reason: "202 until done",
			via:    pollLocation, uri: op,
			reply: reply{202, map[string]string{"Location": "{host}/op/2", "Retry-After": "5"}, ``},
			want:  Poll{RetryAfter: 5 * time.Second, RequestID: "request-1", Token: "set"},
		},
		"LocationDone": {
			reason: "200, 201 and 204 are the end, often without a body",
			via:    pollLocation, uri: op,
			reply: reply{204, nil, ``},
			want:  Poll{Done: true, Outcome: OutcomeSucceeded, RequestID: "request-1"},
		},
		"LocationRestingWord": {
			reason: "the response is the resource in a service's own state: azcore would poll forever",
			via:    pollLocation, uri: op,
			reply: reply{200, nil, `{"properties":{"provisioningState":"Ready"}}`},
			want:  Poll{Done: true, Outcome: OutcomeSucceeded, State: "Ready", RequestID: "request-1"},
		},
		"LocationInFlight": {
			reason: "recorded: 200 with the resource that is still Creating",
			via:    pollLocation, uri: op,
			reply: reply{200, nil, `{"properties":{"provisioningState":"Creating"}}`},
			want:  Poll{State: "Creating", RetryAfter: time.Minute, RequestID: "request-1", Token: "set"},
		},
		"LocationFailed": {
			reason: "the resource has the state Failed",
			via:    pollLocation, uri: op,
			reply: reply{200, nil, `{"properties":{"provisioningState":"Failed"}}`},
			want: Poll{Done: true, Outcome: OutcomeFailed, State: "Failed", RequestID: "request-1",
				Err: &Error{Status: 200, Message: "ARM gave no reason", RequestID: "request-1", Class: ClassSlow}},
		},
		"Location400": {
			reason: "azcore reports a failure; only the resource shows the outcome",
			via:    pollLocation, uri: op,
			reply: reply{400, nil, `{"error":{"code":"InvalidParameter","message":"no"}}`},
			want: Poll{Outcome: OutcomeUnreadable, RetryAfter: 15 * time.Second, RequestID: "request-1",
				Err: &Error{Status: 400, Code: "InvalidParameter", Message: "no", RequestID: "request-1", Class: ClassVerySlow}},
		},
		"Location503": {
			reason: "azcore returns the error as a response; the operation continues",
			via:    pollLocation, uri: op,
			reply: reply{503, map[string]string{"Retry-After": "9"}, ``},
			err:   &Error{Status: 503, Message: "the response has no body", RequestID: "request-1", RetryAfter: 9 * time.Second, Class: ClassSlow},
		},
		"ResourceGoesOn": {
			reason: "without a URL the resource's provisioningState decides: one GET",
			via:    pollResource, uri: self,
			reply: reply{200, nil, `{"properties":{"provisioningState":"Updating"}}`},
			want:  Poll{State: "Updating", RetryAfter: 15 * time.Second, RequestID: "request-1", Token: "set"},
		},
		"ResourceDone": {
			reason: "an absent state means Succeeded",
			via:    pollResource, uri: self,
			reply: reply{200, nil, `{"properties":{}}`},
			want:  Poll{Done: true, Outcome: OutcomeSucceeded, RequestID: "request-1"},
		},
		"ResourceUnknownWord": {
			reason: "a state outside the closed table with the ending of a state in progress",
			via:    pollResource, uri: self,
			reply: reply{200, nil, `{"properties":{"provisioningState":"Validating"}}`},
			want:  Poll{State: "Validating", RetryAfter: 15 * time.Second, RequestID: "request-1", Token: "set"},
		},
		"ResourceRunning": {
			reason: "a stable state of machines",
			via:    pollResource, uri: self,
			reply: reply{200, nil, `{"properties":{"provisioningState":"Running"}}`},
			want:  Poll{Done: true, Outcome: OutcomeSucceeded, State: "Running", RequestID: "request-1"},
		},
		"ResourceRestingWord": {
			reason: "a state outside the closed table is the end",
			via:    pollResource, uri: self,
			reply: reply{200, nil, `{"properties":{"provisioningState":"Online"}}`},
			want:  Poll{Done: true, Outcome: OutcomeSucceeded, State: "Online", RequestID: "request-1"},
		},
		"ResourceHidden": {
			reason: "recorded: 404 during the creation, which must not cause another PUT",
			via:    pollResource, uri: self,
			reply: reply{404, nil, `{"error":{"code":"ResourceNotFound","message":"no"}}`},
			want: Poll{Outcome: OutcomeUnreadable, RetryAfter: 15 * time.Second, RequestID: "request-1",
				Err: &Error{Status: 404, Code: "ResourceNotFound", Message: "no", RequestID: "request-1", Class: ClassSlow}},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			server := newScript(t, step1(t, tc.via), tc.reply)
			op, err := server.client(t, nil).Put(testContext(t), parseID(t, clusterID), apiVersion, []byte(`{}`), PutOptions{})
			if err != nil || op.Token == "" {
				t.Fatalf("got %+v, %v, want a token", op, err)
			}
			// Another process polls.
			poll, err := server.client(t, nil).Poll(testContext(t), roundTripJSON(t, op).Token)
			if tc.err != nil {
				if diff := cmp.Diff(tc.err, asError(t, err)); diff != "" {
					t.Errorf("%s: error (-want +got):\n%s", tc.reason, diff)
				}
				if strings.Contains(err.Error(), "signed") {
					t.Errorf("error %q contains the signed URL", err)
				}
			} else if err != nil {
				t.Fatalf("%s: %v", tc.reason, err)
			}
			tokens := cmpopts.IgnoreFields(Poll{}, "Token")
			if diff := cmp.Diff(tc.want, poll, tokens); diff != "" || (tc.want.Token != "") != (poll.Token != "") {
				t.Errorf("%s: token %q (-want +got):\n%s", tc.reason, poll.Token, diff)
			}
			seen := server.requests()
			if len(seen) != 2 || seen[1].method != http.MethodGet || seen[1].uri != tc.uri {
				t.Errorf("%s: got requests %+v, want the PUT and one GET of %s", tc.reason, seen, tc.uri)
			}
		})
	}
}

func TestPollFollowsANewLocation(t *testing.T) {
	server := newScript(t, step1(t, pollLocation),
		reply{202, map[string]string{"Location": "{host}/op/2"}, ``},
		reply{202, map[string]string{"Location": "https://evil.example/op"}, ``})
	client := server.client(t, nil)
	op, err := client.Put(testContext(t), parseID(t, clusterID), apiVersion, []byte(`{}`), PutOptions{})
	if err != nil {
		t.Fatal(err)
	}
	second, err := client.Poll(testContext(t), op.Token)
	if err != nil {
		t.Fatal(err)
	}
	third, err := client.Poll(testContext(t), second.Token)
	if err != nil || server.requests()[2].uri != "/op/2" {
		t.Fatalf("got %v and %+v, want the new Location polled", err, server.requests()[2])
	}
	last, err := client.Poll(testContext(t), third.Token)
	if err != nil || last.Outcome != OutcomeUnreadable || len(server.requests()) != 3 {
		t.Errorf("got %+v, %v: a Location on another host must not be polled", last, err)
	}
}

func TestPollOfInvalidTokens(t *testing.T) {
	server := newScript(t)
	client := server.client(t, nil)
	for name, token := range map[string]string{
		"Empty":       "",
		"Garbage":     "{",
		"OtherType":   `{"via":"location","poller":"{\"type\":\"Widget\",\"token\":{\"type\":\"loc\",\"pollURL\":\"` + server.URL + `\"}}"}`,
		"NoKind":      `{"via":"location","poller":"{\"type\":\"RawMessage\",\"token\":{}}"}`,
		"ForeignHost": `{"via":"location","poller":"{\"type\":\"RawMessage\",\"token\":{\"type\":\"loc\",\"pollURL\":\"https://evil.example/\"}}"}`,
		"Relative":    `{"via":"location","poller":"{\"type\":\"RawMessage\",\"token\":{\"type\":\"loc\",\"pollURL\":\"/op/1\"}}"}`,
		"NoURL":       `{"via":"location","poller":"{\"type\":\"RawMessage\",\"token\":{\"type\":\"loc\",\"pollURL\":\"%zz\"}}"}`,
	} {
		poll, err := client.Poll(testContext(t), token)
		if err != nil || poll.Outcome != OutcomeUnreadable || poll.Done || poll.Token != "" {
			t.Errorf("%s: got %+v, %v, want: accepted, read the resource", name, poll, err)
		}
	}
	if n := len(server.requests()); n != 0 {
		t.Errorf("%d requests were sent", n)
	}
}

func TestPollErrorsKeepTheOperation(t *testing.T) {
	server := newScript(t, step1(t, pollAsyncURL))
	client := server.client(t, nil)
	op, err := client.Put(testContext(t), parseID(t, clusterID), apiVersion, []byte(`{}`), PutOptions{})
	if err != nil {
		t.Fatal(err)
	}
	server.Close()
	poll, err := client.Poll(testContext(t), op.Token)
	if err == nil || poll != (Poll{}) || strings.Contains(err.Error(), "signed") {
		t.Errorf("got %+v, %v, want an error without the URL: the caller polls again", poll, err)
	}
}

func TestPollInterval(t *testing.T) {
	server := newScript(t, step1(t, pollLocation), reply{202, nil, ``}, reply{202, map[string]string{"Retry-After": "4"}, ``})
	client := server.client(t, func(o *Options) { o.PollInterval = 10 * time.Millisecond })
	op, err := client.Put(testContext(t), parseID(t, clusterID), apiVersion, []byte(`{}`), PutOptions{})
	if err != nil || op.RetryAfter != 10*time.Millisecond {
		t.Fatalf("got %s, %v, want the configured interval", op.RetryAfter, err)
	}
	first, err := client.Poll(testContext(t), op.Token)
	if err != nil || first.RetryAfter != 10*time.Millisecond {
		t.Errorf("got %s, %v, want the configured interval", first.RetryAfter, err)
	}
	second, err := client.Poll(testContext(t), first.Token)
	if err != nil || second.RetryAfter != 4*time.Second {
		t.Errorf("got %s, %v, want the service's Retry-After", second.RetryAfter, err)
	}
}
