package backend

import (
	"context"

	"github.com/armature-io/armature/workflows"
	"go.temporal.io/api/workflowservice/v1"
)

// VersionQuery selects running workflows of a task queue by the version that they are pinned
// to.
type VersionQuery struct {
	TaskQueue string
	// Deployment and BuildID are the version; a Deployment alone selects its versions.
	// Unversioned selects the runs without one, and neither selects all.
	Deployment, BuildID string
	Unversioned         bool
	// Others selects the workflows that are not those of resources: freezes, budgets, queues.
	Others bool
	// Where restricts resources further; Failing selects those whose workflow tasks fail.
	Where   Filter
	Failing bool
}

// String returns the query for the server.
func (q VersionQuery) String() string {
	query := runningQuery
	if q.Others {
		query = workflows.RunningQuery() + " AND WorkflowType != '" + workflows.ReconcileResourceWorkflow + "'"
	}
	query += " AND TaskQueue = " + quoted([]string{q.TaskQueue})
	switch {
	case q.BuildID != "":
		query += " AND " + attributeVersion + " = " + quoted([]string{q.Deployment + ":" + q.BuildID})
	case q.Deployment != "" && !q.Unversioned:
		query += " AND " + attributeDeployment + " = " + quoted([]string{q.Deployment})
	case q.Unversioned:
		query += " AND " + attributeVersion + " IS NULL"
	}
	if q.Failing {
		query += " AND " + failingTasksTerm
	}
	return query + q.Where.terms()
}

// failingTasksTerm selects workflows whose tasks fail.
const failingTasksTerm = attributeProblems + " IN ('category=WorkflowTaskFailed', 'category=WorkflowTaskTimedOut')"

// CountVersion returns the number of workflows that match.
func (c *Client) CountVersion(ctx context.Context, q VersionQuery) (int, error) {
	deadline, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	n, err := c.count(deadline, q.String())
	return n, c.translateRead(ctx, err)
}

// FirstOnVersion returns the records of the first page of matching workflows.
func (c *Client) FirstOnVersion(ctx context.Context, q VersionQuery, max int) ([]Record, error) {
	deadline, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	c.lists.Add(1)
	page, err := c.client.ListWorkflow(deadline, &workflowservice.ListWorkflowExecutionsRequest{
		Namespace: c.namespace, Query: q.String(), PageSize: int32(min(max, firstPageSize)),
	})
	if err != nil {
		return nil, c.translateRead(ctx, err)
	}
	d := newDecoder(c.converters, c.namespace)
	var records []Record
	for _, info := range page.GetExecutions() {
		records = append(records, newRecord(d, info))
	}
	return records, nil
}
