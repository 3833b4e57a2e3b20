// Package searchattr owns the names of Armature's search attributes, and how the search
// attributes of a Temporal namespace are checked and registered; the CLI's setup and the
// worker's start share it. It must not know any workflow: the names and types that a
// namespace must have are a parameter.
package searchattr

import (
	"context"
	"errors"
	"fmt"
	"sort"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/operatorservice/v1"
	"go.temporal.io/api/serviceerror"
	"google.golang.org/grpc"
)

// Operator is the part of Temporal's operator service that is needed;
// client.OperatorService() gives it.
type Operator interface {
	ListSearchAttributes(ctx context.Context, in *operatorservice.ListSearchAttributesRequest, opts ...grpc.CallOption) (*operatorservice.ListSearchAttributesResponse, error)
	AddSearchAttributes(ctx context.Context, in *operatorservice.AddSearchAttributesRequest, opts ...grpc.CallOption) (*operatorservice.AddSearchAttributesResponse, error)
}

// Registered says what Register found and did; names are sorted.
type Registered struct {
	Added    []string
	Existing []string
}

// TypeError says that a name is registered with another type than the wanted
// one. Temporal cannot change the type of a search attribute.
type TypeError struct {
	Namespace string
	Name      string
	Have      enumspb.IndexedValueType
	Want      enumspb.IndexedValueType
}

// Error is the sentence for the user.
func (e *TypeError) Error() string {
	return fmt.Sprintf("search attribute %s of namespace %s has type %s and must have type %s: remove it there "+
		"(temporal operator search-attribute remove --name %s) or use another namespace",
		e.Name, e.Namespace, e.Have, e.Want, e.Name)
}

// Missing lists the wanted names that the namespace does not know, sorted. It
// fails with a *TypeError where a name is known with another type.
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

// Register adds what is missing, and nothing when nothing is. Two that register
// at the same time both succeed. Temporal's frontends take some seconds to know
// a new attribute, so a start right afterwards may still be refused: [WaitKnown].
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
		var exists *serviceerror.AlreadyExists
		if err != nil && !errors.As(err, &exists) {
			return Registered{}, fmt.Errorf("register search attributes in namespace %s: %w", namespace, err)
		}
	}
	return Registered{Added: missing, Existing: without(sortedNames(want), missing)}, nil
}

// Denied reports whether an error of this package means that the caller has not
// the right to list or to register.
func Denied(err error) bool {
	var denied *serviceerror.PermissionDenied
	return errors.As(err, &denied)
}

func sortedNames(want map[string]enumspb.IndexedValueType) []string {
	names := make([]string, 0, len(want))
	for name := range want {
		names = append(names, name)
	}
	sort.Strings(names)
	return names
}

func without(names, drop []string) []string {
	dropped := make(map[string]bool, len(drop))
	for _, name := range drop {
		dropped[name] = true
	}
	var rest []string
	for _, name := range names {
		if !dropped[name] {
			rest = append(rest, name)
		}
	}
	return rest
}
