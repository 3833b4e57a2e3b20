package searchattr

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/operatorservice/v1"
	"go.temporal.io/api/serviceerror"
	"google.golang.org/grpc"
)

const (
	keyword = enumspb.INDEXED_VALUE_TYPE_KEYWORD
	list    = enumspb.INDEXED_VALUE_TYPE_KEYWORD_LIST
)

type operator struct {
	have    map[string]enumspb.IndexedValueType
	listErr error
	addErr  error
	adds    []map[string]enumspb.IndexedValueType
}

func (o *operator) ListSearchAttributes(context.Context, *operatorservice.ListSearchAttributesRequest, ...grpc.CallOption) (*operatorservice.ListSearchAttributesResponse, error) {
	return &operatorservice.ListSearchAttributesResponse{CustomAttributes: o.have}, o.listErr
}

func (o *operator) AddSearchAttributes(_ context.Context, in *operatorservice.AddSearchAttributesRequest, _ ...grpc.CallOption) (*operatorservice.AddSearchAttributesResponse, error) {
	o.adds = append(o.adds, in.GetSearchAttributes())
	return &operatorservice.AddSearchAttributesResponse{}, o.addErr
}

func TestRegister(t *testing.T) {
	want := map[string]enumspb.IndexedValueType{"B": keyword, "A": list}
	cases := map[string]struct {
		reason     string
		operator   operator
		registered Registered
		adds       []map[string]enumspb.IndexedValueType
		denied     bool
		mismatch   string
	}{
		"new namespace": {
			reason:     "everything is added in one request",
			registered: Registered{Added: []string{"A", "B"}},
			adds:       []map[string]enumspb.IndexedValueType{want},
		},
		"partly registered": {
			reason:     "only the missing name is added, and foreign names stay",
			operator:   operator{have: map[string]enumspb.IndexedValueType{"A": list, "Foreign": keyword}},
			registered: Registered{Added: []string{"B"}, Existing: []string{"A"}},
			adds:       []map[string]enumspb.IndexedValueType{{"B": keyword}},
		},
		"all registered": {
			reason:     "a second setup makes no write request",
			operator:   operator{have: want},
			registered: Registered{Existing: []string{"A", "B"}},
		},
		"registered concurrently": {
			reason:     "AlreadyExists between list and add is no error",
			operator:   operator{addErr: serviceerror.NewAlreadyExists("B")},
			registered: Registered{Added: []string{"A", "B"}},
			adds:       []map[string]enumspb.IndexedValueType{want},
		},
		"add denied": {
			reason:   "the caller must be able to distinguish it from other errors",
			operator: operator{addErr: serviceerror.NewPermissionDenied("no", "")},
			adds:     []map[string]enumspb.IndexedValueType{want},
			denied:   true,
		},
		"list denied": {
			reason:   "the caller must be able to distinguish it from other errors",
			operator: operator{listErr: serviceerror.NewPermissionDenied("no", "")},
			denied:   true,
		},
		"other type": {
			reason:   "Temporal cannot change a type, so nothing is added",
			operator: operator{have: map[string]enumspb.IndexedValueType{"A": keyword}},
			mismatch: "A",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := Register(context.Background(), &tc.operator, "ns", want)
			if diff := cmp.Diff(tc.registered, got); diff != "" {
				t.Errorf("%s: registered (-want +got):\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.adds, tc.operator.adds); diff != "" {
				t.Errorf("%s: requests (-want +got):\n%s", tc.reason, diff)
			}
			if Denied(err) != tc.denied {
				t.Errorf("%s: denied = %v, want %v (%v)", tc.reason, Denied(err), tc.denied, err)
			}
			mismatch, ok := errors.AsType[*TypeError](err)
			if ok != (tc.mismatch != "") || tc.mismatch != "" && mismatch.Name != tc.mismatch {
				t.Errorf("%s: error = %v, want a type error of %q", tc.reason, err, tc.mismatch)
			}
			if !tc.denied && tc.mismatch == "" && err != nil {
				t.Errorf("%s: %v", tc.reason, err)
			}
		})
	}
}
