package armsim

import (
	"encoding/base64"
	"encoding/xml"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// storageQueue is a queue of a storage account.
type storageQueue struct {
	account, name string
	resource      string   // its ID in Resource Manager; "" if it was made otherwise
	subscriptions []string // whose events it gets; "" for all
	messages      []*queueMessage
}

// queueMessage is a message. Times are simulated.
type queueMessage struct {
	id, text string
	arrives  time.Time // when Event Grid delivers it
	visible  time.Time
	expires  time.Time
	receipt  string
	dequeued int // how often it was handed out
}

func queueKey(account, name string) string { return strings.ToLower(account + "/" + name) }

// findQueue returns a queue, nil if it is absent. A queue that is a resource exists as
// long as the resource does.
func (s *Simulator) findQueue(account, name string) *storageQueue {
	if queue := s.queues[queueKey(account, name)]; queue != nil {
		if queue.resource == "" || s.find(queue.resource) != nil {
			return queue
		}
		delete(s.queues, queueKey(account, name))
	}
	if r := s.queueResource(account, name); r != nil {
		queue := s.addQueue(account, name)
		queue.resource = r.id
		return queue
	}
	return nil
}

func (s *Simulator) addQueue(account, name string) *storageQueue {
	queue := &storageQueue{account: account, name: name}
	s.queues[queueKey(account, name)] = queue
	return queue
}

func (s *Simulator) addMessage(queue *storageQueue, body string, at time.Time, lifetime time.Duration) *queueMessage {
	m := &queueMessage{id: s.reports.newGUID(), text: body, arrives: at, visible: at, expires: at.Add(lifetime), receipt: s.newReceipt()}
	queue.messages = bounded(append(queue.messages, m), maxChanges)
	return m
}

// newReceipt returns a pop receipt. Those of Azure are base64 too, with its signs that a
// URL must escape.
func (s *Simulator) newReceipt() string {
	var b [24]byte
	s.reports.random.Read(b[:]) // math/rand never fails
	b[0] = 0xfb                 // begins with "+"
	return base64.StdEncoding.EncodeToString(b[:])
}

func (s *Simulator) dropExpiredMessages(queue *storageQueue) {
	now := s.clock.now()
	queue.messages = slices.DeleteFunc(queue.messages, func(m *queueMessage) bool { return !now.Before(m.expires) })
}

// arrivedMessages returns the messages in a queue, visible or not.
func (s *Simulator) arrivedMessages(queue *storageQueue) []*queueMessage {
	now := s.clock.now()
	return slices.DeleteFunc(slices.Clone(queue.messages), func(m *queueMessage) bool { return now.Before(m.arrives) })
}

// getMessages hands out the messages that are visible, in the order in which they became
// visible. Each is invisible for the visibility timeout, and has a new pop receipt.
func (s *Simulator) getMessages(q *request, queue *storageQueue, peek bool) *response {
	count, refused := s.queueParameter(q, "numofmessages", 1, 1, maxMessages)
	if refused != nil {
		return refused
	}
	hidden, refused := s.queueParameter(q, "visibilitytimeout", defaultVisibility, 1, maxVisibility)
	if refused != nil {
		return refused
	}
	now := s.clock.now()
	visible := slices.DeleteFunc(s.arrivedMessages(queue), func(m *queueMessage) bool { return now.Before(m.visible) })
	slices.SortStableFunc(visible, func(a, b *queueMessage) int { return a.visible.Compare(b.visible) })
	items := []queueItem{}
	for _, m := range visible[:min(count, len(visible))] {
		if !peek {
			m.dequeued++
			m.receipt, m.visible = s.newReceipt(), now.Add(s.ofRealSeconds(hidden))
		}
		items = append(items, s.queueItem(m, !peek, true))
	}
	return messageList(http.StatusOK, items)
}

// queueItem returns a message as responses have it: times in real time.
func (s *Simulator) queueItem(m *queueMessage, receipt, body bool) queueItem {
	item := queueItem{MessageID: m.id, InsertionTime: s.queueTime(m.arrives), ExpirationTime: s.queueTime(m.expires)}
	if receipt {
		item.PopReceipt, item.TimeNextVisible = m.receipt, s.queueTime(m.visible)
	}
	if body {
		item.DequeueCount, item.MessageText = &m.dequeued, &m.text
	}
	return item
}

// queueTime returns a simulated time as clients see it.
func (s *Simulator) queueTime(at time.Time) string {
	left := time.Duration(float64(at.Sub(s.clock.now())) / s.clock.scale)
	return s.options.Clock().Add(left).UTC().Format(http.TimeFormat)
}

// ofRealSeconds returns the simulated time of a number of real seconds: a client that asks
// for a visibility timeout counts it with its own clock.
func (s *Simulator) ofRealSeconds(n int) time.Duration {
	return time.Duration(float64(n) * s.clock.scale * float64(time.Second))
}

// queueParameter reads a number of the query.
func (s *Simulator) queueParameter(q *request, name string, absent, least, most int) (int, *response) {
	value := q.r.URL.Query().Get(name)
	if value == "" {
		return absent, nil
	}
	n, err := strconv.Atoi(value)
	switch {
	case err != nil:
		return 0, s.queueError(q, http.StatusBadRequest, "InvalidQueryParameterValue", "Value for one of the query parameters specified in the request URI is invalid.", "")
	case n < least || n > most:
		return 0, s.queueError(q, http.StatusBadRequest, "OutOfRangeQueryParameterValue", "One of the query parameters specified in the request URI is outside the permissible range.", "")
	}
	return n, nil
}

// readMessage reads the text of a message in a request.
func (s *Simulator) readMessage(q *request) (string, *response) {
	var document struct {
		XMLName     xml.Name `xml:"QueueMessage"`
		MessageText string
	}
	if err := xml.Unmarshal(q.body, &document); err != nil {
		return "", s.queueError(q, http.StatusBadRequest, "InvalidXmlDocument", "XML specified is not syntactically valid.", "")
	}
	if len(document.MessageText) > maxQueueMessage {
		return "", s.queueError(q, http.StatusRequestEntityTooLarge, "RequestBodyTooLarge", "The request body is too large and exceeds the maximum permissible limit.", "")
	}
	return document.MessageText, nil
}

// postMessage serves Put Message.
func (s *Simulator) postMessage(q *request, queue *storageQueue) *response {
	body, refused := s.readMessage(q)
	if refused != nil {
		return refused
	}
	hidden, refused := s.queueParameter(q, "visibilitytimeout", 0, 0, maxVisibility)
	if refused != nil {
		return refused
	}
	lifetime, refused := s.queueParameter(q, "messagettl", int(messageLifetime.Seconds()), 1, 1<<31-1)
	if refused != nil {
		return refused
	}
	m := s.addMessage(queue, body, s.clock.now(), s.ofRealSeconds(lifetime))
	m.visible = m.visible.Add(s.ofRealSeconds(hidden))
	return messageList(http.StatusCreated, []queueItem{s.queueItem(m, true, false)})
}

// serveMessage serves Delete Message and Update Message, which need the receipt of the last
// time at which the message was handed out or updated.
func (s *Simulator) serveMessage(q *request, queue *storageQueue, id string) *response {
	query := q.r.URL.Query()
	at := slices.IndexFunc(queue.messages, func(m *queueMessage) bool { return m.id == id && !s.clock.now().Before(m.arrives) })
	switch {
	case !query.Has("popreceipt") || q.r.Method == http.MethodPut && !query.Has("visibilitytimeout"):
		return s.queueError(q, http.StatusBadRequest, "MissingRequiredQueryParameter", "A query parameter that's mandatory for this request is not specified.", "")
	case at < 0:
		return s.queueError(q, http.StatusNotFound, "MessageNotFound", "The specified message does not exist.", "")
	case queue.messages[at].receipt != query.Get("popreceipt"):
		return s.queueError(q, http.StatusBadRequest, "PopReceiptMismatch", "The specified pop receipt did not match the pop receipt for a dequeued message.", "")
	}
	m := queue.messages[at]
	switch q.r.Method {
	case http.MethodDelete:
		queue.messages = slices.Delete(queue.messages, at, at+1)
		return newResponse(http.StatusNoContent, nil)
	case http.MethodPut:
		return s.updateMessage(q, m)
	}
	return s.queueVerbError(q)
}

// updateMessage changes the time at which a message becomes visible, and its text if there
// is one in the request.
func (s *Simulator) updateMessage(q *request, m *queueMessage) *response {
	hidden, refused := s.queueParameter(q, "visibilitytimeout", 0, 0, maxVisibility)
	if refused != nil {
		return refused
	}
	if len(q.body) > 0 {
		body, refused := s.readMessage(q)
		if refused != nil {
			return refused
		}
		m.text = body
	}
	m.receipt, m.visible = s.newReceipt(), s.clock.now().Add(s.ofRealSeconds(hidden))
	resp := newResponse(http.StatusNoContent, nil)
	resp.header.Set("X-Ms-Popreceipt", m.receipt)
	resp.header.Set("X-Ms-Time-Next-Visible", s.queueTime(m.visible))
	return resp
}

// QueueSubscription lets a queue get the events of a subscription. It creates the queue if
// it is absent.
type QueueSubscription struct {
	Account string `json:"account"`
	Queue   string `json:"queue"`
	// Subscription is the GUID of a subscription; "" is every one.
	Subscription string `json:"subscription,omitempty"`
}

// SubscribeQueue lets a queue get the events of later changes.
func (s *Simulator) SubscribeQueue(in QueueSubscription) error {
	if in.Account == "" || in.Queue == "" {
		return fmt.Errorf("subscribe the queue %q of account %q: both need a name", in.Queue, in.Account)
	}
	s.locked(func() { s.subscribe(in) })
	return nil
}

func (s *Simulator) subscribe(in QueueSubscription) {
	queue := s.findQueue(in.Account, in.Queue)
	if queue == nil {
		queue = s.addQueue(in.Account, in.Queue)
	}
	if !slices.Contains(queue.subscriptions, in.Subscription) {
		queue.subscriptions = append(queue.subscriptions, in.Subscription)
	}
}

// Poison is a message that a reader of events must survive.
type Poison struct {
	Account string `json:"account"`
	Queue   string `json:"queue"`
	// Kind is text (no base64), json (base64 of something else than JSON), type (an event of
	// an unknown type), shape (JSON with members of other kinds than those of an event), or
	// huge (an event of nearly 64 KiB). With Text it is ignored.
	Kind string `json:"kind,omitempty"`
	// Text is the text of the message as it is.
	Text string `json:"text,omitempty"`
}

// PoisonQueue puts a message in a queue, visible at once.
func (s *Simulator) PoisonQueue(in Poison) error {
	body := in.Text
	if body == "" {
		made, ok := poisonText(in.Kind)
		if !ok {
			return fmt.Errorf("poison %s/%s: the kind %q is not text, json, type, shape or huge", in.Account, in.Queue, in.Kind)
		}
		body = made
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	queue := s.findQueue(in.Account, in.Queue)
	if queue == nil {
		return fmt.Errorf("poison %s/%s: there is no such queue", in.Account, in.Queue)
	}
	s.addMessage(queue, body, s.clock.now(), messageLifetime)
	return nil
}

// poisonText returns the text of a kind of poison.
func poisonText(kind string) (string, bool) {
	encode := func(content string) (string, bool) { return base64.StdEncoding.EncodeToString([]byte(content)), true }
	event := func(eventType, filler string) (string, bool) {
		return encode(`{"id":"6f9619ff-8b86-d011-b42d-00cf4fc964ff","topic":"/subscriptions/11111111-2222-3333-4444-555555555555","subject":"/subscriptions/11111111-2222-3333-4444-555555555555/resourceGroups/rg",` +
			`"eventType":"` + eventType + `","eventTime":"2026-11-30T15:00:00Z","data":{"filler":"` + filler + `"},"dataVersion":"2","metadataVersion":"1"}`)
	}
	switch kind {
	case "text":
		return "not base64 <&> at all", true
	case "json":
		return encode("not JSON")
	case "type":
		return event("Microsoft.Storage.BlobCreated", "")
	case "shape":
		return encode(`[{"id":7,"eventType":["x"],"data":"none"}]`)
	case "huge":
		return event("Microsoft.Resources.ResourceWriteSuccess", strings.Repeat("x", 48_000))
	}
	return "", false
}

// QueueStatus is a queue as the control API reports it.
type QueueStatus struct {
	Account  string `json:"account"`
	Queue    string `json:"queue"`
	Messages int    `json:"messages"` // in the queue, visible or not
	Coming   int    `json:"coming"`   // events that are not delivered yet
}

// Queues returns the queues in order of their accounts and names.
func (s *Simulator) Queues() []QueueStatus {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.completeDueOperations()
	found := []QueueStatus{}
	for _, name := range slices.Sorted(maps.Keys(s.queues)) {
		queue := s.queues[name]
		s.dropExpiredMessages(queue)
		arrived := len(s.arrivedMessages(queue))
		found = append(found, QueueStatus{Account: queue.account, Queue: queue.name, Messages: arrived, Coming: len(queue.messages) - arrived})
	}
	return found
}
