package rollout

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/starter/internal/backend"
	"github.com/armature-io/armature/starter/internal/cli"
	"github.com/google/go-cmp/cmp"
)

func TestStatus(t *testing.T) {
	cases := map[string]struct {
		reason  string
		change  func(*fakeConnection)
		state   State
		problem []string
		behind  int
	}{
		"complete": {reason: "everything runs on the current version", change: func(*fakeConnection) {}, state: StateComplete},
		"moving": {
			reason: "workers of the older version are there", change: func(f *fakeConnection) { f.resources["v1"] = 3 }, state: StateMoving, behind: 3,
		},
		"moving, not a resource": {
			reason: "a freeze needs the older version too", change: func(f *fakeConnection) { f.others = map[string]int{"v1": 1} }, state: StateMoving,
		},
		"moving from no version": {
			reason: "runs without a version come with their next task", change: func(f *fakeConnection) { f.resources[""] = 2 }, state: StateMoving, behind: 2,
		},
		"ramping": {
			reason: "both versions have workers",
			change: func(f *fakeConnection) { f.deployment.Ramping, f.deployment.Percent = "v3", 5; f.resources["v3"] = 1 }, state: StateRamping,
		},
		"ramping without workers": {
			reason: "its share gets no worker", state: StateBroken, problem: []string{"the ramping version v3 has no worker", "armature rollout back"},
			change: func(f *fakeConnection) {
				f.deployment.Ramping, f.deployment.Percent = "v3", 5
				f.pollers = f.pollers[1:]
			},
		},
		"stranded": {
			reason: "the last poll is older than a long poll takes", state: StateBroken, behind: 3,
			problem: []string{"3 resources are stranded on version v1, which no worker serves since 2026-11-23 11:56:00Z", "armature rollout rescue v1"},
			change:  func(f *fakeConnection) { f.resources["v1"] = 3; f.pollers[2] = poller("v1", 4*time.Minute) },
		},
		"stranded on a drained version": {
			reason: "the server counts every few minutes: what the others do not account for is counted", state: StateBroken, behind: 1,
			problem: []string{"1 resource is stranded on version v0"},
			change:  func(f *fakeConnection) { f.resources["v0"] = 1 },
		},
		"current without workers": {
			reason: "new resources wait", state: StateBroken,
			problem: []string{"the current version v2 has no worker", "armature rollout promote v3", "10 resources are stranded"},
			change:  func(f *fakeConnection) { f.pollers = slices.Delete(f.pollers, 1, 2) },
		},
		"nothing current": {
			reason: "workers with versions get nothing", state: StateBroken, behind: 10,
			problem: []string{"no version of deployment armature is current", "armature rollout promote v3"},
			change: func(f *fakeConnection) {
				f.deployment.Current, f.deployment.Versions[1].Status = "", backend.VersionDraining
			},
		},
		"nothing current, and workers without versions": {
			reason: "a first ramp begins there", state: StateMoving, behind: 10,
			change: func(f *fakeConnection) {
				f.deployment.Current = ""
				f.pollers = append(f.pollers, poller("", time.Second))
				f.resources = map[string]int{"": 10}
			},
		},
		"failing": {
			reason: "the version cannot continue a run", state: StateBroken, problem: []string{"the workflow tasks of 2 resources on version v2 keep failing", "armature rollout back"},
			change: func(f *fakeConnection) { f.failing = map[string]int{"v2": 2} },
		},
		"no versions": {
			reason: "nothing is wrong with workers that have none", state: StateUnversioned,
			change: func(f *fakeConnection) {
				f.deployment, f.pollers, f.resources = backend.Deployment{}, []backend.Poller{poller("", time.Second)}, map[string]int{"": 4}
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			f := steady()
			tc.change(f)
			status, err := Read(t.Context(), f, "armature", "", noon())
			if err != nil {
				t.Fatal(err)
			}
			var out bytes.Buffer
			status.write(&out, noon())
			if status.State != tc.state || len(status.Behind) != tc.behind {
				t.Errorf("%s: got %s with %d behind, want %s with %d:\n%s", tc.reason, status.State, len(status.Behind), tc.state, tc.behind, &out)
			}
			for _, want := range tc.problem {
				if !strings.Contains(out.String(), want) {
					t.Errorf("%s: the text lacks %q:\n%s", tc.reason, want, &out)
				}
			}
			if len(tc.problem) == 0 && len(status.Problems) > 0 {
				t.Errorf("%s: problems %v", tc.reason, status.Problems)
			}
		})
	}
}

