// Package searchattr owns the names of Armature's search attributes, and checks and
// registers the search attributes of a Temporal namespace for the CLI's setup and the
// worker's start. It must not know any workflow: the names and types that a namespace
// must have are a parameter.
package searchattr

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/operatorservice/v1"
	"go.temporal.io/api/serviceerror"
	"google.golang.org/grpc"
)

// Operator is the part of Temporal's operator service that the package needs;
// client.OperatorService() returns it.
type Operator interface {
	ListSearchAttributes(ctx context.Context, in *operatorservice.ListSearchAttributesRequest, opts ...grpc.CallOption) (*operatorservice.ListSearchAttributesResponse, error)
	AddSearchAttributes(ctx context.Context, in *operatorservice.AddSearchAttributesRequest, opts ...grpc.CallOption) (*operatorservice.AddSearchAttributesResponse, error)
}

// Registered is the result of Register. Its names are sorted.
type Registered struct {
	Added    []string
	Existing []string
}

// TypeError reports a name that is registered with another type than the required one.
// Temporal cannot change the type of a search attribute.
type TypeError struct {
	Namespace string
	Name      string
	Have      enumspb.IndexedValueType
	Want      enumspb.IndexedValueType
}

// Error returns the message for the user, with the command that removes the attribute.
func (e *TypeError) Error() string {
	return fmt.Sprintf("search attribute %s of namespace %s has type %s and must have type %s: remove it there "+
		"(temporal operator search-attribute remove --name %s) or use another namespace",
		e.Name, e.Namespace, e.Have, e.Want, e.Name)
}

// Missing returns the required names that are not registered in the namespace, sorted.
// It fails with a *TypeError if a name is registered with another type.
func Missing(ctx context.Context, operator Operator, namespace string, want map[string]enumspb.IndexedValueType) ([]string, error) {
	have, err := operator.ListSearchAttributes(ctx, &operatorservice.ListSearchAttributesRequest{Namespace: namespace})
	if err != nil {
		return nil, fmt.Errorf("list search attributes of namespace %s: %w", namespace, err)
	}
	var missing []string
	for _, name := range sortedNames(want) {
		kind, known := have.GetCustomAttributes()[name]
		switch {
		case !known:
			missing = append(missing, name)
		case kind != want[name]:
			return nil, &TypeError{Namespace: namespace, Name: name, Have: kind, Want: want[name]}
		}
	}
	return missing, nil
}

// Register adds the missing attributes, and sends no write request if none is missing.
// Concurrent calls all succeed. Temporal's frontends need some seconds until they know a
// new attribute, and may refuse to start a workflow until then: see [WaitKnown].
func Register(ctx context.Context, operator Operator, namespace string, want map[string]enumspb.IndexedValueType) (Registered, error) {
	missing, err := Missing(ctx, operator, namespace, want)
	if err != nil {
		return Registered{}, err
	}
	if len(missing) > 0 {
		add := make(map[string]enumspb.IndexedValueType, len(missing))
		for _, name := range missing {
			add[name] = want[name]
		}
		_, err := operator.AddSearchAttributes(ctx, &operatorservice.AddSearchAttributesRequest{Namespace: namespace, SearchAttributes: add})
		if _, exists := errors.AsType[*serviceerror.AlreadyExists](err); err != nil && !exists {
			return Registered{}, fmt.Errorf("register search attributes in namespace %s: %w", namespace, err)
		}
	}
	registered := Registered{Added: missing}
	for _, name := range sortedNames(want) {
		if !slices.Contains(missing, name) {
			registered.Existing = append(registered.Existing, name)
		}
	}
	return registered, nil
}

// Denied reports whether the server refuses the registration: for lack of a permission, or
// because it has no such service, as Temporal Cloud.
func Denied(err error) bool {
	_, denied := errors.AsType[*serviceerror.PermissionDenied](err)
	_, unimplemented := errors.AsType[*serviceerror.Unimplemented](err)
	return denied || unimplemented
}

func sortedNames(want map[string]enumspb.IndexedValueType) []string {
	return slices.Sorted(maps.Keys(want))
}
