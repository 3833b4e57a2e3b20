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

// askEvery is how soon a frontend that does not know an attribute is asked again.
const askEvery = 500 * time.Millisecond

// Counter is the part of client.Client that tells what a frontend knows.
type Counter interface {
	CountWorkflow(ctx context.Context, request *workflowservice.CountWorkflowExecutionsRequest) (*workflowservice.CountWorkflowExecutionsResponse, error)
}

// WaitKnown waits until the frontend takes the attributes in a query: on SQL
// stores it learns of new ones some seconds later, and refuses to start workflows
// with them before (seen on PostgreSQL, server v1.32.1). The error is that of ctx, or
// nil where the server cannot be asked so.
func WaitKnown(ctx context.Context, counter Counter, namespace string, want map[string]enumspb.IndexedValueType) error {
	names := sortedNames(want)
	query := strings.Join(names, " IS NULL AND ") + " IS NULL"
	ticker := time.NewTicker(askEvery)
	defer ticker.Stop()
	for {
		_, err := counter.CountWorkflow(ctx, &workflowservice.CountWorkflowExecutionsRequest{Namespace: namespace, Query: query})
		if unknown := (*serviceerror.InvalidArgument)(nil); ctx.Err() == nil && !errors.As(err, &unknown) {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for namespace %s to know its search attributes: %w", namespace, ctx.Err())
		case <-ticker.C:
		}
	}
}
