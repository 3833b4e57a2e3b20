package payload

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/log"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// withSealedMemos makes a client look at each memo before it leaves. The SDK writes a value in
// clear if the data converter cannot encode it, and carries the memo of a run over to the next
// one as it is: that of a workflow that lives for years would need the key of its first run for
// as long, or stay in clear.
func (c *Converters) withSealedMemos(options *client.Options) {
	if len(c.keys.read) == 0 && len(c.codecs) == 0 {
		return
	}
	options.ConnectionOptions.DialOptions = append(slices.Clone(options.ConnectionOptions.DialOptions), grpc.WithChainUnaryInterceptor((&memoSealer{c, options.Logger}).intercept))
}

// memoSealer is the interceptor of requests.
type memoSealer struct {
	*Converters
	log log.Logger // nil for none
}

// intercept fails the call of a memo that cannot be encoded. A client gets the error. A workflow
// task is not completed, and the server offers it again once it timed out: the SDK logs the error
// as information, so it is logged here. The server keeps what a run was continued with, and a
// replay does not compare memos.
func (s *memoSealer) intercept(ctx context.Context, method string, request, reply any, connection *grpc.ClientConn, invoke grpc.UnaryInvoker, options ...grpc.CallOption) error {
	for _, memo := range memosOf(request) {
		if err := s.seal(memo); err != nil {
			if _, isTask := request.(*workflowservice.RespondWorkflowTaskCompletedRequest); isTask && s.log != nil {
				s.log.Error("workflow task not completed", "WorkflowID", memo.place.WorkflowID, "Error", err)
			}
			return err
		}
	}
	return invoke(ctx, method, request, reply, connection, options...)
}

// placedMemo is a memo in a request, with the workflow that gets it.
type placedMemo struct {
	place Place
	memo  **commonpb.Memo
}

// memosOf returns the memos of a request.
func memosOf(request any) []placedMemo {
	switch r := request.(type) {
	case *workflowservice.StartWorkflowExecutionRequest:
		return []placedMemo{{Place{r.GetNamespace(), r.GetWorkflowId()}, &r.Memo}}
	case *workflowservice.SignalWithStartWorkflowExecutionRequest:
		return []placedMemo{{Place{r.GetNamespace(), r.GetWorkflowId()}, &r.Memo}}
	case *workflowservice.ExecuteMultiOperationRequest:
		var memos []placedMemo
		for _, operation := range r.GetOperations() {
			if start := operation.GetStartWorkflow(); start != nil {
				memos = append(memos, memosOf(start)...)
			}
		}
		return memos
	case *workflowservice.RespondWorkflowTaskCompletedRequest:
		return memosOfCommands(r)
	}
	return nil
}

func memosOfCommands(r *workflowservice.RespondWorkflowTaskCompletedRequest) []placedMemo {
	own := Place{r.GetNamespace(), strings.TrimPrefix(r.GetResourceId(), "workflow:")}
	var memos []placedMemo
	for _, command := range r.GetCommands() {
		if next := command.GetContinueAsNewWorkflowExecutionCommandAttributes(); next != nil {
			memos = append(memos, placedMemo{own, &next.Memo})
		}
		if modified := command.GetModifyWorkflowPropertiesCommandAttributes(); modified != nil {
			memos = append(memos, placedMemo{own, &modified.UpsertedMemo})
		}
		if child := command.GetStartChildWorkflowExecutionCommandAttributes(); child != nil {
			memos = append(memos, placedMemo{Place{r.GetNamespace(), child.GetWorkflowId()}, &child.Memo})
		}
	}
	return memos
}

// seal replaces a memo by one as the converters write it now. A value that they cannot decrypt
// stays as it is. The error has a code that the SDK does not repeat.
func (c *Converters) seal(at placedMemo) error {
	memo := *at.memo
	if len(memo.GetFields()) == 0 || isClear(at.place.context()) {
		return nil
	}
	codec := withContext(c.Codec, at.place.context())
	fields := maps.Clone(memo.GetFields())
	for name, value := range fields {
		if len(c.codecs) == 0 && KeyID(value) == c.Status().WriteKey {
			continue
		}
		encoded, err := codec.Decode([]*commonpb.Payload{value})
		if _, failed := errors.AsType[*embeddedError](err); err != nil && !failed {
			continue
		}
		if err == nil {
			encoded, err = codec.Encode(encoded)
		}
		if err == nil && len(encoded) != 1 {
			err = fmt.Errorf("a codec returned %d payloads for one", len(encoded))
		}
		if err != nil {
			return status.Errorf(codes.InvalidArgument, "nothing is sent: the memo %s cannot be encoded, and would be in clear: %v", name, err)
		}
		fields[name] = encoded[0]
	}
	*at.memo = &commonpb.Memo{Fields: fields}
	return nil
}
