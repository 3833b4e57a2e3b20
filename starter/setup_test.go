package starter

import (
	"context"
	"net/url"
	"regexp"
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

// TestSetupLists verifies that the addresses of setup have queries with attributes that exist.
func TestSetupLists(t *testing.T) {
	w := newWorld()
	w.connect = func(context.Context, backend.Options) (*connection, error) {
		return &connection{operator: cloudOperator{existing: workflows.SearchAttributes()}, namespace: "prod.a1b2c", close: func() {}}, nil
	}
	if code := w.run("setup", "--web-ui", "https://temporal.example.com/"); code != cli.ExitOK {
		t.Fatalf("exit code %d: %s", code, w.err)
	}
	_, lists, _ := strings.Cut(w.out.String(), "Web UI:\n")
	found := strings.Split(strings.TrimSpace(lists), "\n")
	if len(found) != 5 {
		t.Fatalf("want five lists:\n%s", lists)
	}
	for _, line := range found {
		address, err := url.Parse(line[16:])
		if err != nil || !strings.HasPrefix(line[16:], "https://temporal.example.com/namespaces/prod.a1b2c/workflows?query=") {
			t.Fatalf("%s: %v", line, err)
		}
		query := address.Query().Get("query")
		if !strings.Contains(query, "ExecutionStatus = 'Running' AND ") || strings.Count(query, "(") != strings.Count(query, ")") || strings.Count(query, "'")%2 != 0 {
			t.Errorf("the query is %s", query)
		}
		for _, name := range regexp.MustCompile(`\bReconcile[A-Z]\w+ `).FindAllString(query, -1) {
			if _, known := workflows.SearchAttributes()[strings.TrimSpace(name)]; !known {
				t.Errorf("%s: no such search attribute: %s", line, name)
			}
		}
	}
	w.out.Reset()
	if w.run("setup"); strings.Contains(w.out.String(), "Web UI") {
		t.Errorf("without a base address there are lists:\n%s", w.out)
	}
}
