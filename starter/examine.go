package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/searchattr"
	"github.com/armature-io/armature/workflows"
	"github.com/google/uuid"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
)

// pollerAge is how long ago a poller may have asked for work and still count: a
// long poll lasts a minute.
const pollerAge = 2 * time.Minute

// diagnoseTimeout bounds the look of a worker: ten seconds for each of some
// credentials that are out of reach.
const diagnoseTimeout = time.Minute

func (t *temporalClient) temporalFindings(ctx context.Context) []activities.Finding {
	ctx, cancel := context.WithTimeout(ctx, 3*readTimeout)
	defer cancel()
	findings := []activities.Finding{t.serverFinding(ctx)}
	namespace := t.namespaceFinding(ctx)
	findings = append(findings, namespace)
	if namespace.State == activities.FindingFault {
		return findings
	}
	attributes := t.attributesFinding(ctx)
	findings = append(findings, attributes)
	if attributes.State == activities.FindingOK {
		findings = append(findings, t.visibilityFinding(ctx), t.stuckFinding(ctx))
	}
	return append(findings, t.workersFinding(ctx))
}

// visibilityFinding tries what waking and lists need: a list of values asked for
// with IN.
func (t *temporalClient) visibilityFinding(ctx context.Context) activities.Finding {
	finding := activities.Finding{Check: "visibility", State: activities.FindingOK, Message: "lists of keywords can be asked for"}
	query := attributeWaitingFor + " IN ('none', 'nobody') AND ExecutionStatus = 'Running'"
	_, err := t.client.CountWorkflow(ctx, &workflowservice.CountWorkflowExecutionsRequest{Namespace: t.namespace, Query: query})
	if err != nil {
		finding.State, finding.Message = activities.FindingFault, fmt.Sprintf("the query %s is refused: %v", query, err)
		finding.Advice = "Temporal needs a visibility store for custom search attributes: SQL (PostgreSQL 12, MySQL 8, SQLite) or Elasticsearch; " +
			"attributes registered within the last minute may not be known yet"
	}
	return finding
}

// stuckFinding counts the workflows whose tasks fail: they wait for a worker that
// can replay them.
func (t *temporalClient) stuckFinding(ctx context.Context) activities.Finding {
	finding := activities.Finding{Check: "workflows", State: activities.FindingOK, Message: "none is stuck"}
	query := attributeProblems + " IN ('category=WorkflowTaskFailed', 'category=WorkflowTaskTimedOut') AND " + allQuery()
	answer, err := t.client.CountWorkflow(ctx, &workflowservice.CountWorkflowExecutionsRequest{Namespace: t.namespace, Query: query})
	switch {
	case err != nil:
		finding.Message = "whether one is stuck is not known to this server (it has no " + attributeProblems + ")"
	case answer.GetCount() > 0:
		finding.State = activities.FindingFault
		finding.Message = numbered(int(answer.GetCount()), "workflow's task fails", "workflows' tasks fail") + " again and again: nothing is done for what they look after"
		finding.Advice = "`armature replay --all` names each, and where this version parts from its history; go back to the worker's release before, or read the worker's log"
	}
	return finding
}

func (t *temporalClient) serverFinding(ctx context.Context) activities.Finding {
	finding := activities.Finding{Check: "temporal", State: activities.FindingOK}
	info, err := t.client.WorkflowService().GetClusterInfo(ctx, &workflowservice.GetClusterInfoRequest{})
	finding.Message = t.address + " answers, " + t.secured
	if err == nil && info.GetServerVersion() != "" {
		finding.Message += ", server " + info.GetServerVersion()
	}
	return finding
}

