package service

import (
	"context"
	"slices"
	"strings"
	"sync"

	commonpb "go.temporal.io/api/common/v1"
	historypb "go.temporal.io/api/history/v1"
	"google.golang.org/grpc"
)

// metadataMost bounds the metadata that are kept: there is one for each encoding
// and type of search attribute.
const metadataMost = 100

// oneMetadata lets the payloads with which runs were started share their metadata:
// memo and search attributes stay in memory with each run that the SDK keeps, and
// the map that says "json/plain" is worth 400 bytes, ten times a run. Nobody writes
// to the metadata of a payload that was received.
type oneMetadata struct {
	mu    sync.Mutex
	known map[string]map[string][]byte
}

// intercept is a gRPC interceptor.
func (o *oneMetadata) intercept(
	ctx context.Context, method string, request, reply any, connection *grpc.ClientConn, invoke grpc.UnaryInvoker, options ...grpc.CallOption,
) error {
	err := invoke(ctx, method, request, reply, connection, options...)
	if err != nil {
		return err
	}
	if answer, is := reply.(interface{ GetHistory() *historypb.History }); is && len(answer.GetHistory().GetEvents()) > 0 {
		started := answer.GetHistory().GetEvents()[0].GetWorkflowExecutionStartedEventAttributes()
		o.share(started.GetMemo().GetFields())
		o.share(started.GetSearchAttributes().GetIndexedFields())
	}
	return nil
}

func (o *oneMetadata) share(payloads map[string]*commonpb.Payload) {
	for _, payload := range payloads {
		if metadata := payload.GetMetadata(); len(metadata) > 0 {
			payload.Metadata = o.one(metadata)
		}
	}
}

// one is the metadata that was seen first.
func (o *oneMetadata) one(metadata map[string][]byte) map[string][]byte {
	words := make([]string, 0, len(metadata))
	for name, value := range metadata {
		words = append(words, name+"\x00"+string(value))
	}
	slices.Sort(words)
	key := strings.Join(words, "\x00")
	o.mu.Lock()
	defer o.mu.Unlock()
	if known, is := o.known[key]; is {
		return known
	}
	if len(o.known) < metadataMost {
		o.known[key] = metadata
	}
	return metadata
}
