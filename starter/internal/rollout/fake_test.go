package rollout

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/armature-io/armature/starter/internal/backend"
)

// noon is the time of the tests.
func noon() time.Time { return time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC) }

// fakeConnection is a task queue in memory: counts by the text of a query's version.
type fakeConnection struct {
	mu          sync.Mutex // of the counts below
	deployments []string   // of the task queue
	deployment  backend.Deployment
	further     map[string]backend.Deployment
	pollers     []backend.Poller
	// resources, others and failing are counts by build ID.
	resources, others, failing map[string]int
	changes                    []string
	signals, moves             int
	counted                    int
}

func (f *fakeConnection) Deployments(context.Context) ([]string, error) { return f.deployments, nil }

func (f *fakeConnection) Deployment(_ context.Context, name string) (backend.Deployment, error) {
	if other, found := f.further[name]; found {
		return other, nil
	}
	if name != f.deployment.Name {
		return backend.Deployment{}, backend.ErrNotManaged
	}
	return f.deployment, nil
}

func (f *fakeConnection) Pollers(context.Context) ([]backend.Poller, error) { return f.pollers, nil }

func (f *fakeConnection) CountVersion(_ context.Context, q backend.VersionQuery) (int, error) {
	f.mu.Lock()
	f.counted++
	f.mu.Unlock()
	of := f.resources
	switch {
	case q.Others:
		of = f.others
	case q.Failing:
		of = f.failing
	case len(q.Where.Phases)+len(q.Where.Reasons) > 0:
		return 0, nil
	}
	if q.BuildID != "" || q.Unversioned {
		return of[q.BuildID], nil
	}
	sum := 0
	for _, n := range of {
		sum += n
	}
	return sum, nil
}

func (f *fakeConnection) FirstOnVersion(_ context.Context, q backend.VersionQuery, maximum int) ([]backend.Record, error) {
	return make([]backend.Record, min(maximum, f.resources[q.BuildID])), nil
}

func (f *fakeConnection) List(_ context.Context, query string) ([]backend.Record, error) {
	for build, n := range f.resources {
		if strings.Contains(query, ":"+build+"'") && !strings.Contains(query, "!=") {
			return make([]backend.Record, n), nil
		}
	}
	return nil, nil
}

func (f *fakeConnection) SetCurrent(_ context.Context, _ backend.Deployment, build string) error {
	f.changes = append(f.changes, "current "+build)
	return nil
}

func (f *fakeConnection) SetRamping(_ context.Context, _ backend.Deployment, build string, percent float32) error {
	f.changes = append(f.changes, "ramp "+build+" "+percentText(percent))
	return nil
}

func (f *fakeConnection) Signal(context.Context, string, string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.signals++
	return nil
}

func (f *fakeConnection) MoveOnce(context.Context, string, string, string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.moves++
	return nil
}

// poller returns a worker that polled some time ago.
func poller(build string, ago time.Duration) backend.Poller {
	p := backend.Poller{Identity: "worker-" + build, BuildID: build, Last: noon().Add(-ago)}
	if build != "" {
		p.Deployment = "armature"
	}
	return p
}

// version returns a version that was current some hours ago, never for 0.
func version(build string, status backend.VersionStatus, hours int) backend.DeploymentVersion {
	v := backend.DeploymentVersion{BuildID: build, Status: status, Since: noon().Add(-time.Hour)}
	if hours > 0 {
		v.LastCurrent = noon().Add(-time.Duration(hours) * time.Hour)
	}
	return v
}

// steady is a deployment with a current version and one before.
func steady() *fakeConnection {
	return &fakeConnection{
		deployment: backend.Deployment{Name: "armature", Current: "v2", Settled: true, Versions: []backend.DeploymentVersion{
			version("v3", backend.VersionInactive, 0), version("v2", backend.VersionCurrent, 1), version("v1", backend.VersionDraining, 9), version("v0", backend.VersionDrained, 99),
		}},
		pollers:   []backend.Poller{poller("v3", time.Second), poller("v2", time.Minute), poller("v1", time.Second)},
		resources: map[string]int{"v2": 10},
	}
}
