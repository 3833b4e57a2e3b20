package feed

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"strings"
	"time"

	"github.com/armature-io/armature/arm"
	"github.com/armature-io/armature/resource"
)

// SourceQueue is the name of a storage queue in the configuration, and SourceEvents the name of
// Event Grid, which fills it, in the facts about types.
const (
	SourceQueue  = "queue"
	SourceEvents = "event-grid"
)

const (
	// maxMessages bounds the messages of one reading.
	maxMessages = 20 * arm.MaxMessages
	// messageLife is how long a queue certainly keeps a message: Event Grid sets seven days.
	// Source: https://learn.microsoft.com/azure/event-grid/handler-storage-queues
	messageLife = 6 * 24 * time.Hour
	// maxMessageBytes bounds a message: the largest one of a queue.
	maxMessageBytes = 96 << 10
)

// Messages is a queue of messages.
type Messages interface {
	Receive(ctx context.Context) ([]arm.Message, error)
	Delete(ctx context.Context, message arm.Message) error
}

// queueSource reads the events of a subscription from a storage queue.
type queueSource struct {
	queue Messages
	now   func() time.Time
	// collect is how long further messages are awaited after the first ones.
	collect time.Duration
}

// NewQueue returns the source that reads a queue. After the first messages it collects for a
// while: one operation raises several events.
func NewQueue(queue Messages, now func() time.Time, collect time.Duration) Source {
	return &queueSource{queue, now, collect}
}

// Name returns SourceEvents: the queue has what Event Grid reports.
func (q *queueSource) Name() string { return SourceEvents }

// Read receives the messages of the queue. They are deleted once their changes were delivered.
func (q *queueSource) Read(ctx context.Context, progress Progress) (Batch, error) {
	now := q.now().UTC()
	batch := Batch{Gap: !progress.Through.IsZero() && now.Sub(progress.Through) > messageLife, Next: progress}
	received, drained, err := q.receive(ctx)
	if err != nil {
		return Batch{}, err
	}
	seen := map[string]bool{}
	for _, known := range progress.Seen {
		seen[known] = true
	}
	for _, message := range received {
		found, ok := parseEvent(message.Text)
		switch key := digest(found.id); {
		case !ok:
			batch.Poisoned++
		case found.change.ID.IsZero() || seen[key]:
		default:
			seen[key] = true
			batch.Next.Seen = append(batch.Next.Seen, key)
			batch.Changes = append(batch.Changes, found.change)
		}
	}
	batch.Next.Seen = keepSeen(batch.Next.Seen)
	if drained {
		batch.Next.Through = now
	}
	batch.Done = func(ctx context.Context) error {
		for _, message := range received {
			if err := q.queue.Delete(ctx, message); err != nil {
				return err
			}
		}
		return nil
	}
	return batch, nil
}

// receive receives what is in the queue, and reports whether nothing is left. An error after the
// first messages ends it: they are delivered, and the next reading meets the error.
func (q *queueSource) receive(ctx context.Context) (received []arm.Message, drained bool, err error) {
	collected := false
	for len(received) < maxMessages {
		messages, err := q.queue.Receive(ctx)
		if err != nil {
			if len(received) > 0 {
				return received, false, nil
			}
			return nil, false, err
		}
		received = append(received, messages...)
		if len(messages) == arm.MaxMessages {
			continue
		}
		if collected || len(received) == 0 {
			return received, true, nil
		}
		collected = true
		timer := time.NewTimer(q.collect)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return received, false, nil
		}
	}
	return received, false, nil
}

// event is an event of Event Grid in its own schema or in that of CloudEvents. Of the claims only
// those that name the author are read.
type event struct {
	ID        string    `json:"id"`
	EventType string    `json:"eventType"`
	EventTime time.Time `json:"eventTime"`
	Type      string    `json:"type"`
	Time      time.Time `json:"time"`
	Data      struct {
		ResourceURI   string `json:"resourceUri"`
		OperationName string `json:"operationName"`
		CorrelationID string `json:"correlationId"`
		Claims        struct {
			UPN    string `json:"http://schemas.xmlsoap.org/ws/2005/05/identity/claims/upn"`
			Name   string `json:"name"`
			AppID  string `json:"appid"`
			IDType string `json:"idtyp"`
		} `json:"claims"`
	} `json:"data"`
}

// eventChange is the change of an event; its ID is zero if the event is about no change.
type eventChange struct {
	id     string
	change Change
}

// eventKinds are the events about changes. An event does not separate creations from updates.
// Source: https://learn.microsoft.com/azure/event-grid/event-schema-subscriptions
var eventKinds = map[string]resource.ChangeKind{
	"Microsoft.Resources.ResourceWriteSuccess":  resource.ChangeUpdate,
	"Microsoft.Resources.ResourceDeleteSuccess": resource.ChangeDelete,
	"Microsoft.Resources.ResourceActionSuccess": resource.ChangeAction,
}

// clients are the programs of Microsoft that act for a user, by their application IDs.
// Source: https://learn.microsoft.com/troubleshoot/entra/entra-id/governance/verify-first-party-apps-sign-in
var clients = map[string]string{
	"c44b4083-3bb0-49c1-b47d-974e53cbdf3c": "Azure Portal",
	"04b07795-8ddb-461a-bbee-02f9e1bf7b46": "Azure CLI",
	"1950a258-227b-4e31-a9cf-717495945fc2": "Azure PowerShell",
}

// parseEvent reads a message, and reports false for one that is no event of a subscription.
func parseEvent(text string) (eventChange, bool) {
	if len(text) > maxMessageBytes {
		return eventChange{}, false
	}
	decoded, err := base64.StdEncoding.DecodeString(strings.TrimSpace(text))
	if err != nil {
		decoded = []byte(text)
	}
	var e event
	if json.Unmarshal(decoded, &e) != nil {
		return eventChange{}, false
	}
	name, at := cmp.Or(e.EventType, e.Type), e.EventTime
	if at.IsZero() {
		at = e.Time
	}
	if e.ID == "" || !strings.HasPrefix(name, "Microsoft.") || at.IsZero() {
		return eventChange{}, false
	}
	found := eventChange{id: e.ID}
	kind, known := eventKinds[name]
	id, err := resource.ParseID(e.Data.ResourceURI)
	if !known || err != nil {
		return found, true
	}
	found.change = Change{ID: id, ReportedChange: resource.ReportedChange{
		At: at.UTC(), Kind: kind, Operation: strings.ToLower(e.Data.OperationName), Correlation: strings.ToLower(e.Data.CorrelationID),
		ReportedAuthor: e.author(),
	}}
	return found, true
}

// author returns the writer of an event.
func (e event) author() resource.ReportedAuthor {
	claims := e.Data.Claims
	author := resource.NewReportedAuthor(cmp.Or(claims.UPN, claims.Name), "User", clients[strings.ToLower(claims.AppID)])
	switch {
	case strings.EqualFold(claims.IDType, "app"), author.Name == "" && claims.AppID != "":
		return resource.NewReportedAuthor(claims.AppID, "Application", "")
	case author.Name == "":
		return resource.ReportedAuthor{}
	}
	return author
}
