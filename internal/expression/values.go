package expression

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"
	"github.com/armature-io/armature/internal/text"
)

// adapter converts bodies to CEL values: objects with property names that ignore case,
// and exact numbers.
type adapter struct{}

// Value returns a body, or a part of one, as a value of expressions.
func Value(value any) ref.Val { return adapter{}.NativeToValue(value) }

// NativeToValue implements types.Adapter.
func (a adapter) NativeToValue(value any) ref.Val {
	switch v := value.(type) {
	case nil:
		return types.NullValue
	case ref.Val:
		return v
	case map[string]any:
		if v == nil {
			return types.NullValue
		}
		return object{Mapper: types.NewStringInterfaceMap(a, v), members: v}
	case []any:
		return types.NewDynamicList(a, v)
	case json.Number:
		if whole, err := v.Int64(); err == nil {
			return types.Int(whole)
		}
		if float, err := v.Float64(); err == nil {
			return types.Double(float)
		}
		return types.String(v.String())
	}
	return types.DefaultTypeAdapter.NativeToValue(value)
}

// object is a body or a part of one.
type object struct {
	traits.Mapper
	members map[string]any
}

// Find implements traits.Mapper. It prefers the exact name, then ignores case like
// ARM's property names.
func (o object) Find(key ref.Val) (ref.Val, bool) {
	name, ok := key.(types.String)
	if !ok {
		return nil, false
	}
	if value, found := o.members[string(name)]; found {
		return adapter{}.NativeToValue(value), true
	}
	for member, value := range o.members {
		if strings.EqualFold(member, string(name)) {
			return adapter{}.NativeToValue(value), true
		}
	}
	return nil, false
}

// Get implements traits.Indexer.
func (o object) Get(key ref.Val) ref.Val {
	value, found := o.Find(key)
	if !found {
		return types.NullValue
	}
	return value
}

// Contains implements traits.Container: the operator in.
func (o object) Contains(key ref.Val) ref.Val {
	_, found := o.Find(key)
	return types.Bool(found)
}

// Text returns the text of a value for messages. Of a value over [maxAnswer] it returns
// a note in brackets, because a list may contain itself many times.
func Text(value ref.Val) string {
	if weigh(maxAnswer+1, value) > maxAnswer {
		return fmt.Sprintf("[over %d bytes]", maxAnswer)
	}
	switch v := value.(type) {
	case types.String:
		return string(v)
	case types.Null:
		return "null"
	}
	if value.Type() == types.MapType || value.Type() == types.ListType {
		if native, err := Native(value); err == nil {
			if encoded, err := text.JSON(native); err == nil {
				return encoded
			}
		}
	}
	if native, err := value.ConvertToNative(reflect.TypeFor[any]()); err == nil {
		if text, ok := native.(fmt.Stringer); ok {
			return text.String()
		}
	}
	if text, ok := value.ConvertToType(types.StringType).(types.String); ok {
		return string(text)
	}
	return fmt.Sprint(value.Value())
}
