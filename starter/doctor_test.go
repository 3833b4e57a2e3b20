package starter

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/starter/internal/backend"
	"github.com/armature-io/armature/starter/internal/cli"
	"github.com/armature-io/armature/starter/internal/rollout"
	"github.com/armature-io/armature/workflows"
	"github.com/google/go-cmp/cmp"
)

func TestClockSkew(t *testing.T) {
	begun := noon()
	ended := begun.Add(3 * time.Second)
	cases := map[string]struct {
		reason string
		there  time.Time
		want   time.Duration
	}{
		"Between": {"the worker's time lies between question and answer", begun.Add(time.Second), 0},
		"Behind":  {"its clock is behind", begun.Add(-time.Hour), time.Hour},
		"Ahead":   {"its clock is ahead", ended.Add(time.Hour), -time.Hour},
	}
	for name, c := range cases {
		if got := clockSkew(begun, ended, c.there); got != c.want {
			t.Errorf("%s: %s: got %s, want %s", name, c.reason, got, c.want)
		}
	}
}

func TestDoctorCountsWarnings(t *testing.T) {
	var findings []activities.Finding
	for _, name := range []string{"a", "b", "c", "d"} {
		findings = append(findings, activities.Finding{Check: "api-versions", State: activities.FindingWarn, Message: name + " is old", Advice: "update " + name})
	}
	findings = append(findings, activities.Finding{Check: "worker", State: activities.FindingOK, Message: "serves"})
	w := newWorld()
	w.printFindings(findings, false)
	want := "warn   api-versions          4 warnings, for example a is old\n                             -> update a\n" +
		"                             -> `armature doctor -o wide` lists all 4\nok     worker                serves\n"
	if diff := cmp.Diff(want, w.out.String()); diff != "" {
		t.Errorf("doctor prints (-want +got):\n%s", diff)
	}
	w = newWorld()
	w.printFindings(findings, true)
	if out := w.out.String(); strings.Count(out, "is old") != 4 {
		t.Errorf("wide prints %s", out)
	}
}

// examined is an installation with findings.
type examined struct {
	findings    []activities.Finding
	noNamespace bool
	diagnoseErr error
	diagnoses   int
}

func (e *examined) Findings(context.Context) (findings []activities.Finding, hasNamespace bool) {
	return e.findings, !e.noNamespace
}

func (e *examined) CountPhases(context.Context, []string) (map[string]int, error) { return nil, nil }

func (e *examined) Diagnose(context.Context, activities.DiagnoseInput) (activities.DiagnoseResult, error) {
	e.diagnoses++
	return activities.DiagnoseResult{
		ServerAt: noon(), Findings: []activities.Finding{{Check: "rules", State: activities.FindingWarn, Message: "the rule files are invalid", Advice: "armature rules check"}},
	}, e.diagnoseErr
}

// brokenVersions is a task queue whose current version has no worker.
type brokenVersions struct{ rollout.Connection }

func (brokenVersions) Pollers(context.Context) ([]backend.Poller, error) {
	return []backend.Poller{{Identity: "1@a@", Last: noon()}}, nil
}

func (brokenVersions) Deployments(context.Context) ([]string, error) {
	return []string{"armature"}, nil
}

func (brokenVersions) Deployment(context.Context, string) (backend.Deployment, error) {
	return backend.Deployment{Name: "armature", Current: "v1", Versions: []backend.DeploymentVersion{{BuildID: "v1", Status: backend.VersionCurrent}}}, nil
}

func (brokenVersions) CountVersion(context.Context, backend.VersionQuery) (int, error) { return 0, nil }

// TestDoctorSkipsNothing checks that a failed check keeps no other one from running, unless
// there is nothing to ask.
func TestDoctorSkipsNothing(t *testing.T) {
	fault := func(check string) []activities.Finding {
		return []activities.Finding{{Check: check, State: activities.FindingError, Message: check + " is broken", Advice: "mend it"}}
	}
	cases := map[string]struct {
		reason string
		change func(*world, *examined)
		want   []string
		lacks  []string
	}{
		"versions":   {"workers without a version serve the task queue", func(*world, *examined) {}, []string{"the current version v1 has no worker", "the rule files are invalid", "writes are frozen"}, nil},
		"attributes": {"the worker answers all the same", func(_ *world, e *examined) { e.findings = fault("search attributes") }, []string{"search attributes is broken", "no worker: new resources wait", "the rule files are invalid"}, nil},
		"no worker": {
			"nobody can check Azure, and the rest is checked", func(w *world, e *examined) { w.temporal.silent, e.findings = true, fault("worker") },
			[]string{"worker is broken", "the current version v1 has no worker", "no step keeps failing", "writes are frozen"}, []string{"the rule files are invalid"},
		},
		"diagnose": {
			"a worker that fails hides no freeze", func(_ *world, e *examined) { e.diagnoseErr = errors.New("activity error") },
			[]string{"the worker could not run its checks: activity error", "writes are frozen"}, []string{"the rule files are invalid"},
		},
		"key": {"so does a key that cannot be read", func(w *world, e *examined) { w.signingKey, e.diagnoseErr = "missing.pem", errors.New("activity error") }, []string{"read the key of --signing-key", "writes are frozen"}, nil},
		"namespace": {
			"every other request would fail", func(_ *world, e *examined) { e.noNamespace, e.findings = true, fault("namespace") },
			[]string{"namespace is broken"}, []string{"no worker: new resources wait", "writes are frozen"},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			w, on := newWorld(), &examined{}
			w.temporal.freezes = []workflows.Freeze{{By: "ana@laptop"}}
			c.change(w, on)
			connect := w.connect
			w.connect = func(ctx context.Context, o backend.Options) (*connection, error) {
				b, err := connect(ctx, o)
				b.examiner, b.versions = on, brokenVersions{}
				return b, err
			}
			args := []string{"doctor"}
			if w.signingKey != "" {
				args = append(args, "--signing-key", w.signingKey)
			}
			if code := w.run(args...); code != cli.ExitFailed {
				t.Errorf("%s: exit code %d: %s", c.reason, code, w.err)
			}
			for _, text := range c.want {
				if !strings.Contains(w.out.String(), text) {
					t.Errorf("%s: the output lacks %q:\n%s", c.reason, text, w.out)
				}
			}
			for _, text := range c.lacks {
				if strings.Contains(w.out.String(), text) {
					t.Errorf("%s: the output has %q:\n%s", c.reason, text, w.out)
				}
			}
			if ran := on.diagnoses > 0; ran != (!w.temporal.silent && !on.noNamespace) {
				t.Errorf("%s: a worker was asked %d times", c.reason, on.diagnoses)
			}
		})
	}
}
