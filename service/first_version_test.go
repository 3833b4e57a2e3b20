package service_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/armature-io/armature/config"
	deploymentpb "go.temporal.io/api/deployment/v1"
	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/timestamppb"
)

// fakeDeployments is a fakeTemporal with one worker deployment, which knows the versions that
// poll.
type fakeDeployments struct {
	*fakeTemporal
	deployment sync.Mutex
	info       *deploymentpb.WorkerDeploymentInfo
	// changes counts the accepted changes and is the token of the state; refuse denies them.
	changes int
	refuse  bool
	// together is the number of versions that read the state before any may change it.
	together int
	reads    int
}

func (f *fakeDeployments) DescribeWorkerDeployment(context.Context, *workflowservice.DescribeWorkerDeploymentRequest) (*workflowservice.DescribeWorkerDeploymentResponse, error) {
	f.mu.Lock()
	var versions []*deploymentpb.WorkerDeploymentInfo_WorkerDeploymentVersionSummary
	for _, poll := range f.polls {
		options := poll.GetDeploymentOptions()
		versions = append(versions, &deploymentpb.WorkerDeploymentInfo_WorkerDeploymentVersionSummary{
			DeploymentVersion: &deploymentpb.WorkerDeploymentVersion{DeploymentName: options.GetDeploymentName(), BuildId: options.GetBuildId()},
		})
	}
	f.mu.Unlock()
	f.deployment.Lock()
	defer f.deployment.Unlock()
	if len(versions) == 0 {
		return nil, status.Error(codes.NotFound, "no deployment")
	}
	f.reads++
	return &workflowservice.DescribeWorkerDeploymentResponse{
		ConflictToken: []byte{byte(f.changes)},
		WorkerDeploymentInfo: &deploymentpb.WorkerDeploymentInfo{
			VersionSummaries: versions, RoutingConfig: f.info.GetRoutingConfig(), ManagerIdentity: f.info.GetManagerIdentity(),
		},
	}, nil
}

func (f *fakeDeployments) SetWorkerDeploymentCurrentVersion(_ context.Context, in *workflowservice.SetWorkerDeploymentCurrentVersionRequest) (*workflowservice.SetWorkerDeploymentCurrentVersionResponse, error) {
	f.deployment.Lock()
	defer f.deployment.Unlock()
	if f.refuse {
		return nil, status.Error(codes.PermissionDenied, "no")
	}
	if f.reads < f.together || string(in.GetConflictToken()) != string([]byte{byte(f.changes)}) {
		return nil, status.Error(codes.FailedPrecondition, "conflict token mismatch")
	}
	f.changes++
	f.info = &deploymentpb.WorkerDeploymentInfo{RoutingConfig: &deploymentpb.RoutingConfig{
		CurrentDeploymentVersion:  &deploymentpb.WorkerDeploymentVersion{DeploymentName: in.GetDeploymentName(), BuildId: in.GetBuildId()},
		CurrentVersionChangedTime: timestamppb.Now(),
	}}
	return &workflowservice.SetWorkerDeploymentCurrentVersionResponse{}, nil
}

func (f *fakeDeployments) current() string {
	f.deployment.Lock()
	defer f.deployment.Unlock()
	return f.info.GetRoutingConfig().GetCurrentDeploymentVersion().GetBuildId()
}

