package backend

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/searchattr"
	"github.com/armature-io/armature/starter/internal/cli"
	"github.com/armature-io/armature/workflows"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
)

// maxPollerAge is how old the last poll of a running worker may be: a long poll
// lasts a minute.
const maxPollerAge = 2 * time.Minute

// Findings checks server, namespace, search attributes, visibility and workers. It
// needs no worker.
func (c *Client) Findings(ctx context.Context) []activities.Finding {
	ctx, cancel := context.WithTimeout(ctx, 3*readTimeout)
	defer cancel()
	findings := []activities.Finding{c.checkServer(ctx)}
	namespace := c.checkNamespace(ctx)
	findings = append(findings, namespace)
	if namespace.State == activities.FindingFault {
		return findings
	}
	attributes := c.checkAttributes(ctx)
	findings = append(findings, attributes)
	if attributes.State == activities.FindingOK {
		findings = append(findings, c.checkVisibility(ctx), c.checkStuck(ctx))
	}
	return append(findings, c.checkWorkers(ctx))
}

// checkVisibility tries the query that wakes and lists need: IN on a list of
// keywords.
func (c *Client) checkVisibility(ctx context.Context) activities.Finding {
	finding := activities.Finding{Check: "visibility", State: activities.FindingOK, Message: "queries on keyword lists work"}
	query := attributeWaitingFor + " IN ('none', 'nobody') AND ExecutionStatus = 'Running'"
	_, err := c.client.CountWorkflow(ctx, &workflowservice.CountWorkflowExecutionsRequest{Namespace: c.namespace, Query: query})
	if err != nil {
		finding.State, finding.Message = activities.FindingFault, fmt.Sprintf("the server rejects the query %s: %v", query, err)
		finding.Advice = "Temporal needs a visibility store for custom search attributes: SQL (PostgreSQL 12, MySQL 8, SQLite) or Elasticsearch; " +
			"the server may need a minute to know attributes that were just registered"
	}
	return finding
}

// checkStuck counts the workflows whose tasks fail: they need a worker that can
// replay them.
func (c *Client) checkStuck(ctx context.Context) activities.Finding {
	finding := activities.Finding{Check: "workflows", State: activities.FindingOK, Message: "none is stuck"}
	query := attributeProblems + " IN ('category=WorkflowTaskFailed', 'category=WorkflowTaskTimedOut') AND " + AllWorkflowsQuery()
	response, err := c.client.CountWorkflow(ctx, &workflowservice.CountWorkflowExecutionsRequest{Namespace: c.namespace, Query: query})
	switch {
	case err != nil:
		finding.Message = "this server does not report stuck workflows (it has no " + attributeProblems + ")"
	case response.GetCount() > 0:
		finding.State = activities.FindingFault
		finding.Message = cli.CountOf(int(response.GetCount()), "workflow's task keeps failing: its resource is", "workflows' tasks keep failing: their resources are") + " not reconciled"
		finding.Advice = "run `armature replay --all` to find where this version differs from each history; go back to the previous release of the worker, or read the worker's log"
	}
	return finding
}

func (c *Client) checkServer(ctx context.Context) activities.Finding {
	finding := activities.Finding{Check: "temporal", State: activities.FindingOK, Message: c.address + " is reachable " + c.security}
	info, err := c.client.WorkflowService().GetClusterInfo(ctx, &workflowservice.GetClusterInfoRequest{})
	if err == nil && info.GetServerVersion() != "" {
		finding.Message += ", server " + info.GetServerVersion()
	}
	return finding
}

