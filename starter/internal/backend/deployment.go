package backend

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/armature-io/armature/starter/internal/cli"
	"github.com/armature-io/armature/workflows"
	deploymentpb "go.temporal.io/api/deployment/v1"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"
)

// The server's search attributes of the version that a run is pinned to, DEPLOYMENT:BUILD, and
// of its deployment.
const (
	attributeVersion    = "TemporalWorkerDeploymentVersion"
	attributeDeployment = "TemporalWorkerDeployment"
)

// Deployment is a worker deployment of Temporal: its versions, and which of them get work.
type Deployment struct {
	Name string
	// Current and Ramping are build IDs, "" for none. Percent is the share of Ramping.
	Current, Ramping            string
	Percent                     float32
	CurrentChanged, RampChanged time.Time
	// Manager is the client that alone may change the deployment, "" for none.
	Manager string
	// Settled is set when all task queues route work this way.
	Settled bool
	// Versions are the known versions, newest first.
	Versions []DeploymentVersion
	token    []byte
}

// DeploymentVersion is a version that the server knows.
type DeploymentVersion struct {
	BuildID string
	Status  VersionStatus
	// Created, LastCurrent and Since: when it first polled, was last made current, and got
	// its status; zero if that is unknown.
	Created, LastCurrent, Since time.Time
}

// VersionStatus is the status of a version.
type VersionStatus string

// The statuses of versions. A version is draining from the end of its routing until no run
// is pinned to it, as far as the server has counted, which it does every few minutes.
const (
	VersionInactive VersionStatus = "inactive"
	VersionCurrent  VersionStatus = "current"
	VersionRamping  VersionStatus = "ramping"
	VersionDraining VersionStatus = "draining"
	VersionDrained  VersionStatus = "drained"
)

// Poller is a process that polled for tasks lately.
type Poller = workflows.Worker

// Pollers returns the processes that polled the task queue for workflow tasks in the last
// minutes.
func (c *Client) Pollers(ctx context.Context) ([]Poller, error) {
	response, err := c.describeQueue(ctx)
	return workflows.Workers(response.GetPollers()), err
}

// describeQueue describes the task queue for workflow tasks.
func (c *Client) describeQueue(ctx context.Context) (*workflowservice.DescribeTaskQueueResponse, error) {
	deadline, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	response, err := c.client.DescribeTaskQueue(deadline, c.taskQueue, enumspb.TASK_QUEUE_TYPE_WORKFLOW)
	return response, c.translateRead(ctx, err)
}

// Deployments returns the names of the worker deployments of the task queue, sorted: those
// that Temporal routes its tasks to, and those whose versions its workflows are pinned to. Other
// deployments of the namespace serve other task queues.
func (c *Client) Deployments(ctx context.Context) ([]string, error) {
	queue, err := c.describeQueue(ctx)
	if err != nil {
		return nil, err
	}
	all, err := c.allDeployments(ctx)
	if err != nil {
		return nil, err
	}
	routing := queue.GetVersioningInfo()
	routed := []string{routing.GetCurrentDeploymentVersion().GetDeploymentName(), routing.GetRampingDeploymentVersion().GetDeploymentName()}
	var names []string
	for _, name := range all {
		isOwn := slices.Contains(routed, name)
		for _, others := range []bool{false, true} {
			if isOwn {
				break
			}
			pinned, err := c.CountVersion(ctx, VersionQuery{TaskQueue: c.taskQueue, Deployment: name, Others: others})
			if err != nil {
				return nil, err
			}
			isOwn = pinned > 0
		}
		if isOwn {
			names = append(names, name)
		}
	}
	return names, nil
}

// allDeployments returns the names of the worker deployments of the namespace, sorted.
func (c *Client) allDeployments(ctx context.Context) ([]string, error) {
	deadline, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	var names []string
	list, err := c.client.WorkerDeploymentClient().List(deadline, client.WorkerDeploymentListOptions{})
	for err == nil && list.HasNext() {
		var entry *client.WorkerDeploymentListEntry
		if entry, err = list.Next(); err == nil {
			names = append(names, entry.Name)
		}
	}
	slices.Sort(names)
	return names, c.translateRead(ctx, err)
}

// Deployment reads a worker deployment. It returns ErrNotManaged when the server knows none
// of the name.
func (c *Client) Deployment(ctx context.Context, name string) (Deployment, error) {
	deadline, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	response, err := c.client.WorkflowService().DescribeWorkerDeployment(deadline, &workflowservice.DescribeWorkerDeploymentRequest{
		Namespace: c.namespace, DeploymentName: name,
	})
	if err != nil {
		return Deployment{}, c.translateRead(ctx, err)
	}
	info := response.GetWorkerDeploymentInfo()
	routing := info.GetRoutingConfig()
	d := Deployment{
		Name:    name,
		Current: routing.GetCurrentDeploymentVersion().GetBuildId(), CurrentChanged: timeOf(routing.GetCurrentVersionChangedTime()),
		Ramping: routing.GetRampingDeploymentVersion().GetBuildId(), RampChanged: timeOf(routing.GetRampingVersionPercentageChangedTime()),
		Percent: routing.GetRampingVersionPercentage(),
		Manager: info.GetManagerIdentity(), Settled: info.GetRoutingConfigUpdateState() != enumspb.ROUTING_CONFIG_UPDATE_STATE_IN_PROGRESS,
		token: response.GetConflictToken(),
	}
	for _, v := range info.GetVersionSummaries() {
		d.Versions = append(d.Versions, newDeploymentVersion(v))
	}
	slices.SortFunc(d.Versions, func(a, b DeploymentVersion) int {
		return cmp.Or(b.Created.Compare(a.Created), strings.Compare(a.BuildID, b.BuildID))
	})
	return d, nil
}