func TestFirstVersion(t *testing.T) {
	version := func(build string) *deploymentpb.WorkerDeploymentVersion {
		return &deploymentpb.WorkerDeploymentVersion{DeploymentName: "armature", BuildId: build}
	}
	cases := map[string]struct {
		reason  string
		info    *deploymentpb.WorkerDeploymentInfo
		refuse  bool
		first   string
		env     map[string]string
		current string
		log     string
	}{
		"fresh": {
			reason: "a new installation works without a command", current: "b1", log: "this one is current now",
		},
		"taken back": {
			reason: "a user set the deployment to no version: a restart does not undo it",
			info:   &deploymentpb.WorkerDeploymentInfo{RoutingConfig: &deploymentpb.RoutingConfig{CurrentVersionChangedTime: timestamppb.Now()}},
			log:    "armature rollout promote b1",
		},
		"another is current": {
			reason: "a rollout begins with a version that gets no work",
			info:   &deploymentpb.WorkerDeploymentInfo{RoutingConfig: &deploymentpb.RoutingConfig{CurrentDeploymentVersion: version("b0"), CurrentVersionChangedTime: timestamppb.Now()}},
			log:    "another version is current", current: "b0",
		},
		"manager": {
			reason: "a controller that manages the deployment decides",
			info:   &deploymentpb.WorkerDeploymentInfo{ManagerIdentity: "controller"}, log: "no version is current",
		},
		"wait": {
			reason: "the setting leaves the first version to a user", first: config.FirstWait, log: "armature rollout promote b1",
		},
		"auto with a controller's variables": {
			reason: "a controller that sets the build ID makes it current itself", first: config.FirstAuto,
			env: map[string]string{"TEMPORAL_WORKER_BUILD_ID": "b1"}, log: "armature rollout promote b1",
		},
		"current with a controller's variables": {
			reason: "the setting is stronger than the variable", first: config.FirstCurrent,
			env: map[string]string{"TEMPORAL_WORKER_BUILD_ID": "b1"}, current: "b1", log: "this one is current now",
		},
		"denied": {
			reason: "a worker without the permission serves, and names the command", refuse: true, log: "may not make its own current",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			fake := &fakeDeployments{fakeTemporal: &fakeTemporal{mayRegister: true}, info: tc.info, refuse: tc.refuse}
			c := settings(newEndpoint(t))
			c.Worker.Deployment, c.Worker.BuildID = "armature", "b1"
			if tc.first != "" {
				c.Worker.FirstVersion = tc.first
			}
			for variable, value := range tc.env {
				t.Setenv(variable, value)
				c.Worker.BuildID = ""
			}
			r := start(t, c, listenTemporal(t, fake, "127.0.0.1:0"))
			eventually(t, "the worker serves", func() bool { return has(r.log.String(), `"msg":"worker serves"`) })
			if !has(r.log.String(), tc.log) || fake.current() != tc.current {
				t.Errorf("%s: current is %q, want %q, and the log must have %q:\n%s", tc.reason, fake.current(), tc.current, tc.log, r.log)
			}
		})
	}
}

// TestFirstVersionOfTwo starts two versions of a new installation at once: both read that
// none is current, and one becomes it.
func TestFirstVersionOfTwo(t *testing.T) {
	fake := &fakeDeployments{fakeTemporal: &fakeTemporal{mayRegister: true}, together: 2}
	address := listenTemporal(t, fake, "127.0.0.1:0")
	var workers []*running
	for _, build := range []string{"b1", "b2"} {
		c := settings(newEndpoint(t))
		c.Worker.Deployment, c.Worker.BuildID = "armature", build
		workers = append(workers, start(t, c, address))
	}
	for _, r := range workers {
		eventually(t, "the worker serves", func() bool { return has(r.log.String(), `"msg":"worker serves"`) })
	}
	fake.deployment.Lock()
	defer fake.deployment.Unlock()
	if fake.changes != 1 {
		t.Errorf("the current version was set %d times, want once", fake.changes)
	}
	first := slices.IndexFunc(workers, func(r *running) bool { return strings.Contains(r.log.String(), "this one is current now") })
	if first < 0 || !strings.Contains(workers[1-first].log.String(), "another version is current") {
		t.Errorf("want one current version:\n%s\n%s", workers[0].log, workers[1].log)
	}
}

// TestBuildIDOfTheProgram checks that a worker with a deployment alone has a version, which
// another worker of the same program shares.
func TestBuildIDOfTheProgram(t *testing.T) {
	fake := &fakeDeployments{fakeTemporal: &fakeTemporal{mayRegister: true}}
	address := listenTemporal(t, fake, "127.0.0.1:0")
	for range 2 {
		c := settings(newEndpoint(t))
		c.Worker.Deployment = "armature"
		r := start(t, c, address)
		eventually(t, "the worker serves", func() bool { return has(r.log.String(), `"msg":"worker serves"`) })
	}
	fake.mu.Lock()
	defer fake.mu.Unlock()
	builds := map[string]bool{}
	for _, poll := range fake.polls {
		builds[poll.GetDeploymentOptions().GetBuildId()] = true
	}
	if len(builds) != 1 || !strings.HasPrefix(fake.polls[0].GetDeploymentOptions().GetBuildId(), "dev-") {
		t.Errorf("two workers of one program have the versions %v, want one that begins with dev-", builds)
	}
}