// TestFindings checks that doctor counts only what is on versions without workers.
func TestFindings(t *testing.T) {
	f := steady()
	if findings := Findings(t.Context(), f, "armature", noon()); len(findings) != 1 || findings[0].State != "ok" || f.counted != 0 {
		t.Errorf("a healthy deployment has %d counts and %v, want none and one ok", f.counted, findings)
	}
	f.resources["v1"] = 3
	f.pollers[2] = poller("v1", 4*time.Minute)
	findings := Findings(t.Context(), f, "armature", noon())
	if len(findings) != 1 || findings[0].State != "error" || !strings.Contains(findings[0].Message, "3 resources are stranded on version v1") || f.counted != 2 {
		t.Errorf("a stranded version has %d counts and %v, want 2 and an error", f.counted, findings)
	}
	f = steady()
	f.pollers = append(f.pollers, backend.Poller{Identity: "gone", Deployment: "armature", BuildID: "v2", Last: noon().Add(-3 * time.Minute)})
	findings = Findings(t.Context(), f, "armature", noon())
	if len(findings) != 2 || findings[1].State != "warn" || !strings.Contains(findings[1].Message, "gone has not polled since") {
		t.Errorf("a worker that stopped polling: %v", findings)
	}
}

// TestFindingsOfEachDeployment checks that doctor judges all deployments of a task queue, and
// expects only one of them to get the new work.
func TestFindingsOfEachDeployment(t *testing.T) {
	f := steady()
	f.further = map[string]backend.Deployment{"other": {Name: "other", Versions: []backend.DeploymentVersion{version("w1", backend.VersionInactive, 0)}}}
	f.pollers = append(f.pollers, backend.Poller{Identity: "w", Deployment: "other", BuildID: "w1", Last: noon()})
	findings := Findings(t.Context(), f, "armature", noon())
	if len(findings) != 2 || findings[0].State != "ok" || findings[1].State != "ok" || !strings.Contains(findings[1].Message, "no version of deployment other is current: workers of another deployment serve") {
		t.Errorf("two deployments on a task queue: %v", findings)
	}
	f.resources["w1"], f.pollers[len(f.pollers)-1].Last = 2, noon().Add(-4*time.Minute)
	findings = Findings(t.Context(), f, "armature", noon())
	if len(findings) != 2 || findings[1].State != "error" || !strings.Contains(findings[1].Message, "2 resources are stranded on version w1") {
		t.Errorf("one of two deployments without workers: %v", findings)
	}
}

func TestChanges(t *testing.T) {
	ramping := func(f *fakeConnection) { f.deployment.Ramping, f.deployment.Percent = "v3", 5 }
	cases := map[string]struct {
		reason  string
		change  func(*fakeConnection)
		args    string
		changes []string
		signals int
		moves   int
		err     string
		code    int
	}{
		"ramp":               {reason: "a share of the resources: each looks", args: "ramp v3 5%", changes: []string{"ramp v3 5%"}, signals: 10},
		"ramp to 0":          {reason: "the end of a ramp", change: ramping, args: "ramp v3 0", changes: []string{"ramp  0%"}},
		"ramp of current":    {reason: "it has all", args: "ramp v2 5", err: "is the current version already", code: 1},
		"ramp above 100":     {reason: "no share", args: "ramp v3 101", err: "is no share", code: 2},
		"ramp not a number":  {reason: "NaN is no share either", args: "ramp v3 NaN", err: "is no share", code: 2},
		"ramp of no workers": {reason: "its share would wait", args: "ramp v0 5", err: "no worker polls", code: 1},
		"promote":            {reason: "by its build ID", args: "promote v3", changes: []string{"current v3"}, signals: 10},
		"promote unknown":    {reason: "a misspelt version", args: "promote w3", err: "versions are v3, v2, v1, v0", code: 2},
		"promote ambiguous":  {reason: "the beginning of several", args: "promote v", err: "4 versions begin with it", code: 2},
		"promote again":      {reason: "a repeated command moves the rest", change: func(f *fakeConnection) { f.resources["v1"] = 2 }, args: "promote v2", signals: 2},
		"back of a ramp":     {reason: "the current version gets all", change: ramping, args: "back", changes: []string{"ramp  0%"}},
		"back":               {reason: "the version that was current last, not the newest", args: "back", changes: []string{"current v1"}, signals: 10},
		"back to nothing":    {reason: "no other was current", change: func(f *fakeConnection) { f.deployment.Versions = f.deployment.Versions[:2] }, args: "back", err: "was ever current", code: 1},
		"back without workers": {
			reason: "nothing would serve it", change: func(f *fakeConnection) { f.pollers = f.pollers[:2] }, args: "back", err: "no worker polls", code: 1,
		},
		"rescue": {
			reason: "each run moves once, and looks at once", args: "rescue v1", moves: 3, signals: 3,
			change: func(f *fakeConnection) { f.resources["v1"] = 3; f.pollers = f.pollers[:2] },
		},
		"rescue of the current": {reason: "there is nowhere to move to", args: "rescue v2", err: "it is the current version", code: 1},
		"rescue with workers":   {reason: "nothing is stranded", args: "rescue v1", err: "its workers are there", code: 1},
		"rescue to no workers": {
			reason: "it would strand again", args: "rescue v1", err: "no worker polls", code: 1,
			change: func(f *fakeConnection) { f.pollers = f.pollers[:1] },
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			f := steady()
			if tc.change != nil {
				tc.change(f)
			}
			var out, notes bytes.Buffer
			c := Command(Options{
				Out: &out, Err: &notes, Now: noon, After: time.After, TaskQueue: func() string { return "armature" },
				Connect: func(context.Context) (Connection, error) { return f, nil },
			})
			c.SilenceErrors, c.SilenceUsage = true, true
			c.SetArgs(strings.Fields(tc.args))
			err := c.ExecuteContext(t.Context())
			if tc.err == "" && err != nil || tc.err != "" && (err == nil || !strings.Contains(err.Error(), tc.err) || cli.ExitCode(err) != tc.code) {
				t.Errorf("%s: got the error %v, want %q with exit code %d", tc.reason, err, tc.err, tc.code)
			}
			if diff := cmp.Diff(tc.changes, f.changes); diff != "" || f.signals != tc.signals || f.moves != tc.moves {
				t.Errorf("%s: %d signals and %d moves, want %d and %d; changes (-want +got):\n%s", tc.reason, f.signals, f.moves, tc.signals, tc.moves, diff)
			}
		})
	}
}

