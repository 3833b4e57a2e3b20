package searchattr

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
)

// fakeFrontend does not know the attributes in its first queries.
type fakeFrontend struct {
	unknown int // number of queries that it refuses
	err     error
	queries int
	query   string
}

func (f *fakeFrontend) CountWorkflow(ctx context.Context, request *workflowservice.CountWorkflowExecutionsRequest) (*workflowservice.CountWorkflowExecutionsResponse, error) {
	f.queries, f.query = f.queries+1, request.GetQuery()
	if f.queries <= f.unknown {
		return nil, serviceerror.NewInvalidArgument("invalid query: column name is not a valid search attribute")
	}
	if f.err != nil {
		return nil, f.err
	}
	return &workflowservice.CountWorkflowExecutionsResponse{}, ctx.Err()
}

func TestWaitKnown(t *testing.T) {
	cases := map[string]struct {
		reason   string
		frontend fakeFrontend
		timeout  time.Duration
		queries  int
		wantErr  error
	}{
		"known":        {"no wait is needed", fakeFrontend{}, time.Minute, 1, nil},
		"known later":  {"a frontend on PostgreSQL rereads its namespaces every few seconds", fakeFrontend{unknown: 2}, time.Minute, 3, nil},
		"never known":  {"the caller bounds the wait", fakeFrontend{unknown: 1000}, 50 * time.Millisecond, 1, context.DeadlineExceeded},
		"query denied": {"the first start shows whether the attributes are known", fakeFrontend{err: errors.New("denied")}, time.Minute, 1, nil},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), c.timeout)
			defer cancel()
			err := WaitKnown(ctx, &c.frontend, "default", map[string]enumspb.IndexedValueType{"A": keyword, "B": list})
			if !errors.Is(err, c.wantErr) || c.frontend.queries != c.queries {
				t.Errorf("%d queries, %v; want %d, %v: %s", c.frontend.queries, err, c.queries, c.wantErr, c.reason)
			}
			if !strings.Contains(c.frontend.query, "A IS NULL AND B IS NULL") {
				t.Errorf("the query %q lacks an attribute", c.frontend.query)
			}
		})
	}
}
