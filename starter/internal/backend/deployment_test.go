package backend

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	deploymentpb "go.temporal.io/api/deployment/v1"
	taskqueuepb "go.temporal.io/api/taskqueue/v1"
	"go.temporal.io/api/workflowservice/v1"
)

// deploymentServer is a server with worker deployments.
type deploymentServer struct {
	dryRunServer
	names []string
	// current and ramping are the deployments that the task queue is routed to.
	current, ramping string
	// pinned are the numbers of workflows of the task queue, by deployment and kind.
	pinned map[string]int64
}

func (s *deploymentServer) ListWorkerDeployments(context.Context, *workflowservice.ListWorkerDeploymentsRequest) (*workflowservice.ListWorkerDeploymentsResponse, error) {
	response := &workflowservice.ListWorkerDeploymentsResponse{}
	for _, name := range s.names {
		response.WorkerDeployments = append(response.WorkerDeployments, &workflowservice.ListWorkerDeploymentsResponse_WorkerDeploymentSummary{Name: name})
	}
	return response, nil
}

func (s *deploymentServer) DescribeTaskQueue(context.Context, *workflowservice.DescribeTaskQueueRequest) (*workflowservice.DescribeTaskQueueResponse, error) {
	routing := &taskqueuepb.TaskQueueVersioningInfo{}
	if s.current != "" {
		routing.CurrentDeploymentVersion = &deploymentpb.WorkerDeploymentVersion{DeploymentName: s.current, BuildId: "v1"}
	}
	if s.ramping != "" {
		routing.RampingDeploymentVersion = &deploymentpb.WorkerDeploymentVersion{DeploymentName: s.ramping, BuildId: "v2"}
	}
	return &workflowservice.DescribeTaskQueueResponse{VersioningInfo: routing}, nil
}

func (s *deploymentServer) CountWorkflowExecutions(_ context.Context, in *workflowservice.CountWorkflowExecutionsRequest) (*workflowservice.CountWorkflowExecutionsResponse, error) {
	kind := "resources"
	if strings.Contains(in.GetQuery(), "WorkflowType !=") {
		kind = "others"
	}
	for key, n := range s.pinned {
		name, of, _ := strings.Cut(key, " ")
		if of == kind && strings.Contains(in.GetQuery(), attributeDeployment+" = '"+name+"'") && strings.Contains(in.GetQuery(), "TaskQueue = 'q1'") {
			return &workflowservice.CountWorkflowExecutionsResponse{Count: n}, nil
		}
	}
	return &workflowservice.CountWorkflowExecutionsResponse{}, nil
}

// TestDeploymentsOfTheQueue checks that a deployment belongs to a task queue that it gets tasks
// or has workflows of, and to no other.
func TestDeploymentsOfTheQueue(t *testing.T) {
	all := []string{"other", "armature"}
	cases := map[string]struct {
		reason string
		server *deploymentServer
		want   []string
	}{
		"none":    {"workers without versions beside the deployment of another task queue", &deploymentServer{names: all}, nil},
		"current": {"new resources go there", &deploymentServer{names: all, current: "armature"}, []string{"armature"}},
		"ramping": {"a share of them goes there", &deploymentServer{names: all, ramping: "armature"}, []string{"armature"}},
		"pinned":  {"its resources wait for it", &deploymentServer{names: all, pinned: map[string]int64{"armature resources": 3}}, []string{"armature"}},
		"others":  {"so does a freeze", &deploymentServer{names: all, pinned: map[string]int64{"armature others": 1}}, []string{"armature"}},
		"two":     {"a task queue may change its deployment", &deploymentServer{names: all, current: "other", pinned: map[string]int64{"armature resources": 3}}, []string{"armature", "other"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := connectTo(t, c.server).Deployments(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.reason, diff)
			}
		})
	}
}
