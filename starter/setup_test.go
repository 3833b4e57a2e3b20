package starter

import (
	"context"
	"strings"
	"testing"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/operatorservice/v1"
	"go.temporal.io/api/serviceerror"
	"google.golang.org/grpc"

	"github.com/armature-io/armature/starter/internal/backend"
	"github.com/armature-io/armature/starter/internal/cli"
	"github.com/armature-io/armature/workflows"
)

// cloudOperator is the operator service of a namespace of Temporal Cloud: it lists what
// exists and refuses to add.
type cloudOperator struct {
	existing map[string]enumspb.IndexedValueType
	refusal  error
}

func (o cloudOperator) ListSearchAttributes(context.Context, *operatorservice.ListSearchAttributesRequest, ...grpc.CallOption) (*operatorservice.ListSearchAttributesResponse, error) {
	return &operatorservice.ListSearchAttributesResponse{CustomAttributes: o.existing}, nil
}

func (o cloudOperator) AddSearchAttributes(context.Context, *operatorservice.AddSearchAttributesRequest, ...grpc.CallOption) (*operatorservice.AddSearchAttributesResponse, error) {
	return nil, o.refusal
}

// TestSetupRefused verifies what an administrator of Temporal Cloud has to run.
func TestSetupRefused(t *testing.T) {
	without := workflows.SearchAttributes()
	delete(without, "ArmName")
	cases := map[string]struct {
		reason    string
		operator  cloudOperator
		code      int
		want, not string
	}{
		"one is missing": {
			"only what is missing is to be added", cloudOperator{without, serviceerror.NewPermissionDenied("no", "")}, cli.ExitFailed,
			"--search-attribute ArmName=Keyword", "ArmType",
		},
		"not implemented": {
			"a frontend may not have the service at all", cloudOperator{nil, serviceerror.NewUnimplemented("no")}, cli.ExitFailed,
			"temporalcloud_namespace_search_attribute", "existing",
		},
		"all exist": {"nothing is to be added", cloudOperator{workflows.SearchAttributes(), serviceerror.NewPermissionDenied("no", "")}, cli.ExitOK, "existing", "tcld"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld()
			w.connect = func(context.Context, backend.Options) (*connection, error) {
				return &connection{operator: c.operator, namespace: "prod.a1b2c", close: func() {}}, nil
			}
			code := w.run("setup")
			if code != c.code || !strings.Contains(w.out.String(), c.want) || strings.Contains(w.out.String(), c.not) {
				t.Errorf("%s: exit code %d, stderr %s, stdout\n%s", c.reason, code, w.err, w.out)
			}
		})
	}
}
