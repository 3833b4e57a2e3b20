package feed_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/activities/feed"
	"github.com/armature-io/armature/arm"
	"github.com/armature-io/armature/resource"
)

// messages is a queue in memory. A message that was received is hidden until it is deleted.
type messages struct {
	waiting []string
	hidden  map[string]string
	failed  error
	deleted int
}

func (q *messages) Receive(context.Context) ([]arm.Message, error) {
	if q.failed != nil {
		return nil, q.failed
	}
	var received []arm.Message
	for len(q.waiting) > 0 && len(received) < arm.MaxMessages {
		m := arm.Message{ID: fmt.Sprint(len(q.hidden)), Text: q.waiting[0]}
		q.hidden[m.ID], q.waiting = m.Text, q.waiting[1:]
		received = append(received, m)
	}
	return received, nil
}

func (q *messages) Delete(context.Context, arm.Message) error {
	q.deleted++
	return nil
}

// event returns a message with an event of Event Grid.
func event(id, eventType, claims string) string {
	return base64.StdEncoding.EncodeToString(fmt.Appendf(nil, `{"id": %q, "topic": "/subscriptions/1", "eventType": %q, "eventTime": "2026-01-02T03:04:05.5Z", "data": {
		"resourceUri": %q, "operationName": "Microsoft.Sql/servers/write", "correlationId": "C-1", "status": "Succeeded", "claims": {%s}}}`,
		id, eventType, group+"/providers/Microsoft.Sql/servers/s", claims))
}

const (
	write = "Microsoft.Resources.ResourceWriteSuccess"
	alice = `"name": "Alice", "http://schemas.xmlsoap.org/ws/2005/05/identity/claims/upn": "alice@contoso.com", "appid": "c44b4083-3bb0-49c1-b47d-974e53cbdf3c", "ipaddr": "10.1.2.3"`
)

// TestQueueEvents reads single messages.
func TestQueueEvents(t *testing.T) {
	now := func() time.Time { return time.Date(2026, 1, 2, 4, 0, 0, 0, time.UTC) }
	for name, tc := range map[string]struct {
		text     string
		author   string
		kind     resource.ChangeKind
		poisoned bool
		none     bool
	}{
		"a user in the portal": {text: event("1", write, alice), author: "alice@contoso.com with Azure Portal", kind: resource.ChangeUpdate},
		"an application":       {text: event("1", "Microsoft.Resources.ResourceDeleteSuccess", `"appid": "a-1", "idtyp": "app"`), author: "application a-1", kind: resource.ChangeDelete},
		"Azure itself":         {text: event("1", "Microsoft.Resources.ResourceActionSuccess", ``), author: "an unnamed writer", kind: resource.ChangeAction},
		"a cloud event": {text: `{"id": "1", "type": "Microsoft.Resources.ResourceWriteSuccess", "time": "2026-01-02T03:04:05Z", "data": {"resourceUri": "` + group + `"}}`,
			author: "an unnamed writer", kind: resource.ChangeUpdate},
		"a failed write":       {text: event("1", "Microsoft.Resources.ResourceWriteFailure", alice), none: true},
		"an event of storage":  {text: event("1", "Microsoft.Storage.BlobCreated", ``), none: true},
		"no JSON":              {text: base64.StdEncoding.EncodeToString([]byte("hello")), poisoned: true},
		"another kind of JSON": {text: `{"hello": 1}`, poisoned: true},
		"a list":               {text: `[` + strings.Repeat(`{},`, 3) + `{}]`, poisoned: true},
		"no text":              {text: "", poisoned: true},
		"a huge text":          {text: strings.Repeat("x", 1<<20), poisoned: true},
	} {
		t.Run(name, func(t *testing.T) {
			queue := &messages{waiting: []string{tc.text}, hidden: map[string]string{}}
			batch, err := feed.NewQueue(queue, now, 0).Read(t.Context(), feed.Progress{})
			if err != nil {
				t.Fatal(err)
			}
			if (batch.Poisoned == 1) != tc.poisoned || !batch.Next.Through.Equal(now()) {
				t.Errorf("%d poisoned, through %s", batch.Poisoned, batch.Next.Through)
			}
			if err := batch.Done(t.Context()); err != nil || queue.deleted != 1 {
				t.Errorf("%d messages are deleted, error %v: each leaves the queue once", queue.deleted, err)
			}
			if tc.poisoned || tc.none {
				if len(batch.Changes) != 0 {
					t.Errorf("changes %+v, want none", batch.Changes)
				}
				return
			}
			if len(batch.Changes) != 1 || batch.Changes[0].String() != tc.author || batch.Changes[0].Kind != tc.kind {
				t.Errorf("changes %+v, want one by %s", batch.Changes, tc.author)
			}
			if strings.Contains(fmt.Sprintf("%+v", batch), "10.1.2.3") {
				t.Error("a claim that names no author is kept")
			}
		})
	}
}

// Events come more than once, and in more messages than one response has.
func TestQueueReads(t *testing.T) {
	now := time.Date(2026, 1, 2, 4, 0, 0, 0, time.UTC)
	queue := &messages{hidden: map[string]string{}}
	for i := range 100 {
		queue.waiting = append(queue.waiting, event(fmt.Sprint(i/2), write, alice))
	}
	source := feed.NewQueue(queue, func() time.Time { return now }, 0)
	first, err := source.Read(t.Context(), feed.Progress{})
	if err != nil || len(first.Changes) != 50 {
		t.Fatalf("%d changes, error %v, want 50 of 100 messages", len(first.Changes), err)
	}
	queue.waiting = []string{event("7", write, alice), event("new", write, alice)}
	second, err := source.Read(t.Context(), first.Next)
	if err != nil || len(second.Changes) != 1 {
		t.Errorf("%d changes, error %v, want the new one", len(second.Changes), err)
	}
	queue.failed = errors.New("connection reset")
	if _, err := source.Read(t.Context(), second.Next); err == nil {
		t.Error("a queue that does not answer looks empty")
	}
	queue.failed = nil
	if late, err := source.Read(t.Context(), feed.Progress{Through: now.Add(-7 * 24 * time.Hour)}); err != nil || !late.Gap {
		t.Errorf("gap %t, error %v after seven days: messages have expired", late.Gap, err)
	}
}
