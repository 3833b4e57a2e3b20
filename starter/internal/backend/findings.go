package backend

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/internal/searchattr"
	"github.com/armature-io/armature/internal/serverversion"
	"github.com/armature-io/armature/starter/internal/cli"
	"github.com/armature-io/armature/workflows"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	taskqueuepb "go.temporal.io/api/taskqueue/v1"
	"go.temporal.io/api/workflowservice/v1"
)

// Findings checks server, namespace, search attributes, visibility, and workers with their
// checks. It needs no worker. hasNamespace is false if the server has no such namespace: every
// other request would fail.
func (c *Client) Findings(ctx context.Context) (findings []activities.Finding, hasNamespace bool) {
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	namespace, hasNamespace := c.checkNamespace(ctx)
	findings = []activities.Finding{c.checkServer(ctx), namespace}
	if !hasNamespace {
		return findings, false
	}
	attributes := c.checkAttributes(ctx)
	findings = append(findings, attributes)
	if attributes.State != activities.FindingError { // the query names one of them
		findings = append(findings, c.checkVisibility(ctx))
	}
	findings = append(findings, c.checkStuck(ctx))
	return append(findings, c.checkWorkers(ctx)...), true
}

// finding returns the finding of a check that passed.
func finding(check, message string) activities.Finding {
	return activities.Finding{Check: check, State: activities.FindingOK, Message: message}
}

// failure returns the finding of a check that failed. advice is what to do.
func failure(check, message, advice string) activities.Finding {
	return activities.Finding{Check: check, State: activities.FindingError, Message: message, Advice: advice}
}

// checkVisibility tries the query that wakes and lists need: IN on a list of
// keywords.
func (c *Client) checkVisibility(ctx context.Context) activities.Finding {
	query := searchattr.ReconcileWaitingFor + " IN ('a', 'b') AND ExecutionStatus = 'Running'"
	if _, err := c.count(ctx, query); err != nil {
		return failure("visibility", fmt.Sprintf("the server rejects the query %s: %v", query, err),
			"Temporal needs a visibility store for custom search attributes: SQL (PostgreSQL 12, MySQL 8, SQLite) or Elasticsearch; "+
				"the server may need a minute to know attributes that were just registered")
	}
	return finding("visibility", "queries on keyword lists work")
}

// workflowsCheck is the name of the check for tasks that keep failing.
const workflowsCheck = "workflows"

// checkStuck counts the workflows with failing tasks: they need a worker that can
// replay them.
func (c *Client) checkStuck(ctx context.Context) activities.Finding {
	query := failingTasksTerm + " AND " + workflows.RunningQuery()
	stuck, err := c.count(ctx, query)
	switch {
	case err != nil:
		return finding(workflowsCheck, "this server does not report stuck workflows (it has no "+attributeProblems+")")
	case stuck > 0:
		return failure(workflowsCheck,
			cli.CountOf(stuck, "workflow's task keeps failing: its resource is", "workflows' tasks keep failing: their resources are")+" not reconciled",
			"run `worker replay` of this version to find where it differs from each history; go back to the previous release of the worker, or read the worker's log")
	}
	return finding(workflowsCheck, "no workflow is stuck")
}

// count returns the number of workflows that match a visibility query.
func (c *Client) count(ctx context.Context, query string) (int, error) {
	response, err := c.client.CountWorkflow(ctx, &workflowservice.CountWorkflowExecutionsRequest{Namespace: c.namespace, Query: query})
	return int(response.GetCount()), err
}

// CountPhases returns the number of managed resources by phase.
func (c *Client) CountPhases(ctx context.Context, phases []string) (map[string]int, error) {
	counts := map[string]int{}
	for _, phase := range phases {
		deadline, cancel := context.WithTimeout(ctx, readTimeout)
		n, err := c.count(deadline, runningQuery+" AND "+searchattr.ReconcilePhase+" = '"+phase+"'")
		cancel()
		if err != nil {
			return nil, c.translateRead(ctx, err)
		}
		counts[phase] = n
	}
	return counts, nil
}

func (c *Client) checkServer(ctx context.Context) activities.Finding {
	message := c.address + " is reachable " + c.security
	info, err := c.client.WorkflowService().GetSystemInfo(ctx, &workflowservice.GetSystemInfoRequest{})
	if err == nil && info.GetServerVersion() != "" {
		message += ", server " + info.GetServerVersion()
	}
	if err := serverversion.Check(info.GetServerVersion()); err != nil {
		return failure("temporal", c.address+" is reachable; "+err.Error(), serverversion.Advice)
	}
	return serverFinding(message, c.exposed, c.converters.ClearParts())
}