func (c *Client) checkNamespace(ctx context.Context) activities.Finding {
	finding := activities.Finding{Check: "namespace", State: activities.FindingOK, Message: c.namespace}
	response, err := c.client.WorkflowService().DescribeNamespace(ctx, &workflowservice.DescribeNamespaceRequest{Namespace: c.namespace})
	var absent *serviceerror.NamespaceNotFound
	var denied *serviceerror.PermissionDenied
	switch {
	case errors.As(err, &absent):
		finding.State, finding.Message = activities.FindingFault, "the server has no namespace "+c.namespace
		finding.Advice = "set TEMPORAL_NAMESPACE, or create it: temporal operator namespace create -n " + c.namespace
	case errors.As(err, &denied):
		finding.State, finding.Message = activities.FindingFault, "permission denied by Temporal to describe namespace "+c.namespace
		finding.Advice = "check TEMPORAL_NAMESPACE and the permissions of TEMPORAL_API_KEY or of the client certificate"
	case err != nil:
		finding.State, finding.Message = activities.FindingFault, fmt.Sprintf("cannot describe namespace %s: %v", c.namespace, err)
		finding.Advice = retryAdvice
	case !response.GetNamespaceInfo().GetCapabilities().GetSyncUpdate():
		finding.State, finding.Message = activities.FindingFault, "namespace "+c.namespace+" does not support workflow updates, which every command needs"
		finding.Advice = "use Temporal server 1.28 or newer, with updates enabled (frontend.enableUpdateWorkflowExecution)"
	}
	return finding
}

const retryAdvice = "try again; if the error persists, check the Temporal server"

func (c *Client) checkAttributes(ctx context.Context) activities.Finding {
	finding := activities.Finding{Check: "search attributes", State: activities.FindingOK, Message: "all are registered"}
	missing, err := searchattr.Missing(ctx, c.client.OperatorService(), c.namespace, workflows.SearchAttributes())
	var mismatch *searchattr.TypeError
	switch {
	case errors.As(err, &mismatch):
		finding.State, finding.Message = activities.FindingFault, err.Error()
		finding.Advice = "then run `armature setup`"
	case searchattr.Denied(err):
		finding.State, finding.Message = activities.FindingWarn, "these credentials cannot list them"
		finding.Advice = "ask an administrator of the namespace to run `armature setup`; it is safe to repeat"
	case err != nil:
		finding.State, finding.Message = activities.FindingFault, err.Error()
		finding.Advice = retryAdvice
	case len(missing) > 0:
		finding.State, finding.Message = activities.FindingFault, "missing in namespace "+c.namespace+": "+strings.Join(missing, ", ")
		finding.Advice = "run `armature setup`"
	}
	return finding
}

func (c *Client) checkWorkers(ctx context.Context) activities.Finding {
	finding := activities.Finding{Check: "worker", State: activities.FindingOK}
	var workers []string
	for _, kind := range []enumspb.TaskQueueType{enumspb.TASK_QUEUE_TYPE_WORKFLOW, enumspb.TASK_QUEUE_TYPE_ACTIVITY} {
		response, err := c.client.DescribeTaskQueue(ctx, c.taskQueue, kind)
		if err != nil {
			finding.State, finding.Message = activities.FindingFault, fmt.Sprintf("cannot describe task queue %s: %v", c.taskQueue, err)
			finding.Advice = retryAdvice
			return finding
		}
		workers = nil
		for _, poller := range response.GetPollers() {
			if time.Since(poller.GetLastAccessTime().AsTime()) > maxPollerAge {
				continue
			}
			worker := poller.GetIdentity()
			if build := poller.GetDeploymentOptions().GetBuildId(); build != "" {
				worker += " version " + build
			}
			workers = append(workers, worker)
		}
		if len(workers) == 0 {
			finding.State, finding.Message = activities.FindingFault, "no worker polls task queue "+c.taskQueue
			finding.Advice = "start a worker with this address, namespace and task queue, and read its log: it does not start with a wrong configuration, credential or certificate"
			return finding
		}
	}
	slices.Sort(workers)
	workers = slices.Compact(workers)
	finding.Message = fmt.Sprintf("%d on task queue %s: %s", len(workers), c.taskQueue, strings.Join(workers, ", "))
	return finding
}
