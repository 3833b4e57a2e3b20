package arm

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"
)

const (
	// MaxMessages is the largest number of messages of one response.
	// Source: https://learn.microsoft.com/rest/api/storageservices/get-messages
	MaxMessages = 32
	// messageVisibility is how long a message that was received is hidden from other readers: if
	// it is not deleted by then, it is received again.
	messageVisibility = 5 * time.Minute
	// queueTimeout bounds one request.
	queueTimeout = 20 * time.Second
)

// CallQueue is a request to a storage queue.
const CallQueue Call = "queue"

// QueueOptions configures a Queue.
type QueueOptions struct {
	// URL is that of the queue: https://ACCOUNT.queue.core.windows.net/QUEUE.
	URL string
	// Credential issues the tokens; nil sends none, which is allowed to loopback only.
	Credential azcore.TokenCredential
	// Transport and Observer are as in Options.
	Transport policy.Transporter
	Observer  func(Request)
}

// Queue receives messages of a storage queue.
type Queue struct{ client *azqueue.QueueClient }

// Message is a message that was received.
type Message struct {
	ID, Text string
	// Receipt allows to delete the message while it is hidden.
	Receipt string
}

// NewQueue returns a client; it sends nothing.
func NewQueue(options QueueOptions) (*Queue, error) {
	target, err := url.Parse(strings.TrimRight(options.URL, "/"))
	switch {
	case err != nil || target.Host == "" || strings.Trim(target.Path, "/") == "" || target.RawQuery != "" || target.User != nil:
		return nil, errors.New("must be the URL of a storage queue without a query: https://ACCOUNT.queue.core.windows.net/QUEUE")
	case target.Scheme != "https" && (target.Scheme != "http" || !loopback(target)):
		return nil, errors.New("must begin with https://")
	case options.Credential == nil && !loopback(target):
		return nil, errors.New("needs a credential: none is allowed for loopback only")
	}
	transport, err := preparedTransport(options.Transport)
	if err != nil {
		return nil, err
	}
	client := &azqueue.ClientOptions{ClientOptions: azcore.ClientOptions{
		Retry:     policy.RetryOptions{MaxRetries: -1},
		Telemetry: policy.TelemetryOptions{Disabled: true},
		Transport: &guardedTransport{next: transport, endpoint: target, now: time.Now, observe: options.Observer, hosted: true},
	}}
	var queue *azqueue.QueueClient
	if options.Credential == nil || target.Scheme == "http" {
		queue, err = azqueue.NewQueueClientWithNoCredential(target.String(), client)
	} else {
		queue, err = azqueue.NewQueueClient(target.String(), guardCredential(options.Credential), client)
	}
	if err != nil {
		return nil, fmt.Errorf("storage queue: %w", err)
	}
	return &Queue{queue}, nil
}

// Receive returns at most MaxMessages messages, none if the queue is empty, and hides them for
// five minutes. Errors of the service are an *Error.
func (q *Queue) Receive(ctx context.Context) ([]Message, error) {
	ctx, cancel := queueContext(ctx)
	defer cancel()
	count, visibility := int32(MaxMessages), int32(messageVisibility/time.Second)
	response, err := q.client.DequeueMessages(ctx, &azqueue.DequeueMessagesOptions{NumberOfMessages: &count, VisibilityTimeout: &visibility})
	if err != nil {
		return nil, queueError("receive messages", err)
	}
	var messages []Message
	for _, m := range response.Messages {
		if m != nil && m.MessageID != nil && m.PopReceipt != nil {
			message := Message{ID: *m.MessageID, Receipt: *m.PopReceipt}
			if m.MessageText != nil {
				message.Text = *m.MessageText
			}
			messages = append(messages, message)
		}
	}
	return messages, nil
}

// Delete removes a message that was received. One that is gone, or that another reader has
// received since, is no error.
func (q *Queue) Delete(ctx context.Context, message Message) error {
	ctx, cancel := queueContext(ctx)
	defer cancel()
	_, err := q.client.DeleteMessage(ctx, message.ID, message.Receipt, nil)
	if failure, ok := errors.AsType[*azcore.ResponseError](err); ok && (failure.StatusCode == http.StatusNotFound || failure.ErrorCode == "PopReceiptMismatch") {
		return nil
	}
	if err != nil {
		return queueError("delete a message", err)
	}
	return nil
}

// queueContext returns the context of one request. A message is no resource, and its removal no
// write.
func queueContext(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithTimeout(ctx, queueTimeout)
	return withRoundTrip(ctx, &roundTrip{call: CallQueue, typ: "Microsoft.Storage/storageAccounts", reads: true}), cancel
}

// queueError returns the error of a request, with the code of the service and without its URL.
func queueError(what string, err error) error {
	failure, ok := errors.AsType[*azcore.ResponseError](err)
	if !ok {
		return fmt.Errorf("storage queue: %s: %w", what, withoutURL(err))
	}
	code := failure.ErrorCode
	if !apiVersionPattern.MatchString(code) {
		code = "without a code"
	}
	return &Error{Status: failure.StatusCode, Code: code, Message: "the storage queue refused to " + what}
}