// serverFinding returns the finding about a server that is reachable, a warning where the
// connection is exposed. clear names what it carries in clear.
func serverFinding(message string, exposed bool, clear string) activities.Finding {
	if !exposed {
		return finding("temporal", message)
	}
	return activities.Finding{
		Check: "temporal", State: activities.FindingWarn, Message: message + "; " + clear + " cross the network in clear",
		Advice: "set TEMPORAL_TLS, TEMPORAL_TLS_* or TEMPORAL_API_KEY, for workers too, or reach the server over an encrypted tunnel",
	}
}

// checkNamespace returns the finding about the namespace, and whether it may exist.
func (c *Client) checkNamespace(ctx context.Context) (found activities.Finding, mayExist bool) {
	const check = "namespace"
	response, err := c.client.WorkflowService().DescribeNamespace(ctx, &workflowservice.DescribeNamespaceRequest{Namespace: c.namespace})
	switch {
	case is[*serviceerror.NamespaceNotFound](err):
		return failure(check, "the server has no namespace "+c.namespace,
			"set TEMPORAL_NAMESPACE, or create it: temporal operator namespace create -n "+c.namespace), false
	case is[*serviceerror.PermissionDenied](err):
		return failure(check, "permission denied by Temporal to describe namespace "+c.namespace,
			"check TEMPORAL_NAMESPACE and the permissions of TEMPORAL_API_KEY or of the client certificate"), true
	case err != nil:
		return failure(check, fmt.Sprintf("cannot describe namespace %s: %v", c.namespace, err), retryAdvice), true
	case !response.GetNamespaceInfo().GetCapabilities().GetSyncUpdate():
		return failure(check, "namespace "+c.namespace+" does not support workflow updates, which every command needs",
			"switch them on in the dynamic configuration of the server: frontend.enableUpdateWorkflowExecution"), true
	}
	return finding(check, c.namespace), true
}

const retryAdvice = "try again; if the error persists, check the Temporal server"

func (c *Client) checkAttributes(ctx context.Context) activities.Finding {
	const check = "search attributes"
	missing, err := searchattr.Missing(ctx, c.client.OperatorService(), c.namespace, workflows.SearchAttributes())
	switch {
	case is[*searchattr.TypeError](err):
		return failure(check, err.Error(), "then run `armature setup`")
	case searchattr.Denied(err):
		return activities.Finding{
			Check: check, State: activities.FindingWarn, Message: "these credentials cannot list them",
			Advice: "ask an administrator of the namespace to run `armature setup`; it is safe to repeat",
		}
	case err != nil:
		return failure(check, err.Error(), retryAdvice)
	case len(missing) > 0:
		return failure(check, "missing in namespace "+c.namespace+": "+strings.Join(missing, ", "), "run `armature setup`")
	}
	return finding(check, "all are registered")
}

// checkWorkers returns the findings about the workers that poll the task queue, and about their
// checks. Each of them has to poll for both kinds of tasks.
func (c *Client) checkWorkers(ctx context.Context) []activities.Finding {
	const check = "worker"
	var pollers []*taskqueuepb.PollerInfo
	for _, kind := range []enumspb.TaskQueueType{enumspb.TASK_QUEUE_TYPE_WORKFLOW, enumspb.TASK_QUEUE_TYPE_ACTIVITY} {
		response, err := c.client.DescribeTaskQueue(ctx, c.taskQueue, kind)
		if err != nil {
			return []activities.Finding{failure(check, fmt.Sprintf("cannot describe task queue %s: %v", c.taskQueue, err), retryAdvice)}
		}
		if len(liveWorkers(response.GetPollers())) == 0 {
			return []activities.Finding{failure(check, "no worker polls task queue "+c.taskQueue+": credentials, rules and the way to Azure were not checked, because only a worker can",
				"start a worker with this address, namespace and task queue, and read its log: it does not start with a wrong configuration, credential or certificate")}
		}
		pollers = append(pollers, response.GetPollers()...)
	}
	live := liveWorkers(pollers)
	names := make([]string, len(live))
	for i, worker := range live {
		names[i] = worker.Identity
		if worker.BuildID != "" {
			names[i] += " version " + worker.BuildID
		}
	}
	found := []activities.Finding{finding(check, fmt.Sprintf("%d on task queue %s: %s", len(live), c.taskQueue, strings.Join(names, ", ")))}
	return append(found, checksFindings(c.taskQueue, live)...)
}

// liveWorkers returns the processes among pollers that have polled as lately as a running
// worker does.
func liveWorkers(pollers []*taskqueuepb.PollerInfo) []workflows.Worker {
	now := time.Now()
	return slices.DeleteFunc(workflows.Workers(pollers), func(w workflows.Worker) bool { return !w.IsLive(now) })
}
