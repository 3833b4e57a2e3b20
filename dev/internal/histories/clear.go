package histories

import (
	commonpb "go.temporal.io/api/common/v1"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/armature-io/armature/internal/payload"
)

// Clear returns what an operator of Temporal can read in a message of its API although
// payloads are encrypted: all plain strings by the name of their field, and payloads that
// are not encrypted by the field and key that contain them. Sealed is the number of
// encrypted payloads.
func Clear(message proto.Message) (clear map[string][]string, sealed int) {
	r := reader{clear: map[string][]string{}}
	r.message("", message.ProtoReflect())
	return r.clear, r.sealed
}

type reader struct {
	clear  map[string][]string
	sealed int
}

func (r *reader) add(name, text string) {
	if text != "" {
		r.clear[name] = append(r.clear[name], text)
	}
}

func (r *reader) message(name string, m protoreflect.Message) {
	if p, ok := m.Interface().(*commonpb.Payload); ok {
		switch {
		case payload.KeyID(p) != "":
			r.sealed++
		default:
			r.add(name, string(p.GetData()))
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
