package payload

import (
	"context"
	"errors"

	commonpb "go.temporal.io/api/common/v1"
	failurepb "go.temporal.io/api/failure/v1"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/workflow"
	"google.golang.org/protobuf/proto"
)

// data is the data converter outside of workflows. One workflow converter serves all
// workflows, because each of thousands would keep its own.
type data struct {
	converter.DataConverter
	inWorkflows *blocking
	// embedded is set where a part of an embedder may call a server.
	embedded bool
}

func newData(base converter.DataConverter, codec converter.PayloadCodec, embedded bool) *data {
	return wrap(converter.NewCodecDataConverter(base, codec), embedded)
}

func wrap(inner converter.DataConverter, embedded bool) *data {
	return &data{inner, &blocking{inner}, embedded}
}

// WithWorkflowContext returns the data converter of workflows. One with parts of an embedder
// may take longer than the second after which the SDK takes workflow code for deadlocked.
func (d *data) WithWorkflowContext(ctx workflow.Context) converter.DataConverter {
	if !d.embedded {
		return d.inWorkflows
	}
	return workflow.DataConverterWithoutDeadlockDetection(d.inWorkflows).(workflow.ContextAware).WithWorkflowContext(ctx) //nolint:forcetypeassert // the SDK implements it
}

// WithContext returns the same converter: activities and clients get errors.
func (d *data) WithContext(context.Context) converter.DataConverter { return d }

// WithSerializationContext passes the context to a base converter that uses it.
func (d *data) WithSerializationContext(ctx converter.SerializationContext) converter.DataConverter {
	if next := converter.WithDataConverterSerializationContext(d.DataConverter, ctx); next != d.DataConverter {
		return wrap(next, d.embedded)
	}
	return d
}

// blocking is the data converter of workflows.
type blocking struct{ converter.DataConverter }

// FromPayload converts a payload, and panics where its key is not configured.
func (b *blocking) FromPayload(p *commonpb.Payload, value any) error {
	return orBlock(b.DataConverter.FromPayload(p, value))
}

// FromPayloads converts payloads, and panics where a key is not configured.
func (b *blocking) FromPayloads(p *commonpb.Payloads, values ...any) error {
	return orBlock(b.DataConverter.FromPayloads(p, values...))
}

// ToPayload converts a value, and panics where a codec of an embedder fails.
func (b *blocking) ToPayload(value any) (*commonpb.Payload, error) {
	p, err := b.DataConverter.ToPayload(value)
	return p, orBlock(err)
}

// ToPayloads converts values, and panics where a codec of an embedder fails.
func (b *blocking) ToPayloads(values ...any) (*commonpb.Payloads, error) {
	p, err := b.DataConverter.ToPayloads(values...)
	return p, orBlock(err)
}

// orBlock fails the workflow task of a missing key: the server repeats it until a worker
// with the key takes it. Data that was altered fails it, too, and a codec of an embedder that
// fails, in both directions.
func orBlock(err error) error {
	if missing, ok := errors.AsType[*MissingKeyError](err); ok {
		panic(missing) //nolint:forbidigo // the SDK fails a workflow task by a panic alone
	}
	if _, failed := errors.AsType[*embeddedError](err); failed || errors.Is(err, errAltered) {
		panic(err) //nolint:forbidigo // see above
	}
	return err
}

// failures converts errors, also those with a key that is not configured.
type failures struct {
	converter.FailureConverter
	data converter.DataConverter
	// block panics at a missing key, for workflows.
	block bool
}

// FailureToError converts a failure. The SDK would leave "Encoded failure" as the message
// of one that it cannot decode.
func (f *failures) FailureToError(failure *failurepb.Failure) error {
	if err := f.unreadable(failure); err != nil {
		if f.block {
			_ = orBlock(err)
		}
		failure = proto.CloneOf(failure)
		for part := failure; part != nil; part = part.GetCause() {
			if err := f.read(part.GetEncodedAttributes()); err != nil {
				part.Message, part.EncodedAttributes = err.Error(), nil
			}
		}
	}
	return f.FailureConverter.FailureToError(failure)
}

// unreadable returns why a failure or one of its causes cannot be decoded.
func (f *failures) unreadable(failure *failurepb.Failure) error {
	for part := failure; part != nil; part = part.GetCause() {
		if err := f.read(part.GetEncodedAttributes()); err != nil {
			return err
		}
	}
	return nil
}

func (f *failures) read(attributes *commonpb.Payload) error {
	if attributes == nil {
		return nil
	}
	var ignored any
	return f.data.FromPayload(attributes, &ignored) //nolint:wrapcheck // the text is for users
}

// Message returns the message of a failure as it was before it was encoded, or why it
// cannot be decoded.
func (c *Converters) Message(failure *failurepb.Failure) string {
	var encoded struct {
		Message string `json:"message"`
	}
	attributes := failure.GetEncodedAttributes()
	if attributes == nil {
		return failure.GetMessage()
	}
	if err := c.Data.FromPayload(attributes, &encoded); err != nil {
		return err.Error()
	}
	return encoded.Message
}