func (t *temporalClient) namespaceFinding(ctx context.Context) activities.Finding {
	finding := activities.Finding{Check: "namespace", State: activities.FindingOK, Message: t.namespace}
	answer, err := t.client.WorkflowService().DescribeNamespace(ctx, &workflowservice.DescribeNamespaceRequest{Namespace: t.namespace})
	var absent *serviceerror.NamespaceNotFound
	var denied *serviceerror.PermissionDenied
	switch {
	case errors.As(err, &absent):
		finding.State, finding.Message = activities.FindingFault, "the server has no namespace "+t.namespace
		finding.Advice = "set TEMPORAL_NAMESPACE, or create it: temporal operator namespace create -n " + t.namespace
	case errors.As(err, &denied):
		finding.State, finding.Message = activities.FindingFault, "Temporal refuses to describe namespace "+t.namespace
		finding.Advice = "check TEMPORAL_NAMESPACE and the rights of TEMPORAL_API_KEY or of the client certificate"
	case err != nil:
		finding.State, finding.Message = activities.FindingFault, fmt.Sprintf("namespace %s cannot be described: %v", t.namespace, err)
		finding.Advice = "try again; if it stays, look at the Temporal server"
	case !answer.GetNamespaceInfo().GetCapabilities().GetSyncUpdate():
		finding.State, finding.Message = activities.FindingFault, "namespace "+t.namespace+" takes no workflow updates, with which every command speaks to a workflow"
		finding.Advice = "use a Temporal server of version 1.28 or newer, with updates enabled (frontend.enableUpdateWorkflowExecution)"
	}
	return finding
}

func (t *temporalClient) attributesFinding(ctx context.Context) activities.Finding {
	finding := activities.Finding{Check: "search attributes", State: activities.FindingOK, Message: "all are registered"}
	missing, err := searchattr.Missing(ctx, t.client.OperatorService(), t.namespace, workflows.SearchAttributes())
	var mismatch *searchattr.TypeError
	switch {
	case errors.As(err, &mismatch):
		finding.State, finding.Message = activities.FindingFault, err.Error()
		finding.Advice = "then run `armature setup`"
	case searchattr.Denied(err):
		finding.State, finding.Message = activities.FindingWarn, "they cannot be listed with these credentials"
		finding.Advice = "ask an administrator of the namespace to run `armature setup`; it is safe to repeat"
	case err != nil:
		finding.State, finding.Message = activities.FindingFault, err.Error()
		finding.Advice = "try again; if it stays, look at the Temporal server"
	case len(missing) > 0:
		finding.State, finding.Message = activities.FindingFault, "missing in namespace "+t.namespace+": "+strings.Join(missing, ", ")
		finding.Advice = "run `armature setup`"
	}
	return finding
}

func (t *temporalClient) workersFinding(ctx context.Context) activities.Finding {
	finding := activities.Finding{Check: "worker", State: activities.FindingOK}
	var all []string
	for _, kind := range []enumspb.TaskQueueType{enumspb.TASK_QUEUE_TYPE_WORKFLOW, enumspb.TASK_QUEUE_TYPE_ACTIVITY} {
		answer, err := t.client.DescribeTaskQueue(ctx, t.taskQueue, kind)
		if err != nil {
			finding.State, finding.Message = activities.FindingFault, fmt.Sprintf("task queue %s cannot be described: %v", t.taskQueue, err)
			finding.Advice = "try again; if it stays, look at the Temporal server"
			return finding
		}
		all = nil
		for _, poller := range answer.GetPollers() {
			if time.Since(poller.GetLastAccessTime().AsTime()) > pollerAge {
				continue
			}
			who := poller.GetIdentity()
			if build := poller.GetDeploymentOptions().GetBuildId(); build != "" {
				who += " version " + build
			}
			all = append(all, who)
		}
		if len(all) == 0 {
			finding.State, finding.Message = activities.FindingFault, "no worker polls task queue "+t.taskQueue
			finding.Advice = "start a worker with this address, namespace and task queue, and read what it says: it refuses to start with a wrong configuration, credential or certificate"
			return finding
		}
	}
	slices.Sort(all)
	all = slices.Compact(all)
	finding.Message = fmt.Sprintf("%d on task queue %s: %s", len(all), t.taskQueue, strings.Join(all, ", "))
	return finding
}

func (t *temporalClient) diagnose(ctx context.Context, in activities.DiagnoseInput) (activities.DiagnoseResult, error) {
	var result activities.DiagnoseResult
	err := t.dryRun(ctx, client.StartWorkflowOptions{
		ID: workflows.DiagnoseIDPrefix + uuid.NewString(), StaticSummary: "armature doctor",
		WorkflowExecutionTimeout: diagnoseTimeout,
	}, workflows.DiagnoseWorkflow, in, &result)
	return result, err
}
