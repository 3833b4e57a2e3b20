package armsim_test

import (
	"encoding/base64"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/armsim"
)

const queue = "/_queue/acct/events"

// message is a message of a queue as a client reads it.
type message struct {
	ID           string `xml:"MessageId"`
	Receipt      string `xml:"PopReceipt"`
	Text         string `xml:"MessageText"`
	DequeueCount int
}

// messages returns the messages in a response.
func (h *harness) messages(query string) []message {
	h.t.Helper()
	answer := h.do("GET", queue+"/messages?"+query, "", "x-ms-version", "2018-03-28")
	if answer.status != 200 || answer.header.Get("Content-Type") != "application/xml" {
		h.t.Fatalf("get messages: %d %s", answer.status, answer.raw)
	}
	var list struct {
		Items []message `xml:"QueueMessage"`
	}
	if err := xml.Unmarshal([]byte(strings.TrimPrefix(answer.raw, "\ufeff")), &list); err != nil {
		h.t.Fatalf("parse %s: %v", answer.raw, err)
	}
	return list.Items
}

// eventIn returns the event in a message.
func eventIn(t *testing.T, m message) map[string]any {
	t.Helper()
	content, err := base64.StdEncoding.DecodeString(m.Text)
	if err != nil {
		t.Fatalf("decode %s: %v", m.Text, err)
	}
	var event map[string]any
	if err := json.Unmarshal(content, &event); err != nil {
		t.Fatalf("parse %s: %v", content, err)
	}
	return event
}

// newQueueHarness returns a simulator with a queue that gets all events.
func newQueueHarness(t *testing.T, options armsim.Options) *harness {
	t.Helper()
	h := newHarness(t, options)
	if err := h.SubscribeQueue(armsim.QueueSubscription{Account: "acct", Queue: "events"}); err != nil {
		t.Fatal(err)
	}
	return h
}

