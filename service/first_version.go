package service

import (
	"context"
	"slices"
	"time"

	"github.com/armature-io/armature/internal/searchattr"
	deploymentpb "go.temporal.io/api/deployment/v1"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/workflowservice/v1"
)

const (
	// settleTimeout bounds the wait of a worker with a version until the deployment routes
	// work: the server registers a version some moments after its first poll.
	settleTimeout  = 30 * time.Second
	settleInterval = 200 * time.Millisecond
)

// settleVersion makes the version of this worker current if no version of its deployment
// ever was, so that the first worker of an installation gets work, and logs which version
// is current otherwise. A version that was current and is not any more was taken back by a
// user: it stays so. Of two versions that start at once, the server accepts one, because
// both send the token of the state that they read.
func (p *process) settleVersion(parent context.Context) {
	if !p.version.UseVersioning {
		return
	}
	ctx, cancel := context.WithTimeout(parent, settleTimeout)
	defer cancel()
	own := p.version.Version
	log := p.log.With("deployment", own.DeploymentName, "buildID", own.BuildID)
	advice := "run `armature rollout promote " + own.BuildID + "`"
	for {
		deployment, err := p.temporal.WorkflowService().DescribeWorkerDeployment(ctx, &workflowservice.DescribeWorkerDeploymentRequest{
			Namespace: p.namespace, DeploymentName: own.DeploymentName,
		})
		info := deployment.GetWorkerDeploymentInfo()
		routing := info.GetRoutingConfig()
		switch {
		case parent.Err() != nil:
			return
		case searchattr.Denied(err):
			log.Warn("cannot read the worker deployment: a version gets work once it is current", "error", err, "advice", "look at `armature rollout status`")
			return
		case ctx.Err() != nil:
			log.Warn("the version of this worker was not settled in time", "error", err, "advice", "look at `armature rollout status`")
			return
		case err != nil:
			// The server does not know the deployment yet.
		case routing.GetCurrentDeploymentVersion() != nil:
			if current := routing.GetCurrentDeploymentVersion().GetBuildId(); current != own.BuildID {
				log.Info("another version is current: this one gets work when it is ramped or promoted", "current", current,
					"advice", "`armature rollout status` shows both, and what waits for a version without workers")
				return
			}
			// An apply right after readiness would otherwise wait for a worker without versions.
			if info.GetRoutingConfigUpdateState() != enumspb.ROUTING_CONFIG_UPDATE_STATE_IN_PROGRESS {
				return
			}
		case !p.version.first, info.GetManagerIdentity() != "", routing.GetCurrentVersionChangedTime() != nil:
			log.Warn("no version is current: workers with versions get no work", "manager", info.GetManagerIdentity(), "advice", advice)
			return
		case isRegistered(info, own.BuildID):
			_, err := p.temporal.WorkflowService().SetWorkerDeploymentCurrentVersion(ctx, &workflowservice.SetWorkerDeploymentCurrentVersionRequest{
				Namespace: p.namespace, DeploymentName: own.DeploymentName, BuildId: own.BuildID,
				ConflictToken: deployment.GetConflictToken(), Identity: p.identity,
			})
			if searchattr.Denied(err) {
				log.Warn("no version is current, and this worker may not make its own current", "error", err, "advice", advice)
				return
			}
			if err == nil {
				log.Info("no version was ever current: this one is current now")
			}
			// Any other error: another worker was first, or the next look shows why.
		}
		sleep(ctx, settleInterval)
	}
}

// isRegistered reports whether the server knows a version of a deployment.
func isRegistered(info *deploymentpb.WorkerDeploymentInfo, build string) bool {
	return slices.ContainsFunc(info.GetVersionSummaries(), func(v *deploymentpb.WorkerDeploymentInfo_WorkerDeploymentVersionSummary) bool {
		return v.GetDeploymentVersion().GetBuildId() == build
	})
}