func TestStatusExitCodes(t *testing.T) {
	cases := map[string]struct {
		reason string
		change func(*fakeConnection)
		code   int
	}{
		"complete": {"scripts go on", func(*fakeConnection) {}, cli.ExitOK},
		"moving":   {"scripts wait", func(f *fakeConnection) { f.resources["v1"] = 1 }, exitInProgress},
		"broken":   {"scripts stop", func(f *fakeConnection) { f.failing = map[string]int{"v2": 1} }, cli.ExitFailed},
	}
	for name, tc := range cases {
		f := steady()
		tc.change(f)
		c := Command(Options{
			Out: &bytes.Buffer{}, Err: &bytes.Buffer{}, Now: noon, TaskQueue: func() string { return "armature" },
			Connect: func(context.Context) (Connection, error) { return f, nil },
		})
		c.SilenceErrors, c.SilenceUsage = true, true
		c.SetArgs([]string{"status"})
		if err := c.ExecuteContext(t.Context()); cli.ExitCode(err) != tc.code {
			t.Errorf("%s: %s: got %d (%v), want %d", name, tc.reason, cli.ExitCode(err), err, tc.code)
		}
	}
}

// TestDeploymentOfTheQueue checks which deployment is chosen without --deployment.
func TestDeploymentOfTheQueue(t *testing.T) {
	f := steady()
	f.pollers = append(f.pollers, backend.Poller{Deployment: "other", BuildID: "x", Last: noon()})
	if _, err := Read(t.Context(), f, "armature", "", noon()); err == nil || !strings.Contains(err.Error(), "choose one with --deployment") {
		t.Errorf("two deployments on a task queue: %v", err)
	}
	if _, err := Read(t.Context(), f, "armature", "armature", noon()); err != nil {
		t.Error(err)
	}
	f.pollers, f.deployments = nil, []string{"armature"}
	if status, err := Read(t.Context(), f, "armature", "", noon()); err != nil || status.Deployment != "armature" {
		t.Errorf("without workers the only deployment is chosen: %+v, %v", status, err)
	}
	f.deployments, f.pollers, f.resources = nil, []backend.Poller{poller("", time.Second)}, map[string]int{"": 2}
	if status, err := Read(t.Context(), f, "mine", "", noon()); err != nil || status.Deployment != "" || status.State != StateUnversioned || len(status.Problems) > 0 {
		t.Errorf("a deployment that serves other task queues is judged: %+v, %v", status, err)
	}
	if _, err := Read(t.Context(), f, "armature", "nowhere", noon()); err == nil || errors.Is(err, backend.ErrNotManaged) {
		t.Errorf("an unknown deployment: %v", err)
	}
}
