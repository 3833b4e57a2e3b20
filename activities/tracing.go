package activities

import (
	"reflect"

	"github.com/armature-io/armature/internal/tracing"
	"github.com/armature-io/armature/resource"
)

// TraceFacts returns what a span states about an activity: the resource of its input, and the
// verdict of its result without the message.
func TraceFacts(args []any, result any) (facts tracing.Facts) {
	if len(args) > 0 {
		if id, found := resourceIn(args[0]); found {
			facts.Resource, facts.Type = id.String(), id.Type()
		}
	}
	if verdict, found := field[resource.Verdict](result, "Verdict"); found {
		facts.Action, facts.Reason = string(verdict.Action), string(verdict.Reason)
		facts.Failed = verdict.Action == resource.ActionError || verdict.Action == resource.ActionFailure
	}
	return facts
}

// resourceIn returns the resource that an input names.
func resourceIn(input any) (resource.ID, bool) {
	if desired, found := field[resource.Desired](input, "Desired"); found {
		return desired.ID, true
	}
	if target, found := field[resource.Target](input, "Target"); found {
		return target.ID, true
	}
	return field[resource.ID](input, "ID")
}

// field returns a field of a struct by its name, if it has that type.
func field[T any](of any, name string) (value T, found bool) {
	of = deref(reflect.ValueOf(of))
	structure := reflect.ValueOf(of)
	if structure.Kind() != reflect.Struct {
		return value, false
	}
	member := structure.FieldByName(name)
	if !member.IsValid() {
		return value, false
	}
	value, found = deref(member).(T)
	return value, found
}

// deref returns the value behind a pointer, nil behind none.
func deref(value reflect.Value) any {
	if value.Kind() == reflect.Pointer {
		value = value.Elem()
	}
	if !value.IsValid() {
		return nil
	}
	return value.Interface()
}
