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

// learner does not know the attributes for some questions.
type learner struct {
	unknown int
	err     error
	asked   int
	query   string
}

func (l *learner) CountWorkflow(ctx context.Context, request *workflowservice.CountWorkflowExecutionsRequest) (*workflowservice.CountWorkflowExecutionsResponse, error) {
	l.asked, l.query = l.asked+1, request.GetQuery()
	if l.asked <= l.unknown {
		return nil, serviceerror.NewInvalidArgument("invalid query: column name is not a valid search attribute")
	}
	if l.err != nil {
		return nil, l.err
	}
	return &workflowservice.CountWorkflowExecutionsResponse{}, ctx.Err()
}

func TestWaitKnown(t *testing.T) {
	cases := map[string]struct {
		reason string
		learner
		timeout time.Duration
		asked   int
		wantErr error
	}{
		"known at once":    {"nothing is to be waited for", learner{}, time.Minute, 1, nil},
		"learns":           {"PostgreSQL's namespaces are read again every few seconds", learner{unknown: 2}, time.Minute, 3, nil},
		"never":            {"the caller bounds the wait", learner{unknown: 1000}, 50 * time.Millisecond, 1, context.DeadlineExceeded},
		"may not be asked": {"what cannot be asked is found out by use", learner{err: errors.New("denied")}, time.Minute, 1, nil},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), c.timeout)
			defer cancel()
			err := WaitKnown(ctx, &c.learner, "default", map[string]enumspb.IndexedValueType{"A": keyword, "B": list})
			if !errors.Is(err, c.wantErr) || c.learner.asked != c.asked {
				t.Errorf("%s: asked %d times, %v; want %d, %v", c.reason, c.learner.asked, err, c.asked, c.wantErr)
			}
			if !strings.Contains(c.query, "A IS NULL AND B IS NULL") {
				t.Errorf("the query %q does not name every attribute", c.query)
			}
		})
	}
}
