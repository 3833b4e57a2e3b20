package service

import (
	"context"
	"sync"

	commonpb "go.temporal.io/api/common/v1"
	historypb "go.temporal.io/api/history/v1"
	"google.golang.org/grpc"
)

// Bounds of what is kept to be shared: payloads of so many bytes at most, and so
// many of them. When there is no more room it begins anew.
const (
	sharedBytes = 128
	sharedMost  = 2000
)

// onePayload lets runs share the payloads with which they were started: memo and
// search attributes stay in memory with each run that the SDK keeps, and most of
// them say the same of many runs, the type, the subscription or a label. All of
// them have the metadata "json/plain". Nobody writes to a payload that was received.
type onePayload struct {
	mu       sync.Mutex
	names    map[string]string
	metadata map[string]map[string][]byte
	payloads map[string]*commonpb.Payload
}

func newOnePayload() *onePayload {
	o := &onePayload{}
	o.forget()
	return o
}

func (o *onePayload) forget() {
	o.names, o.metadata, o.payloads = map[string]string{}, map[string]map[string][]byte{}, map[string]*commonpb.Payload{}
}

// intercept is a gRPC interceptor.
func (o *onePayload) intercept(
	ctx context.Context, method string, request, reply any, connection *grpc.ClientConn, invoke grpc.UnaryInvoker, options ...grpc.CallOption,
) error {
	err := invoke(ctx, method, request, reply, connection, options...)
	if err != nil {
		return err
	}
	if answer, is := reply.(interface{ GetHistory() *historypb.History }); is && len(answer.GetHistory().GetEvents()) > 0 {
		started := answer.GetHistory().GetEvents()[0].GetWorkflowExecutionStartedEventAttributes()
		if memo := started.GetMemo(); memo != nil {
			memo.Fields = o.share(memo.GetFields())
		}
		if attributes := started.GetSearchAttributes(); attributes != nil {
			attributes.IndexedFields = o.share(attributes.GetIndexedFields())
		}
		o.shareMetadata(started.GetInput().GetPayloads())
	}
	return nil
}

// share is the same fields, of names and payloads that others have too.
func (o *onePayload) share(fields map[string]*commonpb.Payload) map[string]*commonpb.Payload {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.names)+len(o.metadata)+len(o.payloads) >= sharedMost {
		o.forget()
	}
	shared := make(map[string]*commonpb.Payload, len(fields))
	for name, payload := range fields {
		shared[first(o.names, name, name)] = o.payload(payload)
	}
	return shared
}

// shareMetadata is for payloads of which no two are the same.
func (o *onePayload) shareMetadata(payloads []*commonpb.Payload) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, payload := range payloads {
		o.metadataOf(payload)
	}
}

// metadataOf gives a payload the metadata that was seen first, and names them.
func (o *onePayload) metadataOf(payload *commonpb.Payload) string {
	if len(payload.GetMetadata()) == 0 {
		return ""
	}
	key := mapKey(payload.GetMetadata())
	payload.Metadata = first(o.metadata, key, payload.GetMetadata())
	return key
}

func (o *onePayload) payload(payload *commonpb.Payload) *commonpb.Payload {
	if payload == nil {
		return nil
	}
	key := o.metadataOf(payload)
	if len(payload.GetData()) > sharedBytes || len(payload.GetExternalPayloads()) > 0 {
		return payload
	}
	return first(o.payloads, key+"\x00"+string(payload.GetData()), payload)
}

// first is what was known by the key first: value, where nothing was.
func first[T any](known map[string]T, key string, value T) T {
	if before, is := known[key]; is {
		return before
	}
	known[key] = value
	return value
}
