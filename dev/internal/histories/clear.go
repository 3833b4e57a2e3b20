package histories

import (
	commonpb "go.temporal.io/api/common/v1"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/armature-io/armature/internal/payload"
)

// Exposed are the texts that an operator of Temporal can read in messages of its API although
// payloads are encrypted.
type Exposed struct {
	// Fields are plain strings by the name of their field.
	Fields map[string][]string
	// Clear are the payloads without encryption, by the field and key that contain them.
	Clear map[string][]string
	// Sealed are the places of the encrypted payloads, by the same names.
	Sealed map[string][]payload.Place
}

// Read returns the texts that an operator can read in a message.
func Read(message proto.Message) Exposed {
	r := reader{Fields: map[string][]string{}, Clear: map[string][]string{}, Sealed: map[string][]payload.Place{}}
	r.message("", message.ProtoReflect())
	return Exposed(r)
}

type reader Exposed

func (r *reader) add(name, text string) {
	if text != "" {
		r.Fields[name] = append(r.Fields[name], text)
	}
}

func (r *reader) message(name string, m protoreflect.Message) {
	if p, ok := m.Interface().(*commonpb.Payload); ok {
		switch {
		case payload.KeyID(p) != "":
			r.Sealed[name] = append(r.Sealed[name], payload.PlaceOf(p))
		case len(p.GetData()) > 0:
			r.Clear[name] = append(r.Clear[name], string(p.GetData()))
		}
		return
	}
	m.Range(func(field protoreflect.FieldDescriptor, value protoreflect.Value) bool {
		inner := string(field.Name())
		switch inner {
		case "payloads", "indexed_fields", "fields":
			inner = name // a list or map of payloads is named after what contains it
		}
		switch {
		case field.IsMap():
			value.Map().Range(func(key protoreflect.MapKey, item protoreflect.Value) bool {
				r.value(inner+" "+key.String(), field.MapValue(), item)
				return true
			})
		case field.IsList():
			for i := range value.List().Len() {
				r.value(inner, field, value.List().Get(i))
			}
		default:
			r.value(inner, field, value)
		}
		return true
	})
}

func (r *reader) value(name string, field protoreflect.FieldDescriptor, value protoreflect.Value) {
	switch field.Kind() {
	case protoreflect.MessageKind, protoreflect.GroupKind:
		r.message(name, value.Message())
	case protoreflect.StringKind:
		r.add(name, value.String())
	case protoreflect.BytesKind:
		r.add(name, string(value.Bytes()))
	}
}
