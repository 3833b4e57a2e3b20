package searchattr

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
)

// retryInterval is the time between two queries of a frontend that does not know an
// attribute yet.
const retryInterval = 500 * time.Millisecond

// Counter is the part of client.Client with which WaitKnown queries a frontend.
type Counter interface {
	CountWorkflow(ctx context.Context, request *workflowservice.CountWorkflowExecutionsRequest) (*workflowservice.CountWorkflowExecutionsResponse, error)
}

// WaitKnown waits until the frontend accepts the attributes in a query. On SQL stores a
// frontend knows new attributes some seconds after their registration, and until then it
// refuses to start workflows with them (observed on PostgreSQL, server v1.32.1). It fails
// when ctx is done. Any error of the server other than InvalidArgument ends the wait
// without an error, because it does not show whether the attributes are known.
func WaitKnown(ctx context.Context, counter Counter, namespace string, want map[string]enumspb.IndexedValueType) error {
	query := strings.Join(sortedNames(want), " IS NULL AND ") + " IS NULL"
	ticker := time.NewTicker(retryInterval)
	defer ticker.Stop()
	for {
		_, err := counter.CountWorkflow(ctx, &workflowservice.CountWorkflowExecutionsRequest{Namespace: namespace, Query: query})
		if _, unknown := errors.AsType[*serviceerror.InvalidArgument](err); !unknown && ctx.Err() == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for the search attributes of namespace %s: %w", namespace, ctx.Err())
		case <-ticker.C:
		}
	}
}