// newDeploymentVersion returns a version of the server's list.
func newDeploymentVersion(v *deploymentpb.WorkerDeploymentInfo_WorkerDeploymentVersionSummary) DeploymentVersion {
	version := DeploymentVersion{
		BuildID: v.GetDeploymentVersion().GetBuildId(), Created: timeOf(v.GetCreateTime()), LastCurrent: timeOf(v.GetLastCurrentTime()),
	}
	switch v.GetStatus() {
	case enumspb.WORKER_DEPLOYMENT_VERSION_STATUS_CURRENT:
		version.Status, version.Since = VersionCurrent, timeOf(v.GetCurrentSinceTime())
	case enumspb.WORKER_DEPLOYMENT_VERSION_STATUS_RAMPING:
		version.Status, version.Since = VersionRamping, timeOf(v.GetRampingSinceTime())
	case enumspb.WORKER_DEPLOYMENT_VERSION_STATUS_DRAINING:
		version.Status, version.Since = VersionDraining, timeOf(v.GetLastDeactivationTime())
	case enumspb.WORKER_DEPLOYMENT_VERSION_STATUS_DRAINED:
		version.Status, version.Since = VersionDrained, timeOf(v.GetDrainageInfo().GetLastChangedTime())
	default:
		version.Status, version.Since = VersionInactive, version.Created
	}
	return version
}

// SetCurrent makes a version current. It fails if the deployment changed after it was read.
func (c *Client) SetCurrent(ctx context.Context, d Deployment, build string) error {
	deadline, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	_, err := c.client.WorkerDeploymentClient().GetHandle(d.Name).SetCurrentVersion(deadline, client.WorkerDeploymentSetCurrentVersionOptions{
		BuildID: build, ConflictToken: d.token,
	})
	return c.translateChange(ctx, d, err)
}

// SetRamping gives a version a share of the work; "" and 0 end a ramp. It fails if the
// deployment changed after it was read.
func (c *Client) SetRamping(ctx context.Context, d Deployment, build string, percent float32) error {
	deadline, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	_, err := c.client.WorkerDeploymentClient().GetHandle(d.Name).SetRampingVersion(deadline, client.WorkerDeploymentSetRampingVersionOptions{
		BuildID: build, Percentage: percent, ConflictToken: d.token,
	})
	return c.translateChange(ctx, d, err)
}

// translateChange returns the error of a change of a deployment.
func (c *Client) translateChange(ctx context.Context, d Deployment, err error) error {
	if refusal, refused := asRefusal(err); refused && ctx.Err() == nil {
		return cli.Failed("change worker deployment %s: %s; nothing was changed, look at `armature rollout status` and try again", d.Name, refusal)
	}
	return c.translateRead(ctx, err)
}

// asRefusal returns the text of an error with which the server refuses a request in its
// present state.
func asRefusal(err error) (string, bool) {
	if is[*serviceerror.FailedPrecondition](err) || is[*serviceerror.InvalidArgument](err) || is[*serviceerror.NotFound](err) {
		return err.Error(), true
	}
	return "", false
}

// Signal sends a signal without input to a workflow. A workflow that has ended is no error.
func (c *Client) Signal(ctx context.Context, workflowID, signal string) error {
	deadline, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	err := c.client.SignalWorkflow(deadline, workflowID, "", signal, nil)
	if is[*serviceerror.NotFound](err) {
		return nil
	}
	return c.translateRead(ctx, err)
}

// MoveOnce routes the next workflow task of a run to a version, which the run is pinned to
// from then on: the version replays the history. A workflow that has ended is no error.
func (c *Client) MoveOnce(ctx context.Context, workflowID, deployment, build string) error {
	deadline, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	_, err := c.client.UpdateWorkflowExecutionOptions(deadline, client.UpdateWorkflowExecutionOptionsRequest{
		WorkflowId: workflowID,
		WorkflowExecutionOptionsChanges: client.WorkflowExecutionOptionsChanges{
			VersioningOverride: &client.VersioningOverrideChange{
				Value: &client.OneTimeVersioningOverride{TargetVersion: worker.WorkerDeploymentVersion{DeploymentName: deployment, BuildID: build}},
			},
		},
	})
	if is[*serviceerror.NotFound](err) {
		return nil
	}
	if refusal, refused := asRefusal(err); refused && ctx.Err() == nil {
		return cli.Failed("move %s to version %s: %s", workflowID, build, refusal)
	}
	return c.translateRead(ctx, err)
}
