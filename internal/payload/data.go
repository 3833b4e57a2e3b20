package payload

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	failurepb "go.temporal.io/api/failure/v1"
	"go.temporal.io/sdk/activity"
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
	// clear converts payloads that stay clear; nil in itself.
	clear *data
	// sealed refuses clear payloads, for runs that began at since or later; nil in itself, and
	// if clear payloads are readable everywhere.
	sealed *data
	since  time.Time
	// at is the place, nil for none.
	at converter.SerializationContext
	// run is set for the environment of a run that began at since or later: the SDK decodes the
	// arguments of updates by it, and passes it no workflow context.
	run atomic.Pointer[updates]
}

// updates are those of a run.
type updates struct{ ctx workflow.Context }

func newData(base converter.DataConverter, codec converter.PayloadCodec, embedded bool) *data {
	return wrap(converter.NewCodecDataConverter(base, codec), embedded)
}

func wrap(inner converter.DataConverter, embedded bool) *data {
	return &data{DataConverter: inner, inWorkflows: &blocking{DataConverter: inner}, embedded: embedded}
}

// WithWorkflowContext returns the data converter of workflows. One with parts of an embedder
// may take longer than the second after which the SDK takes workflow code for deadlocked.
func (d *data) WithWorkflowContext(ctx workflow.Context) converter.DataConverter {
	in := d.inWorkflows
	if sealed := d.sealedIn(ctx); sealed != nil {
		in = &blocking{sealed.DataConverter, ctx}
	}
	if !d.embedded {
		return in
	}
	return workflow.DataConverterWithoutDeadlockDetection(in).(workflow.ContextAware).WithWorkflowContext(ctx) //nolint:forcetypeassert // the SDK implements it
}

// WithContext returns the converter of an activity, whose input and heartbeats are younger than
// its start. It is the same one for clients.
func (d *data) WithContext(ctx context.Context) converter.DataConverter {
	if _, ok := d.at.(converter.ActivitySerializationContext); ok && d.sealed != nil && activity.IsActivity(ctx) {
		return d.from(activity.GetInfo(ctx).ScheduledTime)
	}
	return d
}

// sealedIn returns the converter that refuses clear payloads, nil if they are readable in the
// run. The environment of a run decodes its input first, by a context: then d learns of the run.
func (d *data) sealedIn(ctx workflow.Context) *data {
	if d.sealed == nil || d.from(workflow.GetInfo(ctx).WorkflowStartTime) == d {
		return nil
	}
	if _, ok := d.at.(converter.WorkflowSerializationContext); ok && d.run.Load() == nil {
		d.run.Store(&updates{workflow.WithValue(ctx, readingKey{}, readsUpdates)})
	}
	return d.sealed
}

// FromPayload converts a payload.
func (d *data) FromPayload(p *commonpb.Payload, value any) error {
	if run := d.run.Load(); run != nil {
		return orWait(run.ctx, d.sealed.FromPayload(p, value))
	}
	return d.DataConverter.FromPayload(p, value) //nolint:wrapcheck // it is the same converter
}

// FromPayloads converts payloads.
func (d *data) FromPayloads(p *commonpb.Payloads, values ...any) error {
	if run := d.run.Load(); run != nil {
		return orWait(run.ctx, d.sealed.FromPayloads(p, values...))
	}
	return d.DataConverter.FromPayloads(p, values...) //nolint:wrapcheck // see above
}

// from returns the converter of a run, or of an activity, that began at a time.
func (d *data) from(began time.Time) *data {
	if d.sealed == nil || began.Before(d.since) {
		return d
	}
	return d.sealed
}

// WithSerializationContext returns the converter of a place, and passes the place to the parts
// of an embedder.
func (d *data) WithSerializationContext(ctx converter.SerializationContext) converter.DataConverter {
	if d.clear != nil && isClear(ctx) {
		return d.clear.WithSerializationContext(ctx)
	}
	next := converter.WithDataConverterSerializationContext(d.DataConverter, ctx)
	if next == d.DataConverter {
		return d
	}
	at := wrap(next, d.embedded)
	at.clear, at.since = d.clear, d.since
	if d.sealed != nil {
		at.sealed = wrap(converter.WithDataConverterSerializationContext(d.sealed.DataConverter, ctx), d.embedded)
	}
	at.at = ctx
	return at
}

// blocking is the data converter of workflows.
type blocking struct {
	converter.DataConverter
	// sealed is the context of a run in which clear payloads are refused; nil for others.
	sealed workflow.Context
}

// FromPayload converts a payload, and panics if the workflow task must fail.
func (b *blocking) FromPayload(p *commonpb.Payload, value any) error {
	return b.orBlock(b.DataConverter.FromPayload(p, value))
}

// FromPayloads converts payloads, and panics if the workflow task must fail.
func (b *blocking) FromPayloads(p *commonpb.Payloads, values ...any) error {
	return b.orBlock(b.DataConverter.FromPayloads(p, values...))
}

// ToPayload converts a value, and panics where a codec of an embedder fails.
func (b *blocking) ToPayload(value any) (*commonpb.Payload, error) {
	p, err := b.DataConverter.ToPayload(value)
	return p, b.orBlock(err)
}

// ToPayloads converts values, and panics where a codec of an embedder fails.
func (b *blocking) ToPayloads(values ...any) (*commonpb.Payloads, error) {
	p, err := b.DataConverter.ToPayloads(values...)
	return p, b.orBlock(err)
}

// orBlock returns an error, or fails the workflow task.
func (b *blocking) orBlock(err error) error {
	if _, isClear := errors.AsType[*NotEncryptedError](err); isClear {
		return orWait(b.sealed, err)
	}
	return orBlock(err)
}

// orBlock fails the workflow task of a missing key: the server repeats it until a worker
// with the key takes it. Data that was altered or copied fails it, too, and a codec of an
// embedder that fails, in both directions.
func orBlock(err error) error {
	if missing, ok := errors.AsType[*MissingKeyError](err); ok {
		panic(missing) //nolint:forbidigo // the SDK fails a workflow task by a panic alone
	}
	if _, failed := errors.AsType[*embeddedError](err); failed || IsUnreadable(err) {
		panic(err) //nolint:forbidigo // see above
	}
	return err
}

// failures converts errors, also those with a key that is not configured.
type failures struct {
	converter.FailureConverter
	// of returns the failure converter of a data converter.
	of   func(converter.DataConverter) converter.FailureConverter
	data converter.DataConverter
	// block panics at a missing key, for workflows.
	block bool
	// clear converts the errors of payloads that stay clear.
	clear converter.FailureConverter
}

// WithSerializationContext returns the converter of a place.
func (f *failures) WithSerializationContext(ctx converter.SerializationContext) converter.FailureConverter {
	if isClear(ctx) {
		return f.clear
	}
	at := *f
	at.data = converter.WithDataConverterSerializationContext(f.data, ctx)
	at.FailureConverter = converter.WithFailureConverterSerializationContext(f.of(at.data), ctx)
	return &at
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
