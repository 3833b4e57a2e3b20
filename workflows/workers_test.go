package workflows_test

import (
	"testing"
	"time"

	"github.com/armature-io/armature/workflows"
	"github.com/google/go-cmp/cmp"
	deploymentpb "go.temporal.io/api/deployment/v1"
	enumspb "go.temporal.io/api/enums/v1"
	taskqueuepb "go.temporal.io/api/taskqueue/v1"
	"google.golang.org/protobuf/types/known/timestamppb"
)

func TestSplitIdentity(t *testing.T) {
	cases := map[string]struct{ reason, identity, process, checks string }{
		"worker":  {"a worker states its checks", workflows.WorkerIdentity("7@host@", "0123456789"), "7@host@", "0123456789"},
		"without": {"another program polls the task queue", "7@host@", "7@host@", ""},
		"none":    {"a poller may have no identity", "", "", ""},
	}
	for name, c := range cases {
		if process, checks := workflows.SplitIdentity(c.identity); process != c.process || checks != c.checks {
			t.Errorf("%s: %s: got %q and %q, want %q and %q", name, c.reason, process, checks, c.process, c.checks)
		}
	}
}

// TestWorkers checks that a process counts once, with the checks of its last poll.
func TestWorkers(t *testing.T) {
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	poller := func(identity string, ago time.Duration) *taskqueuepb.PollerInfo {
		return &taskqueuepb.PollerInfo{Identity: identity, LastAccessTime: timestamppb.New(now.Add(-ago))}
	}
	versioned := poller("3@c@ checks=c", 0)
	versioned.DeploymentOptions = &deploymentpb.WorkerDeploymentOptions{
		DeploymentName: "d", BuildId: "v1", WorkerVersioningMode: enumspb.WORKER_VERSIONING_MODE_VERSIONED,
	}
	got := workflows.Workers([]*taskqueuepb.PollerInfo{
		versioned, poller("2@b@ checks=old", time.Minute), poller("2@b@ checks=new", time.Second), poller("1@a@ checks=new", time.Hour),
		poller("1@a@ checks=old", 2*time.Hour), {Identity: "0"},
	})
	want := []workflows.Worker{
		{Identity: "0"},
		{Identity: "1@a@", Checks: "new", Last: now.Add(-time.Hour)},
		{Identity: "2@b@", Checks: "new", Last: now.Add(-time.Second)},
		{Identity: "3@c@", Checks: "c", Deployment: "d", BuildID: "v1", Last: now},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("workers (-want +got):\n%s", diff)
	}
	var live []string
	for _, worker := range got {
		if worker.IsLive(now) {
			live = append(live, worker.Identity)
		}
	}
	if diff := cmp.Diff([]string{"2@b@", "3@c@"}, live); diff != "" {
		t.Errorf("live workers (-want +got):\n%s", diff)
	}
}

func TestChecksByVersion(t *testing.T) {
	worker := func(identity, build, checks string) workflows.Worker {
		w := workflows.Worker{Identity: identity, BuildID: build, Checks: checks}
		if build != "" {
			w.Deployment = "d"
		}
		return w
	}
	cases := map[string]struct {
		reason  string
		workers []workflows.Worker
		want    [][]string
	}{
		"none":           {reason: "no worker polls"},
		"same":           {"replicas of one worker", []workflows.Worker{worker("2", "", "a"), worker("1", "", "a")}, [][]string{{"a 1 2"}}},
		"different":      {"a forgotten replica", []workflows.Worker{worker("1", "", "b"), worker("2", "", "a"), worker("3", "", "b")}, [][]string{{"a 2", "b 1 3"}}},
		"rolling update": {"two versions may differ", []workflows.Worker{worker("1", "v1", "a"), worker("2", "v2", "b"), worker("3", "", "c")}, [][]string{{"c 3"}, {"a 1"}, {"b 2"}}},
		"within one version": {
			"a version has one set of checks", []workflows.Worker{worker("1", "v1", "a"), worker("2", "v2", "b"), worker("3", "v2", "a")},
			[][]string{{"a 1"}, {"a 3", "b 2"}},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			var got [][]string
			for _, groups := range workflows.ChecksByVersion(c.workers) {
				var texts []string
				for _, group := range groups {
					text := group.Checks
					for _, identity := range group.Workers {
						text += " " + identity
					}
					texts = append(texts, text)
				}
				got = append(got, texts)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.reason, diff)
			}
		})
	}
}