// TestEvents checks the events of changes: their types, operations and statuses.
func TestEvents(t *testing.T) {
	const net = "?api-version=2024-05-01"
	author := []string{"Authorization", tokenOf(`{"appid":"` + clientID + `","oid":"0000","idtyp":"app"}`)}
	for name, test := range map[string]struct {
		change func(h *harness)
		want   []string
	}{
		"creation":  {func(h *harness) { h.do("PUT", plain+"2"+version, `{"location":"westus2"}`, author...) }, []string{"WriteSuccess Microsoft.Example/things/write Succeeded"}},
		"no change": {func(h *harness) { h.do("PUT", plain+version, `{"location":"westus2"}`, author...) }, []string{"WriteSuccess Microsoft.Example/things/write Succeeded"}},
		"deletion":  {func(h *harness) { h.do("DELETE", plain+version, "", author...) }, []string{"DeleteSuccess Microsoft.Example/things/delete Succeeded"}},
		"keys":      {func(h *harness) { h.do("POST", plain+"/listKeys"+version, "", author...) }, []string{"ActionSuccess Microsoft.Example/things/listKeys/action Succeeded"}},
		"read":      {func(h *harness) { h.do("GET", plain+version, "", author...) }, nil},
		"child":     {func(h *harness) { h.do("PUT", plain+"/parts/p"+version, `{}`, author...) }, []string{"WriteSuccess Microsoft.Example/things/parts/write Succeeded"}},
		"extension": {func(h *harness) {
			h.do("PUT", plain+"/providers/Microsoft.Authorization/locks/l?api-version=2020-05-01", `{"properties":{"level":"CanNotDelete"}}`, author...)
		}, []string{"WriteSuccess Microsoft.Authorization/locks/write Succeeded"}},
		"group": {func(h *harness) { h.do("PUT", group+version, `{"location":"westus2","tags":{"a":"b"}}`, author...) },
			[]string{"WriteSuccess Microsoft.Resources/subscriptions/resourceGroups/write Succeeded"}},
		"failure": {func(h *harness) {
			h.AddOperationRule(armsim.OperationRule{On: "put", Spec: armsim.OperationSpec{Outcome: "Failed"}})
			h.do("PUT", vnet+net, `{"location":"westus2"}`, author...)
			h.pass(time.Minute)
		}, []string{"WriteFailure Microsoft.Network/virtualNetworks/write Failed"}},
		"by Azure": {func(h *harness) {
			if err := h.As(armsim.Author{System: true}).Patch(plain, map[string]any{"tags": map[string]any{"a": "b"}}); err != nil {
				h.t.Fatal(err)
			}
		}, nil},
		"stop": {func(h *harness) {
			if err := h.Put(postgres, map[string]any{"location": "westus2"}); err != nil {
				h.t.Fatal(err)
			}
			h.messages("numofmessages=32&visibilitytimeout=604800")
			h.do("POST", postgres+"/stop"+version, "", author...)
			h.pass(20 * time.Second)
			if got := h.messages("numofmessages=32"); len(got) != 0 {
				h.t.Errorf("an event before the end of the action: %v", eventIn(h.t, got[0]))
			}
			h.pass(time.Hour)
		}, []string{"ActionSuccess Microsoft.DBforPostgreSQL/flexibleServers/stop/action Succeeded"}},
	} {
		t.Run(name, func(t *testing.T) {
			h := newQueueHarness(t, armsim.Options{Changes: promptly})
			h.makeGroup()
			h.want(h.do("PUT", plain+version, `{"location":"westus2"}`), 201, "")
			h.messages("numofmessages=32&visibilitytimeout=604800")
			test.change(h)
			var got []string
			for _, m := range h.messages("numofmessages=32") {
				event := eventIn(t, m)
				data := event["data"].(map[string]any)
				got = append(got, fmt.Sprintf("%s %s %s", strings.TrimPrefix(event["eventType"].(string), "Microsoft.Resources.Resource"), data["operationName"], data["status"]))
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// TestEvent compares what an event says of its change, and of its author.
func TestEvent(t *testing.T) {
	h := newQueueHarness(t, armsim.Options{Changes: promptly})
	h.makeGroup()
	h.want(h.do("PUT", plain+version, `{"location":"westus2"}`), 201, "")
	h.messages("numofmessages=32")
	spelled := strings.Replace(plain, "resourceGroups", "resourcegroups", 1)
	h.want(h.do("PATCH", spelled+version, `{"tags":{"a":"b"}}`, "x-ms-correlation-request-id", "c1", "x-ms-client-request-id", "r1",
		"Authorization", tokenOf(`{"appid":"a1","oid":"o1","upn":"alice@contoso.com","name":"Alice A","tid":"`+tenant+`"}`)), 200, "")
	got := h.messages("")
	if len(got) != 1 {
		t.Fatalf("%d messages, want 1", len(got))
	}
	event := response{body: eventIn(t, got[0]), raw: "the event"}
	for path, want := range map[string]any{
		"topic": root, "subject": spelled, "eventType": "Microsoft.Resources.ResourceWriteSuccess", "dataVersion": "2", "metadataVersion": "1",
		"eventTime": "2026-05-01T12:00:00Z", "data.resourceUri": spelled, "data.correlationId": "c1", "data.resourceProvider": "Microsoft.Example",
		"data.claims.name": "Alice A", "data.claims.appid": "a1", "data.claims.idtyp": "user", "data.subscriptionId": sub, "data.tenantId": tenant,
		"data.httpRequest.method": "PATCH", "data.httpRequest.clientRequestId": "r1", "data.authorization.scope": spelled,
		"data.authorization.evidence.principalType": "User",
	} {
		h.wantAt(event, path, want)
	}
	if n := len(event.at("data.claims").(map[string]any)); n < 15 {
		t.Errorf("an event has %d claims, want all that a token has", n)
	}
	if err := h.As(armsim.Author{Name: clientID, CorrelationID: "c2"}).Patch(plain, map[string]any{"tags": map[string]any{"a": "c"}}); err != nil {
		t.Fatal(err)
	}
	event.body = eventIn(t, h.messages("")[0])
	h.wantAt(event, "data.claims.appid", clientID)
	h.wantAt(event, "data.claims.idtyp", "app")
	h.wantAt(event, "data.claims.name", nil)
	h.wantAt(event, "data.correlationId", "c2")
}

// TestQueueDelivery checks visibility timeouts, dequeue counts and pop receipts.
func TestQueueDelivery(t *testing.T) {
	h := newQueueHarness(t, armsim.Options{Changes: promptly, TimeScale: 60})
	h.makeGroup()
	first := h.messages("visibilitytimeout=60")
	if len(first) != 1 || first[0].DequeueCount != 1 {
		t.Fatalf("got %v, want one message", first)
	}
	h.pass(59 * time.Second)
	if got := h.messages(""); len(got) != 0 {
		t.Errorf("visible within the timeout, which is in real time: %v", got)
	}
	h.pass(2 * time.Second)
	again := h.messages("visibilitytimeout=60")
	if len(again) != 1 || again[0].ID != first[0].ID || again[0].DequeueCount != 2 || again[0].Receipt == first[0].Receipt {
		t.Fatalf("got %v, want the message again", again)
	}
	for _, test := range []struct {
		reason, id, receipt string
		status              int
		code                string
	}{
		{"an old receipt", again[0].ID, first[0].Receipt, 400, "PopReceiptMismatch"},
		{"another message", "x", again[0].Receipt, 404, "MessageNotFound"},
		{"the last receipt", again[0].ID, again[0].Receipt, 204, ""},
		{"a deleted message", again[0].ID, again[0].Receipt, 404, "MessageNotFound"},
	} {
		got := h.do("DELETE", queue+"/messages/"+test.id+"?popreceipt="+url.QueryEscape(test.receipt), "")
		if got.status != test.status || got.header.Get("x-ms-error-code") != test.code || test.code != "" && !strings.Contains(got.raw, "<Code>"+test.code+"</Code>") {
			t.Errorf("%s: got %d %s, want %d %s", test.reason, got.status, got.raw, test.status, test.code)
		}
	}
	if got := h.messages(""); len(got) != 0 {
		t.Errorf("a deleted message is there: %v", got)
	}
}

// TestQueueRequests checks the refusals of requests and the smaller operations.
func TestQueueRequests(t *testing.T) {
	h := newQueueHarness(t, armsim.Options{Changes: promptly})
	text := `<?xml version="1.0" encoding="utf-8"?><QueueMessage><MessageText>aGVsbG8=</MessageText></QueueMessage>`
	for _, test := range []struct {
		method, path, body string
		status             int
		code               string
	}{
		{"GET", queue + "/messages?numofmessages=33", "", 400, "OutOfRangeQueryParameterValue"},
		{"GET", queue + "/messages?numofmessages=x", "", 400, "InvalidQueryParameterValue"},
		{"GET", queue + "/messages?visibilitytimeout=0", "", 400, "OutOfRangeQueryParameterValue"},
		{"GET", queue + "/messages?visibilitytimeout=604801", "", 400, "OutOfRangeQueryParameterValue"},
		{"GET", "/_queue/acct/absent/messages", "", 404, "QueueNotFound"},
		{"GET", "/_queue/acct", "", 400, "InvalidUri"},
		{"DELETE", queue + "/messages/x", "", 400, "MissingRequiredQueryParameter"},
		{"POST", queue + "/messages", "text", 400, "InvalidXmlDocument"},
		{"POST", queue + "/messages", strings.Replace(text, "aGVsbG8=", strings.Repeat("a", 70_000), 1), 413, "RequestBodyTooLarge"},
		{"POST", queue + "/messages", text, 201, ""},
		{"GET", queue + "?comp=metadata", "", 200, ""},
		{"DELETE", queue + "/messages", "", 204, ""},
		{"PUT", "/_queue/acct/other", "", 201, ""},
		{"PUT", "/_queue/acct/other", "", 204, ""},
		{"DELETE", "/_queue/acct/other", "", 204, ""},
		{"GET", "/_queue/acct/other?comp=metadata", "", 404, "QueueNotFound"},
		{"PATCH", queue + "/messages", "", 405, "UnsupportedHttpVerb"},
	} {
		got := h.do(test.method, test.path, test.body, "x-ms-version", "2018-03-28")
		if got.status != test.status || got.header.Get("x-ms-error-code") != test.code {
			t.Errorf("%s %s: got %d %q, want %d %q: %s", test.method, test.path, got.status, got.header.Get("x-ms-error-code"), test.status, test.code, got.raw)
		}
	}
	h.want(h.do("POST", "/_sim/deny", `{"scope":"/queues/acct/*"}`), 200, "")
	if got := h.do("GET", queue+"/messages", ""); got.status != 403 || got.header.Get("x-ms-error-code") != "AuthorizationPermissionMismatch" {
		t.Errorf("a denied request is %d %s", got.status, got.raw)
	}
	h.AllowAll()
	h.AddFault(armsim.Fault{Path: "/queues/acct/events", Status: 503, Code: "ServerBusy", Count: 1})
	if got := h.do("GET", queue+"/messages", ""); got.status != 503 {
		t.Errorf("a request with a fault is %d", got.status)
	}
}

// TestQueueFaults checks losses, doubles and disorder, and that a copy has the same event.
func TestQueueFaults(t *testing.T) {
	reports := armsim.ChangeReports{Events: armsim.Reporting{MinDelay: time.Second, MaxDelay: time.Minute, Lost: 0.1, Doubled: 0.1, Shuffled: 0.1}}
	h := newQueueHarness(t, armsim.Options{Changes: reports})
	h.makeGroup()
	for i := range 999 {
		h.want(h.do("PUT", fmt.Sprintf("%s%d%s", plain, i, version), `{"location":"westus2"}`), 201, "")
		h.pass(time.Second)
	}
	h.pass(2 * time.Minute)
	seen, messages, disorder, last := map[string]int{}, 0, 0, ""
	for {
		got := h.messages("numofmessages=32&visibilitytimeout=604800")
		if len(got) == 0 {
			break
		}
		for _, m := range got {
			event := eventIn(t, m)
			seen[event["id"].(string)]++
			messages++
			if at := event["eventTime"].(string); at < last {
				disorder++
			} else {
				last = at
			}
		}
	}
	if lost, doubled := 1000-len(seen), messages-len(seen); lost < 60 || lost > 140 || doubled < 60 || doubled > 140 || disorder < 100 {
		t.Errorf("of 1000 events %d are lost, %d doubled and %d out of order", lost, doubled, disorder)
	}
}

// TestPoison checks that each kind of poison is in the queue as it is meant.
func TestPoison(t *testing.T) {
	for kind, want := range map[string]func(text string) bool{
		"text": func(text string) bool { _, err := base64.StdEncoding.DecodeString(text); return err != nil },
		"json": func(text string) bool {
			content, err := base64.StdEncoding.DecodeString(text)
			return err == nil && !json.Valid(content)
		},
		"type": func(text string) bool {
			content, _ := base64.StdEncoding.DecodeString(text)
			return json.Valid(content)
		},
		"shape": func(text string) bool { content, _ := base64.StdEncoding.DecodeString(text); return content[0] == '[' },
		"huge":  func(text string) bool { return len(text) > 60_000 && len(text) <= 64<<10 },
	} {
		h := newQueueHarness(t, armsim.Options{})
		h.want(h.do("POST", "/_sim/queues/messages", `{"account":"acct","queue":"events","kind":"`+kind+`"}`), 200, "")
		if got := h.messages(""); len(got) != 1 || !want(got[0].Text) {
			t.Errorf("%s: got %v", kind, got)
		}
	}
	h := newQueueHarness(t, armsim.Options{})
	if h.do("POST", "/_sim/queues/messages", `{"account":"acct","queue":"events","kind":"other"}`).status != http.StatusBadRequest {
		t.Error("an unknown kind is accepted")
	}
}

// TestEventQueues checks that the queues of the options are there after a reset.
func TestEventQueues(t *testing.T) {
	h := newHarness(t, armsim.Options{Changes: promptly, EventQueues: []armsim.QueueSubscription{{Account: "acct", Queue: "events"}}})
	h.makeGroup()
	h.want(h.do("POST", "/_sim/reset?all=true", ""), 200, "")
	h.makeGroup()
	if got := h.messages("numofmessages=32"); len(got) != 1 {
		t.Errorf("%d messages, want the one after the reset", len(got))
	}
	if answer := h.do("GET", "/_sim/queues", ""); answer.raw != `[{"account":"acct","queue":"events","messages":1,"coming":0}]` {
		t.Errorf("the queues are %s", answer.raw)
	}
}
