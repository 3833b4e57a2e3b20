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
	walk := walker{codec: payload.Codec()}
	walk.message(message.ProtoReflect())
	return walk.texts, walk.err
}

// walker collects the texts of one message and the first error.
type walker struct {
	codec converter.PayloadCodec
	texts []string
	err   error
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
	decoded, err := w.codec.Decode([]*commonpb.Payload{p})
	if err != nil {
		if w.err == nil {
			w.err = fmt.Errorf("decode payload: %w", err)
		}
		return
	}
	w.texts = append(w.texts, string(decoded[0].GetData()))
	for _, value := range decoded[0].GetMetadata() {
		w.texts = append(w.texts, string(value))
	}
}
