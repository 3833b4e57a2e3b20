package payload

import (
	"context"
	"slices"

	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"google.golang.org/grpc"
)

// withRenewedMemos makes a client encode the memo of a run that continues as new. The SDK
// carries the payloads over as they are: the memo of a workflow that lives for years would
// need the key of its first run for as long, or stay in clear.
func (c *Converters) withRenewedMemos(options *client.Options) {
	if len(c.keys.read) == 0 && len(c.codecs) == 0 {
		return
	}
	options.ConnectionOptions.DialOptions = append(slices.Clone(options.ConnectionOptions.DialOptions), grpc.WithChainUnaryInterceptor(c.renewMemos))
}

// renewMemos is the interceptor of requests. The server keeps what a run was continued with,
// and a replay does not compare it.
func (c *Converters) renewMemos(ctx context.Context, method string, request, reply any, connection *grpc.ClientConn, invoke grpc.UnaryInvoker, options ...grpc.CallOption) error {
	if completed, ok := request.(*workflowservice.RespondWorkflowTaskCompletedRequest); ok {
		for _, command := range completed.GetCommands() {
			if command.GetCommandType() != enumspb.COMMAND_TYPE_CONTINUE_AS_NEW_WORKFLOW_EXECUTION {
				continue
			}
			if next := command.GetContinueAsNewWorkflowExecutionCommandAttributes(); next.GetMemo() != nil {
				next.Memo = c.renewed(next.GetMemo())
			}
		}
	}
	return invoke(ctx, method, request, reply, connection, options...)
}

// renewed returns a memo as the converters would write it now. A value that they cannot read
// stays as it is.
func (c *Converters) renewed(memo *commonpb.Memo) *commonpb.Memo {
	fields := make(map[string]*commonpb.Payload, len(memo.GetFields()))
	for name, value := range memo.GetFields() {
		fields[name] = value
		if len(c.codecs) == 0 && KeyID(value) == c.Status().WriteKey {
			continue
		}
		decoded, err := c.Codec.Decode([]*commonpb.Payload{value})
		if err != nil {
			continue
		}
		if encoded, err := c.Codec.Encode(decoded); err == nil && len(encoded) == 1 {
			fields[name] = encoded[0]
		}
	}
	return &commonpb.Memo{Fields: fields}
}
