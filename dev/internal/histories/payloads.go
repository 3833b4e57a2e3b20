package histories

import (
	"fmt"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/converter"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/armature-io/armature/internal/payload"
)

// Texts returns every text in a message of Temporal's API: the decoded data of
// all payloads (inputs, results, memo, search attributes, failures, summaries,
// headers) and all plain strings. A search in them finds a secret in any encoding
// of the history.
func Texts(message proto.Message) ([]string, error) {
	codec := payload.Codec()
	return walk(message, func(p *commonpb.Payload) (*commonpb.Payload, error) {
		decoded, err := codec.Decode([]*commonpb.Payload{p})
		if err != nil {
			return nil, err //nolint:wrapcheck // walk wraps it
		}
		return decoded[0], nil
	})
}

// DecryptedTexts is Texts for a reader with the keys of encrypted payloads.
func DecryptedTexts(message proto.Message, keys *payload.Converters) ([]string, error) {
	return walk(message, func(p *commonpb.Payload) (*commonpb.Payload, error) {
		var raw converter.RawValue
		err := payload.At(payload.PlaceOf(p), keys.Data).FromPayload(p, &raw)
		return raw.Payload(), err //nolint:wrapcheck // walk wraps it
	})
}

func walk(message proto.Message, decode func(*commonpb.Payload) (*commonpb.Payload, error)) ([]string, error) {
	walk := walker{decode: decode}
	walk.message(message.ProtoReflect())
	return walk.texts, walk.err
}

// walker collects the texts of one message and the first error.
type walker struct {
	decode func(*commonpb.Payload) (*commonpb.Payload, error)
	texts  []string
	err    error
}

func (w *walker) message(m protoreflect.Message) {
	if p, ok := m.Interface().(*commonpb.Payload); ok {
		w.payload(p)
		return
	}
	m.Range(func(field protoreflect.FieldDescriptor, value protoreflect.Value) bool {
		switch {
		case field.IsMap():
			value.Map().Range(func(key protoreflect.MapKey, item protoreflect.Value) bool {
				w.texts = append(w.texts, key.String())
				w.value(field.MapValue(), item)
				return true
			})
		case field.IsList():
			for i := range value.List().Len() {
				w.value(field, value.List().Get(i))
			}
		default:
			w.value(field, value)
		}
		return true
	})
}

func (w *walker) value(field protoreflect.FieldDescriptor, value protoreflect.Value) {
	switch field.Kind() {
	case protoreflect.MessageKind, protoreflect.GroupKind:
		w.message(value.Message())
	case protoreflect.StringKind:
		w.texts = append(w.texts, value.String())
	case protoreflect.BytesKind:
		w.texts = append(w.texts, string(value.Bytes()))
	}
}

func (w *walker) payload(p *commonpb.Payload) {
	decoded, err := w.decode(p)
	if err != nil {
		if w.err == nil {
			w.err = fmt.Errorf("decode payload: %w", err)
		}
		return
	}
	w.texts = append(w.texts, string(decoded.GetData()))
	for _, value := range decoded.GetMetadata() {
		w.texts = append(w.texts, string(value))
	}
}
